"""What all commands share: how they run, are stopped and print JSON, and what their exit codes mean."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

import typer

from found_footy.config import Settings, load_settings
from found_footy.ops.logging import configure

T = TypeVar("T")

EXIT_NOT_AS_EXPECTED = 6
"""A demo or a check that did not end as it must."""
EXIT_STOPPED = 130
"""Ctrl-C before the end, for commands that have one."""

EXIT_NOT_STOPPED = 7
"""A worker, web process or watchdog that could not finish in time what it had begun when it was told to stop."""
GIVE_UP_SECONDS = 25.0
"""A little more than a supervisor waits before it kills."""

log = logging.getLogger(__name__)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def run(
    make: Callable[[], Coroutine[Any, Any, T]],
    when_stopped: int = EXIT_STOPPED,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> T:
    """Runs to the end; SIGINT and SIGTERM cancel it, everything is stopped in order, and the exit code is given."""

    async def body() -> T:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)
        return await make()

    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            return runner.run(body())
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise SystemExit(when_stopped) from None


def stop_signal(give_up_after: float = GIVE_UP_SECONDS) -> asyncio.Event:
    """Set by SIGINT and SIGTERM, which then cancel nothing: what has begun may be finished, if it can be in time."""
    stop = asyncio.Event()

    def told() -> None:
        if not stop.is_set():
            stop.set()
            # A thread, since whatever hangs may hang the loop, or the way out of it.
            giving_up = threading.Timer(give_up_after, _give_up, [give_up_after])
            giving_up.daemon = True
            giving_up.start()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told)
    return stop


def _give_up(seconds: float) -> None:
    """Whoever supervised us may be gone, and the engines with it: nothing can be finished, and nobody else ends us.

    All that we do is safe to be killed at any moment.
    """
    log.error("what was begun is not finished %g s after the signal to stop", seconds, extra={"action": "gave_up"})
    os._exit(EXIT_NOT_STOPPED)


def located(*needed: str) -> Settings:
    """Quiet settings for a command that looks; what it needs and nobody has set is looked for where `footy up` runs."""
    from found_footy.ops.locate import with_running_engines

    settings = load_settings()
    configure(settings.log_format, "ERROR")
    return settings if all(getattr(settings, name) for name in needed) else with_running_engines(settings)
