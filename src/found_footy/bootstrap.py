"""The composition root: here and in its neighbours, and nowhere else, adapters are built and joined."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import SecretStr
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from found_footy.activities.aliases import AliasActivities
from found_footy.activities.announce import AnnounceActivities
from found_footy.activities.boundary import activities_of
from found_footy.activities.download import DownloadActivities, HandOverActivities
from found_footy.activities.feed_asking import Desk
from found_footy.activities.feed_poll import FeedActivities
from found_footy.activities.ingest import IngestActivities
from found_footy.activities.monitor import MonitorActivities
from found_footy.activities.search import SearchActivities, SearchRules
from found_footy.activities.unexpected import AnswerKeeper
from found_footy.activities.upload import UploadActivities
from found_footy.activities.vision import VisionActivities
from found_footy.adapters.download.downloader import open_downloader
from found_footy.adapters.download.limits import DownloadLimits
from found_footy.adapters.knowledge.wikidata import Wikidata, is_contact
from found_footy.adapters.local_limits import LocalSourceLimits
from found_footy.adapters.media.limited import LimitedMedia
from found_footy.adapters.notify.apprise import AppriseMessenger
from found_footy.adapters.notify.webhook import Webhooks
from found_footy.adapters.recordings.recorder import StoreRecorder
from found_footy.adapters.social.bluesky import Bluesky
from found_footy.adapters.social.folder import Folder
from found_footy.adapters.social.fxtwitter import SOURCE as FXTWITTER
from found_footy.adapters.social.fxtwitter import FxTwitter
from found_footy.adapters.social.reddit import Reddit
from found_footy.adapters.social.reddit_ways import RedditKeys
from found_footy.adapters.social.x import XSource
from found_footy.adapters.storage.postgres.clips import PostgresClips
from found_footy.adapters.storage.postgres.deliveries import PostgresDeliveries
from found_footy.adapters.storage.postgres.follows import PostgresFollows
from found_footy.adapters.storage.postgres.listings import PostgresListings
from found_footy.adapters.storage.postgres.recordings import PostgresRecordings
from found_footy.adapters.storage.postgres.service_checks import PostgresUnexpectedAnswers
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.adapters.storage.redis.shared_cache import RedisSharedCache
from found_footy.adapters.storage.redis.source_limits import RedisSourceLimits
from found_footy.adapters.vision.watch import watch
from found_footy.bootstrap_feeds import asking_rules, open_feeds
from found_footy.bootstrap_stores import build_objects, open_store
from found_footy.config import Settings
from found_footy.config_secrets import build_redactor
from found_footy.domain.discovery.choosing import ChoosingRules
from found_footy.domain.errors import VisionError
from found_footy.domain.feeds.source import RateLimits
from found_footy.domain.fixtures.model import Sport, Stage
from found_footy.domain.fixtures.tracking import Tracked
from found_footy.domain.videos.filters import FilterRules
from found_footy.domain.videos.readings import FrameReading
from found_footy.follow_book import FollowBook
from found_footy.ports import Downloader, Knowledge, SocialSource, Vision
from found_footy.ports_announcing import Messenger
from found_footy.ports_limits import SourceLimits
from found_footy.workflows.registry import WORKFLOWS

log = logging.getLogger(__name__)


class Closable(Protocol):
    async def aclose(self) -> None: ...


Closing = TypeVar("Closing", bound=Closable)


def build_vision(settings: Settings) -> Vision:
    if settings.llama_url is None:
        from found_footy.adapters.vision.ocr import OcrVision  # loads OpenCV and the models' runtime

        return OcrVision()
    from found_footy.adapters.vision.llama import LlamaVision

    return LlamaVision(settings.llama_url, timeout=settings.vision_timeout_seconds, model=settings.llama_model)


def _now() -> datetime:
    return datetime.now(UTC)


def fxtwitter_limits(settings: Settings, cache: RedisCache | None) -> SourceLimits:
    """Shared by all workers where there is a cache."""
    rate = RateLimits(concurrent=4, interval_seconds=60 / settings.fxtwitter_per_minute, burst=10)
    local = LocalSourceLimits(rate=rate)
    if cache is None:
        return local
    patience = settings.source_timeout_seconds / 2
    return RedisSourceLimits(cache, FXTWITTER, rate=rate, patience=patience, fallback=local)


def build_sources(settings: Settings, cache: RedisCache | None = None) -> list[SocialSource]:
    """The listed sources that have the settings they need; `sources_off` explains the others.

    Through `cache` all workers share what they read and the limits that they obey.
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
    """Sources that are listed and lack a setting, each with what it lacks."""
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
    """Whether Wikimedia is told no address or page of the operator."""
    return not is_contact(settings.wikidata_contact)


def build_knowledge(settings: Settings) -> Knowledge:
    return Wikidata(
        settings.wikidata_url,
        settings.wikidata_sparql_url,
        timeout=settings.source_timeout_seconds,
        contact=settings.wikidata_contact,
    )


