"""The workers of the library: every stage has its activity on its queue, and the desk sits with the live goals."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr
from temporalio.client import Client
from temporalio.worker import Worker

from found_footy.app import open_workers, schedules, workflows
from found_footy.clips.activities import DownloadActivities, UploadActivities, VerificationActivities
from found_footy.clips.models import ReverifyInput, ReverifyResult
from found_footy.clips.workflow import ReverifyWorkflow
from found_footy.config import Settings
from found_footy.feeds.activities import FeedActivities
from found_footy.feeds.models import FeedInput, FeedPollInput, FeedPollResult
from found_footy.feeds.workflow import FeedWorkflow
from found_footy.library.activities import StageActivities, build_source_fetcher, interleave
from found_footy.library.stages import STAGES, Lane, LibraryInput, StageInput, StageResult, find_stage
from found_footy.library.workflow import StageWorkflow
from found_footy.runtime.queues import WorkKind, queue_name
from found_footy.runtime.schedules import LIBRARY_SCHEDULE
from found_footy.runtime.worker import activity_worker, cores, pipeline_worker
from tests.support.workers import fake_activity, sandbox


@pytest.fixture
def settings(database_url: str, valkey_server: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=SecretStr(database_url),
        redis_url=SecretStr(valkey_server),
        api_football_key=SecretStr("key"),
        data_dir=tmp_path,
        llama_url="http://127.0.0.1:9",
        library_seconds=1.5,
        library_at_once=3,
    )


def names_of(worker: Worker) -> set[str]:
    return {getattr(each, "__temporal_activity_definition").name for each in worker.config()["activities"]}


async def test_each_stage_has_its_activity_on_its_queue(settings: Settings, temporal: Client) -> None:
    async with open_workers(settings, temporal) as (live, *others):
        assert {"find_library_work", "fail_stage", "delete_leftovers"} <= names_of(live)
        by_queue = {worker.config()["task_queue"]: worker for worker in others}
        for stage, lane in product(STAGES, Lane):
            worker = by_queue[f"found-footy-library{lane.queue_suffix}"]
            assert stage.activity in names_of(worker)
            assert stage.activity not in names_of(live), "no goal waits behind a film"
            assert worker.config()["max_concurrent_activities"] == 3


@pytest.mark.parametrize(
    ("kinds", "slots"),
    [
        ((WorkKind.ORCHESTRATION, WorkKind.NETWORK), {"found-footy": 30, "found-footy-network": 7}),
        ((WorkKind.MEDIA,), {"found-footy-media": max(2, cores())}),
        ((WorkKind.LIBRARY,), {"found-footy-library": cores(), "found-footy-library-films": cores()}),
    ],
)
async def test_a_worker_polls_the_queues_of_its_kinds_with_the_slots_of_the_settings(
    kinds: tuple[WorkKind, ...],
    slots: dict[str, int],
    settings: Settings,
    temporal: Client,
) -> None:
    settings = settings.model_copy(update={"network_slots": 7, "library_at_once": None})
    async with open_workers(settings, temporal, kinds) as workers:
        served = {each.config()["task_queue"]: each.config()["max_concurrent_activities"] for each in workers}
    assert served == slots


@pytest.mark.parametrize("in_browser", [False, True])
async def test_heavy_work_never_delays_a_poll(temporal: Client, in_browser: bool) -> None:
    """All slots of the library and of media are taken; the poll of a feed still runs."""
    queue = f"test-{uuid4()}"
    begun: asyncio.Queue[str] = asyncio.Queue()
    end = asyncio.Event()

    async def block(order: Any) -> Any:
        begun.put_nowait(type(order).__name__)
        await end.wait()
        return StageResult(done=True) if isinstance(order, StageInput) else None

    async def poll(order: FeedPollInput) -> FeedPollResult:
        return FeedPollResult(asked=1)

    async def rejected(order: ReverifyInput) -> ReverifyResult:
        return ReverifyResult(["one", "two"])

    async def queued(order: Any) -> None:
        return None

    stage = fake_activity(StageActivities.splice_source, block)
    live = [
        fake_activity(FeedActivities.poll_feed, poll),
        fake_activity(DownloadActivities.hash_clip, block),
        fake_activity(VerificationActivities.reverify_rejected_clips, rejected),
        fake_activity(UploadActivities.queue_videos_for_upload, queued),
    ]
    library = queue_name(queue, WorkKind.LIBRARY)
    async with (
        pipeline_worker(temporal, queue, workflows(), live, workflow_runner=sandbox()),
        activity_worker(temporal, queue_name(queue, WorkKind.NETWORK), live, max_concurrent=1),
        activity_worker(temporal, queue_name(queue, WorkKind.BROWSER), live, max_concurrent=1),
        activity_worker(temporal, queue_name(queue, WorkKind.MEDIA), live, max_concurrent=1),
        activity_worker(temporal, library + Lane.FILMS.queue_suffix, [stage], max_concurrent=1),
    ):
        film = await temporal.start_workflow(
            StageWorkflow.run, StageInput("splice", 1, Lane.FILMS), id=f"film-{uuid4()}", task_queue=queue
        )
        clips = await temporal.start_workflow(
            ReverifyWorkflow.run, ReverifyInput("event"), id=f"reverify-{uuid4()}", task_queue=queue
        )
        assert {await begun.get(), await begun.get()} == {"StageInput", "VideoRef"}
        polled = await temporal.execute_workflow(
            FeedWorkflow.run, FeedInput("espn", in_browser), id=f"feed-{uuid4()}", task_queue=queue
        )
        assert polled.asked == 1
        assert not end.is_set()
        end.set()
        assert (await film.result()).done
        await clips.result()


def test_the_schedule_passes_the_settings_on(settings: Settings) -> None:
    action: Any = schedules(settings)[LIBRARY_SCHEDULE].action
    assert action.args == [LibraryInput(seconds=1.5)]


async def test_the_fetcher_uses_the_limits_of_the_settings(settings: Settings) -> None:
    fetcher = build_source_fetcher(settings.model_copy(update={"source_mb": 7, "source_hours": 2.0}))
    assert (fetcher._limits.max_bytes, fetcher._max_duration_seconds) == (7_000_000, 7200)
    await fetcher.aclose()


def test_media_limits_follow_the_settings(settings: Settings) -> None:
    """A download fetches and makes a master. Other stages get the time that the video's length needs."""
    assert 2 * settings.source_media_seconds <= find_stage("download").timeout.total_seconds()


@pytest.mark.parametrize(
    ("rows", "most", "expected"),
    [
        ([], 5, ""),
        (["a", ""], 5, "a1"),
        (["aaa", "b"], 5, "a1 b1 a2 a3"),
        (["aaa", "b"], 3, "a1 b1 a2"),
        (["aaa", "bbb", "c"], 5, "a1 b1 c1 a2 b2"),
    ],
)
def test_interleaving_of_stages(rows: list[str], most: int, expected: str) -> None:
    work = [StageInput(name, number) for row in rows for number, name in enumerate(row, 1)]
    assert shown(interleave(work, most)) == expected


def shown(work: Iterable[StageInput]) -> str:
    return " ".join(f"{each.stage}{each.item}" for each in work)
