"""Locates the scoreboard in a frame from the positions of the OCR texts. Geometry only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from found_footy.clips.cricket_scoreboard import parse_cricket_scoreboard
from found_footy.clips.scoreboard import ScoreboardText, parse_scoreboard
from found_footy.fixtures.models import Sport
from found_footy.media.models import TextLine

MAX_GAP = 4.0
"""Maximum gap between two parts of a row, in letter heights: a number between them may be undetected."""
MAX_ROW_GAP = 1.2
"""Maximum gap between two rows, in letter heights."""
MAX_ROW_OFFSET = 0.35
"""Maximum vertical distance between the centres of a row's parts, in letter heights."""
MAX_HEIGHT_RATIO = 2.2
"""Maximum ratio between the letter heights of two parts."""
ROW_MARGIN, SIDE_MARGIN = 0.15, 0.4
"""Margins around a row when it is read again, in letter heights: detected boxes clip letters."""

SIDE_MARGIN_WITHOUT_SCORE = 2.5
SIDE_MARGIN_WITHOUT_TEAMS = 8.0
"""Extra side margin while the score or the teams are missing, in letter heights."""


ParseRows = Callable[[Sequence[Sequence[str]]], ScoreboardText]
PARSERS: dict[Sport, ParseRows] = {Sport.FOOTBALL: parse_scoreboard, Sport.CRICKET: parse_cricket_scoreboard}


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
        side, margin = SIDE_MARGIN * self.clock.height, ROW_MARGIN * self.clock.height
        line = self.clock
        return TextLine(line.text, line.left - side, line.top - margin, line.right + side, line.bottom + margin)

    def translated(self, right: float, down: float, scale: float) -> ScoreboardRegion:
        """Convert from the coordinates of an enlarged crop to those of the whole frame."""
        return ScoreboardRegion(
            tuple(_translate(row, right, down, scale) for row in self.rows),
            _translate(self.clock, right, down, scale),
            self.board,
            tuple(tuple(_translate(part, right, down, scale) for part in row) for row in self.parts),
        )


def locate_scoreboard(lines: Sequence[TextLine], sport: Sport = Sport.FOOTBALL) -> ScoreboardRegion | None:
    """Return the scoreboard with the most evidence; None without a clock or, for cricket, a score."""
    regions = [region for line in lines if (region := _region_around(line, lines, sport)) is not None]
    return max(regions, key=lambda region: region.board.evidence, default=None)


def has_teams_and_score(lines: Sequence[TextLine]) -> bool:
    """Whether some row shows two names and a score, with or without a clock."""
    board = parse_scoreboard([[line.text for line in row] for row in _rows(lines)])
    return board.teams is not None and board.score is not None


def _region_around(anchor: TextLine, lines: Sequence[TextLine], sport: Sport) -> ScoreboardRegion | None:
    parse = PARSERS[sport]
    alone = parse([[anchor.text]])
    if (alone.score if sport is Sport.CRICKET else alone.clock) is None:
        return None
    rows = _rows(_group(anchor, lines))
    board = parse([[line.text for line in row] for row in rows])
    if not _is_board(board, alone, sport):
        return None
    flat = [line for row in rows for line in row]
    # If the teams were not recognised, any of the surrounding texts may belong to them.
    used = {id(flat[source]) for source in (board.used if board.has_team_names else range(len(flat)))}
    used_rows = [[line for line in row if id(line) in used] for row in rows]
    kept = [row for row in used_rows if row]
    parts = tuple(_with_margins(row) for row in kept) if sport is Sport.CRICKET else ()
    return ScoreboardRegion(_without_overlap([_bounding_box(row, board) for row in kept]), anchor, board, parts)


def _is_board(board: ScoreboardText, alone: ScoreboardText, sport: Sport) -> bool:
    if sport is Sport.CRICKET:
        # Two numbers alone are ambiguous, and a bowler's figures are not those of the innings.
        return board.score == alone.score and (board.clock is not None or board.has_team_names)
    # Without teams, 67' or HT is ambiguous.
    return board.clock is not None and (":" in board.clock or board.teams is not None)


def _group(anchor: TextLine, lines: Sequence[TextLine]) -> list[TextLine]:
    """All texts connected to the anchor, directly or through others."""
    group, remaining = [anchor], [line for line in lines if line is not anchor]
    has_grown = True
    while has_grown:
        near = [line for line in remaining if any(_is_adjacent(line, member) for member in group)]
        group += near
        remaining = [line for line in remaining if line not in near]
        has_grown = bool(near)
    return group


def _is_adjacent(one: TextLine, other: TextLine) -> bool:
    size, larger = sorted((one.height, other.height))
    if larger > MAX_HEIGHT_RATIO * size:
        return False
    across = max(one.left, other.left) - min(one.right, other.right)
    if _is_same_row(one, other):
        return across <= MAX_GAP * larger
    between = max(one.top, other.top) - min(one.bottom, other.bottom)
    return across <= size and between <= MAX_ROW_GAP * size


def _is_same_row(one: TextLine, other: TextLine) -> bool:
    return abs(one.middle - other.middle) <= MAX_ROW_OFFSET * min(one.height, other.height)


def _rows(group: Sequence[TextLine]) -> list[list[TextLine]]:
    rows: list[list[TextLine]] = []
    for line in sorted(group, key=lambda each: each.middle):
        if rows and any(_is_same_row(line, member) for member in rows[-1]):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def _bounding_box(row: Sequence[TextLine], board: ScoreboardText) -> TextLine:
    height = max(line.height for line in row)
    # The detector misses single digits and sometimes words; missing text may be next to the detected parts.
    left_margin = SIDE_MARGIN if board.has_team_names else SIDE_MARGIN_WITHOUT_TEAMS
    right_margin = left_margin if board.score is not None or not board.has_team_names else SIDE_MARGIN_WITHOUT_SCORE
    return TextLine(
        " ".join(line.text for line in row),
        min(line.left for line in row) - left_margin * height,
        min(line.top for line in row) - ROW_MARGIN * height,
        max(line.right for line in row) + right_margin * height,
        max(line.bottom for line in row) + ROW_MARGIN * height,
    )


def _with_margins(row: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Each text with a margin that does not reach into the next one."""
    parts = []
    for index, line in enumerate(row):
        side, margin = SIDE_MARGIN * line.height, ROW_MARGIN * line.height
        left, right = line.left - side, line.right + side
        if index > 0:
            left = max(left, (row[index - 1].right + line.left) / 2)
        if index + 1 < len(row):
            right = min(right, (line.right + row[index + 1].left) / 2)
        parts.append(TextLine(line.text, left, line.top - margin, right, line.bottom + margin))
    return tuple(parts)


def _without_overlap(rows: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Detected boxes overlap adjacent rows: cut each row half-way to the next."""
    separated = list(rows)
    for index, (upper, lower) in enumerate(pairwise(rows)):
        if upper.bottom > lower.top:
            border = (upper.middle + lower.middle) / 2
            separated[index] = replace(separated[index], bottom=border)
            separated[index + 1] = replace(separated[index + 1], top=border)
    return tuple(separated)


def _translate(line: TextLine, right: float, down: float, scale: float) -> TextLine:
    return replace(
        line,
        left=line.left / scale + right,
        top=line.top / scale + down,
        right=line.right / scale + right,
        bottom=line.bottom / scale + down,
    )
