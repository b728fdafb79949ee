"""Scoreboards in five styles, drawn at the frame's size once a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.clock_face import ClockFace
from found_footy.simulator.clips.codes import Colour
from found_footy.simulator.clips.framing import BOARDS, Box
from found_footy.simulator.clips.kinds import BoardStyle
from found_footy.simulator.clips.spec import Pair

_WHITE: Colour = (248, 248, 248)
_INK: Colour = (24, 22, 20)


@dataclass(frozen=True, slots=True)
class BoardText:
    """Everything that a scoreboard says at a moment."""

    face: ClockFace
    codes: tuple[str, str]
    score: Pair


@dataclass(frozen=True, slots=True)
class Canvas:
    """A scoreboard's own picture (BGR) with its opacity (0 to 1); places are shares of its width and height."""

    image: Image
    opacity: np.ndarray

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, opacity: float = 1.0) -> None:
        high, wide = self.opacity.shape
        part = np.s_[round(top * high) : round(bottom * high), round(left * wide) : round(right * wide)]
        self.image[part] = colour
        self.opacity[part] = opacity

    def text(
        self, words: str, centre: tuple[float, float], size: float, ink: Colour, font: _Font, room: float = 1.0
    ) -> None:
        """`size` is the height of a capital letter, as a share of the board's height; smaller if `room` is less."""
        high, wide = self.opacity.shape
        mask = font(words, size * high)
        if mask.shape[1] > room * wide:
            fit = room * wide / mask.shape[1]
            mask = np.asarray(cv2.resize(mask, None, fx=fit, fy=fit, interpolation=cv2.INTER_AREA), np.uint8)
        _ink(self.image, mask, (round(centre[0] * wide), round(centre[1] * high)), ink)


_Font = Callable[[str, float], Image]
"""Words at a height of capitals in pixels, as the opacity of each pixel."""


def _hershey(face: int, weight: float) -> _Font:
    """OpenCV's stroke fonts: drawn large and shrunk, since they have no small sizes."""

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


def _outline(weight: int) -> _Font:
    """OpenCV's own outline font, as broadcasters' fonts look; `weight` from 100 to 900."""

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


_DUPLEX = _hershey(cv2.FONT_HERSHEY_DUPLEX, 0.13)
_SIMPLEX = _hershey(cv2.FONT_HERSHEY_SIMPLEX, 0.12)
_BOLD, _MEDIUM = _outline(700), _outline(500)


def _classic(board: Canvas, text: BoardText) -> None:
    """One dark bar: clock, home, score, away; the added minutes in a box of their own behind it."""
    board.box(0.0, 0.0, 0.87, 1.0, (52, 30, 22))
    board.box(0.0, 0.0, 0.235, 1.0, _WHITE)
    board.text(text.face.clock, (0.1175, 0.5), 0.48, _INK, _BOLD, 0.2)
    board.text(text.codes[0], (0.34, 0.5), 0.44, _WHITE, _BOLD, 0.17)
    board.box(0.445, 0.0, 0.65, 1.0, (40, 30, 190))
    board.text(f"{text.score[0]}-{text.score[1]}", (0.5475, 0.5), 0.48, _WHITE, _BOLD, 0.17)
    board.text(text.codes[1], (0.76, 0.5), 0.44, _WHITE, _BOLD, 0.17)
    if text.face.added:
        board.box(0.885, 0.0, 1.0, 1.0, (40, 200, 240))
        board.text(text.face.added, (0.9425, 0.5), 0.44, _INK, _BOLD, 0.09)


