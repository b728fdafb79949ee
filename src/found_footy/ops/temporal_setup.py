"""What Temporal must know before the workers start: search attributes and schedules. Safe to run again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

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
from temporalio.service import RPCError

from found_footy.config import Settings
from found_footy.domain.errors import EngineError
from found_footy.workflows.announce import AnnounceWorkflow
from found_footy.workflows.announce_contracts import ANNOUNCE, AnnounceInput
from found_footy.workflows.canary import CANARY, CanaryInput, CanaryWorkflow
from found_footy.workflows.contracts import EVENT_ID, INGEST_SCHEDULE, IngestInput, MonitorInput
from found_footy.workflows.ingest import IngestWorkflow
from found_footy.workflows.library import LibraryWorkflow
from found_footy.workflows.library_contracts import LIBRARY, LibraryInput
from found_footy.workflows.monitor import MonitorWorkflow

MONITOR_SCHEDULE = "monitor-every-30s"
ANNOUNCE_SCHEDULE = "announce-news"
LIBRARY_SCHEDULE = "library-work"
CANARY_SCHEDULE = "canary-daily"
ALL_SCHEDULES = frozenset({INGEST_SCHEDULE, MONITOR_SCHEDULE, ANNOUNCE_SCHEDULE, LIBRARY_SCHEDULE, CANARY_SCHEDULE})
AT_ONCE = frozenset({ANNOUNCE_SCHEDULE, LIBRARY_SCHEDULE, CANARY_SCHEDULE})
"""Schedules whose first run starts when they are registered."""


def schedules(settings: Settings) -> dict[str, Schedule]:
    canary = timedelta(hours=settings.canary_hours)
    poll = timedelta(seconds=settings.poll_seconds)
    return {
        INGEST_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                IngestWorkflow.run, ingest_order(settings), id="ingest-scheduled", task_queue=settings.task_queue
            ),
            spec=ScheduleSpec(cron_expressions=["5 0 * * *"]),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(days=1)),
        ),
        MONITOR_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                MonitorWorkflow.run,
                MonitorInput(),
                id="monitor-scheduled",
                task_queue=settings.task_queue,
                # A poll that hangs would keep all later ones from starting.
                execution_timeout=max(10 * poll, timedelta(minutes=5)),
            ),
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=poll)]),
            # After a stop there is nothing to catch up with: the next poll sees all that the missed ones would have.
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(seconds=10)),
        ),
        ANNOUNCE_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                AnnounceWorkflow.run,
                AnnounceInput(),
                id=ANNOUNCE,
                task_queue=settings.task_queue,
                # Longer than all of its rounds: one that hangs would keep the next from starting.
                execution_timeout=timedelta(hours=2),
            ),
            # One waits for the end of the other, whatever end that is, and begins in the same moment.
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=30))]),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(seconds=10)),
        ),
        LIBRARY_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                LibraryWorkflow.run,
                LibraryInput(seconds=settings.library_seconds),
                id=LIBRARY,
                task_queue=settings.task_queue,
                execution_timeout=timedelta(hours=6),
            ),
            # As the announcer: a run looks many times, since one run for each look would cost ten times as much.
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=30))]),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(seconds=10)),
        ),
        CANARY_SCHEDULE: Schedule(
            action=ScheduleActionStartWorkflow(
                CanaryWorkflow.run,
                CanaryInput(),
                id=CANARY,
                task_queue=settings.task_queue,
                execution_timeout=timedelta(minutes=20),
            ),
            # Away from midnight, and not all installations at once: the services are other people's.
            spec=ScheduleSpec(
                intervals=[ScheduleIntervalSpec(every=canary, offset=canary / 4)],
                jitter=min(timedelta(hours=1), canary / 4),
            ),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=canary),
        ),
    }


def ingest_order(settings: Settings) -> IngestInput:
    return IngestInput(
        days=settings.ingest_days,
        look_ahead_days=settings.look_ahead_days,
        retention_days=settings.retention_days,
    )


async def prepare_temporal(client: Client, settings: Settings) -> bool:
    """Returns whether the schedules are new here, which means that nothing was ever ingested."""
    try:
        await _add_search_attribute(client)
        new = False
        for id_, schedule in schedules(settings).items():
            try:
                # The demo's simulator counts requests as its script allows them.
                at_once = id_ in AT_ONCE and not (id_ == CANARY_SCHEDULE and settings.profile == "demo")
                await client.create_schedule(id_, schedule, trigger_immediately=at_once)
                new = new or id_ == INGEST_SCHEDULE
            except ScheduleAlreadyRunningError:
                await client.get_schedule_handle(id_).update(_replacement(schedule))
    except RPCError as error:
        raise EngineError(f"Temporal refuses its schedules in namespace {client.namespace}: {error}") from error
    return new


async def missing_schedules(client: Client) -> set[str]:
    try:
        known = {schedule.id async for schedule in await client.list_schedules()}
    except RPCError as error:
        raise EngineError(f"Temporal does not list its schedules in namespace {client.namespace}: {error}") from error
    return set(ALL_SCHEDULES - known)


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
