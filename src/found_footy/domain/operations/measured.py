"""What was measured of the running system, at one moment. Nothing here judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from found_footy.domain.feeds.health_values import HealthSummary
from found_footy.domain.fixtures.model import Minute
from found_footy.domain.operations.feeds_measured import (
    BrowserSeen,
    Cached,
    Declared,
    Dispute,
    Doubt,
    FeedUse,
    HealthKnown,
    MatchFeed,
)
from found_footy.domain.operations.service_checks import ServiceCheck


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """A match that is polled at every cycle."""

    fixture_id: int
    home: str
    away: str
    status: str
    polled_at: datetime | None
    activated_at: datetime
    error_kind: str | None = None
    error_message: str | None = None
    sport: str = "football"
    listings: tuple[MatchFeed, ...] = ()
    """Where it is listed, the feed that founded it first."""
    elapsed: int | None = None
    """Minutes; in cricket overs."""
    clock_moved_at: datetime | None = None
    """When the clock, in cricket the score, last said something else, or the status did."""

    @property
    def since(self) -> datetime:
        """Of what we know of it."""
        return self.polled_at or self.activated_at


@dataclass(frozen=True, slots=True)
class GoalInWork:
    event_id: str
    fixture_id: int
    home: str
    away: str
    player: str | None
    elapsed: int
    extra: int | None
    status: str
    seen: int
    first_seen: datetime
    stable_at: datetime | None
    begun: bool
    """Whether its search has begun."""
    searched_at: datetime | None
    attempts: int
    unanswered: int
    """The latest searches in a row that no source answered."""
    states: Mapping[str, int] = field(default_factory=dict)
    """Its posts by state: waiting, downloading, checking, kept, duplicate, lost."""
    innings: int | None = None
    """Of a wicket; None in football."""

    @property
    def moment(self) -> str:
        """67', 90+3', or 12.3 ov."""
        return str(Minute(self.elapsed, self.extra, self.innings))

    @property
    def sign_of_life(self) -> datetime:
        return self.searched_at or self.stable_at or self.first_seen


@dataclass(frozen=True, slots=True)
class SourceUse:
    """One social source over the last day."""

    source: str
    answers: int
    failures: int
    found: int
    answered_at: datetime | None
    failures_in_a_row: int
    failing_since: datetime | None
    error_kind: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class Hour:
    """Searches that were made, and posts that were found in it and lost since."""

    at: datetime
    answered: int
    failed: int
    losses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Deliveries:
    waiting: int
    delivered: int
    dead: int
    cancelled: int
    overdue_since: datetime | None
    """When the oldest of those that could have been sent was due."""
    dead_since: datetime | None
    paused: int
    """Subscriptions that get nothing for the time being."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the database knows."""

    matches: tuple[LiveMatch, ...]
    goals: tuple[GoalInWork, ...]
    goals_in_work: int
    """Also those beyond what is listed."""
    sources: tuple[SourceUse, ...]
    hours: tuple[Hour, ...]
    feeds: tuple[FeedUse, ...]
    deliveries: Deliveries
    goals_by_status: Mapping[str, int]
    clips: Mapping[str, int]
    """Published ones: verified, unverified."""
    news: int
    """The last position of the news."""
    lacking: tuple[str, ...] = ()
    """Migrations that this version needs and the database does not have."""
    disputes: tuple[Dispute, ...] = ()
    """Of the last hour, the latest first."""
    doubts: tuple[Doubt, ...] = ()
    """Pairings that wait for a person."""
    checks: tuple[ServiceCheck, ...] = ()
    """Live checks of services, failing ones first."""

    @property
    def feed(self) -> FeedUse | None:
        """The one that was asked last."""
        return max(self.feeds, key=lambda each: each.asked_at, default=None)


@dataclass(frozen=True, slots=True)
class Worker:
    identity: str
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class Queue:
    """One of the two queues of Temporal that our workers take work from."""

    kind: str
    workers: tuple[Worker, ...]
    backlog: int
    backlog_age: timedelta


@dataclass(frozen=True, slots=True)
class ScheduleState:
    id: str
    paused: bool
    note: str | None
    last_run: datetime | None
    next_run: datetime | None


@dataclass(frozen=True, slots=True)
class TemporalState:
    name: str
    """Of the task queue."""
    queues: tuple[Queue, ...]
    running: Mapping[str, int]
    """Workflows by type."""
    failed: int
    """Workflows of the last hour that ended badly."""
    schedules: tuple[ScheduleState, ...]


@dataclass(frozen=True, slots=True)
class Disk:
    free: int
    size: int

    @property
    def share_free(self) -> float:
        return self.free / self.size if self.size else 1.0


@dataclass(frozen=True, slots=True)
class Engine:
    """Whether something that we depend on answers."""

    name: str
    state: str
    """ok, failed, or off: not set up, and nothing is wrong with that."""
    said: str = ""
    detail: str = ""
    """For operators only: it may name machines."""


@dataclass(frozen=True, slots=True)
class Measured:
    at: datetime
    engines: tuple[Engine, ...]
    recorded: Recorded | None
    """None where the database does not answer."""
    temporal: TemporalState | None
    disk: Disk | None = None
    news_read: int | None = None
    """The position that live updates have reached."""
    listeners: int = 0
    health: HealthKnown | None = None
    """None where the database does not answer."""
    cached: Cached | None = None
    """None where the cache does not answer, or there is none."""
    declared: tuple[Declared, ...] | None = None
    """The most trusted first; None where the file that declares them cannot be read."""
    browser: BrowserSeen | None = None
    """None where there is none, or it does not answer."""

    @property
    def summary(self) -> HealthSummary | None:
        """The latest judgement of the feeds' health, wherever it can be read and however old it is."""
        known = [each.summary for each in (self.health, self.cached) if each is not None and each.summary is not None]
        return max(known, key=lambda summary: summary.generated_at, default=None)

    def judged(self, within: timedelta) -> HealthSummary | None:
        """The same while it holds: what nobody judges any more is not known, whatever it was."""
        summary = self.summary
        return summary if summary is not None and self.at - summary.generated_at <= within else None

    @property
    def judged_seconds(self) -> float | None:
        """How old the latest judgement is."""
        return max(0.0, (self.at - self.summary.generated_at).total_seconds()) if self.summary else None
