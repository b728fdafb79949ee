"""A goal as the Atom feeds tell of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from found_footy.domain.fixtures.model import Minute, Score


@dataclass(frozen=True, slots=True)
class FeedClip:
    id: str
    file_size: int


@dataclass(frozen=True, slots=True)
class FeedGoal:
    id: str
    fixture_id: int
    league: str
    home: str
    away: str
    team: str
    player: str | None
    minute: Minute
    after: Score
    published: datetime
    """When its first clip could be fetched."""
    updated: datetime
    clips: int
    verified: int
    best: FeedClip
    withdrawn: str | None = None
    """The reason, where it was taken back."""
