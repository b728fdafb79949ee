"""`footy record` and `footy replay`: record the feed and search results of a match, and replay them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

import typer
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from found_footy.cli.common import EXIT_NOT_AS_EXPECTED, AsJson, err, located_settings, out, print_json, run
from found_footy.cli.match_view import printable
from found_footy.config import load_settings
from found_footy.runtime.logging import configure

if TYPE_CHECKING:
    from found_footy.recordings.export import Recordings
    from found_footy.recordings.missing_clips import MissingClipExplanation
    from found_footy.recordings.models import RecordingSummary
    from found_footy.recordings.outcome import MatchComparison, MatchOutcome
    from found_footy.recordings.replay import ReplayProgress as Played
    from found_footy.recordings.replay import ReplayResult


T = TypeVar("T")

record = typer.Typer(
    name="record",
    help="Record feed responses and search results of matches, for `footy replay`.",
    no_args_is_help=True,
)


@record.command()
def on(
    fixtures: Annotated[list[int] | None, typer.Argument(help="Fixture ids to record.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Record every match.")] = False,
) -> None:
    """Start recording these fixtures, or every match."""
    if bool(fixtures) == all_:
        raise typer.BadParameter("specify either fixtures or --all, not both", param_hint="FIXTURES")
    _switch(fixtures, on=True)


@record.command()
def off(
    fixtures: Annotated[list[int] | None, typer.Argument(help="Fixture ids; default: every match.")] = None,
) -> None:
    """Stop recording these fixtures, or every match. Existing recordings are kept."""
    _switch(fixtures, on=False)


@record.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List recordings, in progress and finished."""

    async def query(recordings: Recordings) -> tuple[bool, list[RecordingSummary]]:
        return await recordings.store.all_enabled(), list(await recordings.store.summaries())

    every, found = _with_recordings(query)
    if as_json:
        print_json({"every_match": every, "recordings": [asdict(each) for each in found]})
        return

    out.print("recording every match" if every else "recording selected matches only", style="dim")
    out.print(recordings_table(found) if found else "no recordings yet")


@record.command()
def export(
    fixture: Annotated[int, typer.Argument(help="Fixture id.")],
    file: Annotated[Path, typer.Argument(help="File to write.")],
) -> None:
    """Export a recording to a file that `footy replay` can play on any machine."""
    from found_footy.recordings.export import export as write

    settings = load_settings()
    configure(settings.log_format, "ERROR")
    size = run(lambda: write(settings, fixture, file))
    out.print(f"{file}: {size} bytes", markup=False, soft_wrap=True)


def replay(
    recording: Annotated[str, typer.Argument(help="Fixture id, exported file, or folder of ESPN responses.")],
    speed: Annotated[float, typer.Option(min=1, max=600, help="Maximum recorded seconds per real second.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Play a recording through the real workflows and compare the outcome with the original one."""
    from found_footy.app import open_replay
    from found_footy.recordings.export import open_recording
    from found_footy.recordings.replay import replay as play

    settings = load_settings()
    configure("pretty", "ERROR")

    async def body() -> ReplayResult:
        async with open_recording(settings, recording) as found:
            with ReplayView(err, found.recording.title) as view:
                return await play(found.recording, settings, speed, open_replay, view.show, clips=found.clips)

    result = run(body)
    if as_json:
        print_json(result.to_json())
    else:
        out.print(result_view(result))
    if not result.equal:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def _switch(fixtures: list[int] | None, *, on: bool) -> None:
    async def switch(recordings: Recordings) -> None:
        await (recordings.store.enable(fixtures, on) if fixtures else recordings.store.enable_all(on))

    _with_recordings(switch)
    what = f"fixture {', '.join(map(str, fixtures))}" if fixtures else "every match"
    out.print(f"{what}: recording is {'on' if on else 'off'}")


def _with_recordings(use: Callable[[Recordings], Coroutine[Any, Any, T]]) -> T:
    from found_footy.recordings.export import open_recordings

    settings = located_settings("database_url")

    async def body() -> T:
        async with open_recordings(settings) as recordings:
            return await use(recordings)

    return run(body)


# --- Terminal views


def recordings_table(recordings: Sequence[RecordingSummary]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("fixture", "match", "kick-off", "recording"):
        table.add_column(column, no_wrap=column != "match")
    for each in recordings:
        table.add_row(str(each.fixture_id), printable(each.title), f"{each.kickoff:%Y-%m-%d %H:%M}", state_of(each))
    return table


def state_of(recording: RecordingSummary) -> str:
    if recording.sealed_at is not None:
        return f"finished, {(recording.bytes or 0) / 1024:.0f} KiB"
    contents = f"{recording.answers} responses, {recording.searches} searches"
    return f"on, {contents}" if recording.on else f"off, {contents}"


class ReplayView:
    """Progress of a replay: a bar in a terminal, otherwise one line per step."""

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
        self._printed_step = ""

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
        elif played.step != self._printed_step:
            self._printed_step = played.step
            self._console.print(f"{played.step} …", markup=False)


def result_view(result: ReplayResult) -> RenderableType:
    parts: list[RenderableType] = [_matches(result.compared)]
    notes = [(match, note) for match in result.compared for note in match.notes if note != match.note]
    parts += [Text(printable(f"{match.title}: {note}"), "dim") for match, note in notes]
    if result.without_clip:
        parts.append(Text("\ngoals without a clip in the recording", "bold"))
        parts += [_explanation_text(each) for each in result.without_clip]
    if result.differences:
        parts += [Text("\ndifferences", "bold red"), _differences(result)]
    played = f"{result.polls} polls played, {result.skipped} unchanged polls skipped, {result.seconds:.0f} s"
    verdict = Text("\nsame outcome", "green") if result.equal else Text("\ndifferent outcome", "red")
    parts.append(verdict.append(f": {played}", "dim"))
    return Group(*parts)


def _matches(compared: tuple[MatchComparison, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("match", ratio=3)
    for column in ("recorded", "replayed", "goals", "clips", ""):
        table.add_column(column, no_wrap=column != "")
    for match in compared:
        note = match.note if not match.differences else ""
        goals = match.now.goals if match.now is not None and not note else ()
        verdict = Text("different", "red") if match.differences else Text("same", "green")
        table.add_row(
            printable(match.title),
            _score_and_status(match.then),
            _score_and_status(match.now),
            str(len(goals)) if not note else "–",
            str(sum(len(goal.clips or ()) for goal in goals)) if not note else "–",
            Text(note, "dim") if note else verdict,
        )
    return table


def _score_and_status(outcome: MatchOutcome | None) -> str:
    return f"{outcome.score} {outcome.status}" if outcome is not None else "–"


def _differences(result: ReplayResult) -> Table:
    table = Table("match", "about", "what", "recorded", "replayed", box=None, pad_edge=False)
    for each in result.differences:
        table.add_row(*(printable(str(value)) for value in (each.match, each.about, each.what, each.then, each.now)))
    return table


def _explanation_text(explanation: MissingClipExplanation) -> Text:
    line = Text(printable(f"{explanation.goal}: "))
    line.append(explanation.why, "yellow")
    for each in explanation.evidence:
        line.append(f"\n    {printable(each)}", "dim")
    return line
