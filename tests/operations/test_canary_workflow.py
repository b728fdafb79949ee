"""The daily canary on a real Temporal server and a real database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from temporalio.client import Client, ScheduleActionStartWorkflow

from found_footy.app import prepare_temporal, schedules
from found_footy.config import Settings
from found_footy.errors import StoreUnavailable
from found_footy.operations.canary import CanaryActivities, CanaryInput, ServicesChecked
from found_footy.operations.check_store import PostgresServiceChecks
from found_footy.operations.models import CheckKind, CheckResult
from found_footy.operations.workflow import CanaryWorkflow
from found_footy.runtime.schedules import ALL_SCHEDULES, CANARY_SCHEDULE, missing_schedules
from found_footy.runtime.worker import activities_of
from found_footy.storage.postgres import Database
from tests.support.workers import live_workers

NOW = datetime(2026, 11, 18, 6, 0, tzinfo=UTC)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PostgresServiceChecks]:
    database = Database(database_url)
    await database.open()
    yield PostgresServiceChecks(database)
    await database.close()


class CanaryServices:
    """Services that work or fail as the test says, one day per run."""

    def __init__(self) -> None:
        self.works = {"feed espn": True, "source reddit": True}
        self.day = 0
        self.raises: list[Exception] = []

    async def check(self) -> Sequence[CheckResult]:
        if self.raises:
            raise self.raises.pop()
        at = NOW + timedelta(days=self.day)
        return [
            CheckResult(name, CheckKind.FEED, ok, at, f"GET {name}", "", "fine" if ok else "refused")
            for name, ok in self.works.items()
        ]


async def run(client: Client, scripted: CanaryServices, store: PostgresServiceChecks) -> ServicesChecked:
    queue = f"test-{uuid4()}"
    activities = activities_of(CanaryActivities(scripted.check, store))
    async with live_workers(client, queue, [CanaryWorkflow], activities):
        return await client.execute_workflow(
            CanaryWorkflow.run, CanaryInput(), id=f"canary-{uuid4()}", task_queue=queue
        )


async def test_each_run_stores_the_results_and_reports_what_changed(
    temporal: Client, store: PostgresServiceChecks
) -> None:
    scripted = CanaryServices()
    assert await run(temporal, scripted, store) == ServicesChecked(2, [], [])
    scripted.works["source reddit"], scripted.day = False, 1
    assert await run(temporal, scripted, store) == ServicesChecked(2, ["source reddit"], ["source reddit"])
    scripted.day = 2
    assert await run(temporal, scripted, store) == ServicesChecked(2, ["source reddit"], [])
    reddit, espn = await store.checks()
    assert (reddit.ok, reddit.since, reddit.last_ok_at) == (False, NOW + timedelta(days=1), NOW)
    assert (espn.ok, espn.since, espn.checked_at) == (True, NOW, NOW + timedelta(days=2))
    scripted.works["source reddit"], scripted.day = True, 3
    assert await run(temporal, scripted, store) == ServicesChecked(2, [], ["source reddit"])


async def test_a_database_that_is_away_for_a_moment_is_tried_again(
    temporal: Client, store: PostgresServiceChecks
) -> None:
    scripted = CanaryServices()
    scripted.raises = [StoreUnavailable("away")]
    async with asyncio.timeout(60):
        assert (await run(temporal, scripted, store)).checked == 2


async def test_the_schedule_is_registered_once_a_day_and_spread(temporal: Client) -> None:
    settings = Settings(profile="demo", task_queue=f"test-{uuid4()}", _env_file=None)
    assert set(schedules(settings)) == ALL_SCHEDULES
    await prepare_temporal(temporal, settings)
    try:
        async with asyncio.timeout(30):
            while await missing_schedules(temporal, ALL_SCHEDULES):  # the list lags behind
                await asyncio.sleep(0.2)
        described = await temporal.get_schedule_handle(CANARY_SCHEDULE).describe()
        action, spec = described.schedule.action, described.schedule.spec
        assert isinstance(action, ScheduleActionStartWorkflow)
        assert action.workflow == "CanaryWorkflow"
        assert [interval.every for interval in spec.intervals] == [timedelta(hours=24)]
        assert spec.jitter == timedelta(hours=1)
        assert described.info.num_actions == 0, "the demo's script counts requests"
    finally:
        for name in ALL_SCHEDULES:
            await temporal.get_schedule_handle(name).delete()
