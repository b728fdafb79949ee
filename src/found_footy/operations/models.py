"""Models of operations: feed health, recoveries, measurements, findings and the health report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from found_footy.feeds.models import DoubtfulPairing, MatchMonitoringRecord, Quota
from found_footy.feeds.scheduling import PollPace
from found_footy.fixtures.models import MatchMinute
from found_footy.text import format_duration


class HealthGrade(StrEnum):
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    FAILING = "failing"
    RECOVERING = "recovering"
    """After a recovery, until the first response."""


@dataclass(frozen=True, slots=True)
class FreshnessStats:
    """Ages in seconds of the data of live matches."""

    median: float = 0.0
    p95: float = 0.0
    maximum: float = 0.0
    count: int = 0


@dataclass(frozen=True, slots=True)
class HealthSummary:
    grade: HealthGrade
    since: datetime
    """When the grade last changed."""
    freshness: FreshnessStats
    generated_at: datetime
    last_success: datetime | None = None
    """Last response for any match."""
    stall_seconds: float = 0.0
    """Seconds since the last response, while there are matches to poll."""
    queue: Mapping[str, int] = field(default_factory=dict)
    """Waiting requests by priority: live, imminent, completed."""
    active: int = 0
    """Running requests."""
    failure_ratio: float = 0.0
    paused: tuple[str, ...] = ()
    """Paused matches per feed, such as espn_401."""
    reasons: tuple[str, ...] = ()
    """Why the feeds are not healthy."""


@dataclass(frozen=True, slots=True)
class HealthState:
    """Persistent state of the watchdog's state machine."""

    grade: HealthGrade
    since: datetime
    good_in_a_row: int = 0
    """Consecutive checks with good freshness."""
    recovery_id: str | None = None
    """Audit entry of the current outage, from its first recovery until the feeds are healthy again."""
    recovered_at: datetime | None = None
    """Start of the last recovery."""
    acting_until: datetime | None = None
    """Deadline of a running recovery; once it has passed, its watchdog has died."""
    judged_at: datetime | None = None
    """Time of the last check."""
    resumed_at: datetime | None = None
    """When checks started or resumed after a gap, in which polling may have been stopped too."""
    revision: int = 0
    """Version for optimistic locking: a save based on an older state is refused."""


class RecoveryAction(StrEnum):
    BROWSER_RECYCLE = "browser_recycle"
    SOFT_RESTART = "soft_restart"
    MANUAL_TRIGGER = "manual_trigger"
    CONTEXT_POOL_RESET = "context_pool_reset"
    """Close the pages and contexts of a running browser."""


class RecoveryOutcome(StrEnum):
    SUCCESS = "success"
    """Healthy again within the recovery time."""
    PARTIAL = "partial"
    """Better, but not healthy yet."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Recovery:
    """An entry of the audit log."""

    id: str
    at: datetime
    action: RecoveryAction
    trigger: str
    """Human-readable reason."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """State before the action: grade, freshness, processes, …"""
    after: Mapping[str, Any] = field(default_factory=dict)
    outcome: RecoveryOutcome | None = None
    """None while running."""
    seconds: float | None = None
    """Duration of the action."""
    healthy_at: datetime | None = None
    """When the feeds were healthy again."""


@dataclass(frozen=True, slots=True)
class HealthSample:
    """One check of the watchdog, for the history."""

    at: datetime
    grade: HealthGrade
    median: float
    p95: float
    maximum: float
    matches: int
    failure_ratio: float


# --- Measurements of the score feeds.


@dataclass(frozen=True, slots=True)
class MatchUpdate:
    """A live match, with the time of its last save or, without one, of its activation."""

    fixture_id: int
    saved_at: datetime
    listings: tuple[tuple[str, int], ...] = ()
    """Feed and feed id of each listing."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Memory of the cache, in bytes."""

    used: int
    limit: int
    """0 if unlimited."""

    @property
    def share(self) -> float:
        return self.used / self.limit if self.limit else 0.0


@dataclass(frozen=True, slots=True)
class FeedUse:
    """Last request to a feed."""

    feed: str
    asked_at: datetime
    answered_at: datetime | None
    error: str | None
    quota: Quota | None


