"""Vocabulary of posted clips (kinds, alterations, scoreboards, expected results) and the specs of their files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

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
DeadLinkKind = Literal[
    "gone",
    "geo_blocked",
    "private",
    "loopback",
    "redirect_private",
    "endless",
    "huge",
    "drip",
]
"""Posts whose link leads to no file, or to one that must not be fetched."""
PostKind = Literal[ClipKind, DeadLinkKind]
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
ExpectedRejection = Literal[
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
"""So small that failing to read it is acceptable."""

REASONS: dict[PostKind, ExpectedRejection] = {
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
"""Expected rejection of a file. A kind in neither table shows the goal. For a wicket, `wrong_minute` means another over
and `not_soccer` means not cricket.
"""

DEAD_REASONS: dict[PostKind, ExpectedRejection] = {
    "gone": "gone",
    "geo_blocked": "geo_blocked",
    "private": "private",
    "loopback": "forbidden_address",
    "redirect_private": "forbidden_address",
    "endless": "too_large",
    "huge": "too_large",
    "drip": "too_slow",
}
"""Expected rejection of a link."""

DEAD: frozenset[PostKind] = frozenset(get_args(DeadLinkKind))

OTHER_SCENES: dict[ClipKind, Scene] = {
    "studio": "studio",
    "basketball": "basketball",
    "landscape": "landscape",
}
WITHOUT_PICTURE: frozenset[PostKind] = DEAD | {"zip", "html"}
"""Files that only claim to be a video, and links without one."""

UNSEEN: frozenset[PostKind] = WITHOUT_PICTURE | {"truncated"}
"""Kinds without any watchable picture."""

FIXED_RANGE: frozenset[PostKind] = WITHOUT_PICTURE | {"replay", "too_short", "too_long"}
"""Kinds that determine which part of the broadcast they show."""

HEIGHTS = (360, 480, 540, 720, 1080)
FRAME_RATES = (25, 30, 50)


def reason_of(kind: PostKind) -> ExpectedRejection | None:
    """The expected rejection; None for kinds that show the goal."""
    return REASONS.get(kind) or DEAD_REASONS.get(kind)


# --- Specs: the footage, its master and the copy. Equal content has an equal digest.


RENDERER_VERSION = 3
"""Part of every cached file's name: increase it whenever the pictures change."""

Pair = tuple[int, int]
"""Home, away."""


@dataclass(frozen=True, slots=True)
class Footage:
    """A part of a broadcast around one moment; its fields determine every pixel."""

    scene: Scene
    venue: str
    """Seeds the stadium, its crowd and cameras, the light and the kits: shared by all goals of a match."""
    moment: str
    """Seeds the play and the cuts."""
    teams: tuple[str, str]
    codes: tuple[str, str]
    style: AnyStyle
    before: Pair
    after: Pair
    """Score after; equal to `before` if nothing is scored."""
    side: int
    """Attacking side: 0 home, 1 away."""
    penalty: bool
    goal_clock: int
    """Seconds of play at which the ball is in the net (or beside it)."""
    half_ends: int
    """Seconds of play at which this half's stoppage time begins."""
    added: int
    """The announced minutes of stoppage time."""
    balls: Pair | None = None
    """Cricket only: balls of the innings bowled before this one and after it.

    Then `before` and `after` are runs and wickets, and `side` is the batting side.
    """

    @property
    def scored(self) -> bool:
        return self.before != self.after

    @property
    def key(self) -> str:
        return _digest(asdict(self))


@dataclass(frozen=True, slots=True)
class MasterSpec:
    """A rendered part of a footage's timeline, in seconds, from which all copies are made."""

    footage: Footage
    height: int
    fps: int
    start: float
    end: float

    @property
    def key(self) -> str:
        return _digest(asdict(self))


@dataclass(frozen=True, slots=True)
class ClipSpec:
    """One posted file, or a link without one. `start` is in seconds of the footage's timeline."""

    match: int
    goal: int
    """Index of the goal in the match's list."""
    number: int
    """Index of the clip in the goal's list."""
    kind: PostKind
    also: tuple[Alteration, ...]
    after: int
    """Minutes from the goal to the post."""
    master: MasterSpec
    start: float
    length: float
    height: int
    fps: int
    kbit: int

    @property
    def footage(self) -> Footage:
        return self.master.footage

    @property
    def key(self) -> str:
        """Digest of the file's content only: author, time and kind of the post are left out."""
        content = asdict(self)
        for name in ("match", "goal", "number", "after"):
            del content[name]
        return _digest(content)

    @property
    def file_name(self) -> str:
        return f"{self.kind}-{self.key}.mp4"

    @property
    def has_file(self) -> bool:
        return self.kind not in DEAD

    @property
    def has_picture(self) -> bool:
        return self.kind not in WITHOUT_PICTURE


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps([RENDERER_VERSION, content], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
