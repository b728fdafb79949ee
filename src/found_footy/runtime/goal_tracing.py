"""Spans of polls and of what follows from them. Imported only with tracing on, before any workflow runs.

A poll is the root of a trace: Temporal's headers carry it to the workflows and activities that the poll starts. Work
without such a header, such as the library's, makes no spans. What leaves the process has no secrets.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, get_current_span
from temporalio import workflow
from temporalio.contrib.opentelemetry import TracingInterceptor, TracingWorkflowInboundInterceptor
from temporalio.worker import (
    ActivityInboundInterceptor,
    ActivityOutboundInterceptor,
    ExecuteActivityInput,
    ExecuteWorkflowInput,
    WorkflowInterceptorClassInput,
)

from found_footy.runtime.http import redact_urls
from found_footy.runtime.logging import hide_secrets
from found_footy.version import VERSION

ROOTS: Mapping[str, str] = {"MonitorWorkflow": "poll", "IngestWorkflow": "ingest"}
"""Workflows that begin a trace, with the name of its first span."""

# --- Export.

MAX_TEXT = 1000
STACK_TRACE = "exception.stacktrace"
"""Not exported, because it may contain secrets; the logs have it."""


class PresetIds(RandomIdGenerator):
    def __init__(self, preset: ContextVar[tuple[int, int] | None]) -> None:
        self._preset = preset

    def generate_trace_id(self) -> int:
        preset = self._preset.get()
        return preset[0] if preset else super().generate_trace_id()

    def generate_span_id(self) -> int:
        preset = self._preset.get()
        return preset[1] if preset else super().generate_span_id()


class RedactingExporter(SpanExporter):
    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_redacted(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _redacted(span: ReadableSpan) -> ReadableSpan:
    status = span.status
    if status.description:
        status = Status(status.status_code, plain_text(status.description))
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=_without_secrets(span.attributes or {}),
        events=[_redacted_event(event) for event in span.events],
        links=span.links,
        kind=span.kind,
        status=status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _redacted_event(event: Event) -> Event:
    kept = {name: value for name, value in (event.attributes or {}).items() if name != STACK_TRACE}
    return Event(event.name, _without_secrets(kept), event.timestamp)


def _without_secrets(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return plain_text(value)
    return [_plain(part) for part in value] if isinstance(value, Sequence) else value


def plain_text(text: str) -> str:
    """Without secrets, and without what makes signed URLs work: their queries."""
    return hide_secrets(redact_urls(text, MAX_TEXT))


# --- Temporal.


BEGIN = "__footy_begin_trace"

Begin = Callable[[str, str, str, int, bool], dict[str, str]]


class GoalTracing(TracingInterceptor):
    def __init__(self, tracer: Tracer, begin: Begin) -> None:
        super().__init__(tracer)
        self._begin = begin

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _FollowedActivity(next, super().intercept_activity(next), self.header_key)

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[TracingWorkflowInboundInterceptor]:
        super().workflow_interceptor_class(input)
        input.unsafe_extern_functions[BEGIN] = self._begin
        return _FollowedWorkflow


class _FollowedWorkflow(TracingWorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        info = workflow.info()
        if info.workflow_type in ROOTS and self.header_key not in info.headers:
            # Workflows started by a schedule have no header.
            self._workflow_context_carrier = workflow.extern_functions()[BEGIN](
                ROOTS[info.workflow_type],
                info.workflow_id,
                info.run_id,
                workflow.time_ns(),
                workflow.unsafe.is_replaying(),
            )
        return await super().execute_workflow(input)


class _FollowedActivity(ActivityInboundInterceptor):
    """Traces the activity if its workflow is traced."""

    def __init__(self, next: ActivityInboundInterceptor, traced: ActivityInboundInterceptor, header: str) -> None:
        super().__init__(next)
        self._traced = traced
        self._header = header

    def init(self, outbound: ActivityOutboundInterceptor) -> None:
        self._traced.init(outbound)  # which passes it on

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        follower = self._traced if self._header in input.headers else self.next
        return await follower.execute_activity(input)


# --- The tracing of a process.


class Tracing:
    """Owns the thread that exports."""

    def __init__(self, endpoint: str) -> None:
        own = {"service.version": VERSION}
        if "OTEL_SERVICE_NAME" not in os.environ:
            own["service.name"] = "found-footy"
        preset: ContextVar[tuple[int, int] | None] = ContextVar("preset_ids", default=None)
        self._preset = preset
        self._provider = TracerProvider(resource=Resource.create(own), id_generator=PresetIds(preset))
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
        self._provider.add_span_processor(BatchSpanProcessor(RedactingExporter(exporter)))
        self._tracer = self._provider.get_tracer("found_footy", VERSION)
        self.interceptor = GoalTracing(self._tracer, self.begin)

    def begin(self, name: str, workflow_id: str, run_id: str, time_ns: int, is_replaying: bool) -> dict[str, str]:
        """Make the first span of a trace, and return the header that leads to it.

        Its ids follow from the run, so that a worker that takes the workflow over continues the same trace.
        """
        digest = hashlib.sha256(f"{workflow_id}/{run_id}".encode()).digest()
        trace_id, span_id = int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])
        decision = self._provider.sampler.should_sample(None, trace_id, name).decision
        is_sampled = decision.is_sampled()  # type: ignore[no-untyped-call]
        if is_sampled and not is_replaying:
            token = self._preset.set((trace_id, span_id))
            try:
                about = {"temporalWorkflowID": workflow_id, "temporalRunID": run_id}
                span = self._tracer.start_span(name, Context(), SpanKind.SERVER, about, start_time=time_ns)
            finally:
                self._preset.reset(token)
            span.end(time_ns)
        return {"traceparent": f"00-{trace_id:032x}-{span_id:016x}-{'01' if is_sampled else '00'}"}

    def begin_request(self, method: str, host: str) -> Span | None:
        """A span of an outbound request, within a traced activity only. It names the host, but no path or query."""
        if not get_current_span().get_span_context().is_valid:
            return None
        about = {"http.request.method": method, "server.address": host}
        return self._tracer.start_span(f"{method} {host}", kind=SpanKind.CLIENT, attributes=about)

    def end_request(self, span: Span, status: int | None, failure: str) -> None:
        if status is not None:
            span.set_attribute("http.response.status_code", status)
        if failure or (status or 0) >= 400:
            span.set_status(Status(StatusCode.ERROR, failure or f"HTTP {status}"))
        span.end()

    def close(self) -> None:
        """Export the remaining spans."""
        self._provider.shutdown()
