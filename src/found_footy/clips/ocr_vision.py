"""Vision without a multimodal model: OCR for the scoreboard, colour for the pitch, and detection of filmed screens."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from found_footy.clips.cricket_scoreboard import parse_overs
from found_footy.clips.frame_selection import ClipVision
from found_footy.clips.match_clock import compute_absolute_minute, parse_clock_field
from found_footy.clips.models import FrameReading
from found_footy.clips.scoreboard import ScoreboardText
from found_footy.clips.scoreboard_region import READERS, ScoreboardRegion, locate_scoreboard
from found_footy.fixtures.models import Sport
from found_footy.media.frame_features import has_colour, is_filmed_screen, pitch_share
from found_footy.media.models import Frame, RelativeBox, TextLine
from found_footy.media.ocr import OcrEngine, row_strip, scoreboard_crops

T = TypeVar("T")
Pixels = NDArray[np.uint8]

PITCH = 0.30
"""Share of green above which a frame shows a pitch."""
SOME_PITCH = 0.10
"""Share of green that is sufficient next to a scoreboard."""
SCOREBOARD = 2
"""Evidence required: a clock and teams, or more."""


class OcrVision:
    """Reads frames with the embedded OCR engine, which all clips share."""

    name = "ocr"

    def __init__(self, engine: OcrEngine | None = None) -> None:
        self._engine = engine or OcrEngine()

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision:
        return OcrClip(self._engine, sport)

    async def check(self) -> str:
        await asyncio.to_thread(self._engine.text, np.full((48, 96, 3), 255, np.uint8))
        return "embedded OCR"

    async def aclose(self) -> None:
        return None


class OcrClip:
    """One clip. The scoreboard is located once; afterwards only that region is read."""

    def __init__(self, engine: OcrEngine, sport: Sport = Sport.FOOTBALL) -> None:
        self._engine = engine
        self._sport = sport
        self._place: ScoreboardRegion | None = None
        self._pitch_seen = False

    async def read_frames(self, frames: Sequence[Frame]) -> FrameReading:
        return await asyncio.to_thread(self.read_frames_now, frames)

    def read_frames_now(self, frames: Sequence[Frame]) -> FrameReading:
        middle = len(frames) // 2
        boards = self._read(frames)
        # Stoppage time often appears next to a stopped clock, in an area that was empty before: search again.
        if not any(board.clock for board in boards) or any(self._unfinished(board) for board in boards):
            self._place = self._search(frames[middle].pixels) or self._place
            boards = self._read(frames)
            if self._place is not None:
                boards[middle] = _completed(boards[middle], self._place.board)
        board, shown = self._agreed_board(boards, middle)
        greens = [pitch_share(frame.pixels) for frame in frames]
        self._pitch_seen = self._pitch_seen or max(greens) >= PITCH
        return FrameReading(
            at=frames[shown].seconds,
            soccer=self._is_soccer(max(greens), board) or not has_colour(frames[middle].pixels),
            screen=is_filmed_screen(frames[middle].pixels),
            clock=board.clock,
            added=board.added,
            stoppage_clock=board.stoppage_clock,
            teams=board.teams,
            score=board.score,
            box=_box(self._place, frames[shown].pixels) if self._place and board != ScoreboardText() else None,
            batting=board.batting,
        )

    def _search(self, frame: Pixels) -> ScoreboardRegion | None:
        """Search further if only a clock was found: it may belong to an advertisement."""
        found: list[ScoreboardRegion] = []
        for part in scoreboard_crops(frame):
            place = locate_scoreboard(self._engine.lines(part.image), self._sport)
            if place is not None:
                found.append(place.moved(part.left, part.top, part.scale))
                if place.board.evidence >= SCOREBOARD:
                    break
        return max(found, key=lambda place: place.board.evidence, default=None)

    def _read(self, frames: Sequence[Frame]) -> list[ScoreboardText]:
        place = self._place
        if place is None:
            return [ScoreboardText() for _ in frames]
        read, rows = READERS[self._sport], place.parts or tuple((row,) for row in place.rows)
        return [read([[self._text(frame.pixels, part) for part in row] for row in rows]) for frame in frames]

    def _text(self, frame: Pixels, part: TextLine) -> str:
        return self._engine.text(row_strip(frame, part.left, part.top, part.right, part.bottom))

    def _is_soccer(self, green: float, board: ScoreboardText) -> bool:
        """A close-up with a scoreboard is soccer if the clip has shown a pitch."""
        if green >= PITCH:
            return True
        return board.evidence >= SCOREBOARD and (green >= SOME_PITCH or self._pitch_seen)

    def _unfinished(self, board: ScoreboardText) -> bool:
        return self._sport is Sport.FOOTBALL and _unfinished(board)

    def _agreed_board(self, boards: Sequence[ScoreboardText], middle: int) -> tuple[ScoreboardText, int]:
        if self._sport is Sport.FOOTBALL:
            return _majority_board(boards, middle, _minute)
        board, shown = _majority_board(boards, middle, _balls)
        if board.clock is None:
            # A score without overs is still useful: it can show a different wicket.
            score, batting = _most_read(boards, lambda each: each.score), _most_read(boards, lambda each: each.batting)
            board = ScoreboardText(score=score, batting=batting)
        return board, shown


def _completed(read: ScoreboardText, found: ScoreboardText) -> ScoreboardText:
    """Fill gaps in the reading from the text found when the region of the same frame was located."""
    if read.clock is None and read.batting is None:
        return read
    return replace(
        read,
        clock=read.clock or (found.clock if read.score == found.score else None),
        added=read.added or found.added,
        stoppage_clock=read.stoppage_clock or found.stoppage_clock,
        teams=read.teams or found.teams,
        score=read.score or (found.score if read.teams in (None, found.teams) else None),
        batting=read.batting or found.batting,
    )


def _unfinished(board: ScoreboardText) -> bool:
    clock = parse_clock_field(board.clock) if board.clock else None
    standing = clock is not None and clock.second == 0 and clock.stands_at_period_end
    return standing and board.stoppage_clock is None and board.added is None


def _majority_board(
    boards: Sequence[ScoreboardText], middle: int, moment_of: Callable[[ScoreboardText], int | None]
) -> tuple[ScoreboardText, int]:
    """Field-wise majority of the frames, and the index of the frame that shows that clock."""
    order = sorted(range(len(boards)), key=lambda place: abs(place - middle))
    minutes = {place: moment_of(boards[place]) for place in order}
    minute = _most(value for place in order if (value := minutes[place]) is not None)
    if minute is None:
        return ScoreboardText(), middle
    shown = next(place for place in order if minutes[place] == minute)
    agreeing = [boards[place] for place in order if minutes[place] == minute]
    return (
        ScoreboardText(
            clock=boards[shown].clock,
            added=_most_read(agreeing, lambda board: board.added),
            stoppage_clock=boards[shown].stoppage_clock,
            teams=_most_read(boards, lambda board: board.teams),
            score=_most_read(boards, lambda board: board.score),
            batting=_most_read(boards, lambda board: board.batting),
        ),
        shown,
    )


def _minute(board: ScoreboardText) -> int | None:
    return compute_absolute_minute(parse_clock_field(board.clock)) if board.clock else None


def _balls(board: ScoreboardText) -> int | None:
    return parse_overs(board.clock) if board.clock else None


def _most_read(boards: Sequence[ScoreboardText], field: Callable[[ScoreboardText], T | None]) -> T | None:
    return _most(value for board in boards if (value := field(board)) is not None)


def _most(values: Iterable[T]) -> T | None:
    """Most frequent value; the first of equals."""
    counted: Counter[Any] = Counter(values)
    return counted.most_common(1)[0][0] if counted else None


def _box(place: ScoreboardRegion, frame: Pixels) -> RelativeBox:
    height, width = frame.shape[:2]
    line = place.clock
    return RelativeBox(
        left=max(0.0, line.left / width),
        top=max(0.0, line.top / height),
        right=min(1.0, line.right / width),
        bottom=min(1.0, line.bottom / height),
    )
