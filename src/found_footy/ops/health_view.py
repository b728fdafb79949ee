"""The feeds' health as people read it in a terminal."""

from __future__ import annotations

from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from found_footy.domain.feeds.health_values import HealthGrade, Recovery
from found_footy.domain.operations.feed_answers import UNKNOWN
from found_footy.ops.health_report import FeedLine, HealthReport, StaleMatch
from found_footy.ops.terminal import printable

STYLES = {
    HealthGrade.HEALTHY: "green",
    HealthGrade.DEGRADED: "yellow",
    HealthGrade.FAILING: "bold red",
    HealthGrade.RECOVERING: "magenta",
}
LONGEST_WORDS = 160


def health_page(report: HealthReport) -> RenderableType:
    parts: list[RenderableType] = [_head(report)]
    parts.append(feeds_table(report.feeds, report.at))
    parts += [_stale_line(match) for match in report.stale]
    parts += [_recovery_line(recovery) for recovery in report.recoveries]
    parts += [Text(_short(note), "yellow") for note in report.notes]
    return Group(*parts)


def health_line(report: HealthReport) -> str:
    """All of it in one line, for logs."""
    summary = report.summary
    if summary is None:
        return f"{report.at:%H:%M:%S} nobody has judged yet"
    fresh = summary.freshness
    words = [
        f"{report.at:%H:%M:%S} {report.grade}",
        f"{fresh.count} matches, median {fresh.median:.0f} s, p95 {fresh.p95:.0f} s, max {fresh.maximum:.0f} s",
        *(_short(reason) for reason in summary.reasons),
    ]
    if report.no_data:
        words.insert(1, f"no data: {_short(report.no_data)}")
    if not report.judged:
        words.insert(1, f"not judged since {summary.generated_at:%Y-%m-%d %H:%M:%S}, when it was {summary.grade}")
    return "; ".join(words)


def _head(report: HealthReport) -> Text:
    summary = report.summary
    if summary is None:
        return Text("nobody has judged yet; does `footy watchdog` run?", "yellow")
    fresh, at = summary.freshness, report.at
    head = Text()
    if not report.judged:
        head.append(f"nobody has judged for {ago(summary.generated_at, at)}; does `footy watchdog` run?\n", "bold red")
        head.append("UNKNOWN", "bold red")
        head.append(f"  it was {str(summary.grade).upper()}, and this is what was known then:\n", "dim")
    elif report.grade == UNKNOWN:
        head.append("NO DATA", "bold red")
        head.append(f"  {_short(report.no_data)}\n")
        head.append("  `footy doctor --live` shows what each feed answers\n", "dim")
    else:
        head.append(str(summary.grade).upper(), STYLES[summary.grade])
        head.append(f"  for {ago(summary.since, at)}\n")
    for reason in summary.reasons:
        head.append(f"  {_short(reason)}\n", "yellow")
    if fresh.count:
        head.append(f"{_counted(fresh.count, 'match', 'matches')} followed: ")
        head.append(f"median {fresh.median:.0f} s, p95 {fresh.p95:.0f} s, max {fresh.maximum:.0f} s old\n")
    else:
        head.append("no match is under way\n")
    waiting = ", ".join(f"{name} {number}" for name, number in summary.queue.items()) or "nothing"
    head.append(f"waiting: {waiting}; under way {summary.active}; failed {summary.failure_ratio:.0%}", "dim")
    if summary.last_success is not None:
        head.append(f"; last answer {ago(summary.last_success, at)} ago", "dim")
    return head


def feeds_table(feeds: tuple[FeedLine, ...], now: datetime) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    for column in ("feed", "state", "last answer", "5 min", "matches", "failing", "paused"):
        table.add_column(column, no_wrap=True)
    table.add_column("said", ratio=1)
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
        return Text("lacks", "yellow")
    word, style = ("on", "green") if feed.on else ("off", "red")
    return Text(word if feed.switched is None else f"{word} (by hand)", style)


def _stale_line(match: StaleMatch) -> Text:
    line = Text("stale ", "yellow")
    line.append(f"{match.fixture_id:>8} {printable(match.title)}, last heard of {seconds(match.seconds)} ago")
    return line


def _recovery_line(recovery: Recovery) -> Text:
    outcome = str(recovery.outcome) if recovery.outcome else "under way"
    style = {"success": "green", "partial": "yellow", "failed": "red"}.get(outcome, "magenta")
    line = Text(f"{recovery.at:%Y-%m-%d %H:%M:%S} {recovery.action} ", "dim")
    line.append(outcome, style)
    if recovery.seconds is not None:
        line.append(f" in {recovery.seconds:.1f} s", "dim")
    if recovery.healthy_at is not None:
        line.append(f", healthy again after {ago(recovery.at, recovery.healthy_at)}", "dim")
    line.append(f": {_short(recovery.trigger)}", "dim")
    return line


def ago(then: datetime, now: datetime) -> str:
    return seconds((now - then).total_seconds())


def seconds(number: float) -> str:
    number = max(0.0, number)
    if number < 120:
        return f"{number:.0f} s"
    return f"{number / 60:.0f} min" if number < 7200 else f"{number / 3600:.0f} h"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= LONGEST_WORDS else text[: LONGEST_WORDS - 1] + "…"
