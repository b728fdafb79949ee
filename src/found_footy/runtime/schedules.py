"""Temporal schedules: their ids, how often they run, and their registration."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from found_footy.errors import EngineError
from found_footy.runtime.temporal import EVENT_ID

INGEST_SCHEDULE = "ingest-daily"
MONITOR_SCHEDULE = "monitor-every-30s"
NOTIFY_SCHEDULE = "notify"
LIBRARY_SCHEDULE = "library-work"
CANARY_SCHEDULE = "canary-daily"
ALL_SCHEDULES = frozenset({INGEST_SCHEDULE, MONITOR_SCHEDULE, NOTIFY_SCHEDULE, LIBRARY_SCHEDULE, CANARY_SCHEDULE})
"""After an id is changed here, the schedule with the old id keeps running."""


# Runs of a schedule never overlap.


def daily(cron: str, run: Any, order: Any, *, id: str, queue: str, timeout: timedelta) -> Schedule:
    """If the previous run is still active, the next one starts after it. Runs missed for up to a day are caught up."""
    return Schedule(
        action=ScheduleActionStartWorkflow(run, order, id=id, task_queue=queue, execution_timeout=timeout),
        spec=ScheduleSpec(cron_expressions=[cron]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(days=1)),
    )


def every(
    interval: timedelta,
    run: Any,
    order: Any,
    *,
    id: str,
    queue: str,
    timeout: timedelta,
    catch_up: timedelta,
    spread: bool = False,
) -> Schedule:
    """A run is skipped while the previous one is still active. `spread` adds an offset and jitter."""
    offset = interval / 4 if spread else None
    return Schedule(
        action=ScheduleActionStartWorkflow(run, order, id=id, task_queue=queue, execution_timeout=timeout),
        spec=ScheduleSpec(
            intervals=[ScheduleIntervalSpec(every=interval, offset=offset)],
            jitter=min(timedelta(hours=1), interval / 4) if spread else None,
        ),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=catch_up),
    )


def back_to_back(run: Any, order: Any, *, id: str, queue: str, timeout: timedelta) -> Schedule:
    """The next run starts as soon as the current one closes, whatever its status, and at the latest after `timeout`.

    One run does many rounds, because a run per round would cost ten times as much.
    """
    return Schedule(
        action=ScheduleActionStartWorkflow(run, order, id=id, task_queue=queue, execution_timeout=timeout),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=30))]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(seconds=10)),
    )


# --- Registration.


async def register_schedules(
    client: Client, schedules: Mapping[str, Schedule], *, start_now: Iterable[str] = ()
) -> None:
    """Create or update the schedules and the search attribute. Idempotent; an operator's pause is kept.

    `start_now` are the ids whose first run starts on creation.
    """
    try:
        await _add_search_attribute(client)
        for id_, schedule in schedules.items():
            try:
                await client.create_schedule(id_, schedule, trigger_immediately=id_ in set(start_now))
            except ScheduleAlreadyRunningError:
                await client.get_schedule_handle(id_).update(_replacement(schedule))
    except RPCError as error:
        raise EngineError(f"could not register schedules in namespace {client.namespace}: {error}") from error


async def has_schedule(client: Client, id_: str) -> bool:
    """Unlike the list of schedules, this does not lag behind."""
    try:
        await client.get_schedule_handle(id_).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise EngineError(f"could not look up schedule {id_} in namespace {client.namespace}: {error}") from error
    return True


async def missing_schedules(client: Client, expected: Iterable[str]) -> set[str]:
    try:
        known = {schedule.id async for schedule in await client.list_schedules()}
    except RPCError as error:
        raise EngineError(f"could not list the schedules in namespace {client.namespace}: {error}") from error
    return set(expected) - known


def _replacement(schedule: Schedule) -> Callable[[ScheduleUpdateInput], Awaitable[ScheduleUpdate]]:
    async def update(current: ScheduleUpdateInput) -> ScheduleUpdate:
        # An operator's pause survives a restart.
        schedule.state = current.description.schedule.state
        return ScheduleUpdate(schedule)

    return update


async def _add_search_attribute(client: Client) -> None:
    known = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    if EVENT_ID.name in known.custom_attributes:
        return
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=client.namespace,
            search_attributes={EVENT_ID.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD},
        )
    )
