"""SQL statements and object-store calls for each clip and for each candidate, by step

One goal with 10 posts: 5 become clips, 3 are copies of those, 2 are refused. The activities run in this process, in the
order of the workflows, on the real store, sources, downloader, decoder and OCR; the object store is a folder, and its
calls are counted where an S3 server would get requests.
"""

from __future__ import annotations

import itertools
import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, cast

from psycopg import AsyncCursor
from temporalio.testing import ActivityEnvironment
from tests.support.polling import System

from bench.played import prepare
from bench.table import table
from found_footy.activities.aliases import AliasActivities
from found_footy.activities.download import DownloadActivities
from found_footy.activities.search import SearchActivities
from found_footy.activities.upload import UploadActivities
from found_footy.activities.vision import VisionActivities
from found_footy.adapters.media.limited import LimitedMedia
from found_footy.adapters.recordings.recorder import StoreRecorder
from found_footy.adapters.storage.objects import ThreadedObjectStore
from found_footy.adapters.storage.objects.backend import Backend
from found_footy.adapters.storage.objects.folder import FolderObjects
from found_footy.adapters.storage.postgres.clips import PostgresClips
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.migrate import migrate
from found_footy.adapters.storage.postgres.recordings import PostgresRecordings
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.adapters.vision.ocr import OcrVision
from found_footy.adapters.vision.watch import watch
from found_footy.bootstrap import Closable, build_downloader, build_knowledge, build_sources, search_rules
from found_footy.bootstrap_feeds import build_feed
from found_footy.config import Settings
from found_footy.domain.feeds.source import FeedSource
from found_footy.domain.fixtures.model import Sport
from found_footy.domain.videos.filters import FilterRules
from found_footy.domain.videos.readings import FrameReading
from found_footy.ops.demo import demo_settings
from found_footy.ops.engines import DataFolder, EmbeddedPostgres, EmbeddedValkey
from found_footy.simulator import Simulator
from found_footy.simulator.clips.plan import all_clips
from found_footy.simulator.loader import parse_scenario
from found_footy.workflows.clip_contracts import (
    CandidateRef,
    CloseOrder,
    Fetched,
    Found,
    PoolPlan,
    PoolRef,
    SearchAttempt,
    SettleOrder,
    VideoRef,
    VideoState,
)
from found_footy.workflows.contracts import EventWorkflow, IngestIds, Polled, PollInput, StillWanted
from found_footy.workflows.feed_contracts import FeedPoll
from found_footy.workflows.upload import POOLS

SCENARIO = """
leagues:
  premier_league: {id: 39, name: Premier League, country: England, season: 2025, round: Regular Season - 9}
matches:
  - id: 1395001
    league: premier_league
    home: {id: 40, name: Liverpool}
    away: {id: 45, name: Everton}
    broadcast: {style: classic}
    kickoff: -1m
    goals:
      - minute: 1
        side: home
        player: {id: 306, name: Mohamed Salah}
        clips:
          - copy 360p -12s 4s
          - copy 360p -6s 4s
          - copy 360p +0s 4s
          - copy 360p +17s 4s
          - replay 360p
          - copy logo 360p -12s 4s
          - copy watermark 360p -6s 4s
          - copy bright 360p +0s 4s
          - wrong_minute 360p
          - portrait 360p
"""
FATES = {"kept": 5, "replaced": 3, "refused": 1}
"""Of the files; the tenth is refused before it is stored."""


class Statements(AsyncCursor[Any]):
    count: ClassVar[int] = 0

    async def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        Statements.count += bool(query)
        return await super().execute(query, *args, **kwargs)


