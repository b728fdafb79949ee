"""The composition root: the only place where adapters are built and joined."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from found_footy.activities.boundary import activities_of
from found_footy.activities.ingest import IngestActivities
from found_footy.activities.monitor import MonitorActivities
from found_footy.activities.search import SearchActivities
from found_footy.adapters.feeds.api_football import ApiFootball
from found_footy.adapters.feeds.espn import Espn
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.config import Settings
from found_footy.domain.errors import EngineError, SettingsError
from found_footy.ports import ScoreFeed, Vision
from found_footy.workflows.registry import WORKFLOWS


def build_feed(settings: Settings) -> ScoreFeed:
    timeout = settings.feed_timeout_seconds
    if settings.feed == "espn":
        return Espn(settings.espn_url, settings.espn_leagues, timeout=timeout, now=_now)
    if settings.api_football_key is None:
        raise SettingsError("API_FOOTBALL_KEY: given nothing; allowed is the key of your API-Football account")
    return ApiFootball(
        settings.api_football_url,
        settings.api_football_key.get_secret_value(),
        timeout=timeout,
        now=_now,
    )


def build_vision(settings: Settings) -> Vision:
    if settings.llama_url is None:
        from found_footy.adapters.vision.ocr import OcrVision  # loads OpenCV and the models' runtime

        return OcrVision()
    from found_footy.adapters.vision.llama import LlamaVision

    return LlamaVision(settings.llama_url, timeout=settings.vision_timeout_seconds, model=settings.llama_model)


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[PostgresStore]:
    if settings.database_url is None:
        raise EngineError("no database is known; start `footy up`, or set DATABASE_URL")
    database = Database(settings.database_url.get_secret_value())
    await database.open()
    try:
        yield PostgresStore(database)
    finally:
        await database.close()


async def connect_temporal(settings: Settings) -> Client:
    if settings.temporal_address is None:
        raise EngineError("no Temporal is known; start `footy up`, or set TEMPORAL_ADDRESS")
    key = settings.temporal_api_key
    try:
        return await Client.connect(
            settings.temporal_address,
            namespace=settings.temporal_namespace,
            api_key=key.get_secret_value() if key else None,
            tls=key is not None,
        )
    except (RPCError, RuntimeError, OSError) as error:
        raise EngineError(f"Temporal at {settings.temporal_address} does not answer: {error}") from error


@asynccontextmanager
async def open_worker(settings: Settings, client: Client) -> AsyncIterator[Worker]:
    """A worker that is not started yet, with its clients."""
    feed = build_feed(settings)
    try:
        async with open_store(settings) as store:
            yield Worker(
                client,
                task_queue=settings.task_queue,
                workflows=list(WORKFLOWS),
                activities=activities_of(
                    IngestActivities(store, feed, settings.lifecycle, settings.tracked_teams, settings.tracked_leagues),
                    MonitorActivities(
                        store,
                        feed,
                        settings.certainty,
                        settings.lifecycle,
                        timedelta(seconds=settings.poll_seconds),
                    ),
                    SearchActivities(store),
                ),
                max_concurrent_workflow_tasks=10,
                max_concurrent_activities=30,
                graceful_shutdown_timeout=timedelta(seconds=10),
                # What a killed worker held is handed to another one after this, not after the default of 10 s.
                sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
                # Our own modules are deterministic by the layers' rules; importing them anew for each workflow
                # costs a third of a worker's time.
                workflow_runner=SandboxedWorkflowRunner(
                    restrictions=SandboxRestrictions.default.with_passthrough_modules("found_footy")
                ),
            )
    finally:
        await feed.aclose()
