"""Where things are in the frame, as shares of its width and height: scoreboards, and what a crop keeps. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from found_footy.simulator.clips.kinds import Alteration, AnyStyle, PostKind

PORTRAIT = 9 / 16
LANDSCAPE = 16 / 9


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: Box) -> bool:
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


FULL = Box(0.0, 0.0, 1.0, 1.0)
BOARDS: dict[AnyStyle, Box] = {
    "classic": Box(0.045, 0.06, 0.415, 0.13),
    "split": Box(0.05, 0.055, 0.51, 0.125),
    "lower": Box(0.045, 0.765, 0.245, 0.945),
    "glass": Box(0.585, 0.06, 0.955, 0.132),
    "compact": Box(0.05, 0.05, 0.245, 0.088),
    "bar": Box(0.03, 0.868, 0.62, 0.95),
    "corner": Box(0.04, 0.78, 0.31, 0.945),
    "southern": Box(0.2, 0.872, 0.83, 0.952),
}
"""With the stoppage display, which is not always on."""

_CROP = 0.86
"""How much of each side a cropped copy keeps."""
_MARGIN = 0.012


def kept(kind: PostKind, also: Iterable[Alteration], style: AnyStyle) -> Box:
    """The part of the broadcast's frame that is in the copy; always with the aspect of the whole or of a phone."""
    if kind == "portrait":
        width = PORTRAIT / LANDSCAPE
        return Box(0.5 - width / 2, 0.0, 0.5 + width / 2, 1.0)
    board = BOARDS[style]
    at_top, at_left = board.top < 0.5, board.left < 0.5
    if "no_clock" in also:
        share = 1.0 - (board.bottom + _MARGIN if at_top else 1.0 - board.top + _MARGIN)
        at_top, at_left = not at_top, not at_left
    elif "crop" in also:
        share = _CROP
    else:
        return FULL
    left = 0.0 if at_left else 1.0 - share
    top = 0.0 if at_top else 1.0 - share
    return Box(left, top, left + share, top + share)