@dataclass(frozen=True, slots=True)
class LibraryStageUse:
    """Backlog of a library stage, and its runs so far."""

    stage: str
    waiting: int
    running: int
    retrying: int
    """Failed, with an automatic retry."""
    parked: int
    """Failed; only a person can retry them."""
    done: int
    failed: int
    seconds: float
    """Total duration of the runs that are done."""

    @property
    def mean_seconds(self) -> float | None:
        return self.seconds / self.done if self.done else None


@dataclass(frozen=True, slots=True)
class FeedDeclaration:
    """A feed of `config/sources.yaml`, and whether it is polled."""

    feed: str
    adapter: str
    precedence: int
    enabled: bool
    """Setting in the file."""
    on: bool
    switched: bool | None = None
    """Override by an operator, if any."""
    lacks: str = ""
    """Missing requirement, such as a key."""

    @property
    def usable(self) -> bool:
        return self.on and not self.lacks


@dataclass(frozen=True, slots=True)
class MatchFeed:
    """A match as listed by one feed."""

    feed: str
    feed_id: int
    founding: bool = False
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A conflict between feeds about one field of a match."""

    fixture_id: int
    home: str
    away: str
    field: str
    reported: Mapping[str, Any]
    """Feed to JSON value."""
    chosen: str
    first_at: datetime
    last_at: datetime
    polls: int


@dataclass(frozen=True, slots=True)
class HealthSpan:
    """Checks of a few minutes: the worst grade, and the maximum of each age."""

    at: datetime
    grade: HealthGrade
    median: float
    p95: float
    maximum: float


@dataclass(frozen=True, slots=True)
class HealthKnown:
    """Feed health as stored by the watchdog."""

    summary: HealthSummary | None
    """Last check; None before the first."""
    spans: tuple[HealthSpan, ...] = ()
    """Last hours, oldest first."""
    recoveries: tuple[Recovery, ...] = ()
    """Newest first."""


@dataclass(frozen=True, slots=True)
class AnswersCounted:
    """Responses of one feed since the cache started counting."""

    ok: int = 0
    failed: int = 0
    navigation_failures: int = 0
    seconds: float = 0.0
    buckets: Mapping[float, int] = field(default_factory=dict)
    """Cumulative counts by upper bound in seconds; `math.inf` for all."""


@dataclass(frozen=True, slots=True)
class CacheFacts:
    """Feed data in the cache, which may be lost with it."""

    records: tuple[MatchMonitoringRecord, ...] = ()
    queues: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Per feed: waiting requests by priority, and `active`."""
    last_updates: Mapping[int, datetime] = field(default_factory=dict)
    """Last response for each live match."""
    intervals: Mapping[int, timedelta] = field(default_factory=dict)
    """Planned poll interval by match, where it is known."""
    paces: Mapping[str, PollPace] = field(default_factory=dict)
    """Pace of each feed at its last poll, where it is known."""
    answers: Mapping[str, AnswersCounted] = field(default_factory=dict)
    recent: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Successful and failed responses of the last minutes, by feed."""
    summary: HealthSummary | None = None
    memory: MemoryUse | None = None

    def record(self, feed: str, feed_id: int) -> MatchMonitoringRecord | None:
        return next((each for each in self.records if (each.feed, each.feed_id) == (feed, feed_id)), None)


@dataclass(frozen=True, slots=True)
class BrowserSeen:
    """Facts reported by the browser service."""

    processes: int = 0
    contexts: int = 0
    pages: int = 0
    uptime_seconds: float = 0.0
    recycles: Mapping[str, int] = field(default_factory=dict)
    """Count by reason."""
    canary_error: str = ""
    """Class of the error of its last test search of X; empty if it succeeded, and without one."""
    canary_message: str = ""
    canary_since: datetime | None = None


# --- Findings: one per cause, with advice.


class SystemGrade(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    grade: SystemGrade
    what: str
    since: datetime | None
    advice: str
    place: str
    """Section of the operations page with details."""
    event_id: str | None = None
    fixture_id: int | None = None
    subject: str = ""
    """What it is about, if findings of one kind can be about several things and no goal or match tells them apart."""

    @property
    def key(self) -> str:
        """The same while the problem lasts, however its text changes."""
        return "/".join(str(part) for part in (self.kind, self.event_id or self.fixture_id, self.subject) if part)


MISSED_CHECKS = 4


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """Settings used to assess a measurement."""

    poll: timedelta = timedelta(seconds=30)
    search_silence: timedelta = timedelta(seconds=600)
    state_age: timedelta = timedelta(seconds=60)
    """Maximum age of the watchdog's last check; after that, the feeds' grade is unknown."""
    stale: timedelta = timedelta(seconds=45)
    """Age from which a match is listed as stale."""
    save_lag: timedelta = timedelta(seconds=80)
    """Maximum time between a feed's response and its save."""
    coverage: CoverageObjective = field(default_factory=lambda: CoverageObjective())

    @classmethod
    def from_seconds(
        cls,
        *,
        poll: float = 30,
        search_silence: float = 600,
        health: float = 15,
        stale: float = 45,
        feed_patience: float = 20,
    ) -> HealthLimits:
        return cls(
            poll=timedelta(seconds=poll),
            search_silence=timedelta(seconds=search_silence),
            state_age=timedelta(seconds=max(60.0, MISSED_CHECKS * health)),
            stale=timedelta(seconds=stale),
            # Two polls: a response that is too late for one of them is saved by the next.
            save_lag=timedelta(seconds=2 * poll + feed_patience),
        )


