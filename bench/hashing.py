"""Hashing a clip of 60 s, relative to decoding it

The clip is H.264 with a keyframe every two seconds, default B-frames and a moving scene, generated here. "Decode" is
PyAV decoding every frame and discarding it, with the same threads. The common approach opens the file once per sampled
frame; instead of an `ffmpeg` process, this baseline seeks and decodes with PyAV in this process, which saves the
process start each time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from bench.table import table
from found_footy.media.fingerprint import STEP, hash_video

SECONDS, MADE_SECONDS, FPS = 60, 10, 25
SIZES = {"480p": (854, 480), "720p": (1280, 720), "1080p": (1920, 1080)}
ROUNDS = 3
PEER_FRAMES = 12
"""Frames on which the common approach is timed, spread over the clip; the time is extrapolated."""


async def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (width, height) in SIZES.items():
            path = Path(folder) / f"{name}.mp4"
            _write(path, width, height)
            # Alternate the two, so that other load on the machine affects both alike.
            rounds = [(_time(lambda: _decode_all(path)), _time(lambda: hash_video(path))) for _ in range(ROUNDS)]  # noqa: B023
            decode, hashing = (min(each[n] for each in rounds) for n in (0, 1))
            common = _time(lambda: _frame_by_frame(path)) * SECONDS / STEP / PEER_FRAMES  # noqa: B023
            rows.append(
                [name, f"{decode:.2f} s", f"{hashing:.2f} s", f"{hashing / decode:.2f}", f"{common / decode:.0f}"]
            )
    table(["clip", "decode", "hash", "hash / decode (goal 1.0)", "one opening a frame / decode"], rows)


def _time(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _decode_all(path: Path) -> None:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for _ in container.decode(stream):
            pass


def _frame_by_frame(path: Path) -> None:
    for number in range(PEER_FRAMES):
        moment = (number + 0.5) * SECONDS / PEER_FRAMES
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            assert stream.time_base is not None
            container.seek(int(moment / stream.time_base), stream=stream)
            frame = next(frame for frame in container.decode(stream) if frame.time >= moment)
            frame.to_ndarray(format="bgr24")


def _write(path: Path, width: int, height: int) -> None:
    """Encode ten seconds and write them six times: decoding costs the same, and generating is faster."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "superfast", "crf": "23", "bf": "3", "g": str(2 * FPS)}
        made = [packet for picture in _scene(width, height) for packet in stream.encode(_frame(picture))]
        made += stream.encode(None)
        for turn in range(SECONDS // MADE_SECONDS):
            for packet in made:
                again = av.Packet(bytes(packet))
                again.stream, again.time_base, again.is_keyframe = stream, Fraction(1, FPS), packet.is_keyframe
                assert packet.pts is not None
                assert packet.dts is not None
                again.pts = packet.pts + turn * MADE_SECONDS * FPS
                again.dts = packet.dts + turn * MADE_SECONDS * FPS
                container.mux(again)


def _frame(picture: NDArray[np.uint8]) -> av.VideoFrame:
    return av.VideoFrame.from_ndarray(picture, format="bgr24")


def _scene(width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    """Yield frames of a camera panning over a textured pitch with 22 players, with a cut every 5 s."""
    chance = np.random.default_rng(3)
    coarse = cv2.resize(chance.integers(40, 200, (12, 20, 3), dtype=np.uint8), (width * 2, height * 2))
    fine = cv2.resize(chance.integers(0, 255, (height, width, 3), dtype=np.uint8), (width * 2, height * 2))
    ground = np.asarray(cv2.addWeighted(coarse, 0.85, fine, 0.15, 0), dtype=np.uint8)
    players = chance.uniform(0, 6.28, (22, 2))
    for number in range(MADE_SECONDS * FPS):
        now = number / FPS + 40 * (number // (5 * FPS))
        left = int(width * (0.5 + 0.5 * np.sin(now * 0.3)))
        top = int(height * (0.5 + 0.5 * np.cos(now * 0.2)))
        picture = ground[top : top + height, left : left + width].copy()
        for across, down in players:
            middle = (
                int(width * (0.5 + 0.45 * np.sin(now * 0.5 + across))),
                int(height * (0.5 + 0.4 * np.cos(now + down))),
            )
            cv2.ellipse(picture, middle, (height // 60, height // 24), 0, 0, 360, (30, 30, 220), -1)
        yield picture
