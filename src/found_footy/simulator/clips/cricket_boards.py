"""Cricket scoreboards in three styles, at the bottom of the picture: runs and wickets, overs, and who bats."""

from __future__ import annotations

from collections.abc import Callable

from found_footy.simulator.clips.kinds import CricketStyle
from found_footy.simulator.clips.lettering import BOLD, DUPLEX, INK, MEDIUM, WHITE, BoardText, Canvas


def _bar(board: Canvas, text: BoardText) -> None:
    """A broad bar: letters, `95-3`, the overs, and a run rate that must not be taken for them."""
    runs, wickets = text.score
    board.box(0.0, 0.0, 1.0, 1.0, (60, 34, 20))
    board.box(0.0, 0.0, 0.18, 1.0, (40, 90, 220))
    board.text(text.codes[0], (0.09, 0.5), 0.46, WHITE, BOLD, 0.15)
    board.text(f"{runs}-{wickets}", (0.31, 0.5), 0.5, WHITE, BOLD, 0.2)
    board.box(0.44, 0.12, 0.64, 0.88, WHITE)
    board.text(text.face.clock, (0.54, 0.5), 0.44, INK, BOLD, 0.17)
    board.text(f"CRR {_rate(text):.2f}", (0.82, 0.5), 0.36, (200, 220, 230), MEDIUM, 0.3)


def _corner(board: Canvas, text: BoardText) -> None:
    """Two rows at the left: `IND 95/3`, and `OVERS 12.3` below."""
    runs, wickets = text.score
    board.box(0.0, 0.0, 1.0, 0.54, (240, 238, 236))
    board.text(f"{text.codes[0]} {runs}/{wickets}", (0.5, 0.27), 0.26, INK, MEDIUM, 0.9)
    board.box(0.0, 0.56, 1.0, 1.0, (120, 50, 30))
    board.text(f"OVERS {text.face.clock}", (0.5, 0.78), 0.22, WHITE, MEDIUM, 0.86)


def _southern(board: Canvas, text: BoardText) -> None:
    """As they write it in Australia, the wickets first: `IND 3-95`, the overs, and `v AUS`."""
    runs, wickets = text.score
    board.box(0.0, 0.0, 1.0, 1.0, (30, 60, 20), 0.85)
    board.box(0.0, 0.0, 0.42, 1.0, (30, 30, 30))
    board.text(text.codes[0], (0.1, 0.5), 0.46, (90, 220, 250), DUPLEX, 0.15)
    board.text(f"{wickets}-{runs}", (0.3, 0.5), 0.48, WHITE, DUPLEX, 0.2)
    board.text(f"{text.face.clock} OV", (0.58, 0.5), 0.44, WHITE, DUPLEX, 0.24)
    board.text(f"v {text.codes[1]}", (0.86, 0.5), 0.44, (210, 225, 215), DUPLEX, 0.2)


def _rate(text: BoardText) -> float:
    over, ball = text.face.clock.split(".")
    balls = int(over) * 6 + int(ball)
    return text.score[0] * 6 / balls if balls else 0.0


CRICKET_BOARDS: dict[CricketStyle, Callable[[Canvas, BoardText], None]] = {
    "bar": _bar,
    "corner": _corner,
    "southern": _southern,
}