# --- Measurement of the running system, without assessment.


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """A match in the live poll."""

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
    """Feeds that list the match, the founding one first."""
    elapsed: int | None = None
    """Minutes; overs in cricket."""
    clock_moved_at: datetime | None = None
    """When the clock (in cricket the score) or the status last changed."""

    @property
    def since(self) -> datetime:
        """Time of the last known data."""
        return self.polled_at or self.activated_at


@dataclass(frozen=True, slots=True)
class OpenGoal:
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
    search_started: bool
    """Whether the search has started."""
    searched_at: datetime | None
    attempts: int
    unanswered: int
    """Latest consecutive searches without a response from any source."""
    states: Mapping[str, int] = field(default_factory=dict)
    """Count of posts by state: waiting, downloading, checking, kept, duplicate, lost."""
    innings: int | None = None
    """Innings of a wicket; None in football."""

    @property
    def moment(self) -> str:
        """Formatted minute: 67', 90+3', or 12.3 ov."""
        return str(MatchMinute(self.elapsed, self.extra, self.innings))

    @property
    def last_activity(self) -> datetime:
        return self.searched_at or self.stable_at or self.first_seen


@dataclass(frozen=True, slots=True)
class SourceUse:
    """One social source over the last day."""

    source: str
    answers: int
    failures: int
    found: int
    answered_at: datetime | None
    consecutive_failures: int
    failing_since: datetime | None
    error_kind: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class Hour:
    """Searches made in an hour, and posts found in it that were rejected since."""

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
    """Due time of the oldest delivery that could have been sent."""
    dead_since: datetime | None
    paused: int
    """Subscriptions that are paused."""


@dataclass(frozen=True, slots=True)
class LeagueCoverage:
    """Goals of a league's last week whose search has ended, by their best clip."""

    league: str
    verified: int
    unverified: int
    none: int
    seconds: tuple[float, ...]
    """From the first report of each goal to its first published clip."""


COVERAGE_WINDOWS: Mapping[int, str] = {6: "6h", 24: "1d", 72: "3d", 168: "7d"}
"""Names of the windows of the coverage objective, by hours."""


@dataclass(frozen=True, slots=True)
class CoverageWindow:
    """Goals of a league whose deadline for a first clip was met or passed in the last hours."""

    league: str
    hours: int
    in_time: int
    missed: int


