"""The workers of the library: every stage has its activity on its queue, and the desk sits with the live goals."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from temporalio.client import Client
from temporalio.worker import Worker

from found_footy.app import open_workers, schedules
from found_footy.config import Settings
from found_footy.library.activities import build_source_fetcher, interleave
from found_footy.library.stages import STAGES, Lane, LibraryInput, StageInput, stage_named
from found_footy.runtime.schedules import LIBRARY_SCHEDULE


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
        assert len(by_queue) == len(others) == 2
        for stage, lane in product(STAGES, Lane):
            worker = by_queue[f"found-footy-{lane.task_queue_suffix}"]
            assert stage.activity in names_of(worker)
            assert stage.activity not in names_of(live), "no goal waits behind a film"
            assert worker.config()["max_concurrent_activities"] == 3


def test_the_schedule_passes_the_settings_on(settings: Settings) -> None:
    action: Any = schedules(settings)[LIBRARY_SCHEDULE].action
    assert action.args == [LibraryInput(seconds=1.5)]


async def test_the_fetcher_uses_the_limits_of_the_settings(settings: Settings) -> None:
    fetcher = build_source_fetcher(settings.model_copy(update={"source_mb": 7, "source_hours": 2.0}))
    assert (fetcher._limits.max_bytes, fetcher._longest_seconds) == (7_000_000, 7200)
    await fetcher.aclose()


def test_media_limits_follow_the_settings(settings: Settings) -> None:
    """A download fetches and makes a master. Other stages get the time that the video's length needs."""
    assert 2 * settings.source_media_seconds <= stage_named("download").timeout.total_seconds()


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
