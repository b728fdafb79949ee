"""Composition root: opens stores and clients, and gives each feature what it needs from the others.

Only `cli`, tests and benches import this module. A feature opens its own clients (`open_activities`); most imports are
inside the functions, so that a process loads only what it runs: the watchdog needs no OpenCV.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from found_footy.config import Settings
from found_footy.runtime.clock import utc_now
from found_footy.runtime.queues import ALL_KINDS, LIVE_KINDS, WorkKind, queue_name
from found_footy.runtime.schedules import (
    CANARY_SCHEDULE,
    INGEST_SCHEDULE,
    LIBRARY_SCHEDULE,
    MONITOR_SCHEDULE,
    NOTIFY_SCHEDULE,
)
from found_footy.storage.objects.store import folder_of
from found_footy.storage.postgres import AdvisoryLock, Database, open_database
from found_footy.storage.redis import RedisCache
from found_footy.storage.stores import build_objects, open_files
from found_footy.storage.volumes import MEGABYTE, remove_abandoned_folders, temporary_folder

if TYPE_CHECKING:
    from temporalio.client import Client, Schedule, WorkflowHandle
    from temporalio.worker import Worker

    from found_footy.browser.client import BrowserClient
    from found_footy.clips.takedown import TakedownService
    from found_footy.feeds.cache import MonitoringRecords
    from found_footy.fixtures.models import IngestResult
    from found_footy.operations.backup import BackupService
    from found_footy.operations.health import HealthService
    from found_footy.operations.housekeeping import Housekeeper
    from found_footy.operations.models import Disk, Volume
    from found_footy.operations.overview import SetupOverview
    from found_footy.operations.probe import CacheReader
    from found_footy.operations.recovery import RecoveryService
    from found_footy.operations.scaler import Instances, Scaler
    from found_footy.operations.store import HealthCache, OperationsStore
    from found_footy.operations.watchdog import Watchdog
    from found_footy.recordings.replay import ReplayInputs
    from found_footy.runtime.supervisor import Supervisor
    from found_footy.storage.objects.store import ThreadedObjectStore
    from found_footy.storage.read_pool import ReadPool
    from found_footy.web.live import Hub
    from found_footy.web.services import FeedServices, FollowServices, LibraryServices, WebServices

log = logging.getLogger(__name__)

# --- Temporal: workflows and schedules.


def workflows() -> tuple[type, ...]:
    from found_footy.clips.workflow import DownloadWorkflow, ReverifyWorkflow, UploadWorkflow
    from found_footy.discovery.workflow import AliasWorkflow, SearchWorkflow
    from found_footy.feeds.workflow import FeedWorkflow
    from found_footy.fixtures.workflow import IngestWorkflow, MonitorWorkflow
    from found_footy.library.workflow import LibraryWorkflow, StageWorkflow
    from found_footy.notifications.workflow import DeliveryWorkflow, NotificationWorkflow
    from found_footy.operations.workflow import CanaryWorkflow

    live = (
        IngestWorkflow,
        MonitorWorkflow,
        FeedWorkflow,
        AliasWorkflow,
        SearchWorkflow,
        DownloadWorkflow,
        ReverifyWorkflow,
        UploadWorkflow,
    )
    return (*live, NotificationWorkflow, DeliveryWorkflow, LibraryWorkflow, StageWorkflow, CanaryWorkflow)


def schedules(settings: Settings) -> dict[str, Schedule]:
    """Schedules by id. After an id is changed, the schedule with the old id keeps running."""
    from found_footy.fixtures.ingest import ingest_input
    from found_footy.fixtures.models import MonitorInput
    from found_footy.fixtures.workflow import IngestWorkflow, MonitorWorkflow
    from found_footy.library.stages import DISPATCHER_ID, LibraryInput
    from found_footy.library.workflow import LibraryWorkflow
    from found_footy.notifications.workflow import NOTIFY, NotificationInput, NotificationWorkflow
    from found_footy.operations.canary import CanaryInput
    from found_footy.operations.workflow import CANARY, CanaryWorkflow
    from found_footy.runtime.schedules import back_to_back, daily, every
    from found_footy.runtime.workflow_limits import execution_timeout

    queue, poll = settings.task_queue, timedelta(seconds=settings.poll_seconds)
    library = LibraryInput(seconds=settings.library_seconds)
    return {
        INGEST_SCHEDULE: daily(
            "5 0 * * *",
            IngestWorkflow.run,
            ingest_input(settings),
            id="ingest-scheduled",
            queue=queue,
            timeout=execution_timeout(IngestWorkflow),
        ),
        # A hanging poll would block all later ones. After downtime, one poll is enough to catch up.
        MONITOR_SCHEDULE: every(
            poll,
            MonitorWorkflow.run,
            MonitorInput(),
            id="monitor-scheduled",
            queue=queue,
            timeout=max(10 * poll, timedelta(minutes=5)),
            catch_up=timedelta(seconds=10),
        ),
        NOTIFY_SCHEDULE: back_to_back(
            NotificationWorkflow.run,
            NotificationInput(),
            id=NOTIFY,
            queue=queue,
            timeout=execution_timeout(NotificationWorkflow),
        ),
        LIBRARY_SCHEDULE: back_to_back(
            LibraryWorkflow.run,
            library,
            id=DISPATCHER_ID,
            queue=queue,
            timeout=execution_timeout(LibraryWorkflow),
        ),
        # Spread out, so that installations do not all call third-party services at midnight.
        CANARY_SCHEDULE: every(
            timedelta(hours=settings.canary_hours),
            CanaryWorkflow.run,
            CanaryInput(),
            id=CANARY,
            queue=queue,
            timeout=execution_timeout(CanaryWorkflow),
            catch_up=timedelta(hours=settings.canary_hours),
            spread=True,
        ),
    }


async def start_work(client: Client, settings: Settings) -> WorkflowHandle[Any, IngestResult] | None:
    """Register the schedules. On a system without them, first start an ingest, and return it.

    In this order, a process that is killed in between starts another ingest next time, rather than none until midnight.
    """
    from found_footy.runtime.schedules import has_schedule

    first = None if await has_schedule(client, INGEST_SCHEDULE) else await start_first_ingest(client, settings)
    await prepare_temporal(client, settings)
    return first


async def prepare_temporal(client: Client, settings: Settings) -> None:
    """Register the schedules."""
    from found_footy.runtime.schedules import register_schedules

    start_now = {NOTIFY_SCHEDULE, LIBRARY_SCHEDULE}
    if settings.profile != "demo":  # live checks would use up requests that the demo's simulator limits
        start_now.add(CANARY_SCHEDULE)
    await register_schedules(client, schedules(settings), start_now=start_now)


NAMESPACE_RETENTION = timedelta(days=3)
"""How long Temporal keeps closed workflows in a namespace that `footy migrate` registers."""


@dataclass(frozen=True, slots=True)
class Preparation:
    migrations: tuple[str, ...]
    """Applied now."""
    bucket_created: bool
    is_new: bool
    """Whether Temporal had no schedules before."""


async def prepare(settings: Settings) -> Preparation:
    """Prepare external engines for the processes of a deployment. Idempotent. The last step starts work."""
    from found_footy.runtime.temporal import connect_with_retry, ensure_namespace
    from found_footy.storage.migrations import migrate
    from found_footy.storage.postgres import require_database_url

    migrations = await migrate(require_database_url(settings))
    async with aclosing(build_objects(settings)) as objects:
        bucket_created = await objects.create_bucket()
    client = await connect_with_retry(settings)
    await ensure_namespace(client, NAMESPACE_RETENTION)
    first_ingest = await start_work(client, settings)
    return Preparation(tuple(migrations), bucket_created, is_new=first_ingest is not None)


async def start_first_ingest(client: Client, settings: Settings) -> WorkflowHandle[Any, IngestResult]:
    """Start an ingest on a new system: the next daily one may be a day away."""
    from temporalio.common import WorkflowIDConflictPolicy

    from found_footy.fixtures.ingest import ingest_input
    from found_footy.fixtures.workflow import IngestWorkflow
    from found_footy.runtime.workflow_limits import execution_timeout

    return await client.start_workflow(
        IngestWorkflow.run,
        replace(ingest_input(settings), days_before=1),
        id=f"ingest-first-{utc_now():%Y-%m-%dT%H:%M:%SZ}",
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        task_queue=settings.task_queue,
        execution_timeout=execution_timeout(IngestWorkflow),
    )


# --- Workers.


def live_workers(
    settings: Settings,
    client: Client,
    activities: Sequence[Callable[..., Any]],
    kinds: Sequence[WorkKind] = LIVE_KINDS,
    graceful_shutdown: timedelta | None = None,
) -> list[Worker]:
    """One worker per queue, not started. Each registers all activities; the queue decides which ones it receives."""
    from found_footy.runtime.worker import GRACEFUL_SHUTDOWN, activity_worker, cores, pipeline_worker

    grace = graceful_shutdown or GRACEFUL_SHUTDOWN

    slots = {
        WorkKind.NETWORK: settings.network_slots,
        WorkKind.MEDIA: settings.media_slots or max(2, cores()),
        WorkKind.BROWSER: settings.browser_slots,
    }
    base = settings.task_queue
    workers = []
    if WorkKind.ORCHESTRATION in kinds:
        workers.append(
            pipeline_worker(
                client,
                base,
                workflows(),
                activities,
                max_concurrent=settings.orchestration_slots,
                graceful_shutdown=grace,
            )
        )
    others = [kind for kind in kinds if kind in slots]
    workers += [
        activity_worker(client, queue_name(base, kind), activities, max_concurrent=slots[kind], graceful_shutdown=grace)
        for kind in others
    ]
    return workers


@asynccontextmanager
async def open_live_activities(
    settings: Settings,
    client: Client,
    others: tuple[object, ...] = (),
    replay: ReplayInputs | None = None,
    pool: Database | None = None,
) -> AsyncIterator[list[Callable[..., Any]]]:
    """The activities of all kinds but the library. `others` are owners of further activities; `replay` replaces the
    external sources and downloads. A process has one pool of database connections.
    """
    from found_footy.clips import activities as clip_activities
    from found_footy.clips.store import ClipStore
    from found_footy.discovery import activities as search_activities
    from found_footy.feeds import activities as feed_activities
    from found_footy.feeds.registry import open_feeds
    from found_footy.feeds.store import ListingStore
    from found_footy.fixtures import activities as fixture_activities
    from found_footy.fixtures.follow_list import FollowBook, FollowStore
    from found_footy.fixtures.models import FixtureStage
    from found_footy.fixtures.retention import RetentionActivities
    from found_footy.fixtures.store import FixtureStore
    from found_footy.notifications import activities as notification_activities
    from found_footy.operations.check_store import build_unexpected_answers
    from found_footy.operations.unexpected_answers import UnexpectedAnswerRecorder
    from found_footy.recordings.recorder import MatchRecorder, recorded_rules
    from found_footy.recordings.store import RecordingStore
    from found_footy.runtime.worker import activities_of

    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        database = pool if pool is not None else await enter(open_database(settings))
        objects = await enter(aclosing(build_objects(settings)))
        store, clips, listings = FixtureStore(database), ClipStore(database), ListingStore(database)
        follows = FollowBook(settings.follow, FollowStore(database))
        feeds = await enter(open_feeds(settings, follows))
        recorder = MatchRecorder(RecordingStore(database), objects, recorded_rules(settings))
        unexpected = UnexpectedAnswerRecorder(build_unexpected_answers(settings, database))
        registrar = fixture_activities.build_registrar(settings, store, listings, feeds, follows, unexpected)
        fresh_for = feed_activities.poll_rules(settings).snapshot_ttl(FixtureStage.ACTIVE)
        owners = [
            feed_activities.build_activities(settings, store, listings, feeds, registrar, recorder, unexpected),
            *fixture_activities.build_activities(settings, store, listings, feeds, registrar, recorder, fresh_for),
            RetentionActivities(
                store,
                objects,
                timedelta(days=settings.retention_days),
                cleanup_tasks=[
                    build_takedowns(database, objects).finish,
                    build_housekeeper(settings, database, objects).run,
                ],
            ),
            *await enter(
                search_activities.open_activities(
                    settings,
                    store,
                    clips,
                    objects,
                    feeds.cache,
                    recorder,
                    unexpected,
                    replay.sources if replay else None,
                )
            ),
            *await enter(
                clip_activities.open_activities(
                    settings, client, clips, objects, feeds.cache, unexpected, replay.downloader if replay else None
                )
            ),
            await enter(notification_activities.open_activities(settings, database)),
            *others,
        ]
        yield activities_of(*owners)


def build_takedowns(database: Database, objects: ThreadedObjectStore) -> TakedownService:
    from found_footy.clips.takedown import TakedownService, TakedownStore
    from found_footy.library.store import LibraryStore

    library = LibraryStore(database)
    return TakedownService(TakedownStore(database, library), objects, utc_now, library.mark_deleted)


def build_housekeeper(settings: Settings, database: Database, objects: ThreadedObjectStore) -> Housekeeper:
    from found_footy.library.store import LibraryStore
    from found_footy.operations.housekeeping import Housekeeper, HousekeepingRules

    days, gigabytes = settings.library_days, settings.library_gb
    rules = HousekeepingRules(
        audit_age=timedelta(days=settings.audit_days),
        link_age=timedelta(days=settings.link_days),
        library_age=None if days is None else timedelta(days=days),
        library_bytes=None if gigabytes is None else round(gigabytes * 1e9),
    )
    return Housekeeper(database, objects, rules, LibraryStore(database).expire, utc_now)


@asynccontextmanager
async def open_backups(settings: Settings, url: str | None = None) -> AsyncIterator[BackupService]:
    """Open the service behind `footy backup`. `url` overrides the setting; a plain path is a folder."""
    from found_footy.config import ENV_FILE
    from found_footy.errors import SettingsError
    from found_footy.operations.backup import BackupRepository, BackupService

    location = url or settings.backup_url
    if location is None:
        raise SettingsError("FOOTY_BACKUP_URL is not set: set it to a folder or a bucket such as s3://bucket/prefix")
    if settings.database_url is None:
        raise SettingsError("DATABASE_URL is not set. Start `footy up`, or point DATABASE_URL at a PostgreSQL server.")
    if "://" not in location:
        location = (await asyncio.to_thread(Path(location).absolute)).as_uri()
    async with (
        aclosing(build_objects(settings)) as objects,
        aclosing(open_files(settings, location)) as files,
    ):
        config_files = [Path(ENV_FILE), settings.feeds_file]
        yield BackupService(settings.database_url.get_secret_value(), objects, BackupRepository(files), config_files)


@asynccontextmanager
async def open_takedowns(settings: Settings) -> AsyncIterator[TakedownService]:
    """Open the service behind `footy takedown`."""
    async with open_database(settings) as database, aclosing(build_objects(settings)) as objects:
        yield build_takedowns(database, objects)


@asynccontextmanager
async def open_replay(
    settings: Settings, client: Client, inputs: ReplayInputs
) -> AsyncIterator[Callable[[], Awaitable[Sequence[Mapping[str, Any]]]]]:
    """Run a worker on recorded inputs; yield a function that reads all matches."""
    from found_footy.clips.store import ClipStore
    from found_footy.fixtures.store import FixtureStore

    async with open_database(settings) as database:
        clips = ClipStore(database)
        for names in inputs.aliases:
            await clips.save_aliases(names.team_id, names.team_name, names.aliases, names.at)
        async with AsyncExitStack() as stack:
            activities = await stack.enter_async_context(open_live_activities(settings, client, replay=inputs))
            for worker in live_workers(settings, client, activities):
                await stack.enter_async_context(worker)
            yield FixtureStore(database).fixtures


@asynccontextmanager
async def open_workers(
    settings: Settings,
    client: Client,
    kinds: Sequence[WorkKind] = ALL_KINDS,
    graceful_shutdown: timedelta | None = None,
) -> AsyncIterator[list[Worker]]:
    """All workers of a process, not started: one per queue of the kinds of work that it serves."""
    from found_footy.library.activities import build_dispatcher, open_library, open_stages
    from found_footy.library.stages import Lane
    from found_footy.operations.canary import build_canary
    from found_footy.runtime.worker import GRACEFUL_SHUTDOWN, activities_of, activity_worker, cores

    grace = graceful_shutdown or GRACEFUL_SHUTDOWN
    async with AsyncExitStack() as stack:
        library = await stack.enter_async_context(open_library(settings))
        workers = []
        if set(kinds) & set(LIVE_KINDS):
            others = (build_dispatcher(settings, library, client), build_canary(settings, library.database))
            activities = await stack.enter_async_context(
                open_live_activities(settings, client, others, pool=library.database)
            )
            workers = live_workers(settings, client, activities, kinds, grace)
        if WorkKind.LIBRARY in kinds:
            for lane in Lane:
                activities = activities_of(await stack.enter_async_context(open_stages(settings, library)))
                queue = queue_name(settings.task_queue, WorkKind.LIBRARY) + lane.queue_suffix
                slots = settings.library_at_once or cores()
                workers.append(
                    activity_worker(client, queue, activities, max_concurrent=slots, graceful_shutdown=grace)
                )
        yield workers


async def work(
    settings: Settings,
    stop: asyncio.Event,
    kinds: Sequence[WorkKind] = ALL_KINDS,
    drain: asyncio.Event | None = None,
) -> None:
    """Run the workers of this process until `stop`, or, after `drain`, until running tasks have finished.

    Raises SchemaTooNew or SchemaOutdated when the schema changes.
    """
    from found_footy.runtime.temporal import connect_with_retry, worker_runtime
    from found_footy.runtime.tracing import stop_tracing
    from found_footy.runtime.worker import MAX_DRAIN, run_workers, tune_garbage_collection
    from found_footy.storage.migrations import watch_schema

    await asyncio.to_thread(remove_abandoned_folders)
    client = await connect_with_retry(settings, worker_runtime(settings.worker_metrics))
    async with open_workers(settings, client, kinds, MAX_DRAIN) as workers:
        assert settings.database_url is not None  # opening the stores has checked this
        tune_garbage_collection()
        try:
            await run_workers(workers, stop, watch_schema(settings.database_url.get_secret_value()), drain)
        finally:
            await asyncio.to_thread(stop_tracing)


# --- Health, recovery and the watchdog.


def build_browser_client(settings: Settings) -> BrowserClient | None:
    from found_footy.browser.client import BrowserClient
    from found_footy.runtime.browser_secret import browser_headers

    return BrowserClient(settings.browser_url, browser_headers(settings)) if settings.browser_url else None


def build_health_cache(settings: Settings, cache: RedisCache) -> HealthCache:
    from found_footy.operations.store import HealthCache

    return HealthCache(cache, every=timedelta(seconds=settings.health_seconds))


async def build_recovery(
    settings: Settings, store: OperationsStore, cache: HealthCache, records: MonitoringRecords
) -> RecoveryService:
    from found_footy.operations.recovery import RecoveryService, TemporalPoller
    from found_footy.runtime.supervisor import LocalWorkers
    from found_footy.runtime.temporal import connect_temporal

    poller = None
    if settings.temporal_address is not None:
        client = await connect_temporal(settings, lazy=True)
        poller = TemporalPoller(client, settings.task_queue, ["MonitorWorkflow", "FeedWorkflow"], MONITOR_SCHEDULE)
    return RecoveryService(
        store,
        cache,
        utc_now,
        browser=build_browser_client(settings),
        workers=LocalWorkers(settings.data_dir),
        poller=poller,
        records=records,
    )


@asynccontextmanager
async def open_watchdog(settings: Settings) -> AsyncIterator[Watchdog]:
    """Connect lazily, so that the watchdog can start while a service is down."""
    from found_footy.feeds.cache import FeedCache, FeedSwitches
    from found_footy.feeds.registry import FeedDeclarations, open_cache
    from found_footy.operations.finding_store import FindingStore
    from found_footy.operations.finding_watch import FindingWatch, Heartbeat
    from found_footy.operations.health import health_limits
    from found_footy.operations.probe import CacheReader, SystemProbe
    from found_footy.operations.recovery import BrowserRecycles
    from found_footy.operations.store import OperationsStore
    from found_footy.operations.watchdog import Watchdog, health_rules

    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        cache = await stack.enter_async_context(open_cache(settings))
        assert settings.database_url is not None  # opening the database has checked this
        lock = AdvisoryLock(settings.database_url.get_secret_value())
        stack.push_async_callback(lock.release)
        declared = await stack.enter_async_context(aclosing(FeedDeclarations(settings, FeedSwitches(cache))))
        objects = await stack.enter_async_context(aclosing(build_objects(settings)))
        store, published, feeds = OperationsStore(database), build_health_cache(settings, cache), FeedCache(cache)
        recovery = await build_recovery(settings, store, published, feeds.records)
        browser = build_browser_client(settings)
        probe = SystemProbe(
            store,
            cache=CacheReader(cache, feeds, published),
            declared=declared,
            save_lag=health_limits(settings).save_lag,
        )
        watchdog = Watchdog(
            store,
            published,
            probe.measure_feeds,
            recovery,
            lock,
            health_rules(settings),
            interval=settings.health_seconds,
            now=utc_now,
            recycles=BrowserRecycles(browser, store, recovery) if browser else None,
        )
        web_feeds = await stack.enter_async_context(open_web_feeds(settings, database))
        health = await build_health_service(settings, database, objects, None, web_feeds)
        heartbeat = None
        if settings.heartbeat_url is not None:
            heartbeat = await stack.enter_async_context(aclosing(Heartbeat(settings.heartbeat_url.get_secret_value())))
        findings = FindingWatch(
            health.report, FindingStore(database), leads=lambda: watchdog.leads, now=utc_now, heartbeat=heartbeat
        )
        watching = asyncio.create_task(findings.run(), name="finding watch")
        try:
            yield watchdog
        finally:
            watching.cancel()
            await asyncio.wait({watching})


@asynccontextmanager
async def open_recovery(settings: Settings) -> AsyncIterator[RecoveryService]:
    """Recovery on request, as `footy recycle` does it."""
    from found_footy.feeds.cache import MonitoringRecords
    from found_footy.feeds.registry import open_cache
    from found_footy.operations.store import OperationsStore

    async with open_cache(settings) as cache, open_database(settings) as database:
        copies, records = build_health_cache(settings, cache), MonitoringRecords(cache)
        yield await build_recovery(settings, OperationsStore(database), copies, records)


@asynccontextmanager
async def open_health_service(settings: Settings) -> AsyncIterator[HealthService]:
    """Open the service behind `footy health`, which also reports a database that is down."""
    async with (
        open_database(settings) as database,
        aclosing(build_objects(settings)) as objects,
        open_web_feeds(settings, database) as feeds,
    ):
        yield await build_health_service(settings, database, objects, None, feeds)


async def build_health_service(
    settings: Settings, database: Database, objects: ThreadedObjectStore, live: Hub | None, feeds: WebFeeds
) -> HealthService:
    """Connect to Temporal on the first measurement, so that pages are served without it."""
    from found_footy.operations.health import HealthService, health_limits
    from found_footy.operations.probe import SystemProbe
    from found_footy.operations.store import OperationsStore
    from found_footy.operations.temporal_status import TemporalStatus
    from found_footy.runtime.temporal import connect_temporal

    temporal = None
    if settings.temporal_address is not None:
        client = await connect_temporal(settings, lazy=True)
        temporal = TemporalStatus(client, settings.task_queue, [each.__name__ for each in workflows()])
    limits = health_limits(settings)
    probe = SystemProbe(
        OperationsStore(database, limits.coverage.within),
        cache=feeds.cache,
        declared=feeds.services.book,
        browser=build_browser_client(settings),
        temporal=temporal,
        objects=objects,
        live=live,
        disk=lambda: _disk(settings),
        volumes=lambda: _volumes(settings),
        save_lag=limits.save_lag,
    )
    return HealthService(probe, limits)


def _disk(settings: Settings) -> Disk | None:
    """None if the objects are not on this machine."""
    from found_footy.operations.models import Disk

    folder = settings.data_dir.absolute()
    if not (settings.object_store_url or "file:").startswith("file:") or not folder.exists():
        return None
    usage = shutil.disk_usage(folder)
    return Disk(usage.free, usage.total)


def _volumes(settings: Settings) -> tuple[Volume, ...]:
    """Volumes of this machine: where work happens, and where the data is."""
    from found_footy.operations.models import Volume

    folders = {"temporary": temporary_folder(), "data": settings.data_dir.absolute()}
    if (settings.object_store_url or "").startswith("file:"):
        folders["objects"] = folder_of(settings.object_store_url or "")
    floor = settings.free_space_mb * MEGABYTE
    found = []
    for name, folder in folders.items():
        if folder.exists():
            usage = shutil.disk_usage(folder)
            found.append(Volume(name, usage.free, usage.total, floor))
    return tuple(found)


# --- Web process.


@dataclass(frozen=True, slots=True)
class WebFeeds:
    services: FeedServices
    cache: CacheReader | None


@asynccontextmanager
async def open_web_feeds(settings: Settings, database: Database) -> AsyncIterator[WebFeeds]:
    from found_footy.feeds.cache import FeedCache, FeedSwitches
    from found_footy.feeds.registry import FeedDeclarations, open_cache
    from found_footy.feeds.store import ListingStore
    from found_footy.fixtures.read_store import ProvenanceReader
    from found_footy.operations.probe import CacheReader
    from found_footy.operations.store import OperationsStore
    from found_footy.web.services import FeedServices

    listings, provenance = ListingStore(database), ProvenanceReader(database)
    if settings.redis_url is None:
        async with aclosing(FeedDeclarations(settings, FeedSwitches(None))) as declared:
            yield WebFeeds(FeedServices(declared, listings, provenance), None)
        return
    async with open_cache(settings) as redis, aclosing(FeedDeclarations(settings, FeedSwitches(redis))) as declared:
        feeds, published = FeedCache(redis), build_health_cache(settings, redis)
        recovery = await build_recovery(settings, OperationsStore(database), published, feeds.records)
        yield WebFeeds(
            FeedServices(declared, listings, provenance, feeds.snapshots, feeds.records, recovery),
            CacheReader(redis, feeds, published),
        )


def build_web_library(settings: Settings, database: Database, readers: ReadPool) -> LibraryServices:
    from found_footy.library.review_store import ReviewStore
    from found_footy.library.store import LibraryStore
    from found_footy.library.views import LibraryViews
    from found_footy.runtime.addresses import AddressPolicy
    from found_footy.web.services import LibraryServices

    undo_for = timedelta(seconds=settings.undo_seconds)
    return LibraryServices(
        store=LibraryStore(database),
        review=ReviewStore(database, undo_for),
        views=LibraryViews(readers),
        address_refusal=AddressPolicy(settings.private_hosts).check,
        undo_for=undo_for,
        claim_for=timedelta(seconds=settings.claim_seconds),
    )


async def build_follow(settings: Settings, database: Database) -> FollowServices:
    """Connect to Temporal only when an entry is added."""
    from found_footy.feeds.registry import polling_plan
    from found_footy.fixtures.follow_list import FollowBook, FollowStore
    from found_footy.fixtures.ingest import trigger_ingest
    from found_footy.runtime.temporal import connect_temporal
    from found_footy.web.services import FollowServices

    book = FollowBook(settings.follow, FollowStore(database))
    if settings.temporal_address is None:
        return FollowServices(book, polling_plan(settings))
    client = await connect_temporal(settings, lazy=True)
    return FollowServices(book, polling_plan(settings), lambda: trigger_ingest(client))


async def setup_overview(settings: Settings, database: Database | None, now: datetime) -> SetupOverview:
    """Describe the setup, including run-time changes if there is a database. Raises StoreUnavailable."""
    from found_footy.fixtures.follow_list import FollowStore
    from found_footy.operations.overview import describe_setup

    if database is None:
        return await describe_setup(settings)
    follows = FollowStore(database)
    return await describe_setup(settings, await follows.changes(), await follows.next_kickoff(now))


@asynccontextmanager
async def open_web(settings: Settings) -> AsyncIterator[WebServices]:
    from found_footy.access.store import TokenStore
    from found_footy.clips.store import LinkStore
    from found_footy.fixtures.read_store import DocumentReader, MatchdayReader
    from found_footy.library.search import open_search
    from found_footy.media.processor import MediaProcessor
    from found_footy.notifications.activities import open_senders
    from found_footy.notifications.outbox import OutboxReader
    from found_footy.notifications.store import NotificationStore
    from found_footy.notifications.subscriptions import SubscriptionService
    from found_footy.storage.read_pool import ReadPool
    from found_footy.web.live import Hub, raise_file_limit
    from found_footy.web.response_cache import ResponseCache
    from found_footy.web.services import WebRules, WebServices

    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        database = await enter(open_database(settings))
        assert settings.database_url is not None  # opening the database has checked this
        url = settings.database_url.get_secret_value()
        objects = await enter(aclosing(build_objects(settings)))
        media = await enter(aclosing(MediaProcessor(settings.media_memory_mb, settings.media_seconds)))
        outbox = await enter(OutboxReader(url))
        clients, heartbeat = raise_file_limit(settings.stream_clients), settings.stream_heartbeat_seconds
        live = await enter(
            Hub(
                outbox,
                max_clients=clients,
                heartbeat_seconds=heartbeat,
                clients_per_address=settings.stream_clients_per_address,
            )
        )
        readers = ReadPool(url)
        await readers.open()
        stack.push_async_callback(readers.close)
        reading = DocumentReader(readers, settings.stale_seconds)
        feeds = await enter(open_web_feeds(settings, database))
        search = await enter(open_search(settings, database))
        notifications, senders = NotificationStore(database), await enter(open_senders(settings))
        yield WebServices(
            rules=WebRules.from_settings(settings),
            now=utc_now,
            files=objects,
            media=media,
            access=TokenStore(database),
            health=await build_health_service(settings, database, objects, live, feeds),
            live=live,
            scores=feeds.services,
            links=LinkStore(database),
            reading=reading,
            cache=ResponseCache(reading.version),
            matchday=MatchdayReader(database),
            follow=await build_follow(settings, database),
            overview=lambda: setup_overview(settings, database, utc_now()),
            notifications=notifications,
            subscriptions=SubscriptionService(notifications, senders, utc_now),
            takedowns=build_takedowns(database, objects),
            library=replace(build_web_library(settings, database, readers), search=search),
        )


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    """Serve pages, API and live updates until `stop`."""
    from found_footy.runtime.http_server import HttpServer
    from found_footy.web.app import create_app

    async with open_web(settings) as services:
        app = create_app(services)
        async with HttpServer(
            app,
            settings.web_port,
            host=settings.web_host,
            name="the web server",
            head_seconds=settings.request_seconds,
        ) as server:
            log.info(f"pages are served at {server.url}", extra={"action": "web_ready"})
            await server.wait_until(stop)
            services.live.close()  # the server waits for open responses, and streams never end by themselves
    log.info("the web server has stopped", extra={"action": "web_stopped"})


# --- The scaler.


@asynccontextmanager
async def open_scaler(
    settings: Settings, client: Client, instances_by_pool: Mapping[str, Instances]
) -> AsyncIterator[Scaler]:
    """`instances_by_pool` is keyed by the name of the scaled pool."""
    from found_footy.operations.scaler import (
        BROWSERS,
        LIBRARY,
        LIVE,
        LoadProbe,
        ScaledPool,
        Scaler,
        browser_policy,
        library_policy,
        worker_policy,
    )
    from found_footy.operations.store import OperationsStore
    from found_footy.operations.temporal_status import TemporalStatus

    policies = {LIVE: worker_policy(settings), LIBRARY: library_policy(settings), BROWSERS: browser_policy(settings)}
    pools = [ScaledPool(name, policies[name], instances) for name, instances in instances_by_pool.items()]
    async with open_database(settings) as database:
        status = TemporalStatus(client, settings.task_queue, [])
        probe = LoadProbe(client, status, settings.task_queue, OperationsStore(database).active_goals)
        yield Scaler(pools, probe.measure, utc_now, timedelta(seconds=settings.scale_seconds))


@asynccontextmanager
async def open_container_scaler(settings: Settings) -> AsyncIterator[Scaler]:
    """The scaler of `footy scaler`, which starts and drains containers."""
    from found_footy.operations.scaler import LIBRARY, LIVE, ComposeInstances
    from found_footy.runtime.temporal import connect_with_retry

    names = dict(zip((LIVE, LIBRARY), settings.compose_services, strict=False))
    instances_by_pool: dict[str, Instances] = {
        pool: ComposeInstances(settings.compose_command, service) for pool, service in names.items()
    }
    instances_by_pool |= browser_instances(settings)
    async with open_scaler(settings, await connect_with_retry(settings), instances_by_pool) as scaler:
        yield scaler


def browser_instances(settings: Settings) -> dict[str, Instances]:
    from found_footy.operations.scaler import BROWSERS, BrowserInstances

    browser = build_browser_client(settings)
    return {} if browser is None else {BROWSERS: BrowserInstances(browser)}


@asynccontextmanager
async def _scaling(settings: Settings, client: Client, supervisor: Supervisor) -> AsyncIterator[None]:
    """Scale the child processes of `footy up` inside the block."""
    from found_footy.operations.scaler import LIBRARY, LIVE, LocalInstances
    from found_footy.runtime.system import library_worker, live_worker

    instances_by_pool: dict[str, Instances] = {
        LIVE: LocalInstances(supervisor, lambda number: live_worker(settings, number)),
        LIBRARY: LocalInstances(supervisor, lambda number: library_worker(settings, number)),
        **browser_instances(settings),
    }
    async with open_scaler(settings, client, instances_by_pool) as scaler:
        task = asyncio.create_task(scaler.run(), name="scaler")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})


# --- The whole system.


def can_search_x(settings: Settings) -> bool:
    """Whether `footy up` starts the browser service: no other one is configured, and Chromium and a login exist."""
    if settings.browser_url is not None or "x" not in settings.sources:
        return False
    from found_footy.browser.chromium import find_chromium
    from found_footy.browser.cookies import has_login
    from found_footy.errors import SettingsError

    if not has_login(settings.data_dir.absolute() / "browser"):
        return False
    try:
        find_chromium(settings.browser_path)
    except SettingsError as error:
        log.warning("source x is off: %s", error, extra={"action": "no_chromium"})
        return False
    return True


@dataclass(frozen=True)
class Running:
    settings: Settings
    """Includes the addresses of the engines."""
    client: Client
    supervisor: Supervisor
    first_ingest: WorkflowHandle[Any, IngestResult] | None = None
    """The first ingest of a new system, which runs before the daily one."""


@asynccontextmanager
async def running(settings: Settings, *, browser: bool = False) -> AsyncIterator[Running]:
    """Run the whole system on this machine inside the block."""
    from found_footy.feeds.registry import check_feeds
    from found_footy.runtime.system import run_system

    await check_feeds(settings)  # report a missing key before anything starts
    browser = browser or can_search_x(settings)
    async with run_system(settings, start_work, browser=browser) as system, AsyncExitStack() as stack:
        if system.settings.scaler:
            await stack.enter_async_context(_scaling(system.settings, system.client, system.supervisor))
        yield Running(system.settings, system.client, system.supervisor, system.first_ingest)
