"""The words for what is posted: kinds of clips, alterations, scoreboards, and what is right to say of each."""

from __future__ import annotations

from typing import Literal, get_args

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
DeadKind = Literal[
    "gone",
    "geo_blocked",
    "private",
    "loopback",
    "redirect_private",
    "endless",
    "huge",
    "drip",
]
"""Posts whose link leads to no file, or to none that anybody should fetch."""
PostKind = Literal[ClipKind, DeadKind]
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
CricketStyle = Literal["bar", "corner", "southern"]
AnyStyle = Literal[BoardStyle, CricketStyle]
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
    "gone",
    "geo_blocked",
    "private",
    "forbidden_address",
    "too_large",
    "too_slow",
]
Scene = Literal["match", "cricket", "studio", "basketball", "landscape"]

BOARD_STYLES: tuple[BoardStyle, ...] = ("classic", "split", "lower", "glass", "compact")
CRICKET_STYLES: tuple[CricketStyle, ...] = ("bar", "corner", "southern")
HARD_STYLES: frozenset[AnyStyle] = frozenset({"compact"})
"""So small that a reader may fail without being to blame."""

REASONS: dict[PostKind, Reason] = {
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
"""Why a file is refused. A kind that is in neither table shows the goal. For a wicket the wrong minute is another over,
and what is not soccer is no cricket."""

DEAD_REASONS: dict[PostKind, Reason] = {
    "gone": "gone",
    "geo_blocked": "geo_blocked",
    "private": "private",
    "loopback": "forbidden_address",
    "redirect_private": "forbidden_address",
    "endless": "too_large",
    "huge": "too_large",
    "drip": "too_slow",
}
"""Why a link is refused."""

DEAD: frozenset[PostKind] = frozenset(get_args(DeadKind))

OTHER_SCENES: dict[ClipKind, Scene] = {
    "studio": "studio",
    "basketball": "basketball",
    "landscape": "landscape",
}
WITHOUT_PICTURE: frozenset[PostKind] = DEAD | {"zip", "html"}
"""Files that only claim to be a video, and links that lead to none."""

UNSEEN: frozenset[PostKind] = WITHOUT_PICTURE | {"truncated"}
"""Nothing of these can be watched."""

FIXED_RANGE: frozenset[PostKind] = WITHOUT_PICTURE | {"replay", "too_short", "too_long"}
"""Kinds that say themselves which part of the broadcast they show."""

HEIGHTS = (360, 480, 540, 720, 1080)
FRAME_RATES = (25, 30, 50)


def reason_of(kind: PostKind) -> Reason | None:
    """Why it is refused; None for what shows the goal."""
    return REASONS.get(kind) or DEAD_REASONS.get(kind)
