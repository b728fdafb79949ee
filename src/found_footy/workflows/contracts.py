"""What workflows and activities say to each other: one value in, one value out, and a written policy for each call.

Workflows call activities only through the `Call`s below; the implementations are registered under the same names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey

In = TypeVar("In")
Out = TypeVar("Out")

EVENT_ID = SearchAttributeKey.for_keyword("EventId")
INGEST_SCHEDULE = "ingest-daily"


HEARTBEAT = timedelta(seconds=6)
"""A worker that was killed is missed after this long, and not only when the activity's time is over."""


LONGEST_WAIT = timedelta(seconds=15)
"""Between two tries of a patient call: whoever comes back is not kept waiting."""


@dataclass(frozen=True)
class Call(Generic[In, Out]):
    """An activity with its time limit and its retries."""

    name: str
    result: type[Out]
    timeout: timedelta
    attempts: int
    first_wait: timedelta = timedelta(seconds=1)

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.timeout <= timedelta():
            raise ValueError(f"{self.name}: attempts and timeout must be positive")

    async def __call__(self, argument: In) -> Out:
        answer: Out = await workflow.execute_activity(
            self.name,
            argument,
            result_type=self.result,
            start_to_close_timeout=self.timeout,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RetryPolicy(
                initial_interval=self.first_wait, backoff_coefficient=2.0, maximum_attempts=self.attempts
            ),
        )
        return answer

    async def patiently(self, argument: In, patience: timedelta) -> Out:
        """The same for what must not be given up while somebody else is away: retried until the time is over."""
        answer: Out = await workflow.execute_activity(
            self.name,
            argument,
            result_type=self.result,
            start_to_close_timeout=self.timeout,
            schedule_to_close_timeout=patience,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RetryPolicy(
                initial_interval=self.first_wait, backoff_coefficient=2.0, maximum_interval=LONGEST_WAIT
            ),
        )
        return answer


def _seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


# --- ingest


@dataclass(frozen=True)
class IngestInput:
    """What to fetch: the given fixtures, or `days` from `day` on (today where it is not given)."""

    fixture_ids: list[int] = field(default_factory=list)
    day: str | None = None
    """ISO date; a date is no type that Temporal's converter knows."""
    days: int = 3
    days_before: int = 0
    """Days before the first; a match that began before midnight may still be on."""
    look_ahead_days: int = 30
    retention_days: float = 14


@dataclass(frozen=True)
class IngestDay:
    day: str
    at: datetime


@dataclass(frozen=True)
class IngestIds:
    fixture_ids: list[int]
    at: datetime


@dataclass(frozen=True)
class Ingested:
    """What came of asking for a day, or for some fixtures."""

    found: int = 0
    tracked: int = 0
    added: int = 0
    rejected: int = 0
    unknown: list[int] = field(default_factory=list)
    joined: int = 0
    """Matches that another feed had brought in already."""
    doubtful: int = 0
    """Matches that may be one that we know; a person decides."""


@dataclass(frozen=True)
class CleanUp:
    before: datetime


@dataclass(frozen=True)
class CleanedUp:
    deleted: int


@dataclass(frozen=True)
class IngestResult:
    days: dict[str, Ingested] = field(default_factory=dict)
    fixtures: Ingested | None = None
    deleted: int = 0


INGEST_DAY: Call[IngestDay, Ingested] = Call("ingest_day", Ingested, _seconds(60), 3)
INGEST_FIXTURES: Call[IngestIds, Ingested] = Call("ingest_fixtures", Ingested, _seconds(60), 3)
CLEANUP_OLD_FIXTURES: Call[CleanUp, CleanedUp] = Call("cleanup_old_fixtures", CleanedUp, _seconds(120), 2)


# --- monitor


@dataclass(frozen=True)
class MonitorInput:
    pass


@dataclass(frozen=True)
class PollInput:
    """A poll is known by its workflow's id, so that it counts once however often it is retried."""

    id: str
    at: datetime


@dataclass(frozen=True)
class Activated:
    fixture_ids: list[int]


@dataclass(frozen=True)
class StagingPolled:
    asked: int = 0
    moved: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Polled:
    asked: int = 0
    answered: int = 0
    failed: int = 0
    completed: int = 0
    to_search: list[str] = field(default_factory=list)
    slowed: str = ""
    """Why this poll was left out to save the day's requests; empty where it was not."""


@dataclass(frozen=True)
class MonitorResult:
    polled: Polled
    staging: StagingPolled
    activated: int = 0
    searches_started: list[str] = field(default_factory=list)


PRE_ACTIVATE: Call[PollInput, Activated] = Call("pre_activate_upcoming_fixtures", Activated, _seconds(15), 3)
POLL_STAGING: Call[PollInput, StagingPolled] = Call("poll_staging_fixtures", StagingPolled, _seconds(60), 2)
POLL_ACTIVE: Call[PollInput, Polled] = Call("poll_active_fixtures", Polled, _seconds(60), 3)


# --- search


@dataclass(frozen=True)
class SearchInput:
    event_id: str


@dataclass(frozen=True)
class SearchResult:
    searched: bool
    reason: str = ""
    attempts: int = 0
    downloads: int = 0


@dataclass(frozen=True)
class EventWorkflow:
    event_id: str
    workflow_id: str


@dataclass(frozen=True)
class Team:
    id: int
    name: str
    league: str = ""
    country: str | None = None


@dataclass(frozen=True)
class SearchPlan:
    """How often and how long to search; it comes from the settings of the worker that begins."""

    attempts: int
    most_attempts: int
    seconds: float
    """From the start of one search to the next."""
    gap_seconds: float
    """From the end of one search to the next, at least."""
    patience_seconds: float
    """How long, after the last search, its downloads may take."""
    teams: list[Team]


@dataclass(frozen=True)
class StillWanted:
    wanted: bool
    plan: SearchPlan | None = None
    """None in the histories from before there was anything to search."""


@dataclass(frozen=True)
class Done:
    pass


SET_MONITOR_COMPLETE: Call[EventWorkflow, StillWanted] = Call(
    "set_monitor_complete", StillWanted, _seconds(30), 5, _seconds(2)
)
SET_DOWNLOAD_COMPLETE: Call[EventWorkflow, Done] = Call("set_download_complete", Done, _seconds(30), 5, _seconds(2))


def search_id(event_id: str) -> str:
    return f"search-{event_id}"