def build_downloader(settings: Settings) -> Downloader:
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


def build_messengers(settings: Settings) -> dict[str, Messenger]:
    """By the kind of subscription that each serves."""
    seconds, hosts = settings.webhook_timeout_seconds, settings.private_hosts
    return {
        "webhook": Webhooks(seconds=seconds, private_hosts=hosts, now=_now),
        "notify": AppriseMessenger(seconds=seconds, private_hosts=hosts),
    }


def search_rules(settings: Settings) -> SearchRules:
    return SearchRules(
        attempts=settings.search_attempts,
        most_attempts=max(settings.search_attempts, settings.search_attempts_most),
        every=timedelta(seconds=settings.search_seconds),
        gap=timedelta(seconds=settings.search_gap_seconds),
        source_timeout=timedelta(seconds=settings.source_timeout_seconds),
        vision_calls=settings.vision_calls,
        vision_patience=timedelta(seconds=settings.vision_patience_seconds),
        choosing=ChoosingRules(settings.candidates, timedelta(seconds=settings.post_age_seconds)),
    )


def recorded_rules(settings: Settings) -> dict[str, float]:
    """The settings that decide what becomes of a goal: whoever plays it again must know them."""
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


async def _warm(vision: Vision) -> None:
    try:
        await vision.check()
    except VisionError as error:
        log.error(str(error), extra={"action": "vision_not_ready", "error": error.kind})


@asynccontextmanager
async def open_worker(settings: Settings, client: Client, others: Sequence[object] = ()) -> AsyncIterator[Worker]:
    """A worker that is not started yet, with its clients. The activities of `others` are among its own."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        clips = PostgresClips(store.database)

        def closing(made: Closing) -> Closing:
            stack.push_async_callback(made.aclose)
            return made

        follows = FollowBook(settings.follow, PostgresFollows(store.database))
        feeds = await stack.enter_async_context(open_feeds(settings, follows))
        listings, rules = PostgresListings(store.database), asking_rules(settings)
        objects = closing(build_objects(settings))
        recorder = StoreRecorder(PostgresRecordings(store.database), objects, recorded_rules(settings))
        media = closing(LimitedMedia(settings.media_memory_mb, settings.media_seconds))
        vision = closing(build_vision(settings))
        if settings.llama_url is None:
            # The first look would wait two seconds for the models.
            warming = asyncio.create_task(_warm(vision), name="load the OCR")
            stack.callback(warming.cancel)
        keeper = AnswerKeeper(PostgresUnexpectedAnswers(store.database, build_redactor(settings), _now))
        filters = FilterRules(settings.clip_seconds_least, settings.clip_seconds_most, settings.clip_aspect_least)

        async def look(path: Path, sport: Sport = Sport.FOOTBALL) -> Sequence[FrameReading]:
            return (await watch(vision, path, media.pictures, sport)).readings

        yield Worker(
            client,
            task_queue=settings.task_queue,
            workflows=list(WORKFLOWS),
            activities=activities_of(
                IngestActivities(
                    store,
                    listings,
                    objects,
                    feeds.registry,
                    settings.lifecycle,
                    Tracked(settings.tracked_teams, settings.tracked_leagues),
                    follows,
                    keeper,
                ),
                FeedActivities(feeds.registry, listings, Desk(store, feeds.memory, recorder, rules, keeper)),
                MonitorActivities(
                    store,
                    listings,
                    feeds.memory,
                    feeds.registry,
                    settings.certainty,
                    settings.lifecycle,
                    recorder,
                    fresh_for=rules.lasts(Stage.ACTIVE),
                    search_silence=timedelta(seconds=settings.search_silence_seconds),
                ),
                AliasActivities(clips, closing(build_knowledge(settings)), _now, keeper),
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
                HandOverActivities(client, settings.task_queue, settings.upload_idle_seconds),
                VisionActivities(clips, objects, look, settings.clock_tolerance_minutes, keeper),
                UploadActivities(clips, objects),
                AnnounceActivities(
                    PostgresDeliveries(store.database),
                    {kind: closing(each) for kind, each in build_messengers(settings).items()},
                    timedelta(hours=settings.delivery_hours),
                    settings.public_url,
                ),
                *others,
            ),
            max_concurrent_workflow_tasks=10,
            max_concurrent_activities=30,
            # Eagerly, Temporal would hand all looks to the worker that has just handled their workflow, and its OCR
            # serves one at a time; so they spread over all workers.
            disable_eager_activity_execution=True,
            graceful_shutdown_timeout=timedelta(seconds=10),
            # What a killed worker held is handed to another one after this, not after the default of 10 s.
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
            # The tests run all workflows in the sandbox, which catches what would not replay; here it only costs.
            workflow_runner=UnsandboxedWorkflowRunner(),
        )