def _split(board: Canvas, text: BoardText) -> None:
    """Separate plates: white clock, blue names, dark scores; in stoppage time a second clock and the minutes."""
    board.box(0.0, 0.0, 0.19, 1.0, (245, 242, 238))
    board.text(text.face.clock, (0.095, 0.5), 0.46, (60, 30, 10), _DUPLEX, 0.17)
    for place, (code, goals) in enumerate(zip(text.codes, text.score, strict=True)):
        left = 0.2 + 0.235 * place
        name, number = (left, left + 0.155) if place == 0 else (left + 0.08, left + 0.235)
        board.box(name, 0.0, number, 1.0, (170, 70, 20))
        board.text(code, ((name + number) / 2, 0.5), 0.46, _WHITE, _DUPLEX, 0.135)
        digit = left + (0.195 if place == 0 else 0.04)
        board.box(digit - 0.04, 0.0, digit + 0.04, 1.0, (70, 32, 12))
        board.text(str(goals), (digit, 0.5), 0.5, _WHITE, _DUPLEX)
    if text.face.stoppage_clock:
        board.box(0.69, 0.0, 0.875, 1.0, (40, 40, 45))
        board.text(text.face.stoppage_clock, (0.7825, 0.5), 0.46, _WHITE, _DUPLEX, 0.165)
        if text.face.added:
            board.box(0.885, 0.0, 1.0, 1.0, (60, 170, 40))
            board.text(text.face.added, (0.9425, 0.5), 0.46, _WHITE, _DUPLEX, 0.09)


def _lower(board: Canvas, text: BoardText) -> None:
    """Two rows of team and score at the bottom left, and the clock above them."""
    stoppage = "+" in text.face.clock
    board.box(0.0, 0.0, 0.62 if stoppage else 0.46, 0.3, (30, 30, 200))
    board.text(text.face.clock, (0.31 if stoppage else 0.23, 0.15), 0.19, _WHITE, _MEDIUM, 0.58 if stoppage else 0.42)
    for row, (code, goals) in enumerate(zip(text.codes, text.score, strict=True)):
        top = 0.31 + 0.35 * row
        board.box(0.0, top, 0.74, top + 0.34, (38, 34, 32))
        board.box(0.0, top, 0.035, top + 0.34, (60, 160, 240) if row == 0 else (220, 120, 60))
        board.text(code, (0.32, top + 0.17), 0.2, _WHITE, _MEDIUM)
        board.box(0.75, top, 1.0, top + 0.34, (240, 238, 236))
        board.text(str(goals), (0.875, top + 0.17), 0.21, _INK, _MEDIUM)


def _glass(board: Canvas, text: BoardText) -> None:
    """Light letters on a dark pane that the picture shines through, at the right; the clock comes last."""
    board.box(0.13, 0.0, 1.0, 1.0, (40, 28, 24), 0.62)
    home, away = text.score
    board.text(text.codes[0], (0.225, 0.5), 0.44, _WHITE, _SIMPLEX, 0.17)
    board.text(f"{home} - {away}", (0.455, 0.5), 0.46, _WHITE, _SIMPLEX, 0.25)
    board.text(text.codes[1], (0.675, 0.5), 0.44, _WHITE, _SIMPLEX, 0.17)
    board.text(text.face.clock, (0.88, 0.5), 0.44, (120, 235, 250), _SIMPLEX, 0.22)
    if text.face.added:
        board.box(0.0, 0.0, 0.115, 1.0, (60, 60, 190), 0.8)
        board.text(text.face.added, (0.0575, 0.5), 0.44, _WHITE, _SIMPLEX)


def _compact(board: Canvas, text: BoardText) -> None:
    """Very small and half transparent: hard to read on purpose."""
    board.box(0.0, 0.0, 1.0, 1.0, (70, 62, 58), 0.7)
    line = f"{text.codes[0]} {text.score[0]}:{text.score[1]} {text.codes[1]}"
    board.text(line, (0.37, 0.5), 0.5, (225, 225, 225), _MEDIUM, 0.66)
    board.text(text.face.clock, (0.85, 0.5), 0.5, (200, 225, 225), _MEDIUM, 0.27)


_STYLES: dict[BoardStyle, Callable[[Canvas, BoardText], None]] = {
    "classic": _classic,
    "split": _split,
    "lower": _lower,
    "glass": _glass,
    "compact": _compact,
}


class Board:
    """Lays the scoreboard over frames of one size; draws it only when its text changes."""

    def __init__(self, style: BoardStyle, width: int, height: int) -> None:
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
