"""`footy backup` and `footy restore`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from found_footy.cli.common import AsJson, located_settings, out, print_json, run, settings_with_logs, stop_event
from found_footy.config import Settings
from found_footy.errors import FootyError
from found_footy.runtime.clock import utc_now
from found_footy.runtime.data_folder import with_running_engines

if TYPE_CHECKING:
    from found_footy.operations.backup import Backup, BackupService

T = TypeVar("T")

CHECK_SECONDS = 600.0
RETRY_SECONDS = 3600.0

log = logging.getLogger(__name__)

backup = typer.Typer(
    name="backup", help="Back up database, objects and settings. Default command: create.", invoke_without_command=True
)

Into = Annotated[str | None, typer.Option("--to", help="Repository: a folder or s3://bucket/prefix.")]
From = Annotated[str | None, typer.Option("--from", help="Repository: a folder or s3://bucket/prefix.")]
BackupId = Annotated[str | None, typer.Argument(help="Id of the backup; default: the newest.")]


@backup.callback()
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        create()


@backup.command()
def create(to: Into = None, as_json: AsJson = False) -> None:
    """Create a backup, check that it is complete, and delete expired backups."""

    async def body(service: BackupService, settings: Settings) -> Backup:
        created = await service.create()
        await service.rotate(_rules(settings))
        return created

    _show(_with_service(to, body), as_json)


@backup.command(name="list")
def list_backups(source: From = None, as_json: AsJson = False) -> None:
    """List the backups of a repository, oldest first."""

    async def body(service: BackupService, _: Settings) -> list[str]:
        return await service.ids()

    ids = _with_service(source, body)
    if as_json:
        print_json(ids)
    else:
        out.print("\n".join(ids) or "no backups", markup=False)


@backup.command()
def verify(backup_id: BackupId = None, source: From = None, as_json: AsJson = False) -> None:
    """Read all files of a backup and compare their hashes."""
    _show(_with_service(source, lambda service, _: service.verify(backup_id)), as_json)


@backup.command(name="run")
def run_backups(
    to: Into = None,
    hours: Annotated[float, typer.Option(min=0.1, max=8760, help="Time between two backups.")] = 24,
) -> None:
    """Create a backup at regular intervals, until stopped. `footy up` does this if FOOTY_BACKUP_URL is set."""
    settings = with_running_engines(settings_with_logs())

    async def body() -> None:
        stop = stop_event()
        while not stop.is_set():
            pause = CHECK_SECONDS
            try:
                await _back_up_if_due(settings, to, timedelta(hours=hours))
            except FootyError as error:
                log.error(f"backup failed: {error}", extra={"action": "backup_failed", "error": error.kind})
                pause = RETRY_SECONDS
            try:
                async with asyncio.timeout(pause):
                    await stop.wait()
            except TimeoutError:
                pass

    run(body, when_stopped=0)


def restore(
    backup_id: BackupId = None,
    source: From = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing data.")] = False,
    settings_to: Annotated[Path | None, typer.Option(help="Folder for the settings files of the backup.")] = None,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty database and object store. Stop the workers and the web server first."""
    body: Callable[[BackupService, Settings], Coroutine[Any, Any, Backup]] = lambda service, _: service.restore(  # noqa: E731
        backup_id, overwrite=overwrite, settings_to=settings_to
    )
    _show(_with_service(source, body), as_json)


async def _back_up_if_due(settings: Settings, to: str | None, every: timedelta) -> None:
    from found_footy.app import open_backups
    from found_footy.operations.backup import time_of

    async with open_backups(settings, to) as service:
        ids = await service.ids()
        if ids and utc_now() - time_of(ids[-1]) < every:
            return
        created = await service.create()
        await service.verify(created.id)
        await service.rotate(_rules(settings))


def _rules(settings: Settings) -> Any:
    from found_footy.operations.backup import KeepRules

    return KeepRules(settings.backup_days, settings.backup_weeks, settings.backup_months)


def _with_service(url: str | None, use: Callable[[BackupService, Settings], Coroutine[Any, Any, T]]) -> T:
    settings = located_settings("database_url")

    async def body() -> T:
        from found_footy.app import open_backups

        async with open_backups(settings, url) as service:
            return await use(service, settings)

    return run(body)


def _show(created: Backup, as_json: bool) -> None:
    facts = {
        "id": created.id,
        "version": created.version,
        "tables": len(created.tables),
        "objects": len(created.objects),
        "bytes": created.size,
        "settings": sorted(created.settings),
    }
    if as_json:
        print_json(facts)
    else:
        line = (
            f"{created.id}  {len(created.tables)} tables, {len(created.objects)} objects, {created.size / 1e6:,.1f} MB"
        )
        out.print(line, markup=False, soft_wrap=True)
