"""A match as a feed lists it, and where it may belong. Values only; `pairing` decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from found_footy.domain.fixtures.model import Sport


@dataclass(frozen=True, slots=True)
class Listing:
    feed: str
    feed_id: int
    """The feed's own."""
    sport: Sport
    home: tuple[str, ...]
    """All names of the side that are known: the feed's name and short name, aliases."""
    away: tuple[str, ...]
    kickoff: datetime
    competition: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A match that we know, around the same time."""

    fixture_id: int
    sport: Sport
    home: tuple[str, ...]
    away: tuple[str, ...]
    kickoff: datetime
    competition: str


class Sameness(StrEnum):
    SAME = "same"
    DOUBTFUL = "doubtful"
    """Not made; a person decides."""
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Pairing:
    sameness: Sameness
    fixture_id: int | None = None
    """The match that it is, or may be."""
    swapped: bool = False
    confidence: float = 0.0
    reasons: tuple[str, ...] = ()
    """In words for the operator: what speaks for it, and against."""
