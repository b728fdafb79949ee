"""Where a scoreboard stands in a picture, from the texts that were found in it. Geometry only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

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
    board: BoardText

    def moved(self, right: float, down: float, scale: float) -> Place:
        """From the coordinates of an enlarged part to those of the whole picture."""
        return Place(
            tuple(_moved(row, right, down, scale) for row in self.rows),
            _moved(self.clock, right, down, scale),
            self.board,
        )


def find_place(lines: Sequence[TextLine]) -> Place | None:
    """The scoreboard with the most to show for itself. None where no clock is among the texts."""
    places = [place for line in lines if (place := _around(line, lines)) is not None]
    return max(places, key=lambda place: place.board.evidence, default=None)


def _around(anchor: TextLine, lines: Sequence[TextLine]) -> Place | None:
    alone = read_board([[anchor.text]])
    if alone.clock is None:
        return None
    rows = _rows(_group(anchor, lines))
    board = read_board([[line.text for line in row] for row in rows])
    if board.clock is None or (":" not in board.clock and board.teams is None):
        return None  # without teams beside it, 67' or HT can be anything
    flat = [line for row in rows for line in row]
    # Where the teams were not made out, any of the texts around may belong to them.
    used = {id(flat[source]) for source in (board.used if board.teams else range(len(flat)))}
    kept = [[line for line in row if id(line) in used] for row in rows]
    return Place(_apart([_hull(row, board) for row in kept if row]), anchor, board)


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
    around = SIDES if board.teams is not None else UNREAD_TEAMS
    behind = around if board.score is not None or board.teams is None else UNREAD_SCORE
    return TextLine(
        " ".join(line.text for line in row),
        min(line.left for line in row) - around * height,
        min(line.top for line in row) - MARGIN * height,
        max(line.right for line in row) + behind * height,
        max(line.bottom for line in row) + MARGIN * height,
    )


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