@dataclass(frozen=True, slots=True)
class CoverageObjective:
    """The share of a league's goals that should have a clip in time."""

    within: timedelta = timedelta(minutes=15)
    """From the first report of a goal to its first clip."""
    share: float = 0.8
    shares: Mapping[str, float] = field(default_factory=dict)
    """Of single leagues, by name."""

    def share_of(self, league: str) -> float:
        return self.shares.get(league, self.share)

    def burn_rate(self, window: CoverageWindow) -> float:
        """How fast the misses that the objective allows are used up: at 1, exactly as many as allowed."""
        total = window.in_time + window.missed
        return window.missed / total / (1 - self.share_of(window.league)) if total else 0.0


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """Facts from the database."""

    matches: tuple[LiveMatch, ...]
    goals: tuple[OpenGoal, ...]
    goals_in_work: int
    """Total, including goals that are not listed."""
    sources: tuple[SourceUse, ...]
    hours: tuple[Hour, ...]
    feeds: tuple[FeedUse, ...]
    deliveries: Deliveries
    goals_by_status: Mapping[str, int]
    clips: Mapping[str, int]
    """Published clips: verified, unverified."""
    outbox_position: int
    """Last position of the outbox."""
    matches_total: int = 0
    """Including live matches that are not listed."""
    schema_problems: tuple[str, ...] = ()
    """Migrations in which the database differs from this version."""
    disputes: tuple[FieldConflict, ...] = ()
    """Conflicts of the last hour, latest first."""
    doubts: tuple[DoubtfulPairing, ...] = ()
    """Pairings that await a decision."""
    checks: tuple[ServiceCheck, ...] = ()
    """Live checks of services, failing ones first."""
    library: tuple[LibraryStageUse, ...] = ()
    """Stages of the clip library, in their order."""
    storage: tuple[StorageUse, ...] = ()
    coverage: tuple[LeagueCoverage, ...] = ()
    """By league, of the last week."""
    coverage_windows: tuple[CoverageWindow, ...] = ()

    @property
    def feed(self) -> FeedUse | None:
        """The feed with the latest request."""
        return max(self.feeds, key=lambda each: each.asked_at, default=None)


@dataclass(frozen=True, slots=True)
class Worker:
    identity: str
    """Such as `4711@desk found-footy/1.2.0`."""
    seen_at: datetime

    @property
    def version(self) -> str | None:
        """None if the worker does not report it."""
        return self.identity.partition("found-footy/")[2] or None


@dataclass(frozen=True, slots=True)
class Queue:
    """The workflow or activity queue of the Temporal task queue, or the activity queue of a kind of work."""

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
    """Name of the task queue."""
    queues: tuple[Queue, ...]
    running: Mapping[str, int]
    """Running workflows by type."""
    failed: int
    """Workflows that failed, timed out or were terminated in the last hour."""
    schedules: tuple[ScheduleState, ...]
    stuck: tuple[StuckWorkflow, ...] = ()
    """Workflows that have been running for too long, oldest first, limited in number."""


@dataclass(frozen=True, slots=True)
class StuckWorkflow:
    id: str
    type: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume of this machine. With less than `floor` bytes free, work that needs it is rejected."""

    name: str
    free: int
    size: int
    floor: int


@dataclass(frozen=True, slots=True)
class StorageUse:
    """Size of an area of the object store, or of the database, at the last daily measurement."""

    area: str
    objects: int
    bytes: int
    measured_at: datetime


@dataclass(frozen=True, slots=True)
class Disk:
    free: int
    size: int

    @property
    def share_free(self) -> float:
        return self.free / self.size if self.size else 1.0


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Availability of a dependency."""

    name: str
    state: str
    """ok, failed, or off (not configured)."""
    summary: str = ""
    detail: str = ""
    """For operators only, because it may contain host names."""


@dataclass(frozen=True, slots=True)
class Measurement:
    at: datetime
    engines: tuple[EngineStatus, ...]
    recorded: DatabaseFacts | None
    """None if the database is unavailable."""
    temporal: TemporalState | None
    disk: Disk | None = None
    outbox_read: int | None = None
    """Outbox position that live updates have reached."""
    listeners: int = 0
    health: HealthKnown | None = None
    """None if the database is unavailable."""
    cached: CacheFacts | None = None
    """None if the cache is unavailable or not configured."""
    declared: tuple[FeedDeclaration, ...] | None = None
    """By precedence, highest first; None if the file of feeds cannot be read."""
    browser: BrowserSeen | None = None
    """None if the browser service is unavailable or not configured."""
    volumes: tuple[Volume, ...] = ()

    @property
    def summary(self) -> HealthSummary | None:
        """Latest check of the feeds, from database or cache, of any age."""
        known = [each.summary for each in (self.health, self.cached) if each is not None and each.summary is not None]
        return max(known, key=lambda summary: summary.generated_at, default=None)

    def judged(self, within: timedelta) -> HealthSummary | None:
        """Return the latest check if it is recent enough."""
        summary = self.summary
        return summary if summary is not None and self.at - summary.generated_at <= within else None

    @property
    def judged_seconds(self) -> float | None:
        """Age of the latest check."""
        return max(0.0, (self.at - self.summary.generated_at).total_seconds()) if self.summary else None


