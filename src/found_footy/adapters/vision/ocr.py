"""Vision without a model that understands pictures: OCR on the scoreboard, colour for the pitch, signs of a screen."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from found_footy.adapters.vision.ocr_engine import OcrEngine
from found_footy.domain.fixtures.model import Sport
from found_footy.domain.videos.board_place import READERS, Place, TextLine, find_place
from found_footy.domain.videos.match_clock import compute_absolute_minute, parse_clock_field
from found_footy.domain.videos.overs_text import parse_overs
from found_footy.domain.videos.readings import Box, FrameReading
from found_footy.domain.videos.scoreboard_text import BoardText
from found_footy.media.pitch import colours_tell, pitch_share
from found_footy.media.scoreboard import row_strip, search_parts
from found_footy.media.screen_signs import looks_filmed
from found_footy.ports import ClipVision, Picture

T = TypeVar("T")
Frame = NDArray[np.uint8]

PITCH = 0.30
"""Above this share of green, a picture shows a pitch."""
SOME_PITCH = 0.10
"""Beside a scoreboard, so much is enough."""
SCOREBOARD = 2
"""Pieces of evidence: a clock and teams, or more."""


class OcrVision:
    """Reads with the embedded OCR. All clips share one recogniser."""

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
    """One clip. The scoreboard's place is searched for once; afterwards only that place is read."""

    def __init__(self, engine: OcrEngine, sport: Sport = Sport.FOOTBALL) -> None:
        self._engine = engine
        self._sport = sport
        self._place: Place | None = None
        self._pitch_seen = False

    async def look(self, pictures: Sequence[Picture]) -> FrameReading:
        return await asyncio.to_thread(self.look_now, pictures)

    def look_now(self, pictures: Sequence[Picture]) -> FrameReading:
        middle = len(pictures) // 2
        boards = self._read(pictures)
        # Stoppage time is often shown beside a clock that stands still, where nothing stood before: search again.
        if not any(board.clock for board in boards) or any(self._unfinished(board) for board in boards):
            self._place = self._search(pictures[middle].bgr) or self._place
            boards = self._read(pictures)
            if self._place is not None:
                boards[middle] = _completed(boards[middle], self._place.board)
        board, shown = self._elected(boards, middle)
        greens = [pitch_share(picture.bgr) for picture in pictures]
        self._pitch_seen = self._pitch_seen or max(greens) >= PITCH
        return FrameReading(
            at=pictures[shown].at,
            soccer=self._is_soccer(max(greens), board) or not colours_tell(pictures[middle].bgr),
            screen=looks_filmed(pictures[middle].bgr),
            clock=board.clock,
            added=board.added,
            stoppage_clock=board.stoppage_clock,
            teams=board.teams,
            score=board.score,
            box=_box(self._place, pictures[shown].bgr) if self._place and board != BoardText() else None,
            batting=board.batting,
        )

    def _search(self, frame: Frame) -> Place | None:
        """Looks on where only a clock was found: that can be an advertisement's."""
        found: list[Place] = []
        for part in search_parts(frame):
            place = find_place(self._engine.lines(part.image), self._sport)
            if place is not None:
                found.append(place.moved(part.left, part.top, part.scale))
                if place.board.evidence >= SCOREBOARD:
                    break
        return max(found, key=lambda place: place.board.evidence, default=None)

    def _read(self, pictures: Sequence[Picture]) -> list[BoardText]:
        place = self._place
        if place is None:
            return [BoardText() for _ in pictures]
        read, rows = READERS[self._sport], place.parts or tuple((row,) for row in place.rows)
        return [read([[self._text(picture.bgr, part) for part in row] for row in rows]) for picture in pictures]

    def _text(self, frame: Frame, part: TextLine) -> str:
        return self._engine.text(row_strip(frame, part.left, part.top, part.right, part.bottom))

    def _is_soccer(self, green: float, board: BoardText) -> bool:
        """A close-up beside a scoreboard is soccer where the clip has shown a pitch."""
        if green >= PITCH:
            return True
        return board.evidence >= SCOREBOARD and (green >= SOME_PITCH or self._pitch_seen)

    def _unfinished(self, board: BoardText) -> bool:
        return self._sport is Sport.FOOTBALL and _unfinished(board)

    def _elected(self, boards: Sequence[BoardText], middle: int) -> tuple[BoardText, int]:
        if self._sport is Sport.FOOTBALL:
            return _elected(boards, middle, _minute)
        board, shown = _elected(boards, middle, _balls)
        if board.clock is None:
            # The score tells something without the overs, too: that it is another wicket.
            score, batting = _most_read(boards, lambda each: each.score), _most_read(boards, lambda each: each.batting)
            board = BoardText(score=score, batting=batting)
        return board, shown


def _completed(read: BoardText, found: BoardText) -> BoardText:
    """What was seen when the place was found fills the gaps of what was read there, in the same picture."""
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


def _unfinished(board: BoardText) -> bool:
    clock = parse_clock_field(board.clock) if board.clock else None
    standing = clock is not None and clock.second == 0 and clock.stands_at_period_end
    return standing and board.stoppage_clock is None and board.added is None


def _elected(
    boards: Sequence[BoardText], middle: int, moment_of: Callable[[BoardText], int | None]
) -> tuple[BoardText, int]:
    """Field by field what most pictures say, and the picture that shows that clock."""
    order = sorted(range(len(boards)), key=lambda place: abs(place - middle))
    minutes = {place: moment_of(boards[place]) for place in order}
    minute = _most(value for place in order if (value := minutes[place]) is not None)
    if minute is None:
        return BoardText(), middle
    shown = next(place for place in order if minutes[place] == minute)
    agreeing = [boards[place] for place in order if minutes[place] == minute]
    return (
        BoardText(
            clock=boards[shown].clock,
            added=_most_read(agreeing, lambda board: board.added),
            stoppage_clock=boards[shown].stoppage_clock,
            teams=_most_read(boards, lambda board: board.teams),
            score=_most_read(boards, lambda board: board.score),
            batting=_most_read(boards, lambda board: board.batting),
        ),
        shown,
    )


def _minute(board: BoardText) -> int | None:
    return compute_absolute_minute(parse_clock_field(board.clock)) if board.clock else None


def _balls(board: BoardText) -> int | None:
    return parse_overs(board.clock) if board.clock else None


def _most_read(boards: Sequence[BoardText], field: Callable[[BoardText], T | None]) -> T | None:
    return _most(value for board in boards if (value := field(board)) is not None)


def _most(values: Iterable[T]) -> T | None:
    """The most frequent, of equals the first."""
    counted: Counter[Any] = Counter(values)
    return counted.most_common(1)[0][0] if counted else None


def _box(place: Place, frame: Frame) -> Box:
    height, width = frame.shape[:2]
    line = place.clock
    return Box(
        left=max(0.0, line.left / width),
        top=max(0.0, line.top / height),
        right=min(1.0, line.right / width),
        bottom=min(1.0, line.bottom / height),
    )
