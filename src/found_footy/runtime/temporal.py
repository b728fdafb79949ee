"""Temporal: connecting, and restoring our errors from its failures."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from datetime import UTC, timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeTaskQueueRequest,
    RegisterNamespaceRequest,
)
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig
from temporalio.service import KeepAliveConfig, RPCError, RPCStatusCode

from found_footy import errors
from found_footy.config import Settings
from found_footy.errors import EngineError, FootyError
from found_footy.runtime.clock import utc_now
from found_footy.runtime.payload_codec import data_converter
from found_footy.runtime.tracing import start_tracing
from found_footy.version import VERSION

log = logging.getLogger(__name__)

KEEPALIVE = KeepAliveConfig(interval_millis=15_000, timeout_millis=10_000)
"""A connection without a response is closed after 25 seconds."""
VERSION_MARK = "found-footy/"
"""Precedes the version in the identity of a worker."""
EVENT_ID = SearchAttributeKey.for_keyword("EventId")


async def connect_temporal(settings: Settings, *, lazy: bool = False, runtime: Runtime | None = None) -> Client:
    """Connect to Temporal. A lazy client connects on first use."""
    if settings.temporal_address is None:
        raise EngineError(
            "TEMPORAL_ADDRESS is not set. Start `footy up`, or point TEMPORAL_ADDRESS at a Temporal server."
        )
    key = settings.temporal_api_key
    tracing = start_tracing(settings)
    try:
        return await Client.connect(
            settings.temporal_address,
            namespace=settings.temporal_namespace,
            api_key=key.get_secret_value() if key else None,
            tls=key is not None,
            lazy=lazy,
            runtime=runtime,
            identity=f"{os.getpid()}@{socket.gethostname()} {VERSION_MARK}{VERSION}",
            keep_alive_config=KEEPALIVE,
            data_converter=data_converter(payload_keys(settings)),
            interceptors=[] if tracing is None else [tracing.interceptor],
        )
    except (RPCError, RuntimeError, OSError) as error:
        raise EngineError(f"Temporal at {settings.temporal_address} is unreachable: {error}") from error


def payload_keys(settings: Settings) -> list[str]:
    keys = settings.temporal_payload_keys
    return [each.strip() for each in keys.get_secret_value().split(",") if each.strip()] if keys else []


CONNECT_RETRY_SECONDS = 60.0
HEARTBEAT_INTERVAL = timedelta(seconds=5)
"""How often a worker process reports its slots and its machine to Temporal, for the scaler."""


def worker_runtime(metrics_address: str | None = None) -> Runtime:
    """Build the runtime of a worker process. It owns threads, so there is one per process.

    `metrics_address` is where it serves the metrics of Temporal's SDK. Raises EngineError.
    """
    metrics = None
    if metrics_address is not None:
        metrics = PrometheusConfig(
            bind_address=metrics_address, counters_total_suffix=True, unit_suffix=True, durations_as_seconds=True
        )
    try:
        return Runtime(telemetry=TelemetryConfig(metrics=metrics), worker_heartbeat_interval=HEARTBEAT_INTERVAL)
    except (RuntimeError, ValueError) as error:
        raise EngineError(f"cannot serve the worker's metrics at {metrics_address}: {error}") from error


async def connect_with_retry(settings: Settings, runtime: Runtime | None = None) -> Client:
    """Retry for a minute while Temporal is starting or restarting. Raises EngineError."""
    deadline = asyncio.get_running_loop().time() + CONNECT_RETRY_SECONDS
    while True:
        try:
            return await connect_temporal(settings, runtime=runtime)
        except EngineError as error:
            if asyncio.get_running_loop().time() > deadline:
                raise
            log.warning(str(error), extra={"action": "waiting_for_temporal"})
        await asyncio.sleep(1)


async def ensure_namespace(client: Client, retention: timedelta) -> bool:
    """Register the client's namespace if it does not exist. Return whether it was created. Raises EngineError."""
    name = client.namespace
    try:
        await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=name))
        return False
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise EngineError(f"could not look up the namespace {name}: {error}") from error
    kept = Duration(seconds=int(retention.total_seconds()))
    request = RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=kept)
    deadline = asyncio.get_running_loop().time() + CONNECT_RETRY_SECONDS
    try:
        await client.workflow_service.register_namespace(request)
    except RPCError as error:
        raise EngineError(f"could not register the namespace {name}: {error}") from error
    while True:
        try:
            await client.count_workflows()
            return True
        except RPCError as error:  # the server takes seconds to load new namespaces
            if asyncio.get_running_loop().time() > deadline:
                raise EngineError(f"the namespace {name} cannot be used: {error}") from error
        await asyncio.sleep(0.1)


def restore_error(failure: BaseException) -> FootyError:
    """Rebuild the FootyError of an activity from Temporal's failure."""
    cause: BaseException | None = failure
    last = failure
    while cause is not None:
        if isinstance(cause, ApplicationError) and cause.type:
            kind = getattr(errors, cause.type, None)
            if isinstance(kind, type) and issubclass(kind, FootyError) and kind is not errors.FeedSchemaError:
                return kind(cause.message)
        last, cause = cause, cause.__cause__
    return EngineError(f"the workflow failed: {last}")


async def has_workers(client: Client, queue: str, within: timedelta = timedelta(minutes=5)) -> bool:
    """Whether a worker recently polled this task queue for workflows. Temporal lists pollers for 5 minutes."""
    answer = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    since = utc_now() - within
    return any(poller.last_access_time.ToDatetime(UTC) >= since for poller in answer.pollers)
