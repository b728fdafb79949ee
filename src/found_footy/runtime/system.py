"""Runs the whole system on one machine: engines, schema, schedules and the processes of Found Footy."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from temporalio.client import Client, WorkflowHandle

from found_footy.config import Settings, environment_names
from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.runtime.engine import Engine, free_port, is_free
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.queues import LIVE_KINDS, WorkKind, join_kinds
from found_footy.runtime.supervisor import Supervisor, WorkerSpec
from found_footy.runtime.temporal import connect_temporal
from found_footy.storage.migrations import migrate

log = logging.getLogger(__name__)
FOOTY = str(Path(sys.executable).parent / "footy")


def with_web_port(settings: Settings, *, any_other: bool = False) -> Settings:
    """Return settings with a free web port, so that a conflict is reported before anything starts."""
    for port in (settings.web_port, 0) if any_other else (settings.web_port,):
        family = socket.AF_INET6 if ":" in settings.web_host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((settings.web_host, port or free_port()))
            except OSError as error:
                reason = error.strerror
                continue
            return settings.model_copy(update={"web_port": probe.getsockname()[1]})
    raise EngineError(
        f"cannot bind {settings.web_host} port {settings.web_port} for the web server: {reason};"
        " set FOOTY_WEB_PORT to another port, or to 0 to select a free one"
    )


def with_browser(settings: Settings) -> Settings:
    """Return settings with a free port for the browser service that `footy up` starts."""
    port = settings.browser_port
    if port == 0 or not is_free(port):
        port = free_port()
    return settings.model_copy(update={"browser_port": port, "browser_url": f"http://127.0.0.1:{port}"})


def pages_url(settings: Settings) -> str:
    """Return the URL of the pages on this machine."""
    return HttpServer.address(settings.web_host, settings.web_port)


@dataclass(frozen=True)
class RunningSystem:
    settings: Settings
    """With the addresses of the engines."""
    client: Client
    supervisor: Supervisor
    first_ingest: WorkflowHandle[Any, Any] | None
    """Set if Temporal had no schedules before."""


@asynccontextmanager
async def run_system(
    settings: Settings,
    start_work: Callable[[Client, Settings], Awaitable[WorkflowHandle[Any, Any] | None]],
    *,
    browser: bool = False,
) -> AsyncIterator[RunningSystem]:
    """Run engines, workers, web server and watchdog on this machine; stop them in order at the end of the block.

    Applies the schema and the schedules. Starts each engine that has no address in the settings, and the browser
    service if `browser`.
    """
    settings = with_web_port(settings)
    if browser and settings.browser_url is None:
        settings = with_browser(settings)
    folder = DataFolder(settings.data_dir)
    with folder.lock():
        engines: list[Engine] = []
        external: dict[str, str] = {}
        if settings.database_url is None:
            engines.append(EmbeddedPostgres(folder))
        else:
            external["DATABASE_URL"] = settings.database_url.get_secret_value()
        if settings.temporal_address is None:
            engines.append(EmbeddedTemporal(folder, ui_port=settings.temporal_ui_port))
        else:
            external["TEMPORAL_ADDRESS"] = settings.temporal_address
        if settings.redis_url is None:
            engines.append(EmbeddedValkey(folder))
        else:
            external["REDIS_URL"] = settings.redis_url.get_secret_value()
        if browser and settings.browser_url is not None:
            # For commands such as `footy browser check`, which read it from the runtime file.
            external["BROWSER_URL"] = settings.browser_url
        async with Supervisor(folder, engines, external) as supervisor:
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
            first_ingest = await start_work(client, settings)
            await supervisor.start_workers(worker_specs(settings))
            if browser:
                await supervisor.start_workers([WorkerSpec("browser", [FOOTY, "browser"], environment_of(settings))])
            await supervisor.start_workers([WorkerSpec("web", [FOOTY, "web"], environment_of(settings))])
            await supervisor.start_workers([WorkerSpec("watchdog", [FOOTY, "watchdog"], environment_of(settings))])
            if settings.backup_url is not None:
                command = [FOOTY, "backup", "run"]
                await supervisor.start_workers([WorkerSpec("backup", command, environment_of(settings))])
            yield RunningSystem(settings, client, supervisor, first_ingest)


def worker_specs(settings: Settings) -> list[WorkerSpec]:
    """Live matches and the library never share a process."""
    live = [live_worker(settings, number) for number in range(1, settings.workers + 1)]
    return live + [library_worker(settings, number) for number in range(1, settings.library_workers + 1)]


def live_worker(settings: Settings, number: int) -> WorkerSpec:
    command = [FOOTY, "worker", "--queues", join_kinds(LIVE_KINDS)]
    return WorkerSpec(f"worker-{number}", command, environment_of(_with_metrics_port(settings, number - 1)))


def library_worker(settings: Settings, number: int) -> WorkerSpec:
    """Not named `worker-…`: a recovery restarts only the workers that poll matches."""
    command = [FOOTY, "worker", "--queues", WorkKind.LIBRARY]
    return WorkerSpec(
        f"library-{number}", command, environment_of(_with_metrics_port(settings, LIBRARY_METRICS + number - 1))
    )


LIBRARY_METRICS = 64
"""Distance between the metrics ports of the first live worker and the first library worker."""


def _with_metrics_port(settings: Settings, offset: int) -> Settings:
    """Each worker of this machine serves its metrics at its own port."""
    if settings.worker_metrics is None:
        return settings
    host, _, port = settings.worker_metrics.rpartition(":")
    return settings.model_copy(update={"worker_metrics": f"{host}:{int(port) + offset}"})


def environment_of(settings: Settings) -> Mapping[str, str]:
    """Return the settings as environment variables for child processes.

    Defaults are omitted, because a default file may be missing, but an explicitly configured file may not.
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
