"""Composition root: builds adapters, services, workers and schedules from the settings."""

from __future__ import annotations

import asyncio
import gc
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from pydantic import SecretStr
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    WorkflowHandle,
)
from temporalio.worker import Worker

from found_footy.access.store import TokenStore
from found_footy.browser.client import HttpBrowserControl
from found_footy.clips.activities import (
    DownloadActivities,
    UploadActivities,
    VerificationActivities,
)
from found_footy.clips.download_http import DownloadLimits
from found_footy.clips.downloader import WebDownloader, open_downloader
from found_footy.clips.filters import FilterRules
from found_footy.clips.frame_selection import Vision, read_clip
from found_footy.clips.models import FrameReading
from found_footy.clips.store import ClipStore, LinkStore
from found_footy.clips.workflow import DownloadWorkflow, UploadWorkflow, upload_starter
from found_footy.config import ALL_SOURCES, Settings
from found_footy.discovery.activities import AliasActivities, SearchActivities, SearchRules
from found_footy.discovery.bluesky import Bluesky
from found_footy.discovery.folder import Folder
from found_footy.discovery.fxtwitter import SOURCE as FXTWITTER
from found_footy.discovery.fxtwitter import FxTwitter
from found_footy.discovery.reddit import Reddit
from found_footy.discovery.reddit_reader import RedditKeys
from found_footy.discovery.selection import SelectionRules
from found_footy.discovery.sources import SocialSource
from found_footy.discovery.wikidata import Wikidata, is_contact
from found_footy.discovery.workflow import AliasWorkflow, SearchWorkflow
from found_footy.discovery.x import XSource
from found_footy.errors import CacheUnavailable, EngineError, NotFound, SettingsError, VisionError
from found_footy.feeds.activities import FeedActivities, PollContext, poll_rules
from found_footy.feeds.cache import FeedCache, FeedCounters, FreshnessIndex, MonitoringRecords
from found_footy.feeds.registration import TrackedIds
from found_footy.feeds.registry import (
    DeclaredFeed,
    FeedRegistry,
    FeedSwitches,
    build_feed,
    check_feeds,
    declared_feeds,
    open_cache,
    open_feeds,
    polling_plan,
)
from found_footy.feeds.store import ListingStore
from found_footy.feeds.workflow import FeedWorkflow
from found_footy.fixtures.activities import IngestActivities, MonitorActivities
from found_footy.fixtures.follow_list import FollowBook, FollowStore
from found_footy.fixtures.following import describe_following, following_of
from found_footy.fixtures.ingest import ingest_order, trigger_ingest
from found_footy.fixtures.models import INGEST_SCHEDULE, FixtureStage, IngestResult, MonitorInput, Sport
from found_footy.fixtures.read_store import DocumentReader, MatchdayReader, ProvenanceReader
from found_footy.fixtures.retention import RetentionActivities
from found_footy.fixtures.store import FixtureStore, open_store
from found_footy.fixtures.workflow import IngestWorkflow, MonitorWorkflow
from found_footy.library.activities import DispatchActivities, StageActivities, StageRules
from found_footy.library.embedders import Embedder, build_embedders
from found_footy.library.embedding_store import EmbeddingStore
from found_footy.library.master_cache import MasterCache
from found_footy.library.review_store import ReviewStore
from found_footy.library.search import LibrarySearch
from found_footy.library.source_download import SourceFetcher, open_source_fetcher
from found_footy.library.stages import DISPATCHER_ID, Lane, LibraryInput
from found_footy.library.store import LibraryStore
from found_footy.library.views import LibraryViews
from found_footy.library.workflow import LibraryWorkflow, StageWorkflow
from found_footy.media.processor import IMAGE_PROCESSES, IMAGE_SECONDS, MediaProcessor
from found_footy.notifications.activities import NotificationActivities
from found_footy.notifications.apprise import AppriseSender
from found_footy.notifications.models import Sender
from found_footy.notifications.store import NotificationStore
from found_footy.notifications.subscriptions import SubscriptionService
from found_footy.notifications.webhook import WebhookSender
from found_footy.notifications.workflow import NOTIFY, DeliveryWorkflow, NotificationInput, NotificationWorkflow
from found_footy.operations.canary import CanaryActivities, CanaryInput
from found_footy.operations.check_store import PostgresServiceChecks, PostgresUnexpectedAnswers
from found_footy.operations.feed_health import HealthRules
from found_footy.operations.health import HealthService
from found_footy.operations.models import Disk, FeedDeclaration, HealthLimits
from found_footy.operations.overview import SetupOverview, SwitchState
from found_footy.operations.ports import HealthCache, HealthStore
from found_footy.operations.probe import BrowserProbe, CacheProbe, FeedProbe, HealthProbe, SystemProbe
from found_footy.operations.recovery import Recovering, TemporalPoller
from found_footy.operations.service_checks import CheckKind, CheckResult, Probe, ServiceChecker
from found_footy.operations.store import PostgresHealth, PostgresOperations, RedisHealthCache
from found_footy.operations.temporal_status import TemporalStatus
from found_footy.operations.unexpected_answers import UnexpectedAnswerRecorder
from found_footy.operations.workflow import CANARY, CanaryWorkflow
from found_footy.recordings.recorder import MatchRecorder
from found_footy.recordings.store import RecordingStore
from found_footy.runtime.addresses import AddressPolicy
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.supervisor import LocalWorkers, Supervisor
from found_footy.runtime.system import run_system
from found_footy.runtime.temporal import connect_temporal, register_schedules
from found_footy.runtime.worker import activities_of, activity_worker, pipeline_worker
from found_footy.secrets import build_redactor
from found_footy.storage.migrations import watch_schema
from found_footy.storage.objects.store import ThreadedObjectStore
from found_footy.storage.outbox import OutboxReader
from found_footy.storage.postgres import AdvisoryLock, Database
from found_footy.storage.read_pool import ReadPool
from found_footy.storage.redis import RedisCache
from found_footy.storage.semaphore import LeaseSemaphore, RateLimit
from found_footy.storage.shared_cache import RedisSharedCache
from found_footy.storage.source_limits import LocalSourceLimits, RedisSourceLimits, SourceLimits
from found_footy.storage.stores import build_objects
from found_footy.web.app import create_app
from found_footy.web.live import Hub, raise_file_limit
from found_footy.web.response_cache import ResponseCache
from found_footy.web.services import (
    FeedServices,
    FollowServices,
    LibrarySearchServices,
    LibraryServices,
    WebRules,
    WebServices,
)


