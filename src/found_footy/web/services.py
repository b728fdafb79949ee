"""What the routes are given: built once by the composition root, and found by each request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from found_footy.domain.feeds.quota_estimate import PollingPlan
from found_footy.follow_book import FollowBook
from found_footy.ports import MediaReader
from found_footy.ports_announcing import Messenger, SubscriptionBook
from found_footy.ports_feeds import MonitorRecords, Snapshots
from found_footy.setup_overview import SetupOverview
from found_footy.web.answers.kept import KeptAnswers
from found_footy.web.library_services import LibraryServices
from found_footy.web.live.hub import Hub
from found_footy.web.operating.watching import Watch
from found_footy.web.ports import (
    AccessStore,
    ClipFiles,
    FeedBook,
    FeedReading,
    GoalReading,
    LinkReading,
    MatchdayReading,
    MatchWordsReading,
    PairingBook,
    Reading,
    Recovering,
)


@dataclass(frozen=True, slots=True)
class WebRules:
    """The settings that the pages and the API go by."""

    debounce_polls: int = 3
    search_attempts: int = 10
    clock_tolerance_minutes: int = 3
    public_url: str | None = None
    read_access: str = "open"
    video_links: str = "stream"
    session_hours: float = 12
    login_failures: int = 10
    stream_clients: int = 2000
    stream_heartbeat_seconds: float = 15
    poll_seconds: float = 30
    stale_seconds: float = 45
    health_seconds: float = 15
    fresh_seconds: float = 60
    failing_seconds: float = 120
    stall_seconds: float = 90
    pause_failures: int = 5
    pause_seconds: float = 120
    recovery_seconds: float = 120
    recovery_pause_seconds: float = 900
    temporal_ui_url: str | None = None
    temporal_namespace: str = "default"
    private_hosts: tuple[str, ...] = ()
    web_host: str = "127.0.0.1"
    search_silence_seconds: float = 600
    source_mb: int = 20_000
    media_origin: str | None = None
    """Where signed links to videos lead, if not here."""


@dataclass(frozen=True, slots=True)
class ScoreFeeds:
    """What the routes about the score feeds are given. None is what this system has not."""

    book: FeedBook
    pairings: PairingBook
    words: MatchWordsReading
    snapshots: Snapshots | None = None
    records: MonitorRecords | None = None
    recovering: Recovering | None = None


@dataclass(frozen=True, slots=True)
class FollowServices:
    """What the Follow page and its API are given."""

    book: FollowBook
    plan: PollingPlan
    ingest: Callable[[], Awaitable[None]] | None = None
    """Fetches the matches of what was added. Raises EngineError; None where there is no Temporal."""


@dataclass(frozen=True, slots=True)
class Services:
    rules: WebRules
    now: Callable[[], datetime]
    goals: GoalReading
    files: ClipFiles
    media: MediaReader
    access: AccessStore
    watch: Watch
    live: Hub
    feeds: FeedReading
    scores: ScoreFeeds
    links: LinkReading
    reading: Reading
    kept: KeptAnswers
    matchday: MatchdayReading
    follow: FollowServices
    overview: Callable[[], Awaitable[SetupOverview]]
    """What is followed and switched on, for pages that have nothing else to show. Raises StoreUnavailable."""
    subscriptions: SubscriptionBook
    messengers: Mapping[str, Messenger]
    """By the kind of subscription; the pages only check targets with them."""
    library: LibraryServices


def services_of(connection: HTTPConnection) -> Services:
    return cast(Services, connection.app.state.services)


async def _given(connection: HTTPConnection) -> Services:
    """For FastAPI, which would send a function that is not `async` to a thread, at every request."""
    return services_of(connection)


Given = Annotated[Services, Depends(_given)]
