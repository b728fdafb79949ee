"""`footy health` and `footy recycle`: show the health of the system, and restart the browser or the poller."""

from __future__ import annotations

import asyncio
import getpass
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from found_footy.cli.common import (
    EXIT_NOT_AS_EXPECTED,
    AsJson,
    check_choice,
    err,
    located_settings,
    out,
    print_json,
    run,
)
from found_footy.cli.match_view import printable
from found_footy.config import Settings
from found_footy.runtime.clock import utc_now
from found_footy.text import format_duration, shorten

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from found_footy.operations.health import FeedLine, StaleMatch
    from found_footy.operations.models import HealthReport, Recovery

    Report = Callable[[], Awaitable[HealthReport]]

EXIT_NO_DATABASE = 4
REFRESH_SECONDS = 2.0
MAX_TEXT = 160
PARTS = {"browser": "browser_recycle", "poller": "soft_restart"}
GRADE_STYLES = {
    "healthy": "green",
    "degraded": "yellow",
    "failing": "bold red",
    "recovering": "magenta",
    "unknown": "bold red",
}
SYSTEM_STYLES = {"ok": "green", "degraded": "yellow", "failed": "bold red"}


def health(
    watch: Annotated[bool, typer.Option("--watch", help="Refresh until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show system health: problems, feeds, stale matches and recent recoveries."""
    settings = located_settings("database_url", "redis_url")

    async def once() -> HealthReport:
        async with _open_reports(settings) as report:
            return await report()

    async def repeatedly() -> None:
        async with _open_reports(settings) as report:
            await (_redraw(report) if out.is_terminal and not as_json else _print_lines(report, as_json))

    if watch:
        run(repeatedly, when_stopped=0)
        return
    report = run(once)
    if as_json:
        from found_footy.operations.health import health_document

        print_json(health_document(report))
    else:
        out.print(health_view(report))
    if not report.database_answers:
        raise SystemExit(EXIT_NO_DATABASE)
    if not report.is_working:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def recycle(
    what: Annotated[str, typer.Argument(help="browser: Chromium. poller: running polls and stuck workers.")],
    as_json: AsJson = False,
) -> None:
    """Restart the browser or the poller now. The audit log records the user."""
    check_choice(what, PARTS, "WHAT")
    settings = located_settings("database_url", "redis_url", "temporal_address")

    from found_footy.app import open_recovery
    from found_footy.operations.models import RecoveryAction, RecoveryOutcome

    async def body() -> Recovery:
        async with open_recovery(settings) as recovery:
            trigger = f"requested by {getpass.getuser()} with footy recycle"
            entry = await recovery.recover(RecoveryAction(PARTS[what]), trigger)
            return await recovery.wait_for_outcome(entry, settings.recovery_seconds + 3 * settings.health_seconds)

    with err.status(f"restarting the {what} …"):
        entry = run(body)
    if as_json:
        print_json(asdict(entry))
    else:
        for step in entry.after["attempts"][-1]["steps"]:
            out.print(f"{'✓' if step['ok'] else '✗'} {step['name']}: {step['said']}", markup=False, soft_wrap=True)
    if entry.outcome is not RecoveryOutcome.SUCCESS:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


@asynccontextmanager
async def _open_reports(settings: Settings) -> AsyncIterator[Report]:
    from found_footy.app import open_health_service

    async with open_health_service(settings) as service:
        yield lambda: service.report(utc_now())


async def _redraw(report: Report) -> None:
    from rich.live import Live

    with Live(console=out, auto_refresh=False) as live:
        while True:
            live.update(health_view(await report()), refresh=True)
            await asyncio.sleep(REFRESH_SECONDS)


async def _print_lines(report: Report, as_json: bool) -> None:
    """Print one line per report, without a terminal."""
    from found_footy.operations.health import health_document

    while True:
        current_report = await report()
        line = (
            json.dumps(health_document(current_report), ensure_ascii=False) if as_json else health_line(current_report)
        )
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        await asyncio.sleep(REFRESH_SECONDS)


# --- Terminal views


def health_view(report: HealthReport) -> RenderableType:
    from found_footy.operations.health import MAX_RECOVERIES, feed_lines, stale_matches

    measured = report.measured
    parts: list[RenderableType] = [_head(report)]
    for finding in report.findings:
        parts.append(Text(f"{finding.grade}: {_short(finding.what)}", SYSTEM_STYLES[finding.grade]))
        if finding.advice:
            parts.append(Text(f"    → {_short(finding.advice)}", "dim"))
    if measured.declared is not None:
        parts.append(feeds_table(feed_lines(measured), report.at))
    parts += [_stale_line(match) for match in stale_matches(report)]
    if measured.health is not None:
        parts += [_recovery_line(recovery) for recovery in measured.health.recoveries[:MAX_RECOVERIES]]
    return Group(*parts)


def health_line(report: HealthReport) -> str:
    """Format the report as one line, for logs."""
    words = [f"{report.at:%H:%M:%S} {report.feeds_grade}", f"system {report.grade}"]
    state, last = report.state, report.measured.summary
    if state is not None:
        fresh = state.freshness
        ages = f"median {fresh.median:.0f} s, p95 {fresh.p95:.0f} s, max {fresh.maximum:.0f} s"
        words.append(f"{_count(fresh.count, 'match', 'matches')}, {ages}")
    elif last is not None:
        words.append(f"no health check since {last.generated_at:%Y-%m-%d %H:%M:%S}, when it was {last.grade}")
    words += [_short(finding.what) for finding in report.findings]
    return "; ".join(words)


def _head(report: HealthReport) -> Text:
    state, last, at = report.state, report.measured.summary, report.at
    head = Text("system ")
    head.append(str(report.grade).upper(), SYSTEM_STYLES[report.grade])
    head.append("  feeds ")
    head.append(report.feeds_grade.upper(), GRADE_STYLES[report.feeds_grade])
    if state is not None and report.feeds_grade == state.grade:
        head.append(f" for {ago(state.since, at)}")
    if report.no_data:
        head.append(f"\n{_short(report.no_data)}")
    if state is None:
        since = f"No health check for {ago(last.generated_at, at)}" if last else "No health check yet"
        head.append(f"\n{since}. Is `footy watchdog` running?", "bold red")
    if last is None:
        return head
    if state is None:
        head.append(f" The last grade was {last.grade}.", "dim")
    fresh = last.freshness
    if fresh.count:
        head.append(f"\n{_count(fresh.count, 'match', 'matches')} in play: ")
        head.append(f"updates are median {fresh.median:.0f} s, p95 {fresh.p95:.0f} s, max {fresh.maximum:.0f} s old")
    else:
        head.append("\nno match in play")
    waiting = ", ".join(f"{name} {number}" for name, number in last.queue.items()) or "none"
    head.append(f"\nrequests waiting: {waiting}; active {last.active}; failed {last.failure_ratio:.0%}", "dim")
    if last.last_success is not None:
        head.append(f"; last success {ago(last.last_success, at)} ago", "dim")
    return head


def feeds_table(feeds: tuple[FeedLine, ...], now: datetime) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    for column in ("feed", "state", "last answer", "5 min", "matches", "failing", "paused"):
        table.add_column(column, no_wrap=True)
    table.add_column("problem", ratio=1)
    for feed in feeds:
        table.add_row(
            Text(printable(feed.id), "bold"),
            _state(feed),
            f"{ago(feed.last_answer, now)} ago" if feed.last_answer else "–",
            Text(f"{feed.ok} ok, {feed.failed} failed" if feed.ok or feed.failed else "–"),
            str(feed.matches or "–"),
            Text(str(feed.failing or "–"), "red" if feed.failing else ""),
            Text(str(feed.paused or "–"), "yellow" if feed.paused else ""),
            Text(_short(feed.lacks or feed.error or ""), "dim"),
        )
    return table


def _state(feed: FeedLine) -> Text:
    if feed.on and feed.lacks:
        return Text("not configured", "yellow")
    word, style = ("on", "green") if feed.on else ("off", "red")
    return Text(word if feed.switched is None else f"{word} (set manually)", style)


def _stale_line(match: StaleMatch) -> Text:
    line = Text("stale ", "yellow")
    age = format_duration(timedelta(seconds=match.seconds))
    return line.append(f"{match.fixture_id:>8} {printable(match.title)}, last update {age} ago")


def _recovery_line(recovery: Recovery) -> Text:
    outcome = str(recovery.outcome) if recovery.outcome else "in progress"
    style = {"success": "green", "partial": "yellow", "failed": "red"}.get(outcome, "magenta")
    line = Text(f"{recovery.at:%Y-%m-%d %H:%M:%S} {recovery.action} ", "dim")
    line.append(outcome, style)
    if recovery.seconds is not None:
        line.append(f" in {recovery.seconds:.1f} s", "dim")
    if recovery.healthy_at is not None:
        line.append(f", healthy again after {ago(recovery.at, recovery.healthy_at)}", "dim")
    return line.append(f": {_short(recovery.trigger)}", "dim")


def ago(then: datetime, now: datetime) -> str:
    return format_duration(now - then)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _short(text: Any) -> str:
    return shorten(printable(str(text)), MAX_TEXT)