class Counted:
    """A backend whose calls are counted by name."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._backend, name)

        def counted(*args: Any) -> Any:
            self.calls[name] += 1
            return call(*args)

        return counted


@dataclass
class Ledger:
    """What each step has cost so far."""

    objects: Counted
    runs: Counter[str] = field(default_factory=Counter)
    statements: Counter[str] = field(default_factory=Counter)
    calls: dict[str, Counter[str]] = field(default_factory=dict)

    async def run(self, step: str, activity: Callable[..., Any], order: Any) -> Any:
        Statements.count = 0
        self.objects.calls = Counter()
        answer = await ActivityEnvironment().run(activity, order)
        self.runs[step] += 1
        self.statements[step] += Statements.count
        self.calls.setdefault(step, Counter()).update(self.objects.calls)
        return answer


@dataclass(frozen=True)
class Activities:
    store: PostgresStore
    clips: PostgresClips
    polling: System
    aliases: AliasActivities
    search: SearchActivities
    download: DownloadActivities
    vision: VisionActivities
    upload: UploadActivities


async def main() -> None:
    logging.disable(logging.WARNING)
    scenario = parse_scenario(SCENARIO, "clip_costs")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(all_clips(scenario), folder / "clips")
        data = DataFolder(folder / "data")
        ticks = itertools.count()
        with data.lock():
            engine, valkey = EmbeddedPostgres(data), EmbeddedValkey(data)
            await engine.start()
            await valkey.start()
            await migrate(engine.url)
            database = Database(engine.url, cursor_factory=Statements)
            await database.open()
            try:
                # Each poll is a second of real time later, whatever the machine does.
                async with Simulator(
                    scenario, clips_folder=folder / "clips", time_source=lambda: float(next(ticks))
                ) as simulator:
                    settings = demo_settings(Settings(_env_file=None), simulator)
                    await _measure(settings, database, RedisCache(valkey.url), folder / "objects")
            finally:
                await database.close()
                await engine.destroy()
                await valkey.destroy()


async def _measure(settings: Settings, database: Database, cache: RedisCache, folder: Path) -> None:
    counted = Counted(FolderObjects(folder))
    ledger = Ledger(counted)
    objects = ThreadedObjectStore(cast(Backend, counted))
    store, clips = PostgresStore(database), PostgresClips(database)
    media, vision = LimitedMedia(settings.media_memory_mb, settings.media_seconds), OcrVision()
    feed = build_feed(settings, FeedSource("api_football", "api_football"), None)
    knowledge, downloader = build_knowledge(settings), build_downloader(settings)
    recorder = StoreRecorder(PostgresRecordings(database), objects, {})
    sources = build_sources(settings)

    async def look(path: Path, sport: Sport = Sport.FOOTBALL) -> Sequence[FrameReading]:
        return (await watch(vision, path, media.pictures, sport)).readings

    do = Activities(
        store,
        clips,
        System(store, cache, objects, cast(Any, {"api_football": feed})),
        AliasActivities(clips, knowledge, _now),
        SearchActivities(store, clips, objects, sources, search_rules(settings), _now, recorder),
        DownloadActivities(clips, objects, downloader, media, FilterRules(), _now),
        VisionActivities(clips, objects, look, settings.clock_tolerance_minutes),
        UploadActivities(clips, objects),
    )
    try:
        event_id = await _certain_goal(do)
        await _way_of_the_clips(do, ledger, event_id)
        fates = Counter((await clips.video_states(event_id)).values())
        assert fates == FATES, f"this goal was to end in {FATES}, not in {dict(fates)}"
    finally:
        closing: list[Closable] = [media, vision, feed, knowledge, downloader, objects, cache, *sources]
        for each in closing:
            await each.aclose()
    _report(ledger)


async def _certain_goal(do: Activities) -> str:
    run, polling = ActivityEnvironment().run, do.polling
    await run(polling.ingest.ingest_fixtures, IngestIds([1395001], _now()))
    for number in range(10):
        await run(polling.feed_activities.poll_feed, FeedPoll("api_football", _now()))
        polled: Polled = await run(polling.monitor.poll_active_fixtures, PollInput(f"monitor-{number}", _now()))
        if polled.to_search:
            return polled.to_search[0]
    raise AssertionError("ten polls, and no goal is certain")


async def _way_of_the_clips(do: Activities, ledger: Ledger, event_id: str) -> None:
    me = EventWorkflow(event_id, f"search-{event_id}")
    still: StillWanted = await ledger.run("take over the goal", do.search.set_monitor_complete, me)
    assert still.plan is not None
    for team in still.plan.teams:
        await ledger.run("look up a team's names", do.aliases.resolve_team_aliases, team)
    for attempt in range(1, still.plan.attempts + 1):
        order = SearchAttempt(event_id, attempt)
        found: Found = await ledger.run("search", do.search.search_sources, order)
        if found.keys:
            await _download(do, ledger, event_id, found.keys)
            await _upload(do, ledger, event_id)
    await ledger.run("close", do.search.close_event, CloseOrder(event_id))
    await ledger.run("sweep", do.search.sweep_event, me)


async def _download(do: Activities, ledger: Ledger, event_id: str, keys: Sequence[str]) -> None:
    await ledger.run("register a download", do.download.register_download_workflow, EventWorkflow(event_id, "download"))
    files: dict[str, str] = {}
    for key in keys:
        fetched: Fetched = await ledger.run("fetch", do.download.fetch_clip, CandidateRef(event_id, key))
        if fetched.md5:
            files[fetched.md5] = fetched.state
    for md5, state in files.items():
        clip = VideoRef(event_id, md5)
        if state == "staged":
            seen: VideoState = await ledger.run("look", do.vision.look_at_clip, clip)
            if seen.state == "checked":
                await ledger.run("hash", do.download.hash_clip, clip)


async def _upload(do: Activities, ledger: Ledger, event_id: str) -> None:
    plans: list[PoolPlan] = [
        await ledger.run("deduplicate a pool", do.upload.deduplicate_pool, PoolRef(event_id, pool)) for pool in POOLS
    ]
    for md5 in (md5 for plan in plans for md5 in plan.publish):
        await ledger.run("publish", do.upload.publish_clip, VideoRef(event_id, md5))
    await ledger.run("settle", do.upload.settle_event, SettleOrder(event_id, plans, _now()))
    await ledger.run("clean up", do.upload.clean_up_upload, EventWorkflow(event_id, "upload"))


def _report(ledger: Ledger) -> None:
    names = {"put": "put", "chunks": "get", "copy": "copy", "delete": "delete", "pages": "list", "head": "head"}
    rows: list[list[object]] = []
    for step, runs in ledger.runs.items():
        calls = ledger.calls[step]
        told = ", ".join(f"{count} {names.get(name, name)}" for name, count in calls.items())
        rows.append([step, runs, ledger.statements[step], f"{ledger.statements[step] / runs:.1f}", told or "0"])
    statements = ledger.statements.total()
    objects = sum(calls.total() for calls in ledger.calls.values())
    table(["step", "times", "SQL statements", "each", "object-store calls"], rows)
    clips, posts = FATES["kept"], 10
    print()
    table(
        ["all of it", "SQL statements", "object-store calls"],
        [
            ["one goal", statements, objects],
            ["for each published clip", f"{statements / clips:.1f}", f"{objects / clips:.1f}"],
            ["for each candidate", f"{statements / posts:.1f}", f"{objects / posts:.1f}"],
        ],
    )


def _now() -> datetime:
    return datetime.now(UTC)