@dataclass(frozen=True, slots=True)
class Health:
    store: PostgresHealth
    cache: HealthCache
    freshness: FreshnessIndex
    records: MonitoringRecords
    counters: FeedCounters
    recovering: Recovering
    leading: AdvisoryLock
    browser: HttpBrowserControl | None


@asynccontextmanager
async def open_health(settings: Settings) -> AsyncIterator[Health]:
    """Connect lazily, so that the watchdog can start while a service is down."""
    if settings.database_url is None or settings.redis_url is None:
        raise EngineError("no database or no cache is known; start `footy up`, or set DATABASE_URL and REDIS_URL")
    url = settings.database_url.get_secret_value()
    async with AsyncExitStack() as stack:
        cache = RedisCache(settings.redis_url.get_secret_value())
        stack.push_async_callback(cache.aclose)
        database = Database(url, max_size=4)
        await database.open()
        stack.push_async_callback(database.close)
        leading = AdvisoryLock(url)
        stack.push_async_callback(leading.release)
        store, copies = PostgresHealth(database), build_health_cache(settings, cache)
        records = MonitoringRecords(cache)
        yield Health(
            store=store,
            cache=copies,
            freshness=FreshnessIndex(cache),
            records=records,
            counters=FeedCounters(cache),
            recovering=await build_recovering(settings, store, copies, records),
            leading=leading,
            browser=build_browser_control(settings),
        )


async def build_recovering(
    settings: Settings, store: HealthStore, cache: HealthCache, records: MonitoringRecords
) -> Recovering:
    poller = None
    if settings.temporal_address is not None:
        polls = [MonitorWorkflow.__name__, FeedWorkflow.__name__]
        client = await connect_temporal(settings, lazy=True)
        poller = TemporalPoller(client, settings.task_queue, polls, MONITOR_SCHEDULE)
    return Recovering(
        store,
        cache,
        _now,
        browser=build_browser_control(settings),
        workers=LocalWorkers(settings.data_dir),
        poller=poller,
        records=records,
    )


def build_health_cache(settings: Settings, cache: RedisCache) -> RedisHealthCache:
    return RedisHealthCache(cache, every=timedelta(seconds=settings.health_seconds))


def build_browser_control(settings: Settings) -> HttpBrowserControl | None:
    return HttpBrowserControl(settings.browser_url) if settings.browser_url else None


def health_rules(settings: Settings) -> HealthRules:
    return HealthRules(
        fresh=settings.fresh_seconds,
        failing=settings.failing_seconds,
        stall=settings.stall_seconds,
        recovery=settings.recovery_seconds,
        recovery_pause=settings.recovery_pause_seconds,
        gap=max(HealthRules().gap, 4 * settings.health_seconds),
    )


def saving_lag(settings: Settings) -> timedelta:
    return health_limits(settings).save_lag


def _now() -> datetime:
    return datetime.now(UTC)


# --- Score feeds of the web process.


@dataclass(frozen=True, slots=True)
class WebFeeds:
    scores: FeedServices
    looks: FeedProbe


class RegistryBook:
    """Declared feeds and their switches. The file is read on first use, so that an unreadable one breaks no page."""

    def __init__(self, settings: Settings, switches: FeedSwitches) -> None:
        self._settings, self._switches = settings, switches
        self._made: FeedRegistry | None = None

    async def declared(self) -> Sequence[FeedDeclaration]:
        if self._made is None:
            settings = self._settings
            # Building a feed reveals missing settings; no request is made.
            self._made = FeedRegistry(
                declared_feeds(settings), lambda source: build_feed(settings, source, None), self._switches
            )
        return [_declared(each) for each in await self._made.declared()]

    async def switch(self, feed: str, on: bool | None) -> FeedDeclaration:
        if not any(each.feed == feed for each in await self.declared()):
            raise NotFound(f"no feed {feed!r} is declared")
        await self._switches.switch(feed, on)
        return next(each for each in await self.declared() if each.feed == feed)

    async def aclose(self) -> None:
        if self._made is not None:
            await self._made.aclose()


def _declared(each: DeclaredFeed) -> FeedDeclaration:
    source = each.source
    return FeedDeclaration(
        source.id, source.adapter, source.precedence, source.enabled, each.on, each.switched, each.lacks
    )


