"""Copies of the recorded clips, altered as posters alter them: size, bars, logos, colours, trims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Alter = Callable[[Picture], Picture]

LONGEST_SIDE_PX = 320
"""Copies are made from frames of this size: the fingerprint reduces them further, and encoding is expensive."""
RATE = 50
"""Frames a second of the material that copies are cut from: a trim is exact to a fiftieth of a second."""


@dataclass(frozen=True, slots=True)
class Alteration:
    group: str
    """The row of the table that counts it."""
    alter: Alter = lambda picture: picture
    start: float = 0.0
    """Seconds removed at the start."""
    share: float = 1.0
    """Share of the clip that is kept, at most `seconds`."""
    seconds: float = 60.0
    rate: int = 25
    crf: int = 26


def resized(longest: int, stretch: float = 1.0) -> Alter:
    def alter(picture: Picture) -> Picture:
        scale = longest / max(picture.shape[:2])
        size = (round(picture.shape[1] * scale * stretch), round(picture.shape[0] * scale))
        return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)

    return alter


def barred(down: float, across: float, colour: int = 0) -> Alter:
    def alter(picture: Picture) -> Picture:
        high, wide = round(down * picture.shape[0]), round(across * picture.shape[1])
        edges = (high, high, wide, wide)
        return np.asarray(cv2.copyMakeBorder(picture, *edges, cv2.BORDER_CONSTANT, value=(colour,) * 3), np.uint8)

    return alter


def blurred_bars(picture: Picture) -> Picture:
    """Fill the frame above and below with an enlarged, blurred copy of the picture."""
    height, width = picture.shape[:2]
    frame = cv2.resize(picture, (width, round(height * 1.6)), interpolation=cv2.INTER_LINEAR)
    frame = cv2.GaussianBlur(frame, (0, 0), width / 32)
    top = (frame.shape[0] - height) // 2
    frame[top : top + height] = picture
    return np.asarray(frame, np.uint8)


def logo(picture: Picture) -> Picture:
    made = picture.copy()
    height, width = made.shape[:2]
    cv2.rectangle(
        made,
        (round(width * 0.78), round(height * 0.04)),
        (round(width * 0.97), round(height * 0.14)),
        (30, 30, 230),
        -1,
    )
    place = (round(width * 0.79), round(height * 0.12))
    cv2.putText(made, "GOALS", place, cv2.FONT_HERSHEY_SIMPLEX, width / 400, (255, 255, 255), 1)
    return made


def banner(picture: Picture) -> Picture:
    """A wide opaque band over the lower fifth."""
    made = picture.copy()
    height, width = made.shape[:2]
    made[round(height * 0.76) : round(height * 0.96)] = (40, 20, 60)
    cv2.putText(
        made,
        "FOLLOW FOR MORE",
        (width // 10, round(height * 0.89)),
        cv2.FONT_HERSHEY_SIMPLEX,
        width / 400,
        (255,) * 3,
        2,
    )
    return made


def gained(gains: tuple[float, float, float], lift: float = 0.0) -> Alter:
    return lambda picture: np.clip(picture * np.array(gains) + lift, 0, 255).astype(np.uint8)


def cropped(share: float) -> Alter:
    def alter(picture: Picture) -> Picture:
        down, across = round(share * picture.shape[0]), round(share * picture.shape[1])
        return picture[down : picture.shape[0] - down, across : picture.shape[1] - across]

    return alter


def mirror(picture: Picture) -> Picture:
    return picture[:, ::-1]


ALTERATIONS: dict[str, Alteration] = {
    "small": Alteration("same part", resized(160)),
    "stretched": Alteration("same part", resized(400, 0.8)),
    "30 frames a second": Alteration("same part", rate=30),
    "15 frames a second": Alteration("same part", rate=15),
    "low bitrate": Alteration("same part", crf=42),
    "logo": Alteration("same part", logo),
    "sepia": Alteration("same part", gained((0.6, 0.9, 1.1), 10)),
    "dark": Alteration("same part", gained((0.55, 0.55, 0.55))),
    "letterbox": Alteration("bars", barred(0.17, 0)),
    "white frame": Alteration("bars", barred(0.04, 0.04, 255)),
    "blurred bars": Alteration("bars", blurred_bars),
    "starts later": Alteration("part of the clip", start=1.13),
    "first 60 %": Alteration("part of the clip", share=0.6),
    "last 60 %": Alteration("part of the clip", start=-0.6),
    "3 s": Alteration("part of the clip", start=2.37, seconds=3.0),
    "letterbox, logo, later": Alteration(
        "part of the clip", lambda picture: barred(0.17, 0)(logo(picture)), start=0.9, rate=30
    ),
    "banner": Alteration("banner", banner),
    "crop 5 %": Alteration("crop 5 %", cropped(0.05)),
    "crop 12 %": Alteration("crop 12 %", cropped(0.12)),
    "mirrored": Alteration("mirrored", mirror),
}


def frames_of(path: Path, longest: float) -> Iterator[Picture]:
    """The reduced frames (BGR) of the first `longest` seconds, at `RATE` a second whatever the file's rate is."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_count = 1
        scale = min(1.0, LONGEST_SIDE_PX / max(stream.width, stream.height))
        size = {"width": round(stream.width * scale / 2) * 2, "height": round(stream.height * scale / 2) * 2}
        number, begin = 0, None
        for frame in container.decode(stream):
            begin = frame.time if begin is None else begin
            second = frame.time - begin
            if second > longest:
                return
            if number <= second * RATE:
                picture = np.asarray(frame.reformat(**size, format="bgr24").to_ndarray(), np.uint8)
            while number <= second * RATE:
                yield picture
                number += 1


def write_copy(path: Path, frames: Sequence[Picture], how: Alteration) -> tuple[float, float]:
    """Write the copy; return the start and length of the part it shows, in seconds of the original."""
    whole = len(frames) / RATE
    start = whole * (1 + how.start) if how.start < 0 else min(how.start, whole / 2)
    seconds = min(whole - start, whole * how.share, how.seconds)
    with av.open(str(path), "w") as container:
        stream = None
        for number in range(int(seconds * how.rate)):
            made = how.alter(frames[min(len(frames) - 1, round((start + number / how.rate) * RATE))])
            made = np.ascontiguousarray(made[: made.shape[0] // 2 * 2, : made.shape[1] // 2 * 2])
            if stream is None:
                stream = container.add_stream("libx264", rate=how.rate)
                stream.height, stream.width = made.shape[:2]
                stream.pix_fmt, stream.options = "yuv420p", {"preset": "ultrafast", "crf": str(how.crf)}
            container.mux(stream.encode(av.VideoFrame.from_ndarray(made, format="bgr24")))
        if stream is not None:
            container.mux(stream.encode(None))
    return start, seconds
