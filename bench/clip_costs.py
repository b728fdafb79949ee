"""SQL statements, object-store calls, CPU seconds and bytes per goal, by step

One goal with 10 posts: 5 become clips, 3 are copies of those, 2 are rejected. The activities run in this process, in
the order of the workflows, on the real store, sources, downloader, decoder and OCR; the object store is a folder, whose
calls are counted where an S3 server would receive requests. CPU time is that of this process with the decoders and the
database; Temporal's is part of `saturday`.
"""

from __future__ import annotations

import itertools
import logging
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, cast

from psycopg import AsyncCursor
from temporalio.testing import ActivityEnvironment
from tests.support.polling import FeedSystem

from bench.played import prepare
from bench.processes import folder_size, usage_of
from bench.table import table
from footy_simulator.clips.plan import all_clips
from footy_simulator.loader import parse_scenario
from footy_simulator.server import Simulator
from found_footy.cli.demo import demo_settings
from found_footy.clips.activities import DownloadActivities, UploadActivities, VerificationActivities
from found_footy.clips.downloader import build_downloader
from found_footy.clips.filters import FilterRules
from found_footy.clips.frame_selection import read_clip
from found_footy.clips.models import (
    CandidateRef,
    DedupPlan,
    FetchResult,
    FrameReading,
    PoolRef,
    SettleRequest,
    VideoRef,
    VideoStatus,
)
from found_footy.clips.ocr_vision import OcrVision
from found_footy.clips.store import ClipStore
from found_footy.clips.workflow import POOLS
from found_footy.config import Settings
from found_footy.discovery.activities import AliasActivities, SearchActivities, search_rules
from found_footy.discovery.models import CloseRequest, GoalCheck, SearchAttempt, SearchOutcome, WorkflowRef
from found_footy.discovery.registry import build_sources, build_wikidata
from found_footy.feeds.models import FeedPollInput, FeedSource
from found_footy.feeds.registry import build_feed
from found_footy.fixtures.models import IngestIdsInput, PollInput, PollResult, Sport
from found_footy.fixtures.store import FixtureStore
from found_footy.media.processor import MediaProcessor
from found_footy.operations.service_checks import Checkable
from found_footy.recordings.recorder import MatchRecorder
from found_footy.recordings.store import RecordingStore
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.storage.migrations import migrate
from found_footy.storage.objects.backend import Backend
from found_footy.storage.objects.folder import FolderObjects
from found_footy.storage.objects.store import ThreadedObjectStore
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache

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
"""Outcomes of the files; the tenth is rejected before it is stored."""


class Statements(AsyncCursor[Any]):
    count: ClassVar[int] = 0

    async def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        Statements.count += bool(query)
        return await super().execute(query, *args, **kwargs)


class Counted:
    """Backend that counts its calls by name."""

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
    """Accumulated cost of each step."""

    objects: Counted
    runs: Counter[str] = field(default_factory=Counter)
    statements: Counter[str] = field(default_factory=Counter)
    calls: dict[str, Counter[str]] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)

    async def run(self, step: str, activity: Callable[..., Any], order: Any) -> Any:
        Statements.count = 0
        self.objects.calls = Counter()
        before = _cpu_seconds()
        answer = await ActivityEnvironment().run(activity, order)
        self.cpu[step] = self.cpu.get(step, 0.0) + _cpu_seconds() - before
        self.runs[step] += 1
        self.statements[step] += Statements.count
        self.calls.setdefault(step, Counter()).update(self.objects.calls)
        return answer


def _cpu_seconds() -> float:
    return usage_of([os.getpid()])[os.getpid()].cpu_seconds


@dataclass(frozen=True)
class Activities:
    store: FixtureStore
    clips: ClipStore
    polling: FeedSystem
    aliases: AliasActivities
    search: SearchActivities
    download: DownloadActivities
    vision: VerificationActivities
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
                # Each poll advances the clock by one second, regardless of the machine's speed.
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
    store, clips = FixtureStore(database), ClipStore(database)
    media, vision = MediaProcessor(settings.media_memory_mb, settings.media_seconds), OcrVision()
    feed = build_feed(settings, FeedSource("api_football", "api_football"), None)
    knowledge, downloader = build_wikidata(settings), build_downloader(settings)
    recorder = MatchRecorder(RecordingStore(database), objects, {})
    sources = build_sources(settings)

    async def read_frames(path: Path, sport: Sport) -> Sequence[FrameReading]:
        return (await read_clip(vision, path, media.frames_at, sport)).readings

    do = Activities(
        store,
        clips,
        FeedSystem(store, cache, objects, cast(Any, {"api_football": feed})),
        AliasActivities(clips, knowledge, _now),
        SearchActivities(store, clips, objects, sources, search_rules(settings), _now, recorder),
        DownloadActivities(clips, objects, downloader, media, FilterRules(), _now),
        VerificationActivities(clips, objects, read_frames, settings.clock_tolerance_minutes, nullcontext),
        UploadActivities(clips, objects, _start_no_upload),
    )
    try:
        event_id = await _certain_goal(do)
        await _way_of_the_clips(do, ledger, event_id)
        fates = Counter((await clips.video_states(event_id)).values())
        assert fates == FATES, f"this goal was to end in {FATES}, not in {dict(fates)}"
    finally:
        closing: list[Checkable] = [media, vision, feed, knowledge, downloader, objects, cache, *sources]
        for each in closing:
            await each.aclose()
    (files,) = await database.fetch(b"select sum(file_size)::bigint as bytes from videos")
    _report(ledger, files["bytes"], folder_size(folder))


