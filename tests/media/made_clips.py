"""Small videos that the tests make for themselves: a moving scene, copies of it, and files that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Alter = Callable[[Picture], Picture]

WIDTH, HEIGHT = 320, 180


def scene(seconds: float, fps: float = 25, seed: int = 1, start: float = 0.0) -> Iterator[Picture]:
    """A camera that pans over a fixed world while things move in it. The same seed and second, the same picture."""
    world = _world(seed)
    chance = np.random.default_rng(seed + 1000)
    ways = chance.uniform(0.05, 0.6, (8, 4))
    shades = chance.integers(0, 255, 8).tolist()
    for number in range(round(seconds * fps)):
        now = start + number / fps
        left = int((world.shape[1] - WIDTH) * (0.5 + 0.5 * np.sin(now * 0.37 + seed)))
        top = int((world.shape[0] - HEIGHT) * (0.5 + 0.5 * np.cos(now * 0.23 + seed)))
        picture = world[top : top + HEIGHT, left : left + WIDTH].copy()
        for (across, down, begin, size), shade in zip(ways, shades, strict=True):
            middle = (
                int(WIDTH * (0.5 + 0.5 * np.sin(now * across * 4 + 9 * begin))),
                int(HEIGHT * (0.5 + 0.5 * np.cos(now * down * 4 + 7 * begin))),
            )
            cv2.circle(picture, middle, int(8 + 40 * size), (shade, 255 - shade, shade // 2), -1)
        yield picture


def _world(seed: int) -> Picture:
    chance = np.random.default_rng(seed)
    size = (WIDTH * 3, HEIGHT * 3)
    coarse = cv2.resize(chance.integers(0, 255, (9, 14, 3), dtype=np.uint8), size, interpolation=cv2.INTER_CUBIC)
    fine = cv2.resize(chance.integers(0, 255, (180, 320, 3), dtype=np.uint8), size)
    return np.asarray(cv2.addWeighted(coarse, 0.8, fine, 0.2, 0), dtype=np.uint8)


def write(
    path: Path,
    pictures: Iterable[Picture],
    fps: float = 25,
    *,
    codec: str = "libx264",
    times: Iterable[float] | None = None,
    rotation: int = 0,
    format: str | None = None,
    muxer: dict[str, str] | None = None,
    **options: str,
) -> Path:
    """`times` gives each picture its own second, as far as it goes; without, they come evenly."""
    rate = Fraction(fps).limit_denominator(1001)
    base = Fraction(1, 1000) if times is not None else 1 / rate
    moments = times if times is not None else (float(number / rate) for number in count())
    with av.open(str(path), "w", format=format, options=muxer or {}) as container:
        stream: Any = None
        for second, picture in zip(moments, pictures, strict=False):
            if stream is None:
                stream = container.add_stream(codec, rate=rate)
                stream.height, stream.width = (side // 2 * 2 for side in picture.shape[:2])
                stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
                stream.codec_context.time_base = base
                stream.options = {"preset": "ultrafast", **options} if codec == "libx264" else dict(options)
                if rotation:
                    stream.set_display_rotation(rotation)
            frame = av.VideoFrame.from_ndarray(picture[: stream.height, : stream.width], format="bgr24")
            frame.pts, frame.time_base = round(second / base), base
            container.mux(stream.encode(frame))
        if stream is not None:
            container.mux(stream.encode(None))
    return path


def write_scene(path: Path, seconds: float, fps: float = 25, seed: int = 1, start: float = 0.0, **how: Any) -> Path:
    return write(path, scene(seconds, fps, seed, start), fps, **how)


def write_copy(path: Path, alter: Alter, seconds: float = 8, fps: float = 25, start: float = 0.0, **how: Any) -> Path:
    return write(path, (np.ascontiguousarray(alter(picture)) for picture in scene(seconds, fps, 1, start)), fps, **how)


def remux(path: Path, into: Path, *, repeat: int = 1, format: str | None = None, shift: int = 40) -> Path:
    """The packets of a file once more, `repeat` times over, `shift` milliseconds apart."""
    with av.open(str(path)) as source, av.open(str(into), "w", format=format) as target:
        stream: Any = target.add_stream_from_template(source.streams.video[0])
        packets = [bytes(packet) for packet in source.demux(source.streams.video[0]) if packet.size]
        for number in range(len(packets) * repeat):
            packet = av.Packet(packets[number % len(packets)])
            packet.stream = stream
            packet.time_base = Fraction(1, 1000)
            packet.pts = packet.dts = number * shift
            packet.is_keyframe = True
            target.mux(packet)
    return into
