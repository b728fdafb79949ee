"""What was measured of the score feeds: what each says of its matches, how fresh it is, and what was done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from found_footy.domain.feeds.health_values import HealthGrade, HealthSummary, Recovery
from found_footy.domain.feeds.monitoring import MonitorRecord
from found_footy.domain.feeds.quota import Quota


@dataclass(frozen=True, slots=True)
class FeedUse:
    """How a feed was when it was last asked."""

    feed: str
    asked_at: datetime
    answered_at: datetime | None
    error: str | None
    quota: Quota | None


@dataclass(frozen=True, slots=True)
class Declared:
    """A feed of `config/sources.yaml`, and whether it is asked."""

    feed: str
    adapter: str
    precedence: int
    enabled: bool
    """What the file says."""
    on: bool
    switched: bool | None = None
    """What an operator said since, if anything."""
    lacks: str = ""
    """What it needs and does not have, such as a key."""

    @property
    def usable(self) -> bool:
        return self.on and not self.lacks


@dataclass(frozen=True, slots=True)
class MatchFeed:
    """A match of ours in one of its feeds."""

    feed: str
    feed_id: int
    founding: bool = False
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class Dispute:
    """Feeds that said different things of one field of a match."""

    fixture_id: int
    home: str
    away: str
    field: str
    said: Mapping[str, Any]
    """Feed to JSON value."""
    chosen: str
    first_at: datetime
    last_at: datetime
    polls: int


@dataclass(frozen=True, slots=True)
class Doubt:
    """A match of a feed that may be one of ours."""

    feed: str
    feed_id: int
    fixture_id: int
    home: str
    away: str
    kickoff: datetime
    competition: str
    confidence: float
    reasons: tuple[str, ...]
    first_seen: datetime
    our_home: str
    our_away: str
    our_kickoff: datetime
    our_competition: str


@dataclass(frozen=True, slots=True)
class HealthSpan:
    """The judgements of a minute or some: the worst grade, and the highest of each age."""

    at: datetime
    grade: HealthGrade
    median: float
    p95: float
    maximum: float


@dataclass(frozen=True, slots=True)
class HealthKnown:
    """What the watchdog has written down."""

    summary: HealthSummary | None
    """Its last judgement; None before the first."""
    spans: tuple[HealthSpan, ...] = ()
    """The last hours, the oldest first."""
    recoveries: tuple[Recovery, ...] = ()
    """The newest first."""


@dataclass(frozen=True, slots=True)
class AnswersCounted:
    """Of one feed, since the cache began to count."""

    ok: int = 0
    failed: int = 0
    navigation_failures: int = 0
    seconds: float = 0.0
    buckets: Mapping[float, int] = field(default_factory=dict)
    """Upper bound in seconds to how many answers took no longer; `math.inf` for all."""


@dataclass(frozen=True, slots=True)
class Cached:
    """What the cache knows. It may be lost with it."""

    records: tuple[MonitorRecord, ...] = ()
    queues: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Feed to what waits by priority, and `active`."""
    heard: Mapping[int, datetime] = field(default_factory=dict)
    """When each match that is polled at every cycle was last heard of."""
    answers: Mapping[str, AnswersCounted] = field(default_factory=dict)
    recent: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Good and failed answers of the last minutes, by feed."""
    summary: HealthSummary | None = None

    def record(self, feed: str, feed_id: int) -> MonitorRecord | None:
        return next((each for each in self.records if (each.feed, each.feed_id) == (feed, feed_id)), None)


@dataclass(frozen=True, slots=True)
class BrowserSeen:
    """What the browser service says of itself."""

    processes: int = 0
    contexts: int = 0
    pages: int = 0
    uptime_seconds: float = 0.0
    recycles: Mapping[str, int] = field(default_factory=dict)
    """By reason."""
