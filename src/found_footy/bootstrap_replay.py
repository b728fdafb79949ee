"""The composition root of the time machine: stores of recordings, and a worker whose outside world is a recording."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from found_footy.activities.boundary import activities_of
from found_footy.activities.download import DownloadActivities
from found_footy.activities.search import SearchActivities
from found_footy.adapters.download.recorded import RecordedDownloader
from found_footy.adapters.media.limited import LimitedMedia
from found_footy.adapters.recordings.recorder import StoreRecorder
from found_footy.adapters.social.recorded import RecordedSource, UnderWay
from found_footy.adapters.storage.postgres.clips import PostgresClips
from found_footy.adapters.storage.postgres.recordings import PostgresRecordings
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.bootstrap import open_worker, recorded_rules, search_rules
from found_footy.bootstrap_stores import build_objects, open_store
from found_footy.bootstrap_temporal import connect_temporal
from found_footy.config import Settings
from found_footy.domain.feeds.ids import SPAN
from found_footy.domain.recordings.recording import Recording
from found_footy.domain.videos.filters import FilterRules
from found_footy.ports import ObjectStore
from found_footy.workflows.contracts import search_id


@dataclass(frozen=True, slots=True)
class Recordings:
    """Those of a system that is running, or has run."""

    store: PostgresRecordings
    recorder: StoreRecorder
    objects: ObjectStore


@asynccontextmanager
async def open_recordings(settings: Settings) -> AsyncIterator[Recordings]:
    async with open_store(settings) as store, AsyncExitStack() as stack:
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        kept = PostgresRecordings(store.database)
        yield Recordings(kept, StoreRecorder(kept, objects, recorded_rules(settings)), objects)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay's worker needs to know beyond its settings."""

    recording: Recording
    speed: float
    """Of the searches: so many seconds of then in each second."""
    clips: ObjectStore | None = None
    """Where the files of then are."""


@asynccontextmanager
async def open_replay_worker(settings: Settings, client: Client, replayed: Replayed) -> AsyncIterator[Worker]:
    """A worker like any other, in which searches and downloads have the answers that they had then."""
    # One connection cannot serve two workers of one queue, also where one of them never begins.
    spare = await connect_temporal(settings)
    async with open_worker(settings, spare) as worker, open_store(settings) as store, AsyncExitStack() as stack:
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        media = LimitedMedia(settings.media_memory_mb, settings.media_seconds)
        stack.push_async_callback(media.aclose)
        mine = _outside(settings, store, objects, media, replayed)
        config = worker.config()
        config["client"] = client
        others = [each for each in config.get("activities", []) if not isinstance(_owner(each), OUTSIDE)]
        config["activities"] = [*others, *activities_of(*mine)]
        yield Worker(**config)


OUTSIDE = (SearchActivities, DownloadActivities)
"""Those who ask strangers."""


def _owner(registered: object) -> object:
    return getattr(registered, "__self__", None)


def _outside(
    settings: Settings, store: PostgresStore, objects: ObjectStore, media: LimitedMedia, replayed: Replayed
) -> tuple[SearchActivities, DownloadActivities]:
    recording = replayed.recording
    rules = search_rules(settings)
    clips = PostgresClips(store.database)
    sources = sorted({each.source for search in recording.searches for each in search.sources})
    filters = FilterRules(settings.clip_seconds_least, settings.clip_seconds_most, settings.clip_aspect_least)
    oldest = rules.choosing.max_age
    return (
        SearchActivities(
            store,
            clips,
            objects,
            [
                RecordedSource(source, recording.searches, search_under_way, speed=replayed.speed, oldest=oldest)
                for source in sources
            ],
            rules,
            _now,
            StoreRecorder(PostgresRecordings(store.database), objects, recorded_rules(settings)),
        ),
        DownloadActivities(
            clips,
            objects,
            RecordedDownloader(recording.fixture_id or 0, recording.downloads, replayed.clips),
            media,
            filters,
            _now,
        ),
    )


def search_under_way() -> UnderWay:
    """A search knows its goal by its workflow."""
    info = activity.info()
    return UnderWay((info.workflow_id or "").removeprefix(search_id("")), again=info.attempt > 1)


async def seed_names(settings: Settings, recording: Recording, spaces: dict[str, int]) -> None:
    """What teams were searched by then, under every id that they may have now: nobody is asked again."""
    kept = {names.team_id: names for names in recording.names}
    teams = {
        (answer.feed, team.id): team.name
        for answer in recording.answers
        if answer.live is not None
        for team in (answer.live.home, answer.live.away)
    }
    async with open_store(settings) as store:
        clips = PostgresClips(store.database)
        for (feed, id_), name in teams.items():
            for ours in {id_, id_ + spaces.get(feed, 0)}:
                await clips.save_aliases(ours, name, (), _now() - timedelta(days=1))
        for names in kept.values():
            for space in {0, *spaces.values()}:
                ours = names.team_id % SPAN + space
                await clips.save_aliases(ours, names.team_name, names.aliases, _now())


def _now() -> datetime:
    return datetime.now(UTC)
