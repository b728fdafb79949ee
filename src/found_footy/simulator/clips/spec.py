"""What a clip is made from: the footage, its master, and the copy. Frozen, and the same text for the same content."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from found_footy.simulator.clips.kinds import DEAD, WITHOUT_PICTURE, Alteration, AnyStyle, PostKind, Scene

RENDERER_VERSION = 1
"""Part of every cached file's name: raise it whenever the pictures change."""

Pair = tuple[int, int]
"""Home, away."""


@dataclass(frozen=True, slots=True)
class Footage:
    """A stretch of a broadcast around one moment; everything in the picture follows from these fields."""

    scene: Scene
    venue: str
    """Seeds the stadium, the light and the kits: the same for all of a match."""
    moment: str
    """Seeds the play, the cameras and the cuts."""
    teams: tuple[str, str]
    codes: tuple[str, str]
    style: AnyStyle
    before: Pair
    after: Pair
    """The score; equal to `before` where nothing is scored."""
    side: int
    """Which side attacks: 0 home, 1 away."""
    penalty: bool
    goal_clock: int
    """Seconds of play at which the ball is in the net (or beside it)."""
    half_ends: int
    """Seconds of play at which this half's stoppage time begins."""
    added: int
    """The announced minutes of stoppage time."""
    balls: Pair | None = None
    """Only in cricket: how many balls of the innings are bowled before this one and after it.

    Then `before` and `after` are runs and wickets, and `side` is the one that bats.
    """

    @property
    def scored(self) -> bool:
        return self.before != self.after

    @property
    def key(self) -> str:
        return _digest(_content(self))


@dataclass(frozen=True, slots=True)
class Master:
    """A rendered part of a footage's timeline, in seconds of it, from which all copies are made."""

    footage: Footage
    height: int
    fps: int
    start: float
    end: float

    @property
    def key(self) -> str:
        return _digest(_content(self))


@dataclass(frozen=True, slots=True)
class ClipSpec:
    """One posted file, or a link that leads to none. `start` is in seconds of the footage's timeline."""

    match: int
    goal: int
    """The place of the goal in the match's list."""
    number: int
    """The place of the clip in the goal's list."""
    kind: PostKind
    also: tuple[Alteration, ...]
    after: int
    """Minutes from the goal to the post."""
    master: Master
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
        """Of the file's content alone: who posts it when, and as what, is left out."""
        content = _content(self)
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


def _content(spec: Footage | Master | ClipSpec) -> dict[str, Any]:
    """Football has no balls, and files that were rendered before there was cricket keep their names."""
    return asdict(spec, dict_factory=lambda fields: {k: v for k, v in fields if k != "balls" or v is not None})


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps([RENDERER_VERSION, content], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