@asynccontextmanager
async def open_web_feeds(settings: Settings, store: FixtureStore) -> AsyncIterator[WebFeeds]:
    if settings.redis_url is None:
        async with aclosing(RegistryBook(settings, FeedSwitches(None))) as book:
            yield _without_cache(settings, store, book)
        return
    async with open_cache(settings) as cache, aclosing(RegistryBook(settings, FeedSwitches(cache))) as book:
        yield await _with_cache(settings, store, book, cache)


def _without_cache(settings: Settings, store: FixtureStore, book: RegistryBook) -> WebFeeds:
    database = store.database
    return WebFeeds(
        FeedServices(book, ListingStore(database), ProvenanceReader(database)),
        FeedProbe(HealthProbe(PostgresHealth(database)), None, book, _browser(settings)),
    )


async def _with_cache(settings: Settings, store: FixtureStore, book: RegistryBook, cache: RedisCache) -> WebFeeds:
    database, memory = store.database, FeedCache(cache)
    health, copies = PostgresHealth(database), build_health_cache(settings, cache)
    return WebFeeds(
        FeedServices(
            book,
            ListingStore(database),
            ProvenanceReader(database),
            memory.snapshots,
            memory.records,
            await build_recovering(settings, health, copies, memory.records),
        ),
        FeedProbe(
            HealthProbe(health),
            CacheProbe(memory.records, memory.freshness, memory.counters, copies, cache.check_writable),
            book,
            _browser(settings),
        ),
    )


def _browser(settings: Settings) -> BrowserProbe | None:
    control = build_browser_control(settings)
    return BrowserProbe(control) if control else None


# --- Clip library of the web process.


def build_web_library(settings: Settings, store: FixtureStore, readers: ReadPool) -> LibraryServices:
    undo_for = timedelta(seconds=settings.undo_seconds)
    return LibraryServices(
        store=LibraryStore(store.database),
        review=ReviewStore(store.database, undo_for),
        views=LibraryViews(readers),
        address_refusal=AddressPolicy(settings.private_hosts).check,
        undo_for=undo_for,
        claim_for=timedelta(seconds=settings.claim_seconds),
    )


# --- Workflows of a worker.


WORKFLOWS = (
    AliasWorkflow,
    CanaryWorkflow,
    DeliveryWorkflow,
    DownloadWorkflow,
    FeedWorkflow,
    IngestWorkflow,
    LibraryWorkflow,
    MonitorWorkflow,
    NotificationWorkflow,
    SearchWorkflow,
    StageWorkflow,
    UploadWorkflow,
)


# --- Schedules.


MONITOR_SCHEDULE = "monitor-every-30s"
NOTIFY_SCHEDULE = "notify"
LIBRARY_SCHEDULE = "library-work"
CANARY_SCHEDULE = "canary-daily"
ALL_SCHEDULES = frozenset({INGEST_SCHEDULE, MONITOR_SCHEDULE, NOTIFY_SCHEDULE, LIBRARY_SCHEDULE, CANARY_SCHEDULE})
START_NOW = frozenset({NOTIFY_SCHEDULE, LIBRARY_SCHEDULE, CANARY_SCHEDULE})
"""Schedules whose first run starts when they are created."""


def schedules(settings: Settings) -> dict[str, Schedule]:
    canary = timedelta(hours=settings.canary_hours)
    poll = timedelta(seconds=settings.poll_seconds)
    return {
        INGEST_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                IngestWorkflow.run, ingest_order(settings), id="ingest-scheduled", task_queue=settings.task_queue
            ),
            spec=ScheduleSpec(cron_expressions=["5 0 * * *"]),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(days=1)),
        ),
        MONITOR_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                MonitorWorkflow.run,
                MonitorInput(),
                id="monitor-scheduled",
                task_queue=settings.task_queue,
                # A poll that hangs would block all later ones.
                execution_timeout=max(10 * poll, timedelta(minutes=5)),
            ),
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=poll)]),
            # No catch-up after downtime: the next poll covers everything that the missed ones would have seen.
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(seconds=10)),
        ),
        NOTIFY_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                NotificationWorkflow.run,
                NotificationInput(),
                id=NOTIFY,
                task_queue=settings.task_queue,
                # Longer than all rounds of a run; a hanging run would block the next one.
                execution_timeout=timedelta(hours=2),
            ),
            # Runs do not overlap: the buffered one starts as soon as the current one closes, whatever its status.
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=30))]),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(seconds=10)),
        ),
        LIBRARY_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                LibraryWorkflow.run,
                LibraryInput(seconds=settings.library_seconds),
                id=DISPATCHER_ID,
                task_queue=settings.task_queue,
                execution_timeout=timedelta(hours=6),
            ),
            # Like NOTIFY_SCHEDULE: one run polls many times, because one run per poll would cost ten times as much.
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=30))]),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(seconds=10)),
        ),
        CANARY_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                CanaryWorkflow.run,
                CanaryInput(),
                id=CANARY,
                task_queue=settings.task_queue,
                execution_timeout=timedelta(minutes=20),
            ),
            # Offset and jitter keep installations from calling third-party services at midnight or all at once.
            spec=ScheduleSpec(
                intervals=[ScheduleIntervalSpec(every=canary, offset=canary / 4)],
                jitter=min(timedelta(hours=1), canary / 4),
            ),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=canary),
        ),
    }


async def prepare_temporal(client: Client, settings: Settings) -> bool:
    """Register the schedules. Return True if the ingest schedule is new, so nothing was ever ingested."""
    # The demo's simulator limits requests by its script; the canary would use some of them.
    start_now = START_NOW - {CANARY_SCHEDULE} if settings.profile == "demo" else START_NOW
    return INGEST_SCHEDULE in await register_schedules(client, schedules(settings), start_now=start_now)


