"""Scoreboards: five styles for football, three for cricket, drawn in broadcasters' fonts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from footy_simulator.clips.broadcast import BOARDS, ClockFace, FrameBox
from footy_simulator.clips.camera import Image
from footy_simulator.clips.figures import Colour
from footy_simulator.clips.models import AnyStyle, CricketStyle, Pair

WHITE: Colour = (248, 248, 248)
INK: Colour = (24, 22, 20)


@dataclass(frozen=True, slots=True)
class BoardContent:
    """Everything a scoreboard shows at a moment."""

    face: ClockFace
    codes: tuple[str, str]
    """Left and right; in cricket batting and bowling side."""
    score: Pair
    """Home and away; in cricket runs and wickets."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A scoreboard's picture (BGR) with its opacity (0 to 1); positions are shares of its width and height."""

    image: Image
    opacity: np.ndarray

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, opacity: float = 1.0) -> None:
        high, wide = self.opacity.shape
        part = np.s_[round(top * high) : round(bottom * high), round(left * wide) : round(right * wide)]
        self.image[part] = colour
        self.opacity[part] = opacity

    def text(
        self, words: str, centre: tuple[float, float], size: float, ink: Colour, font: Font, room: float = 1.0
    ) -> None:
        """`size` is the height of a capital letter, as a share of the board's height; smaller if `room` is less."""
        high, wide = self.opacity.shape
        mask = font(words, size * high)
        if mask.shape[1] > room * wide:
            fit = room * wide / mask.shape[1]
            mask = np.asarray(cv2.resize(mask, None, fx=fit, fy=fit, interpolation=cv2.INTER_AREA), np.uint8)
        _ink(self.image, mask, (round(centre[0] * wide), round(centre[1] * high)), ink)


Font = Callable[[str, float], Image]
"""Render text at a capital height in pixels; returns the opacity of each pixel."""


def _hershey(face: int, weight: float) -> Font:
    """OpenCV's stroke fonts, drawn large and reduced because they have no small sizes."""

    def write(words: str, tall: float) -> Image:
        scale = 4.0
        thick = max(1, round(scale * tall * weight))
        (_, base), _ = cv2.getTextSize("0", face, 1.0, 1)
        size = scale * tall / base
        (wide, high), below = cv2.getTextSize(words, face, size, thick)
        mask = np.zeros((high + below + 2 * thick, wide + 2 * thick), np.uint8)
        cv2.putText(mask, words, (thick, high + thick), face, size, 255, thick, cv2.LINE_AA)
        mask = mask[: high + 2 * thick]
        small = cv2.resize(mask, None, fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_AREA)
        return np.asarray(small, np.uint8)

    return write


def _outline(weight: int) -> Font:
    """OpenCV's outline font, similar to broadcasters' fonts; `weight` from 100 to 900."""

    def write(words: str, tall: float) -> Image:
        size = round(tall / 0.7)
        mask = np.zeros((3 * size, size * (len(words) + 2), 3), np.uint8)
        cv2.putText(mask, words, (size, 2 * size), (255, 255, 255), cv2.FontFace("sans"), size, weight)
        rows, columns = np.nonzero(mask[:, :, 0])
        return np.ascontiguousarray(mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1, 0])

    return write


