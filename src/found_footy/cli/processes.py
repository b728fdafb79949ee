"""`footy up` and its processes `worker`, `web`, `watchdog` and `scaler`. `footy migrate` prepares the engines."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Annotated, Any

import typer

from found_footy.cli.common import (
    AsJson,
    drain_event,
    log_start,
    out,
    print_json,
    run,
    settings_with_logs,
    stop_event,
)
from found_footy.runtime.data_folder import with_running_engines
from found_footy.runtime.queues import ALL_KINDS, join_kinds, parse_kinds

if TYPE_CHECKING:
    from found_footy.operations.scaler import PoolReport


def up(
    workers: Annotated[int | None, typer.Option(min=1, max=64, help="Number of workers for live matches.")] = None,
) -> None:
    """Start the engines, workers, web server and watchdog, and run until Ctrl-C."""
    from found_footy.app import running
    from found_footy.cli.startup_banner import print_banner
    from found_footy.runtime.system import pages_url

    settings = settings_with_logs()
    log_start("up")
    if workers is not None:
        settings = settings.model_copy(update={"workers": workers})

    async def body() -> None:
        async with running(settings) as system:
            names = ", ".join(f"{child.name} (pid {child.pid})" for child in system.supervisor.status())
            pages = pages_url(system.settings)
            logging.getLogger(__name__).info(f"ready: {names}; pages at {pages}", extra={"action": "ready"})
            await print_banner(system, pages)
            await asyncio.Event().wait()

    run(body, when_stopped=0)


def worker(
    queues: Annotated[
        str, typer.Option(help="Kinds of work to serve, comma-separated.", show_default=True)
    ] = join_kinds(ALL_KINDS),
) -> None:
    """Run one worker on the engines in the settings, or on those of `footy up`."""
    try:
        kinds = parse_kinds(queues)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--queues") from None
    settings = with_running_engines(settings_with_logs())
    log_start("worker")

    from found_footy.app import work

    async def body() -> None:
        await work(settings, stop_event(), kinds, drain_event())

    run(body, when_stopped=0)


def web() -> None:
    """Serve the pages, the API and live updates, on the engines in the settings or on those of `footy up`."""
    settings = with_running_engines(settings_with_logs())
    log_start("web")

    import uvloop

    from found_footy.app import serve

    async def body() -> None:
        await serve(settings, stop_event())

    run(body, when_stopped=0, loop_factory=uvloop.new_event_loop)


def scaler(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure and decide once, without acting.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start and drain worker containers and browsers by load. For local processes, set FOOTY_SCALER for `footy up`."""
    settings = with_running_engines(settings_with_logs())

    from found_footy.app import open_container_scaler

    async def body() -> None:
        async with open_container_scaler(settings) as running:
            if not dry_run:
                await running.run()
            reports = await running.round(act=False)
        if as_json:
            print_json([scaling_document(each) for each in reports])
        for each in () if as_json else reports:
            load, target = each.load, each.decision.target
            out.print(f"{each.name}: {load.instances} → {target} ({each.decision.reason})", markup=False)

    run(body, when_stopped=0)


def scaling_document(report: PoolReport) -> dict[str, Any]:
    load = report.load
    return {
        "pool": report.name,
        "instances": load.instances,
        "draining": load.draining,
        "pending": load.pending,
        "oldest_seconds": load.oldest.total_seconds(),
        "running": sum(queue.running for queue in load.queues),
        "cpu": load.cpu,
        "memory": load.memory,
        "target": report.decision.target,
        "reason": report.decision.reason,
    }


def watchdog() -> None:
    """Run the watchdog: check feed health and restart what is stuck. `footy up` starts one."""
    settings = with_running_engines(settings_with_logs())
    log_start("watchdog")

    from found_footy.app import open_watchdog

    async def body() -> None:
        async with open_watchdog(settings) as running:
            await running.run(stop_event())

    run(body, when_stopped=0)


def migrate() -> None:
    """Apply the database schema, create the bucket and register the schedules. `footy up` does this too."""
    settings = with_running_engines(settings_with_logs())
    log_start("migrate")

    from found_footy.app import prepare

    async def body() -> None:
        prepared = await prepare(settings)
        out.print(f"schema: {', '.join(prepared.migrations) or 'up to date'}")
        out.print(f"object store: {'bucket created' if prepared.bucket_created else 'ready'}")
        out.print(f"schedules: {'registered, first ingest started' if prepared.is_new else 'up to date'}")

    run(body)