# --- Adapters and the pipeline worker.


log = logging.getLogger(__name__)


class Closable(Protocol):
    async def aclose(self) -> None: ...


Closing = TypeVar("Closing", bound=Closable)


def build_vision(settings: Settings) -> Vision:
    if settings.llama_url is None:
        from found_footy.clips.ocr_vision import OcrVision  # loads OpenCV and the models' runtime

        return OcrVision()
    from found_footy.clips.llama_vision import LlamaVision

    return LlamaVision(settings.llama_url, timeout=settings.vision_timeout_seconds, model=settings.llama_model)


def fxtwitter_limits(settings: Settings, cache: RedisCache | None) -> SourceLimits:
    """Rate limit of FxTwitter, shared by all workers if there is a cache."""
    rate = RateLimit(60 / settings.fxtwitter_per_minute, burst=10)
    local = LocalSourceLimits(rate=rate)
    if cache is None:
        return local
    wait = settings.source_timeout_seconds / 2
    return RedisSourceLimits(cache, FXTWITTER, rate=rate, wait_seconds=wait, fallback=local)


def build_sources(settings: Settings, cache: RedisCache | None = None) -> list[SocialSource]:
    """Build the configured sources that have all required settings; `sources_off` explains the others.

    Workers with the same `cache` share responses and rate limits.
    """
    timeout = settings.source_timeout_seconds
    off = sources_off(settings)
    built: list[SocialSource] = []
    for name in settings.sources:
        if name in off:
            continue
        match name:
            case "fxtwitter":
                limits = fxtwitter_limits(settings, cache)
                built.append(
                    FxTwitter(settings.fxtwitter_url, settings.x_url, timeout=timeout, limits=limits, now=_now)
                )
            case "x":
                built.append(XSource(settings.browser_url or "", settings.x_url, timeout=timeout, now=_now))
            case "bluesky":
                handle, password = settings.bluesky_handle or "", settings.bluesky_password or SecretStr("")
                secret = password.get_secret_value()
                built.append(Bluesky(settings.bluesky_url, handle, secret, timeout=timeout, now=_now))
            case "reddit":
                built.append(_build_reddit(settings, cache))
            case "folder":
                built.append(Folder(settings.drop_folder or Path(), now=_now))
    return built


def _build_reddit(settings: Settings, cache: RedisCache | None) -> Reddit:
    return Reddit(
        settings.reddit_url,
        settings.reddit_subreddit,
        settings.reddit_cricket_subreddit,
        timeout=settings.source_timeout_seconds,
        extra_hosts=settings.private_hosts,
        ways=settings.reddit_ways,
        keys=_reddit_keys(settings),
        oauth_url=settings.reddit_oauth_url,
        shared=None if cache is None else RedisSharedCache(cache, "reddit"),
        fresh_seconds=settings.reddit_fresh_seconds,
        comment_threads=settings.reddit_comment_threads,
        now=_now,
    )


def _reddit_keys(settings: Settings) -> RedditKeys | None:
    client_id, secret = settings.reddit_client_id, settings.reddit_client_secret
    if client_id is None or secret is None:
        return None
    return RedditKeys(client_id.get_secret_value(), secret.get_secret_value())


def sources_off(settings: Settings) -> dict[str, str]:
    """Return the configured sources that lack a setting, each with that setting."""
    lacking = {
        "x": "BROWSER_URL, the address of `footy browser`" if settings.browser_url is None else "",
        "bluesky": ""
        if settings.bluesky_handle and settings.bluesky_password
        else "FOOTY_BLUESKY_HANDLE and FOOTY_BLUESKY_PASSWORD",
        "reddit": ""
        if any(way != "oauth" or _reddit_keys(settings) for way in settings.reddit_ways)
        else "FOOTY_REDDIT_CLIENT_ID and FOOTY_REDDIT_CLIENT_SECRET, or another way in FOOTY_REDDIT_WAYS",
        "folder": "FOOTY_DROP_FOLDER" if settings.drop_folder is None else "",
    }
    return {name: lacking[name] for name in settings.sources if lacking.get(name)}


def contact_missing(settings: Settings) -> bool:
    """Whether requests to Wikimedia carry no contact address or page of the operator."""
    return not is_contact(settings.wikidata_contact)


def build_wikidata(settings: Settings) -> Wikidata:
    return Wikidata(
        settings.wikidata_url,
        settings.wikidata_sparql_url,
        timeout=settings.source_timeout_seconds,
        contact=settings.wikidata_contact,
    )


def build_downloader(settings: Settings) -> WebDownloader:
    limits = DownloadLimits(
        settings.download_mb * 1024 * 1024,
        settings.download_seconds,
        settings.download_redirects,
        settings.private_hosts,
        impersonate=settings.download_impersonate,
    )
    return open_downloader(
        limits,
        x_syndication_url=settings.x_syndication_url,
        fxtwitter_url=settings.fxtwitter_url,
        x_url=settings.x_url,
        drop_folder=settings.drop_folder,
        plc_url=settings.plc_url,
    )


def build_senders(settings: Settings) -> dict[str, Sender]:
    """Build the senders by subscription kind."""
    seconds, hosts = settings.webhook_timeout_seconds, settings.private_hosts
    return {
        "webhook": WebhookSender(seconds=seconds, private_hosts=hosts, now=_now),
        "notify": AppriseSender(seconds=seconds, private_hosts=hosts),
    }


