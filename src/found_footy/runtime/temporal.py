"""Temporal: connecting, registering schedules, and restoring our errors from its failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from temporalio.api.enums.v1 import IndexedValueType, TaskQueueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, Schedule, ScheduleAlreadyRunningError, ScheduleUpdate, ScheduleUpdateInput
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from found_footy import errors
from found_footy.config import Settings
from found_footy.errors import EngineError, FootyError

EVENT_ID = SearchAttributeKey.for_keyword("EventId")


async def connect_temporal(settings: Settings, *, lazy: bool = False) -> Client:
    """A lazy client connects on first use."""
    if settings.temporal_address is None:
        raise EngineError(
            "TEMPORAL_ADDRESS is not set. Start `footy up`, or point TEMPORAL_ADDRESS at a Temporal server."
        )
    key = settings.temporal_api_key
    try:
        return await Client.connect(
            settings.temporal_address,
            namespace=settings.temporal_namespace,
            api_key=key.get_secret_value() if key else None,
            tls=key is not None,
            lazy=lazy,
        )
    except (RPCError, RuntimeError, OSError) as error:
        raise EngineError(f"Temporal at {settings.temporal_address} is unreachable: {error}") from error


def restore_error(failure: BaseException) -> FootyError:
    """Rebuild the FootyError that an activity raised from Temporal's failure."""
    cause: BaseException | None = failure
    last = failure
    while cause is not None:
        if isinstance(cause, ApplicationError) and cause.type:
            kind = getattr(errors, cause.type, None)
            if isinstance(kind, type) and issubclass(kind, FootyError) and kind is not errors.FeedSchemaError:
                return kind(cause.message)
        last, cause = cause, cause.__cause__
    return EngineError(f"the workflow failed: {last}")


async def has_workers(client: Client, queue: str) -> bool:
    """Whether a worker polls this task queue for workflows."""
    answer = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    return bool(answer.pollers)


async def register_schedules(
    client: Client, schedules: Mapping[str, Schedule], *, start_now: Iterable[str] = ()
) -> frozenset[str]:
    """Create or update the schedules and the search attribute. Idempotent; an operator's pause is kept.

    `start_now` are the ids whose first run starts on creation. Return the ids that are new.
    """
    created = set()
    try:
        await _add_search_attribute(client)
        for id_, schedule in schedules.items():
            try:
                await client.create_schedule(id_, schedule, trigger_immediately=id_ in set(start_now))
                created.add(id_)
            except ScheduleAlreadyRunningError:
                await client.get_schedule_handle(id_).update(_replacement(schedule))
    except RPCError as error:
        raise EngineError(f"could not register schedules in namespace {client.namespace}: {error}") from error
    return frozenset(created)


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
