"""Which keyframes are wished for, and which frames are looked at to fulfil the wishes. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from found_footy.domain.errors import SettingsError

SHARPEST, INFORMATIVE = "sharpest", "informative"
SAMPLES = 12
"""Frames, spread over the clip, among which the sharpest and the most informative one are looked for."""
MOST_WISHES = 32
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)%")


@dataclass(frozen=True, slots=True)
class Wish:
    text: str
    share: float | None
    """0 to 1; None where the pictures decide."""


def parse_wishes(wanted: Sequence[str]) -> list[Wish]:
    """Raises SettingsError."""
    if not 0 < len(wanted) <= MOST_WISHES:
        raise SettingsError(f"keyframes: between 1 and {MOST_WISHES} of them can be taken")
    return [_parsed(each) for each in wanted]


def frame_at(share: float, first: int, end: int) -> int:
    """The frame at that share of the clip: the first at 0, the last at 1."""
    return first + round(share * (end - 1 - first))


def samples(first: int, end: int) -> list[int]:
    """Frames at even steps, none at the very ends: there a cut may be seen still, or already."""
    count = min(SAMPLES, end - first)
    return sorted({first + int((place + 0.5) * (end - first) / count) for place in range(count)})


def _parsed(text: str) -> Wish:
    if text in (SHARPEST, INFORMATIVE):
        return Wish(text, None)
    share = _SHARE.fullmatch(text)
    if share is None or float(share[1]) > 100:
        raise SettingsError(f"keyframes: {text[:40]!r} is neither a share such as 25%, {SHARPEST} nor {INFORMATIVE}")
    return Wish(text, float(share[1]) / 100)