def search_rules(settings: Settings) -> SearchRules:
    return SearchRules(
        attempts=settings.search_attempts,
        max_attempts=max(settings.search_attempts, settings.search_attempts_most),
        every=timedelta(seconds=settings.search_seconds),
        gap=timedelta(seconds=settings.search_gap_seconds),
        source_timeout=timedelta(seconds=settings.source_timeout_seconds),
        vision_patience=timedelta(seconds=settings.vision_patience_seconds),
        selection=SelectionRules(settings.candidates, timedelta(seconds=settings.post_age_seconds)),
    )


def recorded_rules(settings: Settings) -> dict[str, float]:
    """Return the settings that affect how a goal is handled; a replay needs the same values."""
    names = (
        "poll_seconds",
        "feed_patience_seconds",
        "debounce_polls",
        "drop_polls",
        "over_polls",
        "same_goal_minutes",
        "search_attempts",
        "search_attempts_most",
        "search_seconds",
        "search_gap_seconds",
        "post_age_seconds",
        "candidates",
    )
    return {name: float(getattr(settings, name)) for name in names}


VISION_LEASE_SECONDS = 10.0
VISION_PERMIT_SECONDS = 30.0
"""How long an attempt of a vision check waits for its permit before Temporal retries it."""


async def vision_permit(settings: Settings, cache: RedisCache) -> Callable[[], AbstractAsyncContextManager[None]]:
    """At most `FOOTY_VISION_CALLS` vision checks at once, over all workers."""
    semaphore = LeaseSemaphore(cache, lease_seconds=VISION_LEASE_SECONDS)
    try:
        await semaphore.prepare("vision")
    except CacheUnavailable as error:  # vision checks wait until it is back
        log.warning("%s", error, extra={"action": "vision_permit_not_prepared"})
    return partial(semaphore.permit, "vision", settings.vision_calls, wait_seconds=VISION_PERMIT_SECONDS, strict=True)


async def _warm(vision: Vision) -> None:
    try:
        await vision.check()
    except VisionError as error:
        log.error(str(error), extra={"action": "vision_not_ready", "error": error.kind})


@asynccontextmanager
async def open_worker(settings: Settings, client: Client, others: Sequence[object] = ()) -> AsyncIterator[Worker]:
    """Build a worker and its clients without starting it. `others` are objects with additional activities."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        clips = ClipStore(store.database)

        def closing(made: Closing) -> Closing:
            stack.push_async_callback(made.aclose)
            return made

        follows = FollowBook(settings.follow, FollowStore(store.database))
        feeds = await stack.enter_async_context(open_feeds(settings, follows))
        listings, rules = ListingStore(store.database), poll_rules(settings)
        objects = closing(build_objects(settings))
        recorder = MatchRecorder(RecordingStore(store.database), objects, recorded_rules(settings))
        media = closing(MediaProcessor(settings.media_memory_mb, settings.media_seconds))
        vision = closing(build_vision(settings))
        if settings.llama_url is None:
            # Otherwise the first verification waits two seconds for the models.
            warming = asyncio.create_task(_warm(vision), name="load the OCR")
            stack.callback(warming.cancel)
        keeper = UnexpectedAnswerRecorder(PostgresUnexpectedAnswers(store.database, build_redactor(settings), _now))
        filters = FilterRules(settings.clip_seconds_least, settings.clip_seconds_most, settings.clip_aspect_least)

        permit = await vision_permit(settings, feeds.cache)

        async def read_frames(path: Path, sport: Sport) -> Sequence[FrameReading]:
            return (await read_clip(vision, path, media.frames_at, sport)).readings

        yield pipeline_worker(
            client,
            settings.task_queue,
            WORKFLOWS,
            activities_of(
                IngestActivities(
                    store,
                    listings,
                    feeds.registry,
                    settings.lifecycle,
                    TrackedIds(settings.tracked_teams, settings.tracked_leagues),
                    follows,
                    keeper,
                ),
                RetentionActivities(store, objects),
                FeedActivities(feeds.registry, listings, PollContext(store, feeds.memory, recorder, rules, keeper)),
                MonitorActivities(
                    store,
                    listings,
                    feeds.memory,
                    feeds.registry,
                    settings.certainty,
                    settings.lifecycle,
                    recorder,
                    fresh_for=rules.snapshot_ttl(FixtureStage.ACTIVE),
                    search_silence=timedelta(seconds=settings.search_silence_seconds),
                ),
                AliasActivities(clips, closing(build_wikidata(settings)), _now, keeper),
                SearchActivities(
                    store,
                    clips,
                    objects,
                    [closing(source) for source in build_sources(settings, feeds.cache)],
                    search_rules(settings),
                    _now,
                    recorder,
                    keeper,
                ),
                DownloadActivities(clips, objects, closing(build_downloader(settings)), media, filters, _now, keeper),
                VerificationActivities(clips, objects, read_frames, settings.clock_tolerance_minutes, permit, keeper),
                UploadActivities(
                    clips, objects, upload_starter(client, settings.task_queue, settings.upload_idle_seconds)
                ),
                NotificationActivities(
                    NotificationStore(store.database),
                    {kind: closing(each) for kind, each in build_senders(settings).items()},
                    timedelta(hours=settings.delivery_hours),
                    settings.public_url,
                ),
                *others,
            ),
        )


# --- Live checks: one probe per enabled feed, source and service.


RECHECK_SECONDS = 30.0


class Checkable(Protocol):
    async def check(self) -> str: ...

    async def aclose(self) -> None: ...


def now() -> datetime:
    return datetime.now(UTC)


def build_checker(settings: Settings) -> ServiceChecker:
    return ServiceChecker(now, build_redactor(settings))


def build_unexpected_answers(settings: Settings, database: Database) -> PostgresUnexpectedAnswers:
    return PostgresUnexpectedAnswers(database, build_redactor(settings), now)


async def feeds_declared(settings: Settings) -> Sequence[DeclaredFeed]:
    """Return the declared feeds, with the operator's switches if a cache is configured. Raises SettingsError."""
    if settings.redis_url is not None:
        async with open_feeds(settings) as feeds:
            return await feeds.registry.declared()
    declared = []
    for source in declared_feeds(settings)():
        try:
            await build_feed(settings, source, None).aclose()
            lacks = ""
        except SettingsError as error:
            lacks = str(error)
        declared.append(DeclaredFeed(source, source.enabled, None, lacks if source.enabled else ""))
    return declared


