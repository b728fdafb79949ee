"""What all commands share: how they run, are stopped and print JSON, and what their exit codes mean."""

from __future__ import annotations

import asyncio
import signal
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


def stop_signal() -> asyncio.Event:
    """Set by SIGINT and SIGTERM, which then cancel nothing: what has begun may be finished."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def located(*needed: str) -> Settings:
    """Quiet settings for a command that looks; what it needs and nobody has set is looked for where `footy up` runs."""
    from found_footy.ops.locate import with_running_engines

    settings = load_settings()
    configure(settings.log_format, "ERROR")
    return settings if all(getattr(settings, name) for name in needed) else with_running_engines(settings)
