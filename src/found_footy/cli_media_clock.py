"""`footy media clock`, `verify` and `parse-clock`: what the clock in a picture says, and what it proves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from found_footy.command import AsJson
from found_footy.console import err, print_json

if TYPE_CHECKING:
    from found_footy.adapters.vision.watch import Watched
    from found_footy.domain.fixtures.model import Score
    from found_footy.domain.videos.readings import Box, FrameReading
    from found_footy.ports import Vision

SaveProof = Annotated[
    Path | None, typer.Option("--save-proof", help="Write a PNG of the deciding frame with the clock's box.")
]
FRAME_FIELDS = ("at", "clock", "added", "stoppage_clock", "teams", "score")
STYLES = {"verified": "green", "unverified": "yellow", "rejected": "red"}


def embedded_vision() -> Vision:
    from found_footy.adapters.vision.ocr import OcrVision

    return OcrVision()


def register(app: typer.Typer, open_vision: Callable[[], Vision] = embedded_vision) -> None:
    """Adds the commands to `footy media`. `open_vision` is called only by the commands that look at pictures."""

    @app.command()
    def clock(file: Path, save_proof: SaveProof = None, as_json: AsJson = False) -> None:
        """Read the clock, the teams and the score in a video."""
        show_clock(file, open_vision, save_proof=save_proof, as_json=as_json)

    @app.command()
    def verify(
        file: Path,
        elapsed: Annotated[int, typer.Option(min=0, max=150, help="Minute of the goal, as the feed writes it.")],
        extra: Annotated[int | None, typer.Option(min=0, max=30, help="Minute of stoppage time: 3 in 90+3.")] = None,
        home: Annotated[str | None, typer.Option(help="Name of the home team.")] = None,
        away: Annotated[str | None, typer.Option(help="Name of the away team.")] = None,
        score_before: Annotated[str | None, typer.Option(help="Score before the goal, as 0-0.")] = None,
        score_after: Annotated[str | None, typer.Option(help="Score after the goal, as 1-0.")] = None,
        save_proof: SaveProof = None,
        as_json: AsJson = False,
    ) -> None:
        """Say whether a video shows a goal: verified, unverified or rejected, and why."""
        from found_footy.domain.fixtures.model import Minute
        from found_footy.domain.videos.readings import Expectation

        before, after = _score("--score-before", score_before), _score("--score-after", score_after)
        expectation = Expectation(Minute(elapsed, extra), home, away, before, after)
        show_verification(file, expectation, open_vision, save_proof=save_proof, as_json=as_json)

    @app.command("parse-clock")
    def parse_clock(text: str, as_json: AsJson = False) -> None:
        """Say which minute of a match a clock's text means."""
        from found_footy.domain.videos.match_clock import parse_clock as parse

        minute = parse(text)
        if as_json:
            print_json({"minute": minute})
        else:
            _out().print("not a match clock" if minute is None else f"minute {minute}")


def show_clock(file: Path, open_vision: Callable[[], Vision], *, save_proof: Path | None, as_json: bool) -> None:
    from found_footy.domain.videos.looking import clip_minute, is_screen, is_soccer, minute_of

    watched = _watched(file, open_vision, quiet=as_json)
    readings = watched.readings
    minute = clip_minute(readings)
    soccer, screen = is_soccer(readings) is not False, is_screen(readings) is True
    if save_proof is not None:
        shown = next((each for each in readings if minute is not None and minute_of(each) == minute), readings[0])
        _save_proof(save_proof, watched, shown.at, shown.box, [_line(shown)])
    if as_json:
        frames = [_frame(reading) for reading in readings]
        print_json({"soccer": soccer, "screen": screen, "minute": minute, "frames": frames})
        return
    out = _out()
    out.print(f"minute {'not readable' if minute is None else minute}", style="bold")
    out.print(f"{'soccer' if soccer else 'not soccer'}, {'a filmed screen' if screen else 'no filmed screen'}")
    out.print(_table(readings))


def show_verification(
    file: Path, expectation: Any, open_vision: Callable[[], Vision], *, save_proof: Path | None, as_json: bool
) -> None:
    from found_footy.domain.videos.verification import validate_timestamp

    watched = _watched(file, open_vision, quiet=as_json)
    result = validate_timestamp(watched.readings, expectation)
    if save_proof is not None and result.proof is not None:
        deciding = next(each for each in result.proof.readings if each.at == result.proof.at)
        expected = f"expected {expectation.minute} {expectation.home or ''} - {expectation.away or ''}".rstrip(" -")
        verdict = f"{result.status}: {result.reason}" if result.reason else str(result.status)
        _save_proof(save_proof, watched, result.proof.at, result.proof.box, [_line(deciding), expected, verdict])
    if as_json:
        print_json({"status": result.status, "minute": result.minute, "reason": result.reason})
        return
    out = _out()
    out.print(str(result.status), style=f"bold {STYLES[result.status]}", end="")
    seen = "" if result.minute is None else f" (the clock shows minute {result.minute})"
    out.print(f": {result.reason}{seen}" if result.reason else seen)
    out.print(_table(watched.readings))


def _watched(file: Path, open_vision: Callable[[], Vision], *, quiet: bool) -> Watched:
    from found_footy.adapters.vision.watch import watch

    async def body() -> Watched:
        vision = open_vision()
        try:
            return await watch(vision, file)
        finally:
            await vision.aclose()

    waiting: AbstractContextManager[object] = nullcontext() if quiet else err.status("looking …")
    with waiting:
        return asyncio.run(body())


def _save_proof(path: Path, watched: Watched, at: float, box: Box | None, caption: Sequence[str]) -> None:
    from found_footy.media.proof import draw_proof

    png = draw_proof(watched.picture_at(at).bgr, box, caption)
    try:
        path.write_bytes(png)
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}", param_hint="--save-proof") from None


def _frame(reading: FrameReading) -> dict[str, Any]:
    fields = reading.to_json()
    return {name: fields[name] for name in FRAME_FIELDS} | {"at": round(reading.at, 3)}


def _line(reading: FrameReading) -> str:
    parts = [f"{reading.at:.2f} s", reading.clock or "no clock", reading.added, reading.stoppage_clock]
    teams = reading.teams or ("", "")
    parts += [f"{teams[0]} {reading.score or ''} {teams[1]}".strip()]
    return "  ".join(part for part in parts if part)


def _table(readings: Sequence[FrameReading]) -> Table:
    from found_footy.ops.terminal import printable

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("at", "clock", "added", "stoppage", "teams", "score"):
        table.add_column(column)
    for reading in readings:
        teams = " – ".join(reading.teams) if reading.teams else None
        score = str(reading.score) if reading.score else None
        cells = (reading.clock, reading.added, reading.stoppage_clock, teams, score)
        table.add_row(f"{reading.at:.2f} s", *(printable(cell) if cell else "–" for cell in cells))
    return table


def _score(option: str, text: str | None) -> Score | None:
    from found_footy.domain.videos.readings import parse_score

    try:
        return parse_score(text) if text is not None else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _out() -> Console:
    return Console(highlight=False, markup=False)
