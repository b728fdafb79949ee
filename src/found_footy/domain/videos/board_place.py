"""Where a scoreboard stands in a picture, from the texts that were found in it. Geometry only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from found_footy.domain.fixtures.model import Sport
from found_footy.domain.videos.cricket_board import read_cricket_board
from found_footy.domain.videos.scoreboard_text import BoardText, read_board

GAP = 4.0
"""How far apart two parts of one row may stand, in heights of their letters: a number between them may be unread."""
LINE_GAP = 1.2
"""The same for two rows, one above the other."""
ONE_ROW = 0.35
"""How far the middles of one row's parts may lie apart, in heights."""
SIMILAR = 2.2
"""How much larger one part's letters may be than another's."""
MARGIN, SIDES = 0.15, 0.4
"""What is kept above, below and beside a row when it is read again, in heights: found places cut letters off."""

UNREAD_SCORE = 2.5
UNREAD_TEAMS = 8.0
"""How much more is kept at the sides while the score, or even the teams, are still missing; in heights."""


Read = Callable[[Sequence[Sequence[str]]], BoardText]
READERS: dict[Sport, Read] = {Sport.FOOTBALL: read_board, Sport.CRICKET: read_cricket_board}


@dataclass(frozen=True, slots=True)
class TextLine:
    """A text with its place in pixels."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return max(1.0, self.bottom - self.top)

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Place:
    """The rows of a scoreboard, from top to bottom, and what they said when they were found."""

    rows: tuple[TextLine, ...]
    clock: TextLine
    """In cricket the score."""
    board: BoardText
    parts: tuple[tuple[TextLine, ...], ...] = ()
    """The texts of each row apart, where they are read one by one: 0-36 beside 4.2 must not become 0-364.2."""

    def moved(self, right: float, down: float, scale: float) -> Place:
        """From the coordinates of an enlarged part to those of the whole picture."""
        return Place(
            tuple(_moved(row, right, down, scale) for row in self.rows),
            _moved(self.clock, right, down, scale),
            self.board,
            tuple(tuple(_moved(part, right, down, scale) for part in row) for row in self.parts),
        )


def find_place(lines: Sequence[TextLine], sport: Sport = Sport.FOOTBALL) -> Place | None:
    """The scoreboard with the most to show for itself. None where no clock, or in cricket no score, is there."""
    places = [place for line in lines if (place := _around(line, lines, sport)) is not None]
    return max(places, key=lambda place: place.board.evidence, default=None)


def _around(anchor: TextLine, lines: Sequence[TextLine], sport: Sport) -> Place | None:
    read = READERS[sport]
    alone = read([[anchor.text]])
    if (alone.score if sport is Sport.CRICKET else alone.clock) is None:
        return None
    rows = _rows(_group(anchor, lines))
    board = read([[line.text for line in row] for row in rows])
    if not _is_board(board, alone, sport):
        return None
    flat = [line for row in rows for line in row]
    # Where the teams were not made out, any of the texts around may belong to them.
    used = {id(flat[source]) for source in (board.used if board.named else range(len(flat)))}
    kept = [row for row in ([line for line in row if id(line) in used] for row in rows) if row]
    parts = tuple(_side_by_side(row) for row in kept) if sport is Sport.CRICKET else ()
    return Place(_apart([_hull(row, board) for row in kept]), anchor, board, parts)


def _is_board(board: BoardText, alone: BoardText, sport: Sport) -> bool:
    if sport is Sport.CRICKET:
        # Two numbers can be anything, and a bowler's figures are none of the innings'.
        return board.score == alone.score and (board.clock is not None or board.named)
    # Without teams beside it, 67' or HT can be anything.
    return board.clock is not None and (":" in board.clock or board.teams is not None)


def _group(anchor: TextLine, lines: Sequence[TextLine]) -> list[TextLine]:
    """All that hangs together with the anchor, part by part."""
    group, left = [anchor], [line for line in lines if line is not anchor]
    grown = True
    while grown:
        near = [line for line in left if any(_together(line, member) for member in group)]
        group += near
        left = [line for line in left if line not in near]
        grown = bool(near)
    return group


def _together(one: TextLine, other: TextLine) -> bool:
    size, larger = sorted((one.height, other.height))
    if larger > SIMILAR * size:
        return False
    across = max(one.left, other.left) - min(one.right, other.right)
    if _one_row(one, other):
        return across <= GAP * larger
    between = max(one.top, other.top) - min(one.bottom, other.bottom)
    return across <= 0 and between <= LINE_GAP * size


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


def _hull(row: Sequence[TextLine], board: BoardText) -> TextLine:
    height = max(line.height for line in row)
    # The detector overlooks lone digits, and words now and then: what is missing may stand beside what it found.
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
    """Each text with some room around it, but never into the next one."""
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


def _apart(rows: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Found places reach beyond their letters, into the rows above and below: each row ends half-way to the next."""
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