async def _certain_goal(do: Activities) -> str:
    run, polling = ActivityEnvironment().run, do.polling
    await run(polling.ingest.ingest_fixtures, IngestIdsInput([1395001], _now()))
    for number in range(10):
        await run(polling.feed_activities.poll_feed, FeedPollInput("api_football", _now()))
        polled: PollResult = await run(polling.monitor.poll_active_fixtures, PollInput(f"monitor-{number}", _now()))
        if polled.to_search:
            return polled.to_search[0]
    raise AssertionError("ten polls, and no goal is certain")


async def _start_no_upload(_: SearchAttempt) -> None:
    """The bench runs the uploads itself."""


async def _way_of_the_clips(do: Activities, ledger: Ledger, event_id: str) -> None:
    me = WorkflowRef(event_id, f"search-{event_id}")
    still: GoalCheck = await ledger.run("take over the goal", do.search.set_monitor_complete, me)
    assert still.plan is not None
    for team in still.plan.teams:
        await ledger.run("look up a team's names", do.aliases.resolve_team_aliases, team)
    for attempt in range(1, still.plan.max_attempts + 1):
        order = SearchAttempt(event_id, attempt)
        found: SearchOutcome = await ledger.run("search", do.search.search_sources, order)
        if found.keys:
            await _download(do, ledger, event_id, found.keys)
            await _upload(do, ledger, event_id)
    await ledger.run("close", do.search.close_event, CloseRequest(event_id))
    await ledger.run("sweep", do.search.sweep_event, me)


async def _download(do: Activities, ledger: Ledger, event_id: str, keys: Sequence[str]) -> None:
    await ledger.run("register a download", do.download.register_download_workflow, WorkflowRef(event_id, "download"))
    files: dict[str, str] = {}
    for key in keys:
        fetched: FetchResult = await ledger.run("fetch", do.download.fetch_clip, CandidateRef(event_id, key))
        if fetched.md5:
            files[fetched.md5] = fetched.state
    for md5, state in files.items():
        clip = VideoRef(event_id, md5)
        if state == "staged":
            seen: VideoStatus = await ledger.run("look", do.vision.verify_clip, clip)
            if seen.state == "checked":
                await ledger.run("hash", do.download.hash_clip, clip)


async def _upload(do: Activities, ledger: Ledger, event_id: str) -> None:
    plans: list[DedupPlan] = [
        await ledger.run("deduplicate a pool", do.upload.deduplicate_pool, PoolRef(event_id, pool)) for pool in POOLS
    ]
    for md5 in (md5 for plan in plans for md5 in plan.publish):
        await ledger.run("publish", do.upload.publish_clip, VideoRef(event_id, md5))
    await ledger.run("settle", do.upload.settle_event, SettleRequest(event_id, plans, _now()))
    await ledger.run("clean up", do.upload.clean_up_upload, WorkflowRef(event_id, "upload"))


def _report(ledger: Ledger, downloaded: int, stored: int) -> None:
    names = {"put": "put", "chunks": "get", "copy": "copy", "delete": "delete", "pages": "list", "head": "head"}
    rows: list[list[object]] = []
    for step, runs in ledger.runs.items():
        calls = ledger.calls[step]
        told = ", ".join(f"{count} {names.get(name, name)}" for name, count in calls.items())
        each, cpu = f"{ledger.statements[step] / runs:.1f}", f"{ledger.cpu[step]:.2f}"
        rows.append([step, runs, ledger.statements[step], each, told or "0", cpu])
    statements = ledger.statements.total()
    objects = sum(calls.total() for calls in ledger.calls.values())
    table(["step", "times", "SQL statements", "each", "object-store calls", "CPU seconds"], rows)
    clips, posts = FATES["kept"], 10
    totals = ((statements, 1), (objects, 1), (sum(ledger.cpu.values()), 2), (downloaded / 1e6, 2), (stored / 1e6, 2))
    print()
    table(
        ["all of it", "SQL statements", "object-store calls", "CPU seconds", "MB downloaded", "MB stored"],
        [
            [name, *(f"{value / count:.{digits}f}" for value, digits in totals)]
            for name, count in (("one goal", 1), ("for each published clip", clips), ("for each candidate", posts))
        ],
    )


def _now() -> datetime:
    return datetime.now(UTC)
