"""The first start of a system, interrupted at any point, on a real Temporal server."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from temporalio.client import Client

from found_footy import app
from found_footy.app import start_work
from found_footy.config import Settings
from found_footy.errors import EngineError
from found_footy.runtime.schedules import ALL_SCHEDULES, INGEST_SCHEDULE, has_schedule, missing_schedules


async def test_a_first_start_that_was_killed_before_the_schedules_ingests_at_the_next(
    temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(profile="demo", task_queue=f"test-{uuid4()}", _env_file=None)

    async def killed(client: Client, settings: Settings) -> None:
        raise EngineError("killed")

    assert not await has_schedule(temporal, INGEST_SCHEDULE)
    ingests = []
    try:
        with monkeypatch.context() as changed:
            changed.setattr(app, "prepare_temporal", killed)
            with pytest.raises(EngineError, match="killed"):
                await start_work(temporal, settings)
        ingests.append(await start_work(temporal, settings))
        assert ingests[0] is not None, "nothing would have been ingested until midnight"
        async with asyncio.timeout(30):
            while await missing_schedules(temporal, ALL_SCHEDULES):  # the list lags behind
                await asyncio.sleep(0.2)
        assert await start_work(temporal, settings) is None, "the system is no longer new"
    finally:
        for name in ALL_SCHEDULES:
            await temporal.get_schedule_handle(name).delete()
        async for execution in temporal.list_workflows(f"TaskQueue='{settings.task_queue}'"):
            await temporal.get_workflow_handle(execution.id, run_id=execution.run_id).terminate()
