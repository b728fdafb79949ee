"""Everything on one machine: engines, schema, schedules, workers; stopped in order when the block is left."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from temporalio.client import Client, WorkflowHandle

from found_footy.adapters.storage.postgres.migrate import migrate
from found_footy.bootstrap_feeds import check_feeds
from found_footy.bootstrap_temporal import connect_temporal
from found_footy.config import Settings, environment_names
from found_footy.ops.data_folder import DataFolder
from found_footy.ops.engines.engine import Engine
from found_footy.ops.engines.postgres import EmbeddedPostgres
from found_footy.ops.engines.supervisor import Supervisor
from found_footy.ops.engines.temporal import EmbeddedTemporal
from found_footy.ops.engines.valkey import EmbeddedValkey
from found_footy.ops.engines.worker import WorkerSpec
from found_footy.ops.serving import with_web_port
from found_footy.ops.temporal_setup import ingest_order, prepare_temporal
from found_footy.workflows.contracts import IngestResult
from found_footy.workflows.ingest import IngestWorkflow

log = logging.getLogger(__name__)

FOOTY = str(Path(sys.executable).parent / "footy")


@dataclass(frozen=True)
class Running:
    settings: Settings
    """With the addresses of the engines filled in."""
    client: Client
    supervisor: Supervisor
    first_ingest: WorkflowHandle[Any, IngestResult] | None = None
    """Only on a fresh Temporal: the ingest that does not wait for the daily one."""


@asynccontextmanager
async def running(settings: Settings, *, browser: bool = False) -> AsyncIterator[Running]:
    """Starts whichever engine has no address in the settings, and the browser service where it is wanted."""
    await check_feeds(settings)  # a missing key is told before anything is started
    settings = with_web_port(settings)
    folder = DataFolder(settings.data_dir)
    with folder.lock():
        engines: list[Engine] = []
        elsewhere: dict[str, str] = {}
        if settings.database_url is None:
            engines.append(EmbeddedPostgres(folder))
        else:
            elsewhere["DATABASE_URL"] = settings.database_url.get_secret_value()
        if settings.temporal_address is None:
            engines.append(EmbeddedTemporal(folder, ui_port=settings.temporal_ui_port))
        else:
            elsewhere["TEMPORAL_ADDRESS"] = settings.temporal_address
        if settings.redis_url is None:
            engines.append(EmbeddedValkey(folder))
        else:
            elsewhere["REDIS_URL"] = settings.redis_url.get_secret_value()
        async with Supervisor(folder, engines, elsewhere) as supervisor:
            await supervisor.start_engines()
            found = supervisor.environment
            settings = settings.model_copy(
                update={
                    "database_url": SecretStr(found["DATABASE_URL"]),
                    "temporal_address": found["TEMPORAL_ADDRESS"],
                    "redis_url": SecretStr(found["REDIS_URL"]),
                }
            )
            applied = await migrate(found["DATABASE_URL"])
            log.info("schema is up to date", extra={"action": "migrated", "applied": applied})
            client = await connect_temporal(settings)
            first_time = await prepare_temporal(client, settings)
            await supervisor.start_workers(worker_specs(settings))
            if browser:
                await supervisor.start_workers([WorkerSpec("browser", [FOOTY, "browser"], environment_of(settings))])
            await supervisor.start_workers([WorkerSpec("web", [FOOTY, "web"], environment_of(settings))])
            await supervisor.start_workers([WorkerSpec("watchdog", [FOOTY, "watchdog"], environment_of(settings))])
            first_ingest = None
            if first_time:
                # The daily ingest may be a day away; a newcomer wants to see fixtures now.
                first_ingest = await client.start_workflow(
                    IngestWorkflow.run,
                    replace(ingest_order(settings), days_before=1),
                    id=f"ingest-first-{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
                    task_queue=settings.task_queue,
                )
            yield Running(settings, client, supervisor, first_ingest)


def worker_specs(settings: Settings) -> list[WorkerSpec]:
    environment = environment_of(settings)
    return [WorkerSpec(f"worker-{number}", [FOOTY, "worker"], environment) for number in range(1, settings.workers + 1)]


def environment_of(settings: Settings) -> Mapping[str, str]:
    """The settings as a child process reads them, so that it cannot differ from its parent.

    What was not set is left out: a default file that is missing is fine, one that was asked for is not.
    """
    environment = {}
    for name, variable in environment_names().items():
        if name not in settings.model_fields_set:
            continue
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        elif isinstance(value, tuple):
            value = ",".join(str(part) for part in value)
        if value is not None:
            environment[variable] = str(value)
    return environment
