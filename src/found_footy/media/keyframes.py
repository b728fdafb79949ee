"""The few pictures that stand for a clip: at shares of its length, the sharpest one, the most informative one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import Colorspace, Interpolation
from numpy.typing import NDArray

from found_footy.media.encoding import matrix_of
from found_footy.media.jpeg import to_jpeg
from found_footy.media.keyframe_wishes import INFORMATIVE, SHARPEST, Wish, frame_at, parse_wishes, samples
from found_footy.media.opening import Limits
from found_footy.media.poster import BRIGHTEST, DARKEST, FLATTEST
from found_footy.media.stretches import master_file, pictures

WIDEST = 1280
JUDGED_WIDTH = 480
"""At one size, so that figures can be compared; fine noise does not count as sharpness there."""
EDGE = 24.0
"""Steps of brightness from which on a pixel lies on an edge."""

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Taken:
    frame: int
    """Of the master."""
    chosen_by: str
    width: int
    height: int


def take_keyframes(
    path: Path, first: int, end: int, wanted: Sequence[str], folder: Path, limits: Limits | None = None
) -> list[Taken]:
    """Writes `0.jpg`, `1.jpg`… into the folder, in the order of the wishes. No frame is taken twice."""
    wishes = parse_wishes(wanted)
    with master_file(path, limits or Limits()) as master:
        master.check(first, end)
        looked_at = samples(first, end) if any(wish.share is None for wish in wishes) else []
        shares = [frame_at(wish.share, first, end) for wish in wishes if wish.share is not None]
        found = {number: _bgr(frame) for number, frame in pictures(master, [*looked_at, *shares])}
    chosen = choose(wishes, {number: found[number] for number in looked_at}, first, end)
    taken: list[Taken] = []
    for number, wish in chosen.items():
        picture = found[number]
        (folder / f"{len(taken)}.jpg").write_bytes(to_jpeg(picture, max(picture.shape[:2]), 90))
        taken.append(Taken(number, wish, picture.shape[1], picture.shape[0]))
    return taken


def choose(wishes: Sequence[Wish], looked_at: Mapping[int, Picture], first: int, end: int) -> dict[int, str]:
    """From a frame's number to the wish that it fulfils. Where two wishes end at one frame, the first one has it."""
    measures = {SHARPEST: sharpness, INFORMATIVE: information}
    chosen: dict[int, str] = {}
    for wish in wishes:
        if wish.share is not None:
            number = frame_at(wish.share, first, end)
        else:
            figures = {each: measures[wish.text](_judged(picture)) for each, picture in looked_at.items()}
            number = max(figures, key=lambda each: figures[each])
        chosen.setdefault(number, wish.text)
    return chosen


def sharpness(picture: Picture) -> float:
    """How much brightness changes within a pixel or two. Noise in the dark is not sharp."""
    grey = _grey(picture)
    figure = float(cv2.Laplacian(grey, cv2.CV_32F).var())
    return figure if shows_something(grey) else figure * 1e-3


def information(picture: Picture) -> float:
    """Many shades, many edges, many colours; a picture that is black, white or of one colour has next to none."""
    grey = _grey(picture)
    counts = np.bincount(grey.reshape(-1), minlength=256) / grey.size
    present = counts[counts > 0]
    shades = float(-(present * np.log2(present)).sum()) / 8
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    edges = float((np.hypot(across, down) / 4 > EDGE).mean())
    figure = shades + min(1.0, 4 * edges) + min(1.0, _colourfulness(picture) / 80)
    return figure if shows_something(grey) else figure * 1e-3


def shows_something(grey: Picture) -> bool:
    return DARKEST <= float(grey.mean()) <= BRIGHTEST and float(grey.std()) >= FLATTEST


def _grey(picture: Picture) -> Picture:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _colourfulness(picture: Picture) -> float:
    """How far colours lie apart (Hasler and Süsstrunk): 0 for grey, above 80 for the brightest posters."""
    blue, green, red = (picture[..., place].astype(np.float32) for place in range(3))
    one, other = red - green, 0.5 * (red + green) - blue
    spread, middle = np.hypot(one.std(), other.std()), np.hypot(one.mean(), other.mean())
    return float(spread + 0.3 * middle)


def _judged(picture: Picture) -> Picture:
    height, width = picture.shape[:2]
    size = (JUDGED_WIDTH, max(1, round(height * JUDGED_WIDTH / width)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _bgr(frame: VideoFrame) -> Picture:
    """No wider than wanted: dozens of them are held at a time."""
    scale = min(1.0, WIDEST / frame.width)
    space = Colorspace.ITU709 if matrix_of(frame.colorspace, frame.height) == "bt709" else Colorspace.ITU601
    small = frame.reformat(
        width=max(2, round(frame.width * scale)),
        height=max(2, round(frame.height * scale)),
        format="bgr24",
        src_colorspace=space,
        interpolation=Interpolation.AREA,
        threads=1,
    )
    return np.asarray(small.to_ndarray(), dtype=np.uint8)
