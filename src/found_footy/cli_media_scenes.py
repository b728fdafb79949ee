"""`footy media scenes`: where a film cuts from one scene to the next."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from found_footy.command import AsJson
from found_footy.console import err, out, print_json

if TYPE_CHECKING:
    from found_footy.media.scenes import Scenes

LEAST_SECONDS = 0.6
"""As the library's setting has it by default."""

File = Annotated[Path, typer.Argument(metavar="FILE", show_default=False)]
Least = Annotated[float, typer.Option(min=0, max=60, help="Shortest scene in seconds; sooner cuts are left out.")]


def register(app: typer.Typer) -> None:
    app.command("scenes")(scenes)


def scenes(file: File, least: Least = LEAST_SECONDS, as_json: AsJson = False) -> None:
    """Find the scenes of a film: cuts, fades, dissolves and wipes, by frame."""
    found = _watched(file, least)
    if as_json:
        print_json({"fps": found.fps, "cuts": list(found.cuts)})
    else:
        out.print(_table(found))


def _watched(file: Path, least: float) -> Scenes:
    from rich.progress import Progress

    from found_footy.media.scenes import find_cuts

    with Progress(console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("looking for cuts", total=1.0)
        return find_cuts(file, least, progress=lambda share: progress.update(task, completed=share))


def _table(found: Scenes) -> Table:
    """Frames are counted from 0, and a scene's last one is its own."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("scene", "from", "to", "frames", "at"):
        table.add_column(column, justify="right")
    for number, (first, end) in enumerate(pairwise((0, *found.cuts, found.frames)), start=1):
        table.add_row(str(number), str(first), str(end - 1), str(end - first), _time(first / found.fps))
    return table


def _time(seconds: float) -> str:
    """1:02:03.04 for an hour, two minutes, three seconds and four hundredths."""
    hundredths = round(seconds * 100)
    minutes, rest = divmod(hundredths, 6000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest // 100:02}.{rest % 100:02}"