def _ink(image: Image, mask: Image, centre: tuple[int, int], ink: Colour) -> None:
    high, wide = mask.shape
    left, top = max(0, centre[0] - wide // 2), max(0, centre[1] - high // 2)
    part = image[top : top + high, left : left + wide]
    share = mask[: part.shape[0], : part.shape[1], None] / 255
    part[:] = (part * (1 - share) + np.array(ink) * share).astype(np.uint8)


DUPLEX = _hershey(cv2.FONT_HERSHEY_DUPLEX, 0.13)
SIMPLEX = _hershey(cv2.FONT_HERSHEY_SIMPLEX, 0.12)
BOLD, MEDIUM = _outline(700), _outline(500)


# --- Cricket: runs and wickets, overs, batting side, at the bottom of the frame.


def _bar(board: Canvas, text: BoardContent) -> None:
    """A wide bar: codes, `95-3`, the overs, and a run rate that must not be read as overs."""
    runs, wickets = text.score
    board.box(0.0, 0.0, 1.0, 1.0, (60, 34, 20))
    board.box(0.0, 0.0, 0.18, 1.0, (40, 90, 220))
    board.text(text.codes[0], (0.09, 0.5), 0.46, WHITE, BOLD, 0.15)
    board.text(f"{runs}-{wickets}", (0.31, 0.5), 0.5, WHITE, BOLD, 0.2)
    board.box(0.44, 0.12, 0.64, 0.88, WHITE)
    board.text(text.face.clock, (0.54, 0.5), 0.44, INK, BOLD, 0.17)
    board.text(f"CRR {_rate(text):.2f}", (0.82, 0.5), 0.36, (200, 220, 230), MEDIUM, 0.3)


def _corner(board: Canvas, text: BoardContent) -> None:
    """Two rows at the left: `IND 95/3`, and `OVERS 12.3` below."""
    runs, wickets = text.score
    board.box(0.0, 0.0, 1.0, 0.54, (240, 238, 236))
    board.text(f"{text.codes[0]} {runs}/{wickets}", (0.5, 0.27), 0.26, INK, MEDIUM, 0.9)
    board.box(0.0, 0.56, 1.0, 1.0, (120, 50, 30))
    board.text(f"OVERS {text.face.clock}", (0.5, 0.78), 0.22, WHITE, MEDIUM, 0.86)


def _southern(board: Canvas, text: BoardContent) -> None:
    """Australian notation, wickets first: `IND 3-95`, the overs, and `v AUS`."""
    runs, wickets = text.score
    board.box(0.0, 0.0, 1.0, 1.0, (30, 60, 20), 0.85)
    board.box(0.0, 0.0, 0.42, 1.0, (30, 30, 30))
    board.text(text.codes[0], (0.1, 0.5), 0.46, (90, 220, 250), DUPLEX, 0.15)
    board.text(f"{wickets}-{runs}", (0.3, 0.5), 0.48, WHITE, DUPLEX, 0.2)
    board.text(f"{text.face.clock} OV", (0.58, 0.5), 0.44, WHITE, DUPLEX, 0.24)
    board.text(f"v {text.codes[1]}", (0.86, 0.5), 0.44, (210, 225, 215), DUPLEX, 0.2)


def _rate(text: BoardContent) -> float:
    over, ball = text.face.clock.split(".")
    balls = int(over) * 6 + int(ball)
    return text.score[0] * 6 / balls if balls else 0.0


CRICKET_BOARDS: dict[CricketStyle, Callable[[Canvas, BoardContent], None]] = {
    "bar": _bar,
    "corner": _corner,
    "southern": _southern,
}


# --- Football.


def _classic(board: Canvas, text: BoardContent) -> None:
    """One dark bar: clock, home, score, away; added minutes in a separate box."""
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


def _split(board: Canvas, text: BoardContent) -> None:
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


def _lower(board: Canvas, text: BoardContent) -> None:
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


def _glass(board: Canvas, text: BoardContent) -> None:
    """Light letters on a translucent pane at the right; the clock comes last."""
    board.box(0.13, 0.0, 1.0, 1.0, (40, 28, 24), 0.62)
    home, away = text.score
    board.text(text.codes[0], (0.225, 0.5), 0.44, WHITE, SIMPLEX, 0.17)
    board.text(f"{home} - {away}", (0.455, 0.5), 0.46, WHITE, SIMPLEX, 0.25)
    board.text(text.codes[1], (0.675, 0.5), 0.44, WHITE, SIMPLEX, 0.17)
    board.text(text.face.clock, (0.88, 0.5), 0.44, (120, 235, 250), SIMPLEX, 0.22)
    if text.face.added:
        board.box(0.0, 0.0, 0.115, 1.0, (60, 60, 190), 0.8)
        board.text(text.face.added, (0.0575, 0.5), 0.44, WHITE, SIMPLEX)


def _compact(board: Canvas, text: BoardContent) -> None:
    """Very small and half transparent: deliberately hard to read."""
    board.box(0.0, 0.0, 1.0, 1.0, (70, 62, 58), 0.7)
    line = f"{text.codes[0]} {text.score[0]}:{text.score[1]} {text.codes[1]}"
    board.text(line, (0.37, 0.5), 0.5, (225, 225, 225), MEDIUM, 0.66)
    board.text(text.face.clock, (0.85, 0.5), 0.5, (200, 225, 225), MEDIUM, 0.27)


_STYLES: dict[AnyStyle, Callable[[Canvas, BoardContent], None]] = {
    "classic": _classic,
    "split": _split,
    "lower": _lower,
    "glass": _glass,
    "compact": _compact,
    "bar": CRICKET_BOARDS["bar"],
    "corner": CRICKET_BOARDS["corner"],
    "southern": CRICKET_BOARDS["southern"],
}


class Scoreboard:
    """Draws the scoreboard onto frames of one size; renders it only when its text changes."""

    def __init__(self, style: AnyStyle, width: int, height: int) -> None:
        box: FrameBox = BOARDS[style]
        self._draw = _STYLES[style]
        self._place = np.s_[
            round(box.top * height) : round(box.bottom * height), round(box.left * width) : round(box.right * width)
        ]
        self._text: BoardContent | None = None
        self._ink = np.zeros(0, np.float32)
        self._behind = np.zeros(0, np.float32)

    def put(self, frame: Image, text: BoardContent) -> None:
        part = frame[self._place]
        if text != self._text:
            canvas = Canvas(np.zeros_like(part), np.zeros(part.shape[:2], np.float32))
            self._draw(canvas, text)
            opacity = _solid_letters(canvas)
            self._ink, self._behind = canvas.image * opacity, 1 - opacity
            self._text = text
        part[:] = (self._ink + part * self._behind).astype(np.uint8)


def _solid_letters(canvas: Canvas) -> np.ndarray:
    """Translucent pane, opaque letters."""
    bright = canvas.image.max(axis=2) > 120
    opacity = np.where(bright & (canvas.opacity > 0), 1.0, canvas.opacity).astype(np.float32)
    return opacity[:, :, None]
