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

from found_footy.activities.library_desk import fairly
from found_footy.bootstrap_library import build_source_fetcher, open_workers
from found_footy.config import Settings
from found_footy.domain.clips.stages import STAGES, Lane, stage_called
from found_footy.ops.temporal_setup import LIBRARY_SCHEDULE, schedules
from found_footy.workflows import library_contracts
from found_footy.workflows.contracts import Call
from found_footy.workflows.library_contracts import LibraryInput, Work


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
        calls = {value.name for value in vars(library_contracts).values() if isinstance(value, Call)}
        assert calls <= names_of(live)
        by_queue = {worker.config()["task_queue"]: worker for worker in others}
        assert len(by_queue) == len(others) == 2
        for stage, lane in product(STAGES, Lane):
            worker = by_queue[f"found-footy-{stage.queue_for(lane)}"]
            assert stage.activity in names_of(worker)
            assert stage.activity not in names_of(live), "no goal waits behind a film"
            assert worker.config()["max_concurrent_activities"] == 3


def test_the_schedule_passes_the_settings_on(settings: Settings) -> None:
    action: Any = schedules(settings)[LIBRARY_SCHEDULE].action
    assert action.args == [LibraryInput(seconds=1.5)]


async def test_the_fetcher_keeps_to_the_settings(settings: Settings) -> None:
    fetcher = build_source_fetcher(settings.model_copy(update={"source_mb": 7, "source_hours": 2.0}))
    assert (fetcher._limits.max_bytes, fetcher._longest_seconds) == (7_000_000, 7200)
    await fetcher.aclose()


def test_a_stage_has_time_for_what_it_may_take(settings: Settings) -> None:
    """A download fetches and makes a master; scenes are one pass."""
    assert 2 * settings.source_media_seconds <= stage_called("download").timeout.total_seconds()
    assert settings.source_media_seconds <= stage_called("splice").timeout.total_seconds()


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
def test_each_stage_gets_its_turn(rows: list[str], most: int, expected: str) -> None:
    work = [[Work(name, number) for number, name in enumerate(row, 1)] for row in rows]
    assert shown(fairly(work, most)) == expected


def shown(work: Iterable[Work]) -> str:
    return " ".join(f"{each.stage}{each.item}" for each in work)
