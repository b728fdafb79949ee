"""`footy health`, `footy recycle` and `footy watchdog`: are the feeds fresh, and what is done where they are not?"""

from __future__ import annotations

import asyncio
import getpass
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from found_footy.command import EXIT_NOT_AS_EXPECTED, AsJson, located, run, stop_signal
from found_footy.config import Settings, load_settings
from found_footy.console import err, out, print_json
from found_footy.domain.errors import FootyError
from found_footy.domain.feeds.health_values import RecoveryAction, RecoveryOutcome
from found_footy.ops.logging import configure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from found_footy.ops.health_report import HealthReport

REDRAW_SECONDS = 2.0
PARTS = {"browser": RecoveryAction.BROWSER_RECYCLE, "poller": RecoveryAction.SOFT_RESTART}


def health(
    watch: Annotated[bool, typer.Option("--watch", help="Keep showing it, until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Tell how fresh the scores are, feed by feed, and what was done about it."""
    settings = located("database_url", "redis_url")

    async def once() -> HealthReport:
        async with _reporter(settings) as report:
            return await report()

    async def again_and_again() -> None:
        async with _reporter(settings) as report:
            await (_redraw(report) if out.is_terminal and not as_json else _lines(report, as_json))

    if watch:
        run(again_and_again, when_stopped=0)
        return
    report = run(once)
    if as_json:
        print_json(report.to_json())
    else:
        from found_footy.ops.health_view import health_page

        out.print(health_page(report))
    if not report.good:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def recycle(
    what: Annotated[str, typer.Argument(help="browser, or poller: its workers and polls.")],
    as_json: AsJson = False,
) -> None:
    """Start the browser or the poller anew, now; the audit log says who wanted it."""
    from found_footy.bootstrap_health import open_health

    if what not in PARTS:
        raise typer.BadParameter(f"{what!r} is none of {', '.join(PARTS)}", param_hint="WHAT")
    settings = located("database_url", "redis_url", "temporal_address")

    async def body() -> Any:
        async with open_health(settings) as opened:
            return await opened.recovering.recover(PARTS[what], f"asked for by {getpass.getuser()} with footy recycle")

    with err.status(f"starting the {what} anew …"):
        entry = run(body)
    if as_json:
        from found_footy.ops.health_report import plain

        print_json(plain(asdict(entry)))
    else:
        for step in entry.after["attempts"][-1]["steps"]:
            out.print(f"{'✓' if step['ok'] else '✗'} {step['name']}: {step['said']}", markup=False, soft_wrap=True)
    if entry.outcome is not RecoveryOutcome.SUCCESS:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def watchdog() -> None:
    """Judge the feeds' health again and again, and recover them when they fail; `footy up` runs one."""
    from found_footy.ops.locate import with_running_engines
    from found_footy.ops.watching import watch

    given = load_settings()
    configure(given.log_format, given.log_level)
    settings = with_running_engines(given)

    async def body() -> None:
        await watch(settings, stop_signal())

    run(body, when_stopped=0)


@asynccontextmanager
async def _reporter(settings: Settings) -> AsyncIterator[Callable[[], Awaitable[HealthReport]]]:
    from found_footy.bootstrap_feeds import open_feeds
    from found_footy.bootstrap_health import open_health, saving_lag
    from found_footy.ops.health_report import Reporting

    async with open_health(settings) as opened, open_feeds(settings) as feeds:
        reporting = Reporting(
            opened.store,
            opened.cache,
            opened.freshness,
            opened.records,
            opened.counters,
            stale_seconds=settings.stale_seconds,
            judgement_seconds=settings.health_seconds,
            lag=saving_lag(settings),
        )

        async def report() -> HealthReport:
            return await reporting.report(await feeds.registry.declared(), datetime.now(UTC))

        yield report


async def _redraw(report: Callable[[], Awaitable[HealthReport]]) -> None:
    from rich.live import Live
    from rich.text import Text

    from found_footy.ops.health_view import health_page

    with Live(console=out, auto_refresh=False) as live:
        while True:
            try:
                live.update(health_page(await report()), refresh=True)
            except FootyError as error:  # whoever watches an outage wants to see its end
                live.update(Text(_words(error), "red"), refresh=True)
            await asyncio.sleep(REDRAW_SECONDS)


async def _lines(report: Callable[[], Awaitable[HealthReport]], as_json: bool) -> None:
    """Where nobody looks at a terminal: a line for each look."""
    from found_footy.ops.health_view import health_line

    while True:
        try:
            made = await report()
            line = json.dumps(made.to_json(), ensure_ascii=False) if as_json else health_line(made)
        except FootyError as error:
            failure = {"error": {"class": error.kind, "message": str(error), "hint": error.hint}}
            line = json.dumps(failure, ensure_ascii=False) if as_json else _words(error)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        await asyncio.sleep(REDRAW_SECONDS)


def _words(error: FootyError) -> str:
    return f"{datetime.now(UTC):%H:%M:%S} {error.kind}: {error}"
