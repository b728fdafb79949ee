"""Football scoreboards: clock, announced and played stoppage time, teams and score from OCR texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from found_footy.clips.match_clock import is_other_sports_mark, parse_clock_field, period_mark
from found_footy.fixtures.models import Score
from found_footy.text import word_set

MAX_GOALS = 20
MAX_NAME_LENGTH = 3
"""In words."""

_NOISE = word_set("LIVE HD UHD SD VAR GOAL GOL GOOL PEN HALF TIME MIN VS V VIVO DIRETO DIRECTO DIRECT DIRETTA CANLI")
_PERIOD = (
    r"(?:[12] ?H|H ?[12]|[12](?:ST|ND)(?: HALF)?|ET ?[12]?|[12] ?[.ªº°]? ?(?:T|HZ|HT|MT|Y)(?![A-Za-z])|[12][ªº°]"
    r"|(?<![A-Za-z])[PS]\.?T\.?)"
)
"""Marks that OCR joins with the clock; those in a box of their own are found by `period_mark`."""
_TIME = r"[0-9]{1,3}\s?[:;.]\s?[0-5][0-9](?![0-9])"
_TIME_OF_DAY = re.compile(r"[0-9]{1,2}\s?[:.]\s?[0-5][0-9]\s?[AP]\.?M\b\.?", re.IGNORECASE)
_LETTER, _EITHER = "[OQIlSBZ]", "[0-9OQIlSBZ]"
_MISREAD_TIME = (
    rf"(?<![A-Za-z0-9+:])(?=[0-9]{{0,2}}{_LETTER}|[0-9]+[:;.][0-9]?{_LETTER})"  # at least one letter in it
    rf"{_EITHER}{{1,3}}[:;.]{_EITHER}{{2}}(?![A-Za-z0-9])"
)
_CLOCKS = (
    re.compile(r"(?<![\d:])\d{2,3}'?\s?\+\s?\d{1,2}(?::\d{2})?'?"),
    re.compile(_MISREAD_TIME),
    re.compile(rf"(?<![\d:+])(?:{_PERIOD}\s?)?{_TIME}(?:\s?{_PERIOD}(?![A-Za-z]))?"),
    re.compile(r"(?<![\d:+])\d{1,3}(?:'|\s?MIN(?![A-Za-z]))", re.IGNORECASE),
    re.compile(r"(?<![A-Za-z0-9])(?:HT|FT|AET)(?![A-Za-z0-9])"),
)
_NUMBERED_NOUNS = word_set("ROUND LEG GOAL GOALS OFFICIAL PLACE MATCH GAME SEASON TITLE TIER DIVISION")
_LATE_PERIOD = re.compile(rf"(?:3RD|4TH)\s?{_TIME}|{_TIME}\s?(?:3RD|4TH)", re.IGNORECASE)
_SUB_CLOCK = re.compile(r"\+\s?\d{1,2}\s?[:;.]\s?\d{2}(?!\d)")
_ADDED = re.compile(r"(?<!\d)\+\s?\d{1,2}'?(?![\d:;.])")
_AGGREGATE = re.compile(
    r"[(\[]\s*\d+\s*(?:[-–:]\s*\d+\s*[)\]]?|[)\]])|AGG\.?\s*\d+\s*[-–]\s*\d+|\d+\s*[-–]\s*\d+\s*AGG"
)
_TOKEN = re.compile(r"(?<!\w)(?:[SBM]0[45]|D98)(?!\w)|[^\W\d_]+(?:[.'&-][^\W\d_]+)*|\d+|[^\s]")
_LONE_DIGITS = {"O": 0, "o": 0, "Q": 0, "D": 0, "I": 1, "l": 1, "|": 1}


@dataclass(frozen=True, slots=True)
class ScoreboardText:
    clock: str | None = None
    added: str | None = None
    stoppage_clock: str | None = None
    teams: tuple[str, str] | None = None
    score: Score | None = None
    used: frozenset[int] = frozenset()
    """Indexes of the texts that were used, counted over all rows."""
    batting: str | None = None
    """For cricket, the side next to the score."""
    other_sport: str | None = None
    """Text that only the scoreboard of another sport shows."""

    @property
    def evidence(self) -> int:
        """Number of scoreboard parts found: a clock alone may belong to an advertisement or the stadium."""
        return (self.clock is not None) + self.has_team_names + (self.score is not None)

    @property
    def has_team_names(self) -> bool:
        return self.teams is not None or self.batting is not None


@dataclass(frozen=True, slots=True)
class _BoardItem:
    """A name (words), a number, or a separator (neither)."""

    words: tuple[str, ...] = ()
    number: str = ""
    source: int = -1


def parse_scoreboard(rows: Sequence[Sequence[str]]) -> ScoreboardText:
    """Parse rows from top to bottom, each with its texts from left to right, split or joined as OCR found them."""
    numbered = [(row, text) for row, texts in enumerate(rows) for text in texts]
    rest = [text for _, text in numbered]
    used: set[int] = set()
    times: list[str] = []
    _extract(rest, _TIME_OF_DAY, set())
    for pattern in _CLOCKS:
        times = times or [text for text in _extract(rest, pattern, used) if parse_clock_field(text) is not None]
    sub_clocks = [text.lstrip("+ ") for text in _extract(rest, _SUB_CLOCK, used)]
    added = _extract(rest, _ADDED, used)
    # The aggregate leaves no gap, even between the score and a team.
    rest = [_AGGREGATE.sub(" ", text) for text in rest]
    if len(times) > 1 and not sub_clocks:
        times, sub_clocks = _split_clocks(times)
    clock = times[0].strip() if times else None
    if clock is not None:
        clock = _with_period(clock, rest, used)
    by_row: list[list[tuple[int, str]]] = [[] for _ in rows]
    for source, (row, _) in enumerate(numbered):
        by_row[row].append((source, rest[source]))
    teams, score, sources = _find_teams_and_score([_parse_items(row) for row in by_row])
    return ScoreboardText(
        clock=clock,
        added=added[0].strip() if added else None,
        stoppage_clock=sub_clocks[0].strip() if sub_clocks else None,
        teams=teams,
        score=score,
        used=frozenset(used | sources),
        other_sport=_other_sports_mark([text for _, text in numbered]),
    )


def _with_period(clock: str, texts: list[str], used: set[int]) -> str:
    """Put a period mark from a box of its own before the clock, and remove it from the texts."""
    parsed = parse_clock_field(clock)
    if parsed is None or parsed.period is not None or parsed.mark is not None:
        return clock
    for source, text in enumerate(texts):
        mark = period_mark(text)
        if mark is not None:
            used.add(source)
            texts[source] = " / "
            return f"{mark} {clock}"
    return clock


def _other_sports_mark(texts: Sequence[str]) -> str | None:
    """A lone 3RD is a quarter, but not in the caption 3RD ROUND, which OCR may split."""
    for text, after in zip(texts, [*texts, ""][1:], strict=True):
        alone = after.upper().split(" ")[0] not in _NUMBERED_NOUNS
        if is_other_sports_mark(text, alone=alone) or _LATE_PERIOD.search(text):
            return text
    return None


_GAME_MENU = re.compile(
    r"KICK ?TAKER|DIVISION RIVALS|SQUAD BATTLES|ULTIMATE TEAM|FUT CHAMPIONS|WEEKEND LEAGUE|PRO CLUBS|CAREER MODE"
    r"|EFOOTBALL|(?:LOB|SHORT|THROUGH) PASS|FINESSE SHOT|QUICK SUBS?|SKIP REPLAY"
)


def is_game_menu(text: str) -> bool:
    """Whether the text belongs to a menu or prompt of a football video game."""
    return _GAME_MENU.search(text.upper()) is not None


def _extract(texts: list[str], pattern: re.Pattern[str], used: set[int]) -> list[str]:
    """Remove all matches from the texts and return them. A separator replaces each match."""
    found = []
    for source, text in enumerate(texts):
        parts = [match for match in pattern.findall(text) if re.search(r"\d|[HFA]E?T", match)]
        if parts:
            found += parts
            used.add(source)
            texts[source] = pattern.sub(" / ", text)
    return found


def _split_clocks(times: list[str]) -> tuple[list[str], list[str]]:
    """Of two clocks, the later one is the match clock. Three or more do not belong to a scoreboard."""
    if len(times) > 2:
        return times[:1], []
    clocks = [parse_clock_field(text) for text in times]
    main = max(range(2), key=lambda index: clock.minute if (clock := clocks[index]) else -1)
    return [times[main]], [times[1 - main]]


def _parse_items(row: Sequence[tuple[int, str]]) -> list[_BoardItem]:
    """Names and numbers in order. Words of one text form one name; words of two texts form two."""
    items: list[_BoardItem] = []
    for source, text in row:
        for token in _TOKEN.findall(text):
            last = items[-1] if items else _BoardItem()
            if token in _LONE_DIGITS:
                items.append(_BoardItem(number=str(_LONE_DIGITS[token]), source=source))
            elif token.isdecimal():
                # 01 is 0 and 1 read as one number: goals have no leading zero.
                parts = token if len(token) == 2 and token[0] == "0" else [token]
                items += [_BoardItem(number=part, source=source) for part in parts]
            elif token in "-–:." or (token in "xX×" and last.number):
                continue
            elif not token[0].isalpha() or token.upper() in _NOISE:
                items.append(_BoardItem(source=source))
            elif last.words and last.source == source:
                items[-1] = _BoardItem(words=(*last.words, _fix_misread_capitals(token)), source=source)
            else:
                items.append(_BoardItem(words=(_fix_misread_capitals(token),), source=source))
    return items


def _fix_misread_capitals(word: str) -> str:
    """Correct MCl to MCI: among capitals, a small l is a misread I."""
    return word.replace("l", "I") if word.replace("l", "").isupper() else word


def _find_teams_and_score(rows: Sequence[list[_BoardItem]]) -> tuple[tuple[str, str] | None, Score | None, set[int]]:
    """Teams and score: try one line, then two lines, then the teams alone."""
    for row in rows:
        for index in range(len(row)):
            found = _match_one_line(row[index : index + 4])
            if found is not None:
                return found
    for row in rows:
        # A clock or an aggregate may stand between the two numbers.
        close = [item for item in row if item.words or item.number]
        for index in range(len(close) - 3):
            home, left, right, away = close[index : index + 4]
            if _is_name(home) and _is_goal_count(left) and _is_goal_count(right) and _is_name(away):
                return _teams_and_score(home, away, left, right)
    stacked = [pair for row in rows for pair in pairwise(row) if _is_name(pair[0]) and _is_goal_count(pair[1])]
    if len(stacked) == 2 and len(rows) > 1:
        (left, home), (right, away) = stacked
        return _teams_and_score(left, right, home, away)
    for row in rows:
        for first, second in pairwise(row):
            if _is_code_item(first) and _is_code_item(second):
                return _teams_and_score(first, second)
        for item in row:
            if len(item.words) == 2 and all(_is_code(word) for word in item.words):
                return (item.words[0], item.words[1]), None, {item.source}
    return None, None, set()


def _match_one_line(items: Sequence[_BoardItem]) -> tuple[tuple[str, str], Score | None, set[int]] | None:
    kinds = "".join(
        "w" if _is_name(item) else "n" if _is_goal_count(item) else "d" if item.number else "-" for item in items
    )
    if kinds == "wnnw":
        return _teams_and_score(items[0], items[3], items[1], items[2])
    if kinds == "wnwn":
        return _teams_and_score(items[0], items[2], items[1], items[3])
    if kinds[:3] in ("wnw", "wdw") and len(items[1].number) == 2:
        # OCR joined two numbers: there are two between the names of a scoreboard.
        first, second = (_BoardItem(number=digit, source=items[1].source) for digit in items[1].number)
        return _teams_and_score(items[0], items[2], first, second)
    if kinds[:3] == "wnw" and _is_code_item(items[0]) and _is_code_item(items[2]):
        return _teams_and_score(items[0], items[2])  # one of the two numbers was not detected
    return None


def _teams_and_score(
    left: _BoardItem, right: _BoardItem, home: _BoardItem | None = None, away: _BoardItem | None = None
) -> tuple[tuple[str, str], Score | None, set[int]]:
    score = Score(int(home.number), int(away.number)) if home and away else None
    teams = (" ".join(left.words[-MAX_NAME_LENGTH:]), " ".join(right.words[:MAX_NAME_LENGTH]))
    return teams, score, {item.source for item in (left, right, home, away) if item is not None}


def _is_name(item: _BoardItem) -> bool:
    """A single letter is at most a fragment of a name."""
    return len("".join(item.words)) > 1


def _is_goal_count(item: _BoardItem) -> bool:
    return bool(item.number) and len(item.number) <= 2 and int(item.number) <= MAX_GOALS


def _is_code_item(item: _BoardItem) -> bool:
    return len(item.words) == 1 and _is_code(item.words[0])


def _is_code(word: str) -> bool:
    return 2 < len(word) <= 4 and word.isupper()
