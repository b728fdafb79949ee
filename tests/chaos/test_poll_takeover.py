"""Kill one of two workers in the middle of a poll: the other one repeats it, and polls due meanwhile are skipped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr
from temporalio.api.enums.v1 import EventType, TimeoutType
from temporalio.client import Client, ScheduleActionExecutionStartWorkflow, ScheduleHandle, WorkflowExecutionStatus

from footy_simulator.football import match_timeline
from footy_simulator.loader import load_scenario
from footy_simulator.scenario import ScriptedMinute
from footy_simulator.server import Simulator
from found_footy.app import MONITOR_SCHEDULE, schedules
from found_footy.cli.demo import demo_settings
from found_footy.config import load_settings
from found_footy.fixtures.activities import MonitorActivities
from found_footy.fixtures.models import IngestInput
from found_footy.fixtures.store import FixtureStore, open_store
from found_footy.fixtures.workflow import POLL_ACTIVE, IngestWorkflow
from found_footy.runtime.activity_policy import HEARTBEAT_TIMEOUT
from found_footy.runtime.system import environment_of
from tests.chaos import killed_worker
from tests.chaos.killed_worker import STEPS_FOLDER, activity_name
from tests.support.processes import WorkerProcesses, wait_until
from tests.support.scenarios import ONE_GOAL

pytestmark = pytest.mark.timeout(240)

POLL = activity_name(MonitorActivities.poll_active_fixtures)


@dataclass(frozen=True)
class Polling:
    """A match in play after its goal, a schedule that polls it every second, and two workers."""

    store: FixtureStore
    client: Client
    schedule: ScheduleHandle
    workers: WorkerProcesses
    kill_steps: Path
    fixture_id: int

    async def polls_with_the_goal(self) -> int:
        events = (await self.store.fixture(self.fixture_id))["events"]
        return sum(event["_stable_count"] for event in events)

    async def polls_started(self) -> int:
        return (await self.schedule.describe()).info.num_actions

    async def polls_skipped(self) -> int:
        return (await self.schedule.describe()).info.num_actions_skipped_overlap

    async def pause(self) -> None:
        """Return once no poll is running."""
        await self.schedule.pause()

        async def is_idle() -> bool:
            return not (await self.schedule.describe()).info.running_actions

        await wait_until(is_idle)


@pytest.fixture
async def polling(
    database_url: str, valkey_server: str, temporal: Client, temporal_settings: dict[str, str], tmp_path: Path
) -> AsyncIterator[Polling]:
    scenario = load_scenario(ONE_GOAL).football
    (match,) = scenario.matches
    kill_steps = tmp_path / "kill"
    kill_steps.mkdir()
    async with AsyncExitStack() as stack:
        simulator = await stack.enter_async_context(Simulator(scenario))
        simulator.hold_at(match_timeline(match).moment_of(ScriptedMinute(elapsed=3)))
        own = {
            "data_dir": tmp_path,
            "database_url": SecretStr(database_url),
            "redis_url": SecretStr(valkey_server),
            "task_queue": f"chaos-{uuid4()}",
            "llama_url": "http://127.0.0.1:9",
            # Until it is stable, a goal counts the polls that listed it.
            "debounce_polls": 20,
            **temporal_settings,
        }
        settings = demo_settings(load_settings(), simulator).model_copy(update=own)
        environment = {**environment_of(settings), STEPS_FOLDER: str(kill_steps)}
        workers = await stack.enter_async_context(
            WorkerProcesses(
                killed_worker.main, environment, HEARTBEAT_TIMEOUT, log=tmp_path / "workers.log", restart=False
            )
        )
        store = await stack.enter_async_context(open_store(settings))
        ingest = IngestInput(fixture_ids=[match.id])
        await temporal.execute_workflow(
            IngestWorkflow.run, ingest, id=f"ingest-{uuid4()}", task_queue=settings.task_queue
        )
        schedule = await temporal.create_schedule(
            f"{MONITOR_SCHEDULE}-{uuid4()}", schedules(settings)[MONITOR_SCHEDULE], trigger_immediately=True
        )
        stack.push_async_callback(schedule.delete)
        yield Polling(store, temporal, schedule, workers, kill_steps, match.id)


async def test_the_other_worker_repeats_the_poll_of_a_killed_one_and_due_polls_are_skipped(polling: Polling) -> None:
    async def goal_is_listed() -> bool:
        return await polling.polls_with_the_goal() > 0

    await wait_until(goal_is_listed)
    await polling.pause()
    listed, started = await polling.polls_with_the_goal(), await polling.polls_started()
    skipped = await polling.polls_skipped()
    before = polling.workers.pids
    assert len(before) == 2

    (polling.kill_steps / f"after {POLL}").touch()
    await polling.schedule.unpause()
    while len(polling.workers.pids) == 2:
        await asyncio.sleep(0.01)
    killed_at = datetime.now(UTC)
    (survivor,) = polling.workers.pids

    async def polls_fell_due() -> bool:
        return await polling.polls_skipped() >= skipped + 2

    await wait_until(polls_fell_due)
    await polling.pause()
    assert await polling.polls_with_the_goal() - listed == await polling.polls_started() - started

    actions = (await polling.schedule.describe()).info.recent_actions
    action = actions[started - await polling.polls_started()].action
    assert isinstance(action, ScheduleActionExecutionStartWorkflow)
    poll = polling.client.get_workflow_handle(action.workflow_id, run_id=action.first_execution_run_id)
    assert (await poll.describe()).status is WorkflowExecutionStatus.COMPLETED
    history = (await poll.fetch_history()).events
    scheduled = {each.event_id: each.activity_task_scheduled_event_attributes for each in history}
    attempts = [
        (each.event_time.ToDatetime(UTC), each.activity_task_started_event_attributes)
        for each in history
        if each.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED
    ]
    ((taken_over_at, repeated),) = [
        (at, attempt) for at, attempt in attempts if scheduled[attempt.scheduled_event_id].activity_type.name == POLL
    ]
    assert repeated.attempt == 2
    assert repeated.identity.startswith(f"{survivor}@")
    timeout = repeated.last_failure.timeout_failure_info.timeout_type
    assert timeout == TimeoutType.TIMEOUT_TYPE_HEARTBEAT, "the kill was detected by missing heartbeats"
    assert taken_over_at - killed_at < POLL_ACTIVE.start_to_close
