"""Vision without a multimodal model: OCR for the scoreboard, colour for the pitch, and detection of filmed screens."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from found_footy.clips.cricket_scoreboard import parse_overs
from found_footy.clips.frame_selection import ClipVision
from found_footy.clips.match_clock import compute_absolute_minute, parse_clock_field, with_period_of
from found_footy.clips.models import FrameReading
from found_footy.clips.scoreboard import ScoreboardText, is_game_menu
from found_footy.clips.scoreboard_region import PARSERS, ScoreboardRegion, has_teams_and_score, locate_scoreboard
from found_footy.clips.verification import MIN_CLOCK_CHANGE_SECONDS
from found_footy.fixtures.models import Sport
from found_footy.media.frame_features import has_colour, is_filmed_screen, pitch_share
from found_footy.media.models import Frame, RelativeBox, TextLine
from found_footy.media.ocr import OcrEngine, closer_crops, row_strip, scoreboard_crops

T = TypeVar("T")
Pixels = NDArray[np.uint8]

MIN_PITCH_SHARE = 0.30
"""Share of green from which a frame shows a pitch."""
MIN_PARTIAL_PITCH_SHARE = 0.20
"""Share of green from which a frame may show part of a pitch."""
MIN_GRASS_SHARE = 0.10
"""Share of green that is sufficient if there is a scoreboard."""
MIN_BOARD_EVIDENCE = 2
"""Minimum `ScoreboardText.evidence`: a clock and teams, or more."""
CLOSE_UP_SEARCH = 3
"""The search, counted from 1, that also covers the middle of the frame and close-ups."""


class OcrVision:
    """Reads frames with the embedded OCR engine, which all clips share."""

    name = "ocr"

    def __init__(self, engine: OcrEngine | None = None) -> None:
        self._engine = engine or OcrEngine()

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision:
        return OcrClip(self._engine, sport)

    async def check(self) -> str:
        await asyncio.to_thread(self._engine.read_text, np.full((48, 96, 3), 255, np.uint8))
        return "embedded OCR"

    async def aclose(self) -> None:
        return None


class OcrClip:
    """One clip. The scoreboard is located once; afterwards only that region is read."""

    def __init__(self, engine: OcrEngine, sport: Sport = Sport.FOOTBALL) -> None:
        self._engine = engine
        self._sport = sport
        self._region: ScoreboardRegion | None = None
        self._searches = 0
        self._pitch_seen = False
        self._menu_seen = False
        self._teams_seen = False
        self._bare_clock: tuple[float, str] | None = None
        """Time and text of a clock without a scoreboard in the previous moment."""

    async def read_frames(self, frames: Sequence[Frame]) -> FrameReading:
        return await asyncio.to_thread(self.read_frames_now, frames)

    def read_frames_now(self, frames: Sequence[Frame]) -> FrameReading:
        middle = len(frames) // 2
        self._menu_seen = self._teams_seen = False
        boards = self._read_boards(frames)
        # Stoppage time often appears next to a stopped clock, in an area that was empty before: search again.
        frozen = self._is_frozen(boards[middle], frames[middle].seconds)
        incomplete = not any(board.clock for board in boards) or any(self._is_unfinished(board) for board in boards)
        if frozen or incomplete:
            found = self._search(frames[middle].pixels, self._region.clock if frozen and self._region else None)
            if found is not None:
                self._region = found
                boards = self._read_boards(frames)
                boards[middle] = _fill_gaps(boards[middle], found.board)
        board, index = self._agreed_board(boards, middle)
        self._bare_clock = (frames[index].seconds, board.clock) if board.clock and board.evidence == 1 else None
        return FrameReading(
            at=frames[index].seconds,
            soccer=self._is_soccer(frames, board),
            screen=is_filmed_screen(frames[middle].pixels),
            clock=board.clock,
            added=board.added,
            stoppage_clock=board.stoppage_clock,
            teams=board.teams,
            score=board.score,
            box=_relative_box(self._region, frames[index].pixels)
            if self._region and board != ScoreboardText()
            else None,
            batting=board.batting,
            other_sport=board.other_sport if self._sport is Sport.FOOTBALL else None,
            video_game=self._menu_seen,
        )

    def _is_frozen(self, board: ScoreboardText, seconds: float) -> bool:
        """Whether a bare clock has not advanced since the previous moment: it belongs to a caption."""
        if self._sport is not Sport.FOOTBALL or self._bare_clock is None or board.evidence != 1:
            return False
        at, clock = self._bare_clock
        return board.clock == clock and abs(seconds - at) >= MIN_CLOCK_CHANGE_SECONDS

    def _search(self, frame: Pixels, ignored: TextLine | None = None) -> ScoreboardRegion | None:
        """Locate the scoreboard, continuing if only a clock is found: it may belong to an advertisement.

        The middle of the frame and close-ups are expensive, so they are searched once per clip, and only if two moments
        had no scoreboard.
        """
        self._searches += 1
        best: ScoreboardRegion | None = None
        crops = chain(scoreboard_crops(frame), closer_crops(frame) if self._searches == CLOSE_UP_SEARCH else ())
        for part in crops:
            lines = [line for line in self._engine.read_lines(part.image) if not part.covers(line, ignored)]
            self._menu_seen = self._menu_seen or any(is_game_menu(line.text) for line in lines)
            self._teams_seen = self._teams_seen or has_teams_and_score(lines)
            found = locate_scoreboard(lines, self._sport)
            if found is not None and (best is None or found.board.evidence > best.board.evidence):
                best = found.translated(part.left, part.top, part.scale)
                if best.board.evidence >= MIN_BOARD_EVIDENCE:
                    break
        return best

    def _read_boards(self, frames: Sequence[Frame]) -> list[ScoreboardText]:
        region = self._region
        return [ScoreboardText() if region is None else self._read_board(frame.pixels, region) for frame in frames]

    def _read_board(self, frame: Pixels, region: ScoreboardRegion) -> ScoreboardText:
        parse, rows = PARSERS[self._sport], region.parts or tuple((row,) for row in region.rows)
        board = parse([[self._text(frame, part) for part in row] for row in rows])
        if board.clock is None and self._sport is Sport.FOOTBALL:
            # Gaps and crests can make a row unreadable as a whole while its clock alone is readable.
            alone = parse([[self._text(frame, region.clock_area)]])
            board = replace(board, clock=alone.clock, stoppage_clock=board.stoppage_clock or alone.stoppage_clock)
        if board.clock is not None and self._sport is Sport.FOOTBALL:
            # The period mark is small and constant within a clip: reading it once is enough.
            board = replace(board, clock=with_period_of(board.clock, region.board.clock))
        return board

    def _text(self, frame: Pixels, part: TextLine) -> str:
        return self._engine.read_text(row_strip(frame, part.left, part.top, part.right, part.bottom))

    def _is_soccer(self, frames: Sequence[Frame], board: ScoreboardText) -> bool | None:
        """Whether the frame shows a pitch, or a scoreboard with either some grass or a pitch earlier in the clip.

        None if unclear: possibly part of a pitch, a scoreboard without grass, or a frame without colour.
        """
        green = max(pitch_share(frame.pixels) for frame in frames)
        has_board = board.evidence >= MIN_BOARD_EVIDENCE
        self._pitch_seen = self._pitch_seen or green >= MIN_PITCH_SHARE
        if green >= MIN_PITCH_SHARE or (has_board and (green >= MIN_GRASS_SHARE or self._pitch_seen)):
            return True
        has_board = has_board or self._teams_seen
        unclear = green >= MIN_PARTIAL_PITCH_SHARE or has_board or not has_colour(frames[len(frames) // 2].pixels)
        return None if unclear else False

    def _is_unfinished(self, board: ScoreboardText) -> bool:
        return self._sport is Sport.FOOTBALL and _is_unfinished(board)

    def _agreed_board(self, boards: Sequence[ScoreboardText], middle: int) -> tuple[ScoreboardText, int]:
        if self._sport is Sport.FOOTBALL:
            return _majority_board(boards, middle, _minute)
        board, shown = _majority_board(boards, middle, _balls_bowled)
        if board.clock is None:
            # A score without overs is still useful: it can show a different wicket.
            board = ScoreboardText(
                score=_most_common(boards, lambda each: each.score),
                batting=_most_common(boards, lambda each: each.batting),
            )
        return board, shown


def _fill_gaps(read: ScoreboardText, found: ScoreboardText) -> ScoreboardText:
    """Fill gaps in the reading from the text found when the region of the same frame was located."""
    if read == ScoreboardText():
        return found
    return replace(
        read,
        clock=read.clock or (found.clock if read.score in (None, found.score) else None),
        added=read.added or found.added,
        stoppage_clock=read.stoppage_clock or found.stoppage_clock,
        teams=read.teams or found.teams,
        score=read.score or (found.score if read.teams in (None, found.teams) else None),
        batting=read.batting or found.batting,
        other_sport=read.other_sport or found.other_sport,
    )


def _is_unfinished(board: ScoreboardText) -> bool:
    clock = parse_clock_field(board.clock) if board.clock else None
    is_stopped = clock is not None and clock.second == 0 and clock.is_stopped_at_period_end
    return is_stopped and board.stoppage_clock is None and board.added is None


def _majority_board(
    boards: Sequence[ScoreboardText], middle: int, moment_of: Callable[[ScoreboardText], int | None]
) -> tuple[ScoreboardText, int]:
    """Field-wise majority of the frames, and the index of the frame that shows that clock."""
    order = sorted(range(len(boards)), key=lambda place: abs(place - middle))
    minutes = {place: moment_of(boards[place]) for place in order}
    minute = _mode(value for place in order if (value := minutes[place]) is not None)
    if minute is None:
        return ScoreboardText(), middle
    shown = next(place for place in order if minutes[place] == minute)
    agreeing = [boards[place] for place in order if minutes[place] == minute]
    return (
        ScoreboardText(
            clock=boards[shown].clock,
            added=_most_common(agreeing, lambda board: board.added),
            stoppage_clock=boards[shown].stoppage_clock,
            teams=_most_common(boards, lambda board: board.teams),
            score=_most_common(boards, lambda board: board.score),
            batting=_most_common(boards, lambda board: board.batting),
            other_sport=_most_common(boards, lambda board: board.other_sport),
        ),
        shown,
    )


def _minute(board: ScoreboardText) -> int | None:
    """Minute on which frames must agree. HT and FT count too: they prove no minute, but keep teams and score."""
    clock = parse_clock_field(board.clock) if board.clock else None
    return clock.minute if clock is not None and clock.mark is not None else compute_absolute_minute(clock)


def _balls_bowled(board: ScoreboardText) -> int | None:
    return parse_overs(board.clock) if board.clock else None


def _most_common(boards: Sequence[ScoreboardText], field: Callable[[ScoreboardText], T | None]) -> T | None:
    return _mode(value for board in boards if (value := field(board)) is not None)


def _mode(values: Iterable[T]) -> T | None:
    """Most frequent value; the first one on a tie."""
    counted: Counter[Any] = Counter(values)
    return counted.most_common(1)[0][0] if counted else None


def _relative_box(region: ScoreboardRegion, frame: Pixels) -> RelativeBox:
    height, width = frame.shape[:2]
    line = region.clock
    return RelativeBox(
        left=max(0.0, line.left / width),
        top=max(0.0, line.top / height),
        right=min(1.0, line.right / width),
        bottom=min(1.0, line.bottom / height),
    )
