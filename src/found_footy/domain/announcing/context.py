"""What has to be known beside a piece of news to decide upon it and to put it into words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Match:
    id: int
    kickoff: datetime
    league_id: int
    league: str
    country: str | None
    home_id: int
    home: str
    away_id: int
    away: str


@dataclass(frozen=True, slots=True)
class Goal:
    id: str
    team: str
    player: str | None
    minute: str


@dataclass(frozen=True, slots=True)
class Context:
    """Of one piece of news. A match that is past retention is None: there is nothing left to tell of it."""

    match: Match | None = None
    goal: Goal | None = None
    verified: Mapping[str, bool] = field(default_factory=dict)
    """The goal's clips by MD5, and whether each is verified."""
    withdrawn: bool = False
    """Whether the goal had been withdrawn before this was said."""


def video_id(event_id: str, md5: str) -> str:
    """A video's public name, as the database gives it."""
    return hashlib.md5(f"{event_id}/{md5}".encode(), usedforsecurity=False).hexdigest()[:16]
