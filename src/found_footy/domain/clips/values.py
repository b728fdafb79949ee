"""What is known of a source and of its clips. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from found_footy.domain.clips.states import ClipState, SourceState


class SourceKind(StrEnum):
    GOAL = "goal"
    """A kept video of a goal or a wicket."""
    URL = "url"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Master:
    """A source's file in the library: H.264 in MP4, upright, at a constant rate: frame n is shown at n / rate."""

    frames: int
    rate: Fraction
    """Frames a second."""
    width: int
    height: int
    audio: bool
    size: int
    """Bytes."""
    md5: str
    """Of the file; what was found out about it is remembered under this name."""

    @property
    def seconds(self) -> float:
        return float(self.frames / self.rate)


@dataclass(frozen=True, slots=True)
class Source:
    id: int
    kind: SourceKind
    state: SourceState
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What is known of it: for a goal `event_id`, `fixture_id`, `sport`, `competition`, `home`, `away`, `team`,
    `player`, `assist`, `minute` (text), `kind`, `score` (text), `kickoff` (ISO) and `verified`; for others what
    was given."""
    event_id: str | None = None
    video_md5: str | None = None
    """Of the kept video of a goal."""
    url: str | None = None
    upload_key: str | None = None
    master: Master | None = None
    progress: float | None = None
    """Of the stage that is at work, 0 to 1; None where nobody knows."""
    error: str | None = None
    error_kind: str | None = None
    failures: int = 0
    retry_at: datetime | None = None
    submitted_by: str = ""
    created_at: datetime | None = None
    film_deleted_at: datetime | None = None
    """When the last of its clips was thrown away, and with it the master's file."""


@dataclass(frozen=True, slots=True)
class Sprite:
    """One sheet with small pictures of a clip, row by row; picture n shows the clip's frame `n * every`."""

    columns: int
    rows: int
    width: int
    height: int
    """Of one picture."""
    count: int
    every: int
    """Frames from one picture to the next."""
    frames: int
    """Of the clip."""
    rate: Fraction


@dataclass(frozen=True, slots=True)
class Clip:
    """A stretch of a source, from `first` up to but without `end`, counted in frames of its master."""

    id: int
    source_id: int
    first: int
    end: int
    state: ClipState
    live: bool = True
    """Whether it is a tile of its source; one that was split or merged away is not."""
    grouped_with: int | None = None
    settles_at: datetime | None = None
    """Until then its last action can be undone, and no stage takes it."""
    made_by: int | None = None
    """The action (a split or a merge) that made it."""
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None
    claimed_by: str | None = None
    claimed_until: datetime | None = None
    has_file: bool = False
    """One that is its whole source has none: the master is its file."""
    sprite: Sprite | None = None
    error: str | None = None
    error_kind: str | None = None
    failures: int = 0
    retry_at: datetime | None = None

    @property
    def frames(self) -> int:
        return self.end - self.first
