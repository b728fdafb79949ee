"""Services of the routes. Built once by `app.py`, injected into each request as `ServicesDep`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from found_footy.config import Settings
from found_footy.errors import NotFound
from found_footy.web.live import Hub
from found_footy.web.response_cache import ResponseCache

if TYPE_CHECKING:
    from found_footy.access.store import TokenStore
    from found_footy.clips.store import LinkStore
    from found_footy.clips.takedown import TakedownService
    from found_footy.feeds.cache import MonitoringRecords, SnapshotCache
    from found_footy.feeds.quota_estimate import PollingPlan
    from found_footy.feeds.registry import FeedDeclarations
    from found_footy.feeds.store import ListingStore
    from found_footy.fixtures.follow_list import FollowBook
    from found_footy.fixtures.read_store import DocumentReader, MatchdayReader, ProvenanceReader
    from found_footy.library.review_store import ReviewStore
    from found_footy.library.search import LibrarySearchServices
    from found_footy.library.store import LibraryStore
    from found_footy.library.submissions import AddressCheck
    from found_footy.library.views import LibraryViews
    from found_footy.media.processor import MediaProcessor
    from found_footy.notifications.store import NotificationStore
    from found_footy.notifications.subscriptions import SubscriptionService
    from found_footy.operations.health import HealthService
    from found_footy.operations.overview import SetupOverview
    from found_footy.operations.recovery import RecoveryService
    from found_footy.storage.objects.store import ThreadedObjectStore


@dataclass(frozen=True, slots=True)
class LibraryServices:
    store: LibraryStore
    review: ReviewStore
    views: LibraryViews
    address_refusal: AddressCheck
    undo_for: timedelta = timedelta(seconds=60)
    claim_for: timedelta = timedelta(seconds=120)
    search: LibrarySearchServices | None = None


@dataclass(frozen=True, slots=True)
class WebRules:
    """Settings for pages and API."""

    debounce_polls: int = 3
    search_attempts: int = 10
    clock_tolerance_minutes: int = 3
    public_url: str | None = None
    read_access: str = "open"
    video_links: str = "stream"
    session_hours: float = 12
    login_failures: int = 10
    trusted_proxies: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    downloads_per_address: int = 50
    request_seconds: float = 30
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
    free_space_mb: int = 0
    media_origin: str | None = None
    """Origin of signed video links, if they leave this site."""

    @classmethod
    def from_settings(cls, settings: Settings) -> WebRules:
        derived = {"media_origin", "temporal_ui_url"}
        plain = {name: getattr(settings, name) for name in cls.__dataclass_fields__ if name not in derived}
        embedded = f"http://127.0.0.1:{settings.temporal_ui_port}" if settings.temporal_ui_port else None
        ui = settings.temporal_ui_url or embedded
        return cls(**plain, media_origin=settings.media_origin, temporal_ui_url=ui)


@dataclass(frozen=True, slots=True)
class FeedServices:
    """Feed services; None if this system does not have one."""

    book: FeedDeclarations
    pairings: ListingStore
    provenance: ProvenanceReader
    snapshots: SnapshotCache | None = None
    records: MonitoringRecords | None = None
    recovery: RecoveryService | None = None


@dataclass(frozen=True, slots=True)
class FollowServices:
    book: FollowBook
    plan: PollingPlan
    ingest: Callable[[], Awaitable[None]] | None = None
    """Fetches the matches of newly followed teams and competitions. Raises EngineError. None without Temporal."""


@dataclass(frozen=True, slots=True)
class WebServices:
    rules: WebRules
    now: Callable[[], datetime]
    files: ThreadedObjectStore
    media: MediaProcessor
    access: TokenStore
    health: HealthService
    live: Hub
    scores: FeedServices
    links: LinkStore
    reading: DocumentReader
    cache: ResponseCache
    matchday: MatchdayReader
    follow: FollowServices
    overview: Callable[[], Awaitable[SetupOverview]]
    """Setup state, for pages without any data yet. Raises StoreUnavailable."""
    notifications: NotificationStore
    subscriptions: SubscriptionService
    takedowns: TakedownService
    library: LibraryServices

    def library_search(self) -> LibrarySearchServices:
        """Raises NotFound if the library search is not configured."""
        if self.library.search is None:
            raise NotFound("library search is not available on this system")
        return self.library.search


def get_services(connection: HTTPConnection) -> WebServices:
    return cast(WebServices, connection.app.state.services)


async def _get_services(connection: HTTPConnection) -> WebServices:
    """`async`, because FastAPI runs plain functions in a thread for every request."""
    return get_services(connection)


ServicesDep = Annotated[WebServices, Depends(_get_services)]
