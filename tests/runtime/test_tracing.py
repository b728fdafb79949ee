"""Traces of real workers on a real Temporal server, exported over HTTP to a collector on loopback."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer

from found_footy.app import workflows
from found_footy.clips.activities import DownloadActivities, UploadActivities, VerificationActivities
from found_footy.clips.models import (
    CandidateRef,
    DedupPlan,
    FetchResult,
    OutdatedQuery,
    OutdatedRejections,
    PoolRef,
    SettleRequest,
    VideoRef,
    VideoStatus,
    upload_workflow_id,
)
from found_footy.clips.workflow import upload_starter
from found_footy.config import Settings
from found_footy.discovery.activities import SearchActivities
from found_footy.discovery.models import (
    CloseRequest,
    CloseResult,
    GoalCheck,
    SearchAttempt,
    SearchOutcome,
    SearchPlan,
    WorkflowRef,
    search_workflow_id,
)
from found_footy.feeds.activities import FeedActivities
from found_footy.feeds.models import EnabledFeeds, FeedPollInput, FeedPollResult
from found_footy.fixtures.activities import MonitorActivities
from found_footy.fixtures.models import ActivationResult, MonitorInput, PollInput, PollResult, StagingPollResult
from found_footy.fixtures.workflow import MonitorWorkflow
from found_footy.runtime.http import HttpClient, HttpLimits
from found_footy.runtime.temporal import connect_temporal
from found_footy.runtime.tracing import start_tracing, stop_tracing
from tests.support.workers import sandbox, worker_with

SIGNED = "X-Amz-Signature=0123456789abcdef0123456789abcdef&X-Amz-Credential=AKIDEXAMPLE"


@dataclass
class Collector:
    """An OpenTelemetry collector, and a site with videos."""

    spans: list[Span] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""

    def receive(self, body: bytes) -> None:
        self.bodies.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            made.receive(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer(b"")

        def do_GET(self) -> None:
            self._answer(b"a video")

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield made
    stop_tracing()
    server.shutdown()
    server.server_close()
    thread.join()


class TracedPipeline:
    """A goal of one poll, with one post that becomes a clip."""

    def __init__(self, client: Client, site: str) -> None:
        self.client, self.site = client, site
        self.event_id = f"{uuid4()}_40_7_Goal_1"
        self.queue = ""
        self.published = asyncio.Event()
        self.clip_published = False

    async def activated(self, _: PollInput) -> ActivationResult:
        return ActivationResult([])

    async def list_enabled(self, _: PollInput) -> EnabledFeeds:
        return EnabledFeeds([f"feed{uuid4().hex[:6]}"], 30.0)

    async def poll_feed(self, _: FeedPollInput) -> FeedPollResult:
        return FeedPollResult(asked=1, answered=1)

    async def staging(self, _: PollInput) -> StagingPollResult:
        return StagingPollResult()

    async def active(self, _: PollInput) -> PollResult:
        return PollResult(asked=1, answered=1, to_search=[self.event_id])

    async def outdated(self, _: OutdatedQuery) -> OutdatedRejections:
        raise ApplicationError(f"could not sign {self.site}/b.mp4?{SIGNED}", non_retryable=True)

    async def monitor_complete(self, _: WorkflowRef) -> GoalCheck:
        return GoalCheck(True, SearchPlan(1, 0, 0.0, 0.0, 60.0, []))

    async def search(self, _: SearchAttempt) -> SearchOutcome:
        return SearchOutcome(
            confirmed=True, posts=1, keys=["x:1"], download_seconds=30, vision_retry_seconds=60, complete=True
        )

    async def register(self, _: WorkflowRef) -> GoalCheck:
        return GoalCheck(True)

    async def fetch(self, _: CandidateRef) -> FetchResult:
        client = HttpClient(HttpLimits(10))
        try:
            assert (await client.get(f"{self.site}/secret-path/a.mp4?{SIGNED}")).body == b"a video"
        finally:
            await client.aclose()
        return FetchResult(md5="a" * 32, state="staged")

    async def verify(self, _: VideoRef) -> VideoStatus:
        return VideoStatus("checked")

    async def hash(self, _: VideoRef) -> VideoStatus:
        return VideoStatus("hashed")

    async def hand_over(self, order: SearchAttempt) -> None:
        await upload_starter(self.client, self.queue, 0.2)(order)

    async def deduplicate(self, order: PoolRef) -> DedupPlan:
        new = ("a" * 32,) if order.pool == "verified" and not self.clip_published else ()
        return DedupPlan(stays=new, copies=(), publish=new)

    async def publish(self, _: VideoRef) -> None:
        self.clip_published = True

    async def settle(self, _: SettleRequest) -> None:
        self.published.set()

    async def nothing(self, _: Any) -> None:
        pass

    async def close(self, _: CloseRequest) -> CloseResult:
        return CloseResult(self.clip_published)

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            MonitorActivities.pre_activate_upcoming_fixtures: self.activated,
            MonitorActivities.poll_staging_fixtures: self.staging,
            MonitorActivities.poll_active_fixtures: self.active,
            FeedActivities.list_enabled: self.list_enabled,
            FeedActivities.poll_feed: self.poll_feed,
            VerificationActivities.list_outdated_rejections: self.outdated,
            VerificationActivities.verify_clip: self.verify,
            SearchActivities.set_monitor_complete: self.monitor_complete,
            SearchActivities.search_sources: self.search,
            SearchActivities.close_event: self.close,
            SearchActivities.sweep_event: self.nothing,
            DownloadActivities.register_download_workflow: self.register,
            DownloadActivities.fetch_clip: self.fetch,
            DownloadActivities.hash_clip: self.hash,
            UploadActivities.queue_videos_for_upload: self.hand_over,
            UploadActivities.deduplicate_pool: self.deduplicate,
            UploadActivities.publish_clip: self.publish,
            UploadActivities.settle_event: self.settle,
            UploadActivities.clean_up_upload: self.nothing,
        }

    async def play(self, starter: Client) -> list[str]:
        """From the poll, started as a schedule does it, without a header, to the end of the upload."""
        async with worker_with(self.client, self.fakes) as self.queue:
            poll = f"monitor-{uuid4()}"
            handle = await starter.start_workflow(MonitorWorkflow.run, MonitorInput(), id=poll, task_queue=self.queue)
            await asyncio.wait_for(handle.result(), 120)
            ids = [poll, search_workflow_id(self.event_id), upload_workflow_id(self.event_id)]
            for id_ in ids[1:]:
                await asyncio.wait_for(starter.get_workflow_handle(id_).result(), 120)
        return ids


def settings_with(given: dict[str, str], endpoint: str) -> Settings:
    return Settings(**given, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)  # type: ignore[arg-type]


STEPS = (
    *("poll_active_fixtures", "poll_feed", "search_sources", "fetch_clip", "verify_clip", "hash_clip"),
    *("queue_videos_for_upload", "deduplicate_pool", "publish_clip", "settle_event"),
)


@pytest.fixture
async def starter(temporal_settings: dict[str, str]) -> Client:
    """Starts workflows without tracing, as a schedule does."""
    return await connect_temporal(Settings(**temporal_settings))  # type: ignore[arg-type]


async def test_one_trace_leads_from_a_poll_to_a_published_clip(
    starter: Client, temporal_settings: dict[str, str], collector: Collector
) -> None:
    settings = settings_with(temporal_settings, collector.url)
    traced = await connect_temporal(settings)
    world = TracedPipeline(traced, collector.url)
    ids = await world.play(starter)
    tracing = start_tracing(settings)
    assert tracing is not None
    replayer = Replayer(workflows=workflows(), interceptors=[tracing.interceptor], workflow_runner=sandbox())
    for id_ in ids:  # replayed histories fit, and make no spans
        await replayer.replay_workflow(await starter.get_workflow_handle(id_).fetch_history())
    stop_tracing()

    (root,) = collector.named("poll")
    assert root.parent_span_id == b""
    assert {span.trace_id for span in collector.spans} == {root.trace_id}
    known = {span.span_id for span in collector.spans}
    assert [span.name for span in collector.spans if span is not root and span.parent_span_id not in known] == []
    missing = [step for step in STEPS if not collector.named(f"RunActivity:{step}")]
    assert missing == []
    for workflow in ("MonitorWorkflow", "SearchWorkflow", "DownloadWorkflow", "UploadWorkflow"):
        assert len(collector.named(f"RunWorkflow:{workflow}")) == 1, workflow

    # The request of the download hangs below its activity, and names the host only.
    (request,) = collector.named("GET 127.0.0.1")
    (fetch,) = collector.named("RunActivity:fetch_clip")
    assert request.parent_span_id == fetch.span_id
    assert {each.key for each in request.attributes} == {
        "http.request.method",
        "server.address",
        "http.response.status_code",
    }
    everything = b"".join(collector.bodies)
    for secret in (b"0123456789abcdef0123456789abcdef", b"AKIDEXAMPLE", b"secret-path", b"Traceback"):
        assert secret not in everything
    (failed,) = collector.named("RunActivity:list_outdated_rejections")
    assert "could not sign" in failed.status.message


async def test_workflows_of_other_kinds_make_no_spans(
    starter: Client, temporal_settings: dict[str, str], collector: Collector
) -> None:
    traced = await connect_temporal(settings_with(temporal_settings, collector.url))
    world = TracedPipeline(traced, collector.url)
    async with worker_with(traced, world.fakes) as queue:
        await upload_starter(starter, queue, 0.1)(SearchAttempt(world.event_id, 1))
        await asyncio.wait_for(starter.get_workflow_handle(upload_workflow_id(world.event_id)).result(), 120)
    stop_tracing()
    assert collector.spans == []


async def test_without_an_endpoint_there_is_no_interceptor(temporal_settings: dict[str, str]) -> None:
    settings = Settings(**temporal_settings)  # type: ignore[arg-type]
    assert start_tracing(settings) is None
    client = await connect_temporal(settings)
    assert client.config()["interceptors"] == []


def test_without_an_endpoint_nothing_of_the_exporter_is_imported() -> None:
    code = (
        "import sys, found_footy.runtime.temporal, found_footy.runtime.http\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_ids_of_a_trace_follow_from_the_run_and_the_sampler_decides(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    def headers(run: str) -> dict[str, str]:
        tracing = start_tracing(Settings(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url))  # type: ignore[call-arg]
        assert tracing is not None
        return tracing.begin("poll", "monitor", run, 1, False)

    first = headers("run 1")
    assert headers("run 1") == first != headers("run 2")
    assert first["traceparent"].endswith("-01")
    stop_tracing()
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    assert headers("run 1")["traceparent"].endswith("-00")
