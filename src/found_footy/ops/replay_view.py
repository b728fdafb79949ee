"""What `footy replay` shows: how far it is, and how the outcome compares with what happened then."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from found_footy.domain.recordings.comparing import Compared
from found_footy.domain.recordings.explaining import Explanation
from found_footy.domain.recordings.outcome import MatchOutcome
from found_footy.ops.replay import Progress as Played
from found_footy.ops.replay import ReplayResult
from found_footy.ops.terminal import printable


class ReplayView:
    """A bar where there is a terminal, and a line for each step where there is none."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = printable(title)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("polls"),
            TextColumn("{task.fields[at]}", style="dim"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=None, at="")
        self._told = ""

    def __enter__(self) -> Self:
        self._console.print(self._title, style="bold", markup=False)
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, played: Played) -> None:
        if self._console.is_terminal:
            at = f"{played.at:%Y-%m-%d %H:%M}" if played.at else ""
            total = played.total or None
            self._bar.update(self._task, description=played.step, completed=played.done, total=total, at=at)
        elif played.step != self._told:
            self._told = played.step
            self._console.print(f"{played.step} …", markup=False)


def result_page(result: ReplayResult) -> RenderableType:
    parts: list[RenderableType] = [_matches(result.compared)]
    notes = [(match, note) for match in result.compared for note in match.notes if note != match.note]
    parts += [Text(printable(f"{match.title}: {note}"), "dim") for match, note in notes]
    if result.without_clip:
        parts.append(Text("\ngoals without a clip, then", "bold"))
        parts += [_explained(each) for each in result.without_clip]
    if result.differences:
        parts += [Text("\ndifferences", "bold red"), _differences(result)]
    played = f"{result.polls} polls played, {result.skipped} left out that said nothing new, {result.seconds:.0f} s"
    verdict = Text("\nas it was then", "green") if result.equal else Text("\nnot as it was then", "red")
    parts.append(verdict.append(f": {played}", "dim"))
    return Group(*parts)


def _matches(compared: tuple[Compared, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("match", ratio=3)
    for column in ("then", "now", "goals", "clips", ""):
        table.add_column(column, no_wrap=column != "")
    for match in compared:
        note = match.note if not match.differences else ""
        goals = match.now.goals if match.now is not None and not note else ()
        verdict = Text("different", "red") if match.differences else Text("same", "green")
        table.add_row(
            printable(match.title),
            _stands(match.then),
            _stands(match.now),
            str(len(goals)) if not note else "–",
            str(sum(len(goal.clips or ()) for goal in goals)) if not note else "–",
            Text(note, "dim") if note else verdict,
        )
    return table


def _stands(outcome: MatchOutcome | None) -> str:
    return f"{outcome.score} {outcome.status}" if outcome is not None else "–"


def _differences(result: ReplayResult) -> Table:
    table = Table("match", "about", "what", "then", "now", box=None, pad_edge=False)
    for each in result.differences:
        table.add_row(*(printable(str(value)) for value in (each.match, each.about, each.what, each.then, each.now)))
    return table


def _explained(explanation: Explanation) -> Text:
    line = Text(printable(f"{explanation.goal}: "))
    line.append(explanation.why, "yellow")
    for each in explanation.evidence:
        line.append(f"\n    {printable(each)}", "dim")
    return line
