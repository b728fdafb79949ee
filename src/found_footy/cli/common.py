"""Helpers shared by all commands: running and stopping, database, options, output, exit codes."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterable
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console

from found_footy.config import Settings, load_settings
from found_footy.runtime.data_folder import with_running_engines
from found_footy.runtime.logging import configure, hide_values
from found_footy.secrets import secret_values
from found_footy.version import current_build

if TYPE_CHECKING:
    from found_footy.storage.postgres import Database

T = TypeVar("T")

EXIT_NOT_AS_EXPECTED = 6
"""A check failed, or a demo or replay differs from what was expected."""
EXIT_STOPPED = 130
"""Ctrl-C interrupted a command before it finished."""
EXIT_NOT_STOPPED = 7
"""A worker, web process or watchdog did not finish its open work in time after the stop signal."""
STOP_TIMEOUT_SECONDS = 25.0
"""Slightly longer than a supervisor waits before it kills the process."""
STOP_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)

log = logging.getLogger(__name__)

# Standard output is for results, standard error for everything else.
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


# --- Options


def parse_date(text: str | None, option: str = "--date") -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"invalid date {text!r}: expected YYYY-MM-DD", param_hint=option) from None


def check_choice(text: str | None, allowed: Iterable[str], option: str) -> None:
    """Accept None, or one of the allowed values."""
    values = list(map(str, allowed))
    if text is not None and text not in values:
        raise typer.BadParameter(f"invalid value {text!r}: expected one of {', '.join(values)}", param_hint=option)


# --- Settings and the database


def settings_with_logs(level: str | None = None) -> Settings:
    """Load the settings and configure logging; `level` overrides the setting."""
    settings = load_settings()
    configure(settings.log_format, level or settings.log_level)
    hide_values(secret_values(settings))
    return settings


def log_start(process: str) -> None:
    """Log which version this process runs."""
    build = current_build()
    log.info(
        f"footy {process} starts: found-footy {build}",
        extra={"action": "starting", "version": build.version, "commit": build.commit},
    )


def located_settings(*needed: str) -> Settings:
    """Load the settings for a command that uses the running system: unset addresses come from `footy up`."""
    settings = settings_with_logs("ERROR")
    return settings if all(getattr(settings, name) for name in needed) else with_running_engines(settings)


def with_database(use: Callable[[Database], Coroutine[Any, Any, T]], settings: Settings | None = None) -> T:
    """Run `use` with the database of the running system."""
    located = settings or located_settings("database_url")

    async def body() -> T:
        from found_footy.storage.postgres import open_database

        async with open_database(located) as database:
            return await use(database)

    return run(body)


# --- Running and stopping


def run(
    make: Callable[[], Coroutine[Any, Any, T]],
    when_stopped: int = EXIT_STOPPED,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> T:
    """Run to completion. SIGINT and SIGTERM cancel it; the process then exits with `when_stopped`."""

    async def body() -> T:
        task = asyncio.current_task()
        assert task is not None
        for number in STOP_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        return await make()

    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            return runner.run(body())
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise SystemExit(when_stopped) from None


def stop_event(timeout_seconds: float = STOP_TIMEOUT_SECONDS) -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set instead of cancelling, so that open work can finish.

    The process is killed `timeout_seconds` after the signal.
    """
    stop = asyncio.Event()

    def on_signal() -> None:
        if not stop.is_set():
            stop.set()
            # A thread, because the event loop itself may hang.
            timer = threading.Timer(timeout_seconds, _force_exit, [timeout_seconds])
            timer.daemon = True
            timer.start()

    for number in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, on_signal)
    return stop


def drain_event() -> asyncio.Event:
    """Return an event that SIGUSR1 sets: finish running tasks without a time limit, and exit."""
    drain = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, drain.set)
    return drain


def _force_exit(seconds: float) -> None:
    """Exit immediately: the supervisor and the engines may have stopped, and all work tolerates being killed."""
    log.error(
        "not stopped %g s after the signal; exiting with work unfinished", seconds, extra={"action": "stop_timeout"}
    )
    os._exit(EXIT_NOT_STOPPED)
