"""Films with sound for the tests of the workshop: numbered frames, with flashes and beeps, and how to find them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from found_footy.media.container import DecodeLimits

Picture = NDArray[np.uint8]

WIDTH, HEIGHT, RATE, HEARD = 160, 90, 25, 48_000
BEEP_SECONDS = 0.06
LONG = DecodeLimits(frames=10_000_000, seconds=21_600, wall_seconds=120)
"""As for a source of hours."""


def tell_nobody(share: float) -> None:
    assert 0 <= share <= 1


def numbered(frames: int, width: int = WIDTH, height: int = HEIGHT, flashes: Sequence[int] = ()) -> Iterable[Picture]:
    """Each picture shows its number as twelve black and white blocks below; a flash is white above."""
    for number in range(frames):
        picture = np.full((height, width, 3), 60 + number % 40, np.uint8)
        if number in flashes:
            picture[: height // 2] = 255
        for bit in range(12):
            left = bit * width // 12
            picture[-height // 4 :, left : (bit + 1) * width // 12] = 255 if number >> bit & 1 else 0
        yield picture


def number_in(luma: Picture) -> int:
    height, width = luma.shape[:2]
    row = luma[-height // 8, [(2 * bit + 1) * width // 24 for bit in range(12)]]
    return sum(1 << bit for bit, value in enumerate(row) if value > 127)


def beeps(seconds: float, at: Sequence[float], rate: int = HEARD) -> NDArray[np.float32]:
    """Silence, and a tone from each of these moments on for a moment."""
    sound = np.zeros(round(seconds * rate), np.float32)
    tone = 0.6 * np.sin(2 * np.pi * 1000 * np.arange(round(BEEP_SECONDS * rate)) / rate).astype(np.float32)
    for moment in at:
        begin = round(moment * rate)
        sound[begin : begin + tone.size] = tone[: sound.size - begin]
    return sound


def write_film(
    path: Path,
    pictures: Iterable[Picture],
    sound: NDArray[np.float32] | None = None,
    *,
    rate: Fraction = Fraction(RATE),
    codec: str = "libx264",
    audio: str = "aac",
    heard_at: float = 0.0,
    shown_at: float = 0.0,
    format: str | None = None,
    heard_rate: int = HEARD,
    **options: str,
) -> Path:
    """`heard_at` and `shown_at` shift all of the sound, or all of the pictures, by seconds."""
    with av.open(str(path), "w", format=format) as out:
        video: Any = None
        ear: Any = None
        for number, picture in enumerate(pictures):
            if video is None:
                video = out.add_stream(codec, rate=rate, height=picture.shape[0], width=picture.shape[1])
                video.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
                video.options = {"preset": "ultrafast", "bf": "2", **options} if codec == "libx264" else dict(options)
                if sound is not None:
                    ear = out.add_stream(audio, rate=heard_rate, layout="mono")
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = number + round(shown_at * rate), 1 / rate
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
        if sound is not None:
            piece = av.AudioFrame.from_ndarray(sound.reshape(1, -1), format="fltp", layout="mono")
            piece.sample_rate, piece.time_base = heard_rate, Fraction(1, heard_rate)
            piece.pts = round(heard_at * heard_rate)
            out.mux(ear.encode(piece))
            out.mux(ear.encode(None))
    return path


def lumas(path: Path, most: int | None = None) -> list[Picture]:
    """The brightness of each picture, as the decoder gives it; of the first ones where that is enough."""
    with av.open(str(path)) as film:
        found = []
        for frame in islice(film.decode(video=0), most):
            plane = frame.planes[0]
            rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
            found.append(rows[: frame.height, : frame.width].copy())
        return found


def times(path: Path) -> list[Fraction]:
    with av.open(str(path)) as film:
        return [Fraction(frame.pts or 0) * Fraction(frame.time_base or 0) for frame in film.decode(video=0)]


def flashes_in(path: Path) -> list[float]:
    """Seconds at which a picture is white above."""
    shown = zip(times(path), lumas(path), strict=True)
    return [float(at) for at, luma in shown if luma[: luma.shape[0] // 3].mean() > 200]


def beeps_in(path: Path) -> list[float]:
    """Seconds at which a tone begins, as a player would hear it."""
    with av.open(str(path)) as film:
        rate = film.streams.audio[0].rate
        pieces = [(float(frame.time or 0), frame.to_ndarray()[0]) for frame in film.decode(audio=0)]
    level = np.zeros(round((pieces[-1][0] + 1) * rate), np.float32)
    for at, samples in pieces:
        begin = round(at * rate)
        kept = samples[max(0, -begin) :]
        level[max(0, begin) : max(0, begin) + kept.size] = np.abs(kept)
    loud = np.flatnonzero(level > 0.2)
    return [float(place / rate) for place in loud[np.diff(loud, prepend=-rate) > 0.02 * rate]]
