"""`footy record` and `footy replay`: keep what was heard of a match, and play it again."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from found_footy.command import AsJson, located, run
from found_footy.config import load_settings
from found_footy.console import err, out, print_json
from found_footy.ops.logging import configure

if TYPE_CHECKING:
    from found_footy.bootstrap_replay import Recordings
    from found_footy.ops.replay import ReplayResult
    from found_footy.ports_recording import RecordingSummary

T = TypeVar("T")

EXIT_DIFFERENT = 6

record = typer.Typer(
    name="record",
    help="Keep what feeds and searches said of a match, to play it again.",
    no_args_is_help=True,
)


@record.command()
def on(
    fixtures: Annotated[list[int] | None, typer.Argument(help="The fixtures to record.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Record every match.")] = False,
) -> None:
    """Record these fixtures from now on, or every match."""
    if bool(fixtures) == all_:
        raise typer.BadParameter("give either fixtures or --all", param_hint="FIXTURES")
    _switch(fixtures, on=True)


@record.command()
def off(
    fixtures: Annotated[list[int] | None, typer.Argument(help="The fixtures; without any, every match.")] = None,
) -> None:
    """Stop recording these fixtures, or all. What was recorded stays."""
    _switch(fixtures, on=False)


@record.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List the recordings: of matches that are on, and those that are finished."""

    async def look(recordings: Recordings) -> tuple[bool, list[RecordingSummary]]:
        return await recordings.store.all_on(), list(await recordings.store.summaries())

    every, found = _ask(look)
    if as_json:
        print_json({"every_match": every, "recordings": [asdict(each) for each in found]})
        return
    from found_footy.ops.recordings_view import recordings_table

    out.print("every match is recorded" if every else "only matches that were named are recorded", style="dim")
    out.print(recordings_table(found) if found else "no recordings yet")


@record.command()
def export(fixture: int, file: Path) -> None:
    """Write the recording of a fixture into a file that `footy replay` plays anywhere."""
    from found_footy.ops.recordings import export as write

    settings = load_settings()
    configure(settings.log_format, "ERROR")
    size = run(lambda: write(settings, fixture, file))
    out.print(f"{file}: {size} bytes", markup=False, soft_wrap=True)


def replay(
    recording: Annotated[str, typer.Argument(help="A fixture, an exported file, or a folder of ESPN's answers.")],
    speed: Annotated[float, typer.Option(min=1, max=600, help="Seconds of then per second, at most.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Play a recording through the real workflows, and compare the outcome with what happened then."""
    from found_footy.ops.recordings import found_recording
    from found_footy.ops.replay import replay as play
    from found_footy.ops.replay_view import ReplayView, result_page

    settings = load_settings()
    configure("pretty", "ERROR")

    async def body() -> ReplayResult:
        async with found_recording(settings, recording) as found:
            with ReplayView(err, found.recording.title) as view:
                return await play(found.recording, settings, speed, view.show, clips=found.clips)

    result = run(body)
    if as_json:
        print_json(result.to_json())
    else:
        out.print(result_page(result))
    if not result.equal:
        raise SystemExit(EXIT_DIFFERENT)


def _switch(fixtures: list[int] | None, *, on: bool) -> None:
    async def switch(recordings: Recordings) -> None:
        await (recordings.store.switch(fixtures, on) if fixtures else recordings.store.switch_all(on))

    _ask(switch)
    what = f"fixture {', '.join(map(str, fixtures))}" if fixtures else "every match"
    out.print(f"{what}: recording is {'on' if on else 'off'}")


def _ask(question: Callable[[Recordings], Coroutine[Any, Any, T]]) -> T:
    from found_footy.bootstrap_replay import open_recordings

    settings = located("database_url")

    async def body() -> T:
        async with open_recordings(settings) as recordings:
            return await question(recordings)

    return run(body)
