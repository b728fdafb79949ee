"""The words for what is posted: kinds of clips, alterations, scoreboards, and what is right to say of each."""

from __future__ import annotations

from typing import Literal

ClipKind = Literal[
    "copy",
    "replay",
    "wrong_minute",
    "other_match",
    "last_season",
    "studio",
    "basketball",
    "landscape",
    "filmed",
    "portrait",
    "too_short",
    "too_long",
    "truncated",
    "zip",
    "html",
]
Alteration = Literal[
    "logo",
    "watermark",
    "letterbox",
    "pillarbox",
    "crop",
    "no_clock",
    "bright",
    "dark",
    "vivid",
    "sepia",
    "grey",
    "mirrored",
]
BoardStyle = Literal["classic", "split", "lower", "glass", "compact"]
Verdict = Literal["verified", "unverified", "rejected"]
Reason = Literal[
    "wrong_minute",
    "other_match",
    "not_soccer",
    "filmed_screen",
    "portrait",
    "too_short",
    "too_long",
    "broken",
    "not_a_video",
]
Scene = Literal["match", "studio", "basketball", "landscape"]

BOARD_STYLES: tuple[BoardStyle, ...] = ("classic", "split", "lower", "glass", "compact")
HARD_STYLES: frozenset[BoardStyle] = frozenset({"compact"})
"""So small that a reader may fail without being to blame."""

REASONS: dict[ClipKind, Reason] = {
    "wrong_minute": "wrong_minute",
    "other_match": "other_match",
    "last_season": "other_match",
    "studio": "not_soccer",
    "basketball": "not_soccer",
    "landscape": "not_soccer",
    "filmed": "filmed_screen",
    "portrait": "portrait",
    "too_short": "too_short",
    "too_long": "too_long",
    "truncated": "broken",
    "zip": "not_a_video",
    "html": "not_a_video",
}
"""Why a kind is refused. A kind that is not here shows the goal."""

OTHER_SCENES: dict[ClipKind, Scene] = {
    "studio": "studio",
    "basketball": "basketball",
    "landscape": "landscape",
}
WITHOUT_PICTURE: frozenset[ClipKind] = frozenset({"zip", "html"})
"""Files that only claim to be a video."""

UNSEEN: frozenset[ClipKind] = WITHOUT_PICTURE | {"truncated"}
"""Nothing of these can be watched."""

FIXED_RANGE: frozenset[ClipKind] = frozenset({"replay", "too_short", "too_long", "zip", "html"})
"""Kinds that say themselves which part of the broadcast they show."""

HEIGHTS = (360, 480, 540, 720, 1080)
FRAME_RATES = (25, 30, 50)