# --- Health report, shared by every surface.


UNKNOWN = "unknown"
"""Grade of the feeds while no watchdog checks them, and before any feed was requested."""
NO_USABLE_FEED = "no feed is enabled and configured"
WORKING_GRADES = frozenset({HealthGrade.HEALTHY, HealthGrade.DEGRADED})


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The single source of `footy health`, `/health`, `/status`, `/metrics` and the operations page."""

    measured: Measurement
    limits: HealthLimits
    findings: tuple[Finding, ...]
    """Worst first."""
    feeds_grade: str
    """Watchdog's grade of the feeds, or unknown."""
    no_data: str = ""
    """Why there is no data about the matches; empty if a feed responds."""

    @property
    def at(self) -> datetime:
        return self.measured.at

    @property
    def grade(self) -> SystemGrade:
        """Grade of the whole system: that of the worst finding."""
        grades = {finding.grade for finding in self.findings}
        return next((grade for grade in (SystemGrade.FAILED, SystemGrade.DEGRADED) if grade in grades), SystemGrade.OK)

    @property
    def headline(self) -> str:
        number = len(self.findings)
        if number == 0:
            return "No problems"
        return "1 problem" if number == 1 else f"{number} problems"

    @property
    def state(self) -> HealthSummary | None:
        """Watchdog's last check, if recent enough."""
        return self.measured.judged(self.limits.state_age)

    @property
    def is_working(self) -> bool:
        """Whether the system works: nothing has failed, and the feeds are known to be healthy or degraded."""
        return self.grade is not SystemGrade.FAILED and self.feeds_grade in WORKING_GRADES

    @property
    def database_answers(self) -> bool:
        return self.measured.recorded is not None


# --- Live checks of services, and responses of unexpected form.


class CheckKind(StrEnum):
    FEED = "feed"
    SOURCE = "source"
    HOST = "host"
    """A clip host."""
    SERVICE = "service"
    """Anything else: team names, vision server, object store, browser."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check."""

    name: str
    """Stable name: `feed espn`, `source reddit`, `team names`."""
    kind: CheckKind
    ok: bool
    checked_at: datetime
    asked: str
    """Requests sent, one per line: method, host, path, query. Empty if the check needs no HTTP."""
    response: str
    """Status, size and seconds of the decisive request; empty without HTTP."""
    summary: str
    """The adapter's summary, or its error."""
    error_class: str = ""
    hint: str = ""
    seconds: float = 0.0
    retryable: bool = False

    @property
    def answer(self) -> str:
        return "; ".join(filter(None, (self.response, self.summary)))


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """Last result of a service, and since when its state has lasted."""

    name: str
    kind: CheckKind
    ok: bool
    since: datetime
    """First check of the current state."""
    last_ok_at: datetime | None
    checked_at: datetime
    asked: str
    answer: str
    error_class: str = ""
    hint: str = ""

    def history(self, now: datetime) -> str:
        """Format the history: `working for 3 d`, or `failing for 2 h, last worked 2 h 5 min ago`."""
        lasted = format_duration(now - self.since)
        if self.ok:
            return f"working for {lasted}"
        if self.last_ok_at is None:
            return f"failing for {lasted}, never worked"
        return f"failing for {lasted}, last worked {format_duration(now - self.last_ok_at)} ago"


@dataclass(frozen=True, slots=True)
class UnexpectedAnswer:
    """A response that an adapter could not use, redacted, for a bug report."""

    name: str
    at: datetime
    error_class: str
    message: str
    request: str
    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