def build_probes(settings: Settings, feeds: Sequence[DeclaredFeed]) -> list[Probe]:
    """Build a probe for everything that is enabled and configured. Connections open only when a probe runs."""
    probes = [
        _probe(f"feed {each.source.id}", CheckKind.FEED, partial(build_feed, settings, each.source, None))
        for each in feeds
        if each.on and not each.lacks
    ]
    off = sources_off(settings)
    for name in settings.sources:
        if name not in off:
            probes.append(_probe(f"source {name}", CheckKind.SOURCE, partial(_source, settings, name)))
    probes.append(_probe("team names", CheckKind.SERVICE, partial(build_wikidata, settings)))
    probes.append(_probe("object store", CheckKind.SERVICE, partial(build_objects, settings)))
    if settings.llama_url is not None:
        probes.append(_probe("vision server", CheckKind.SERVICE, partial(build_vision, settings)))
    browser = build_browser_control(settings)
    if browser is not None:
        probes.append(Probe("browser", CheckKind.SERVICE, browser.check))
    return probes


def _probe(name: str, kind: CheckKind, build: Callable[[], Checkable]) -> Probe:
    """Return a probe that builds the adapter for each run, because a run closes it."""

    async def check() -> str:
        opened = build()
        try:
            return await opened.check()
        finally:
            await opened.aclose()

    return Probe(name, kind, check)


def _source(settings: Settings, name: str) -> Checkable:
    (source,) = build_sources(settings.model_copy(update={"sources": (name,)}))
    return source


def build_canary(settings: Settings, database: Database) -> CanaryActivities:
    async def check() -> Sequence[CheckResult]:
        probes = build_probes(settings, await feeds_declared(settings))
        return await build_checker(settings).run_patiently(probes, RECHECK_SECONDS)

    return CanaryActivities(check, PostgresServiceChecks(database))


# --- Clip library.


@dataclass(frozen=True, slots=True)
class Library:
    """Stores and models that the library's commands and workers share."""

    database: Database
    store: LibraryStore
    objects: ThreadedObjectStore
    embedders: tuple[Embedder, ...]
    """Searches use the first one."""
    vectors: EmbeddingStore

    @property
    def models(self) -> dict[str, str]:
        return {each.name: each.version for each in self.embedders}


def source_bytes(settings: Settings) -> int:
    return settings.source_mb * 1_000_000


def build_workshop(settings: Settings) -> MediaProcessor:
    return MediaProcessor(
        settings.media_memory_mb,
        settings.source_media_seconds,
        max_processes=settings.library_at_once,
        max_video_seconds=settings.source_hours * 3600,
        max_video_bytes=source_bytes(settings),
    )


def build_source_fetcher(settings: Settings) -> SourceFetcher:
    limits = DownloadLimits(
        source_bytes(settings),
        settings.source_media_seconds,
        settings.download_redirects,
        settings.private_hosts,
        impersonate=settings.download_impersonate,
    )
    return open_source_fetcher(
        limits,
        x_syndication_url=settings.x_syndication_url,
        fxtwitter_url=settings.fxtwitter_url,
        x_url=settings.x_url,
        longest_seconds=settings.source_hours * 3600,
        plc_url=settings.plc_url,
    )


@asynccontextmanager
async def open_search(settings: Settings, database: Database) -> AsyncIterator[LibrarySearchServices]:
    """Open the library search for the pages, the API and the CLI. Raises SettingsError."""
    async with AsyncExitStack() as stack:
        embedders = build_embedders(settings)
        for each in embedders:
            stack.push_async_callback(each.aclose)
        stills = MediaProcessor(settings.media_memory_mb, IMAGE_SECONDS, max_processes=IMAGE_PROCESSES)
        stack.push_async_callback(stills.aclose)
        yield LibrarySearchServices(LibrarySearch(database, embedders), stills)


