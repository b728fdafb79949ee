"""Selection and extraction of keyframes: at fractions of a clip, the sharpest or the most informative one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import Colorspace, Interpolation
from numpy.typing import NDArray

from found_footy.errors import SettingsError
from found_footy.media.container import DecodeLimits
from found_footy.media.cut import frames_by_number, open_master
from found_footy.media.encode import matrix_of
from found_footy.media.images import BRIGHTEST, DARKEST, FLATTEST, to_jpeg

SHARPEST, INFORMATIVE = "sharpest", "informative"
SAMPLES = 12
"""Number of frames, spread over the clip, from which the sharpest and the most informative are chosen."""
MAX_RULES = 32
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)%")


@dataclass(frozen=True, slots=True)
class KeyframeRule:
    text: str
    share: float | None
    """0 to 1; None if the choice depends on the image."""


def parse_rules(texts: Sequence[str]) -> list[KeyframeRule]:
    """Raises SettingsError."""
    if not 0 < len(texts) <= MAX_RULES:
        raise SettingsError(f"keyframes: between 1 and {MAX_RULES} rules are allowed")
    return [_parse_rule(each) for each in texts]


def frame_at(share: float, first: int, end: int) -> int:
    """Return the frame at this fraction of the clip: the first at 0, the last at 1."""
    return first + round(share * (end - 1 - first))


def select_samples(first: int, end: int) -> list[int]:
    """Return frames at even steps, except the very ends, which may show a neighbouring scene."""
    count = min(SAMPLES, end - first)
    return sorted({first + int((place + 0.5) * (end - first) / count) for place in range(count)})


def _parse_rule(text: str) -> KeyframeRule:
    if text in (SHARPEST, INFORMATIVE):
        return KeyframeRule(text, None)
    share = _SHARE.fullmatch(text)
    if share is None or float(share[1]) > 100:
        raise SettingsError(f"keyframes: {text[:40]!r} is neither a share such as 25%, {SHARPEST} nor {INFORMATIVE}")
    return KeyframeRule(text, float(share[1]) / 100)


# --- Extraction.


MAX_WIDTH = 1280
SCORE_WIDTH = 480
"""Common width for comparable scores, at which fine noise does not count as sharpness."""
MIN_EDGE_GRADIENT = 24.0
"""Minimum brightness gradient of an edge pixel."""

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class ExtractedKeyframe:
    frame: int
    """Number of the frame in the master."""
    chosen_by: str
    width: int
    height: int


def extract_keyframes(
    path: Path, first: int, end: int, texts: Sequence[str], folder: Path, limits: DecodeLimits | None = None
) -> list[ExtractedKeyframe]:
    """Write `0.jpg`, `1.jpg`… into the folder, in the order of the rules. No frame is used twice."""
    rules = parse_rules(texts)
    with open_master(path, limits or DecodeLimits()) as master:
        master.check(first, end)
        sampled = select_samples(first, end) if any(rule.share is None for rule in rules) else []
        shares = [frame_at(rule.share, first, end) for rule in rules if rule.share is not None]
        pictures_by_number = {number: _bgr(frame) for number, frame in frames_by_number(master, [*sampled, *shares])}
    chosen = choose_frames(rules, {number: pictures_by_number[number] for number in sampled}, first, end)
    extracted: list[ExtractedKeyframe] = []
    for number, chosen_by in chosen.items():
        picture = pictures_by_number[number]
        (folder / f"{len(extracted)}.jpg").write_bytes(to_jpeg(picture, max(picture.shape[:2]), 90))
        extracted.append(ExtractedKeyframe(number, chosen_by, picture.shape[1], picture.shape[0]))
    return extracted


def choose_frames(
    rules: Sequence[KeyframeRule], sampled: Mapping[int, Picture], first: int, end: int
) -> dict[int, str]:
    """Map frame numbers to rules. If two rules select the same frame, the first one gets it."""
    measures = {SHARPEST: sharpness, INFORMATIVE: information}
    chosen: dict[int, str] = {}
    for rule in rules:
        if rule.share is not None:
            number = frame_at(rule.share, first, end)
        else:
            scores = {each: measures[rule.text](_score_size(picture)) for each, picture in sampled.items()}
            number = max(scores, key=lambda each: scores[each])
        chosen.setdefault(number, rule.text)
    return chosen


def sharpness(picture: Picture) -> float:
    """Score brightness changes within a pixel or two. Noise in a dark frame scores low."""
    grey = _grey(picture)
    score = float(cv2.Laplacian(grey, cv2.CV_32F).var())
    return score if has_content(grey) else score * 1e-3


def information(picture: Picture) -> float:
    """Score shades, edges and colours; a black, white or single-coloured frame scores close to zero."""
    grey = _grey(picture)
    counts = np.bincount(grey.reshape(-1), minlength=256) / grey.size
    present = counts[counts > 0]
    shades = float(-(present * np.log2(present)).sum()) / 8
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    edges = float((np.hypot(across, down) / 4 > MIN_EDGE_GRADIENT).mean())
    score = shades + min(1.0, 4 * edges) + min(1.0, _colourfulness(picture) / 80)
    return score if has_content(grey) else score * 1e-3


def has_content(grey: Picture) -> bool:
    return DARKEST <= float(grey.mean()) <= BRIGHTEST and float(grey.std()) >= FLATTEST


def _grey(picture: Picture) -> Picture:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _colourfulness(picture: Picture) -> float:
    """Return the colourfulness (Hasler and Süsstrunk): 0 for grey, above 80 for the most colourful posters."""
    blue, green, red = (picture[..., place].astype(np.float32) for place in range(3))
    red_green, yellow_blue = red - green, 0.5 * (red + green) - blue
    spread, middle = np.hypot(red_green.std(), yellow_blue.std()), np.hypot(red_green.mean(), yellow_blue.mean())
    return float(spread + 0.3 * middle)


def _score_size(picture: Picture) -> Picture:
    height, width = picture.shape[:2]
    size = (SCORE_WIDTH, max(1, round(height * SCORE_WIDTH / width)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _bgr(frame: VideoFrame) -> Picture:
    """Convert at no more than MAX_WIDTH: dozens of frames are held at a time."""
    scale = min(1.0, MAX_WIDTH / frame.width)
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
