"""Scoreboards in five styles for football and three for cricket, drawn at the frame's size once a second."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.cricket_boards import CRICKET_BOARDS
from found_footy.simulator.clips.framing import BOARDS, Box
from found_footy.simulator.clips.kinds import AnyStyle
from found_footy.simulator.clips.lettering import BOLD, DUPLEX, INK, MEDIUM, SIMPLEX, WHITE, BoardText, Canvas

__all__ = ["Board", "BoardText"]


def _classic(board: Canvas, text: BoardText) -> None:
    """One dark bar: clock, home, score, away; the added minutes in a box of their own behind it."""
    board.box(0.0, 0.0, 0.87, 1.0, (52, 30, 22))
    board.box(0.0, 0.0, 0.235, 1.0, WHITE)
    board.text(text.face.clock, (0.1175, 0.5), 0.48, INK, BOLD, 0.2)
    board.text(text.codes[0], (0.34, 0.5), 0.44, WHITE, BOLD, 0.17)
    board.box(0.445, 0.0, 0.65, 1.0, (40, 30, 190))
    board.text(f"{text.score[0]}-{text.score[1]}", (0.5475, 0.5), 0.48, WHITE, BOLD, 0.17)
    board.text(text.codes[1], (0.76, 0.5), 0.44, WHITE, BOLD, 0.17)
    if text.face.added:
        board.box(0.885, 0.0, 1.0, 1.0, (40, 200, 240))
        board.text(text.face.added, (0.9425, 0.5), 0.44, INK, BOLD, 0.09)


def _split(board: Canvas, text: BoardText) -> None:
    """Separate plates: white clock, blue names, dark scores; in stoppage time a second clock and the minutes."""
    board.box(0.0, 0.0, 0.19, 1.0, (245, 242, 238))
    board.text(text.face.clock, (0.095, 0.5), 0.46, (60, 30, 10), DUPLEX, 0.17)
    for place, (code, goals) in enumerate(zip(text.codes, text.score, strict=True)):
        left = 0.2 + 0.235 * place
        name, number = (left, left + 0.155) if place == 0 else (left + 0.08, left + 0.235)
        board.box(name, 0.0, number, 1.0, (170, 70, 20))
        board.text(code, ((name + number) / 2, 0.5), 0.46, WHITE, DUPLEX, 0.135)
        digit = left + (0.195 if place == 0 else 0.04)
        board.box(digit - 0.04, 0.0, digit + 0.04, 1.0, (70, 32, 12))
        board.text(str(goals), (digit, 0.5), 0.5, WHITE, DUPLEX)
    if text.face.stoppage_clock:
        board.box(0.69, 0.0, 0.875, 1.0, (40, 40, 45))
        board.text(text.face.stoppage_clock, (0.7825, 0.5), 0.46, WHITE, DUPLEX, 0.165)
        if text.face.added:
            board.box(0.885, 0.0, 1.0, 1.0, (60, 170, 40))
            board.text(text.face.added, (0.9425, 0.5), 0.46, WHITE, DUPLEX, 0.09)


def _lower(board: Canvas, text: BoardText) -> None:
    """Two rows of team and score at the bottom left, and the clock above them."""
    stoppage = "+" in text.face.clock
    board.box(0.0, 0.0, 0.62 if stoppage else 0.46, 0.3, (30, 30, 200))
    board.text(text.face.clock, (0.31 if stoppage else 0.23, 0.15), 0.19, WHITE, MEDIUM, 0.58 if stoppage else 0.42)
    for row, (code, goals) in enumerate(zip(text.codes, text.score, strict=True)):
        top = 0.31 + 0.35 * row
        board.box(0.0, top, 0.74, top + 0.34, (38, 34, 32))
        board.box(0.0, top, 0.035, top + 0.34, (60, 160, 240) if row == 0 else (220, 120, 60))
        board.text(code, (0.32, top + 0.17), 0.2, WHITE, MEDIUM)
        board.box(0.75, top, 1.0, top + 0.34, (240, 238, 236))
        board.text(str(goals), (0.875, top + 0.17), 0.21, INK, MEDIUM)


def _glass(board: Canvas, text: BoardText) -> None:
    """Light letters on a dark pane that the picture shines through, at the right; the clock comes last."""
    board.box(0.13, 0.0, 1.0, 1.0, (40, 28, 24), 0.62)
    home, away = text.score
    board.text(text.codes[0], (0.225, 0.5), 0.44, WHITE, SIMPLEX, 0.17)
    board.text(f"{home} - {away}", (0.455, 0.5), 0.46, WHITE, SIMPLEX, 0.25)
    board.text(text.codes[1], (0.675, 0.5), 0.44, WHITE, SIMPLEX, 0.17)
    board.text(text.face.clock, (0.88, 0.5), 0.44, (120, 235, 250), SIMPLEX, 0.22)
    if text.face.added:
        board.box(0.0, 0.0, 0.115, 1.0, (60, 60, 190), 0.8)
        board.text(text.face.added, (0.0575, 0.5), 0.44, WHITE, SIMPLEX)


def _compact(board: Canvas, text: BoardText) -> None:
    """Very small and half transparent: hard to read on purpose."""
    board.box(0.0, 0.0, 1.0, 1.0, (70, 62, 58), 0.7)
    line = f"{text.codes[0]} {text.score[0]}:{text.score[1]} {text.codes[1]}"
    board.text(line, (0.37, 0.5), 0.5, (225, 225, 225), MEDIUM, 0.66)
    board.text(text.face.clock, (0.85, 0.5), 0.5, (200, 225, 225), MEDIUM, 0.27)


_STYLES: dict[AnyStyle, Callable[[Canvas, BoardText], None]] = {
    "classic": _classic,
    "split": _split,
    "lower": _lower,
    "glass": _glass,
    "compact": _compact,
    "bar": CRICKET_BOARDS["bar"],
    "corner": CRICKET_BOARDS["corner"],
    "southern": CRICKET_BOARDS["southern"],
}


class Board:
    """Lays the scoreboard over frames of one size; draws it only when its text changes."""

    def __init__(self, style: AnyStyle, width: int, height: int) -> None:
        box: Box = BOARDS[style]
        self._draw = _STYLES[style]
        self._place = np.s_[
            round(box.top * height) : round(box.bottom * height), round(box.left * width) : round(box.right * width)
        ]
        self._text: BoardText | None = None
        self._ink = np.zeros(0, np.float32)
        self._behind = np.zeros(0, np.float32)

    def put(self, frame: Image, text: BoardText) -> None:
        part = frame[self._place]
        if text != self._text:
            canvas = Canvas(np.zeros_like(part), np.zeros(part.shape[:2], np.float32))
            self._draw(canvas, text)
            opacity = _solid_letters(canvas)
            self._ink, self._behind = canvas.image * opacity, 1 - opacity
            self._text = text
        part[:] = (self._ink + part * self._behind).astype(np.uint8)


def _solid_letters(canvas: Canvas) -> np.ndarray:
    """The pane is transparent, the letters on it are not."""
    bright = canvas.image.max(axis=2) > 120
    opacity = np.where(bright & (canvas.opacity > 0), 1.0, canvas.opacity).astype(np.float32)
    return opacity[:, :, None]
