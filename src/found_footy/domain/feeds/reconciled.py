"""What several feeds say of one match, made one, with who said what. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from found_footy.domain.fixtures.model import LiveFixture, Team

REJECTED_BELOW = 0.5
"""A field that its reader is less sure of than this is left out."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The latest word of one feed on a match, in the feed's own ids."""

    feed: str
    precedence: int
    live: LiveFixture
    at: datetime
    swapped: bool = False
    """Whether the feed's home side is our away side."""
    founding: bool = False
    """Whether the ids of our teams and players are this feed's."""
    origin: str = ""
    """Who answers in truth; empty where that is the feed itself."""


@dataclass(frozen=True, slots=True)
class Match:
    """A match as we know it: the identity that all feeds are mapped onto."""

    id: int
    home: Team
    away: Team


@dataclass(frozen=True, slots=True)
class Said:
    """One feed's word on one field, as a JSON value."""

    feed: str
    value: Any
    at: datetime
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class FieldOrigin:
    """Whose word on a field counts, and what the others said."""

    chosen: Said
    others: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Feeds that were heard in the same poll and do not agree on a field that they should agree on."""

    field: str
    said: Mapping[str, Any]
    """Feed to JSON value."""
    chosen: str
    """The feed that was believed."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    live: LiveFixture
    """In our own ids; each goal says which feeds list it."""
    origins: Mapping[str, FieldOrigin]
    contradictions: tuple[Contradiction, ...] = ()