@asynccontextmanager
async def open_library(settings: Settings) -> AsyncIterator[Library]:
    """Raises EngineError if no database is configured."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        embedders = tuple(build_embedders(settings))
        for each in embedders:
            stack.push_async_callback(each.aclose)
        library = LibraryStore(store.database)
        yield Library(store.database, library, objects, embedders, EmbeddingStore(store.database))


@asynccontextmanager
async def open_workers(settings: Settings, client: Client) -> AsyncIterator[list[Worker]]:
    """Build the workers without starting them.

    The first runs workflows and their activities; each of the others runs one lane of library stages.
    """
    async with AsyncExitStack() as stack:
        library = await stack.enter_async_context(open_library(settings))
        dispatch = DispatchActivities(
            library.store,
            ReviewStore(library.database, timedelta(seconds=settings.undo_seconds)),
            library.objects,
            client,
            library.models,
            _now,
            poll_seconds=settings.library_seconds,
            max_per_stage=settings.library_queue_most,
        )
        canary = build_canary(settings, library.database)
        live = await stack.enter_async_context(open_worker(settings, client, [dispatch, canary]))
        others = []
        for lane in Lane:
            stages = await stack.enter_async_context(_open_stages(settings, library))
            queue = f"{settings.task_queue}-{lane.task_queue_suffix}"
            others.append(
                activity_worker(client, queue, activities_of(stages), max_concurrent=settings.library_at_once)
            )
        yield [live, *others]


@asynccontextmanager
async def _open_stages(settings: Settings, library: Library) -> AsyncIterator[StageActivities]:
    async with AsyncExitStack() as stack:
        media = build_workshop(settings)
        stack.push_async_callback(media.aclose)
        fetcher = build_source_fetcher(settings)
        stack.push_async_callback(fetcher.aclose)
        cache = MasterCache(library.objects)
        stack.push_async_callback(cache.aclose)
        rules = StageRules(source_bytes(settings), settings.scene_seconds_least, settings.keyframes)
        yield StageActivities(
            library.store,
            library.objects,
            cache,
            media,
            fetcher,
            library.embedders,
            library.vectors,
            rules,
            _now,
        )


# --- Setup overview of `footy up`, `footy init` and the matchday page.


async def setup_overview(settings: Settings, database: Database | None, now: datetime) -> SetupOverview:
    """Describe the setup, including runtime changes if there is a database. Raises StoreUnavailable."""
    follows = None if database is None else FollowStore(database)
    changes = () if follows is None else await follows.changes()
    return SetupOverview(
        following=describe_following(following_of(settings.follow, changes)),
        feeds=await _feeds(settings),
        sources=source_states(settings),
        next_match=None if follows is None else await follows.next_kickoff(now),
    )


async def _feeds(settings: Settings) -> tuple[SwitchState, ...]:
    try:
        declared = await feeds_declared(settings)
    except SettingsError as error:
        return (SwitchState("feeds", False, str(error)),)
    return tuple(
        SwitchState(each.source.id, each.on and not each.lacks, each.lacks if each.on else "switched off")
        for each in declared
    )


def source_states(settings: Settings) -> tuple[SwitchState, ...]:
    lacking = sources_off(settings)
    return tuple(
        SwitchState(name, True)
        if name in settings.sources and name not in lacking
        else SwitchState(name, False, f"needs {lacking[name]}" if name in lacking else "not in FOOTY_SOURCES")
        for name in ALL_SOURCES
    )


# --- Web process.


def web_rules(settings: Settings) -> WebRules:
    derived = {"media_origin", "temporal_ui_url"}
    plain = {name: getattr(settings, name) for name in WebRules.__dataclass_fields__ if name not in derived}
    embedded = f"http://127.0.0.1:{settings.temporal_ui_port}" if settings.temporal_ui_port else None
    return WebRules(**plain, media_origin=media_origin(settings), temporal_ui_url=settings.temporal_ui_url or embedded)


def media_origin(settings: Settings) -> str | None:
    """Return the origin of signed object URLs, or None without S3."""
    if not (settings.object_store_url or "").startswith("s3://"):
        return None
    server = urlsplit(settings.s3_endpoint or f"https://s3.{settings.s3_region}.amazonaws.com")
    return f"{server.scheme}://{server.netloc}"


@asynccontextmanager
async def open_hub(settings: Settings) -> AsyncIterator[Hub]:
    if settings.database_url is None:
        raise EngineError("no database is known; start `footy up`, or set DATABASE_URL")
    listeners, heartbeat = raise_file_limit(settings.stream_clients), settings.stream_heartbeat_seconds
    async with (
        OutboxReader(settings.database_url.get_secret_value()) as news,
        Hub(news, most_listeners=listeners, heartbeat_seconds=heartbeat) as hub,
    ):
        yield hub


@asynccontextmanager
async def open_readers(settings: Settings) -> AsyncIterator[ReadPool]:
    assert settings.database_url is not None  # or the store would not have opened
    readers = ReadPool(settings.database_url.get_secret_value())
    await readers.open()
    try:
        yield readers
    finally:
        await readers.close()


@asynccontextmanager
async def open_health_service(settings: Settings) -> AsyncIterator[HealthService]:
    """Open the service behind `footy health`, which also reports a database that is down."""
    if settings.database_url is None:
        raise EngineError("DATABASE_URL is not set. Start `footy up`, or point DATABASE_URL at a PostgreSQL server.")
    async with AsyncExitStack() as stack:
        database = Database(settings.database_url.get_secret_value(), max_size=4)
        await database.open()
        stack.push_async_callback(database.close)
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        store = FixtureStore(database)
        feeds = await stack.enter_async_context(open_web_feeds(settings, store))
        yield await build_health_service(settings, store, objects, None, feeds.looks)


async def build_health_service(
    settings: Settings, store: FixtureStore, objects: ThreadedObjectStore, live: Hub | None, feeds: FeedProbe
) -> HealthService:
    """Connect to Temporal on the first measurement, so that pages are served without it."""
    temporal = None
    if settings.temporal_address is not None:
        client = await connect_temporal(settings, lazy=True)
        temporal = TemporalStatus(client, settings.task_queue, [each.__name__ for each in WORKFLOWS])
    kept_here = settings.object_store_url is None or settings.object_store_url.startswith("file:")
    folder = settings.data_dir.absolute()

    def disk() -> Disk | None:
        if not kept_here or not folder.exists():
            return None
        usage = shutil.disk_usage(folder)
        return Disk(usage.free, usage.total)

    operations = PostgresOperations(store.database)
    probe = SystemProbe(operations, temporal, objects, live, feeds=feeds, disk=disk)
    return HealthService(probe, health_limits(settings))


def health_limits(settings: Settings) -> HealthLimits:
    return HealthLimits.from_seconds(
        poll=settings.poll_seconds,
        search_silence=settings.search_silence_seconds,
        health=settings.health_seconds,
        stale=settings.stale_seconds,
        feed_patience=settings.feed_patience_seconds,
    )


async def build_follow(settings: Settings, store: FixtureStore) -> FollowServices:
    """Connect to Temporal only when an entry is added."""
    book = FollowBook(settings.follow, FollowStore(store.database))
    if settings.temporal_address is None:
        return FollowServices(book, polling_plan(settings))
    client = await connect_temporal(settings, lazy=True)
    return FollowServices(book, polling_plan(settings), lambda: trigger_ingest(client))


@asynccontextmanager
async def open_web(settings: Settings) -> AsyncIterator[WebServices]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        media = MediaProcessor(settings.media_memory_mb, settings.media_seconds)
        stack.push_async_callback(media.aclose)
        live = await stack.enter_async_context(open_hub(settings))
        readers = await stack.enter_async_context(open_readers(settings))
        reading = DocumentReader(readers, settings.stale_seconds)
        feeds = await stack.enter_async_context(open_web_feeds(settings, store))
        search = await stack.enter_async_context(open_search(settings, store.database))
        senders = build_senders(settings)
        notifications = NotificationStore(store.database)
        for each in senders.values():
            stack.push_async_callback(each.aclose)
        yield WebServices(
            rules=web_rules(settings),
            now=_now,
            goals=store,
            files=objects,
            media=media,
            access=TokenStore(store.database),
            health=await build_health_service(settings, store, objects, live, feeds.looks),
            live=live,
            scores=feeds.scores,
            links=LinkStore(store.database),
            reading=reading,
            cache=ResponseCache(reading.version),
            matchday=MatchdayReader(store.database),
            follow=await build_follow(settings, store),
            overview=lambda: setup_overview(settings, store.database, _now()),
            notifications=notifications,
            subscriptions=SubscriptionService(notifications, senders, _now),
            library=replace(build_web_library(settings, store, readers), search=search),
        )


# --- The whole system.


@dataclass(frozen=True)
class Running:
    settings: Settings
    """Includes the addresses of the engines."""
    client: Client
    supervisor: Supervisor
    first_ingest: WorkflowHandle[Any, IngestResult] | None = None
    """Set on a new system only: an ingest that runs before the daily one."""


@asynccontextmanager
async def running(settings: Settings, *, browser: bool = False) -> AsyncIterator[Running]:
    """Run the whole system on this machine while the block is open."""
    await check_feeds(settings)  # report a missing key before anything starts
    async with run_system(settings, prepare_temporal, browser=browser) as system:
        first_ingest = None
        if system.is_new:
            # The next daily ingest may be a day away.
            first_ingest = await system.client.start_workflow(
                IngestWorkflow.run,
                replace(ingest_order(system.settings), days_before=1),
                id=f"ingest-first-{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
                task_queue=system.settings.task_queue,
            )
        yield Running(system.settings, system.client, system.supervisor, first_ingest)


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    """Serve pages, API and live updates until `stop`."""
    async with open_web(settings) as services:
        app = create_app(services)
        async with HttpServer(app, settings.web_port, host=settings.web_host, name="the web server") as server:
            log.info(f"the pages are at {server.url}", extra={"action": "web_ready"})
            failing = asyncio.create_task(server.wait())
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait({failing, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for task in (failing, stopping):
                task.cancel()
            services.live.close()  # the server waits for open responses, and these never end by themselves
    log.info("the web server has stopped", extra={"action": "web_stopped"})


# --- One worker process.


PATIENCE_SECONDS = 60.0


async def work(settings: Settings, stop: asyncio.Event) -> None:
    """Run the workers of this process until `stop`. Raises SchemaTooNew or SchemaOutdated when the schema changes."""
    client = await _patiently_connected(settings)
    async with open_workers(settings, client) as workers:
        # Objects loaded so far live as long as the process; keep the garbage collector from scanning them.
        gc.freeze()
        running = [asyncio.create_task(worker.run()) for worker in workers]
        log.info("worker is ready", extra={"action": "worker_ready", "task_queue": settings.task_queue})
        assert settings.database_url is not None  # or the stores would not have opened
        watching = asyncio.create_task(watch_schema(settings.database_url.get_secret_value()), name="watch the schema")
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({*running, stopping, watching}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        await asyncio.gather(*running)
        if watching.done():
            watching.result()
        watching.cancel()
    log.info("worker has stopped", extra={"action": "worker_stopped"})


async def _patiently_connected(settings: Settings) -> Client:
    """Retry while Temporal is starting or restarting."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        try:
            return await connect_temporal(settings)
        except EngineError as error:
            if asyncio.get_running_loop().time() > deadline:
                raise
            log.warning(str(error), extra={"action": "waiting_for_temporal"})
        await asyncio.sleep(1)
