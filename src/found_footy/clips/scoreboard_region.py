"""Locates the scoreboard in a frame from the positions of the OCR texts. Geometry only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from found_footy.clips.cricket_scoreboard import parse_cricket_scoreboard
from found_footy.clips.scoreboard import ScoreboardText, parse_scoreboard
from found_footy.fixtures.models import Sport
from found_footy.media.models import TextLine

GAP = 4.0
"""Maximum gap between two parts of a row, in letter heights: a number between them may be undetected."""
LINE_GAP = 1.2
"""Maximum gap between two rows, in letter heights."""
ONE_ROW = 0.35
"""Maximum vertical distance between the centres of a row's parts, in letter heights."""
SIMILAR = 2.2
"""Maximum ratio between the letter heights of two parts."""
MARGIN, SIDES = 0.15, 0.4
"""Margins around a row when it is read again, in letter heights: detected boxes cut letters off."""

UNREAD_SCORE = 2.5
UNREAD_TEAMS = 8.0
"""Extra side margin while the score or the teams are missing, in letter heights."""


Read = Callable[[Sequence[Sequence[str]]], ScoreboardText]
READERS: dict[Sport, Read] = {Sport.FOOTBALL: parse_scoreboard, Sport.CRICKET: parse_cricket_scoreboard}


@dataclass(frozen=True, slots=True)
class ScoreboardRegion:
    """Rows of a scoreboard, from top to bottom, with the texts found when they were located."""

    rows: tuple[TextLine, ...]
    clock: TextLine
    """For cricket, the score."""
    board: ScoreboardText
    parts: tuple[tuple[TextLine, ...], ...] = ()
    """Texts of each row, if they are read separately: 0-36 next to 4.2 must not become 0-364.2."""

    @property
    def clock_area(self) -> TextLine:
        """The clock with its margins, to be read without the rest of its row."""
        side, margin = SIDES * self.clock.height, MARGIN * self.clock.height
        line = self.clock
        return TextLine(line.text, line.left - side, line.top - margin, line.right + side, line.bottom + margin)

    def moved(self, right: float, down: float, scale: float) -> ScoreboardRegion:
        """Convert from the coordinates of an enlarged crop to those of the whole frame."""
        return ScoreboardRegion(
            tuple(_moved(row, right, down, scale) for row in self.rows),
            _moved(self.clock, right, down, scale),
            self.board,
            tuple(tuple(_moved(part, right, down, scale) for part in row) for row in self.parts),
        )


def locate_scoreboard(lines: Sequence[TextLine], sport: Sport = Sport.FOOTBALL) -> ScoreboardRegion | None:
    """Return the scoreboard with the most evidence; None without a clock or, for cricket, a score."""
    places = [place for line in lines if (place := _region_around(line, lines, sport)) is not None]
    return max(places, key=lambda place: place.board.evidence, default=None)


def has_teams_and_score(lines: Sequence[TextLine]) -> bool:
    """Whether some row shows two names and a score, with or without a clock."""
    board = parse_scoreboard([[line.text for line in row] for row in _rows(lines)])
    return board.teams is not None and board.score is not None


def _region_around(anchor: TextLine, lines: Sequence[TextLine], sport: Sport) -> ScoreboardRegion | None:
    read = READERS[sport]
    alone = read([[anchor.text]])
    if (alone.score if sport is Sport.CRICKET else alone.clock) is None:
        return None
    rows = _rows(_group(anchor, lines))
    board = read([[line.text for line in row] for row in rows])
    if not _is_board(board, alone, sport):
        return None
    flat = [line for row in rows for line in row]
    # If the teams were not recognised, any of the surrounding texts may belong to them.
    used = {id(flat[source]) for source in (board.used if board.named else range(len(flat)))}
    kept = [row for row in ([line for line in row if id(line) in used] for row in rows) if row]
    parts = tuple(_side_by_side(row) for row in kept) if sport is Sport.CRICKET else ()
    return ScoreboardRegion(_without_overlap([_bounding_box(row, board) for row in kept]), anchor, board, parts)


def _is_board(board: ScoreboardText, alone: ScoreboardText, sport: Sport) -> bool:
    if sport is Sport.CRICKET:
        # Two numbers alone are ambiguous, and a bowler's figures are not those of the innings.
        return board.score == alone.score and (board.clock is not None or board.named)
    # Without teams, 67' or HT is ambiguous.
    return board.clock is not None and (":" in board.clock or board.teams is not None)


def _group(anchor: TextLine, lines: Sequence[TextLine]) -> list[TextLine]:
    """All texts connected to the anchor, directly or through others."""
    group, left = [anchor], [line for line in lines if line is not anchor]
    grown = True
    while grown:
        near = [line for line in left if any(_is_adjacent(line, member) for member in group)]
        group += near
        left = [line for line in left if line not in near]
        grown = bool(near)
    return group


def _is_adjacent(one: TextLine, other: TextLine) -> bool:
    size, larger = sorted((one.height, other.height))
    if larger > SIMILAR * size:
        return False
    across = max(one.left, other.left) - min(one.right, other.right)
    if _one_row(one, other):
        return across <= GAP * larger
    between = max(one.top, other.top) - min(one.bottom, other.bottom)
    return across <= size and between <= LINE_GAP * size


def _one_row(one: TextLine, other: TextLine) -> bool:
    return abs(one.middle - other.middle) <= ONE_ROW * min(one.height, other.height)


def _rows(group: Sequence[TextLine]) -> list[list[TextLine]]:
    rows: list[list[TextLine]] = []
    for line in sorted(group, key=lambda each: each.middle):
        if rows and any(_one_row(line, member) for member in rows[-1]):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def _bounding_box(row: Sequence[TextLine], board: ScoreboardText) -> TextLine:
    height = max(line.height for line in row)
    # The detector misses single digits and sometimes words; missing text may be next to the detected parts.
    around = SIDES if board.named else UNREAD_TEAMS
    behind = around if board.score is not None or not board.named else UNREAD_SCORE
    return TextLine(
        " ".join(line.text for line in row),
        min(line.left for line in row) - around * height,
        min(line.top for line in row) - MARGIN * height,
        max(line.right for line in row) + behind * height,
        max(line.bottom for line in row) + MARGIN * height,
    )


def _side_by_side(row: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Each text with a margin that does not reach into the next one."""
    parts = []
    for place, line in enumerate(row):
        room, margin = SIDES * line.height, MARGIN * line.height
        left, right = line.left - room, line.right + room
        if place > 0:
            left = max(left, (row[place - 1].right + line.left) / 2)
        if place + 1 < len(row):
            right = min(right, (line.right + row[place + 1].left) / 2)
        parts.append(TextLine(line.text, left, line.top - margin, right, line.bottom + margin))
    return tuple(parts)


def _without_overlap(rows: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Detected boxes overlap adjacent rows: cut each row half-way to the next."""
    parted = list(rows)
    for place, (upper, lower) in enumerate(pairwise(rows)):
        if upper.bottom > lower.top:
            border = (upper.middle + lower.middle) / 2
            parted[place] = replace(parted[place], bottom=border)
            parted[place + 1] = replace(parted[place + 1], top=border)
    return tuple(parted)


def _moved(line: TextLine, right: float, down: float, scale: float) -> TextLine:
    return replace(
        line,
        left=line.left / scale + right,
        top=line.top / scale + down,
        right=line.right / scale + right,
        bottom=line.bottom / scale + down,
    )
