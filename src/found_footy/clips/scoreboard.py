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
_COUNTED = word_set("ROUND LEG GOAL GOALS OFFICIAL PLACE MATCH GAME SEASON TITLE TIER DIVISION")
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
        """Amount of evidence for a scoreboard: a clock alone may belong to an advertisement or the stadium."""
        return (self.clock is not None) + self.named + (self.score is not None)

    @property
    def named(self) -> bool:
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
    _take(rest, _TIME_OF_DAY, set())
    for pattern in _CLOCKS:
        times = times or [text for text in _take(rest, pattern, used) if parse_clock_field(text) is not None]
    subs = [text.lstrip("+ ") for text in _take(rest, _SUB_CLOCK, used)]
    added = _take(rest, _ADDED, used)
    # Wherever the aggregate stands, even between the score and a team, it leaves no gap.
    rest = [_AGGREGATE.sub(" ", text) for text in rest]
    if len(times) > 1 and not subs:
        times, subs = _main_and_sub(times)
    clock = times[0].strip() if times else None
    if clock is not None:
        clock = _with_period(clock, rest, used)
    by_row: list[list[tuple[int, str]]] = [[] for _ in rows]
    for source, (row, _) in enumerate(numbered):
        by_row[row].append((source, rest[source]))
    teams, score, sources = _sides([_items(row) for row in by_row])
    return ScoreboardText(
        clock=clock,
        added=added[0].strip() if added else None,
        stoppage_clock=subs[0].strip() if subs else None,
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
        alone = after.upper().split(" ")[0] not in _COUNTED
        if is_other_sports_mark(text, alone=alone) or _LATE_PERIOD.search(text):
            return text
    return None


_GAME_MENU = re.compile(
    r"KICK ?TAKER|DIVISION RIVALS|SQUAD BATTLES|ULTIMATE TEAM|FUT CHAMPIONS|WEEKEND LEAGUE|PRO CLUBS|CAREER MODE"
    r"|EFOOTBALL|(?:LOB|SHORT|THROUGH) PASS|FINESSE SHOT|QUICK SUBS?|SKIP REPLAY"
)


def is_game_menu(text: str) -> bool:
    """Whether the text belongs to the menus and prompts of a football video game."""
    return _GAME_MENU.search(text.upper()) is not None


def _take(texts: list[str], pattern: re.Pattern[str], used: set[int]) -> list[str]:
    """Remove all matches from the texts and return them. The text on either side of a match is not joined."""
    found = []
    for source, text in enumerate(texts):
        parts = [match for match in pattern.findall(text) if re.search(r"\d|[HFA]E?T", match)]
        if parts:
            found += parts
            used.add(source)
            texts[source] = pattern.sub(" / ", text)
    return found


def _main_and_sub(times: list[str]) -> tuple[list[str], list[str]]:
    """Of two clocks, the later one is the match clock. Three or more do not belong to a scoreboard."""
    if len(times) > 2:
        return times[:1], []
    clocks = [parse_clock_field(text) for text in times]
    later = max(range(2), key=lambda place: clock.minute if (clock := clocks[place]) else -1)
    return [times[later]], [times[1 - later]]


def _items(row: Sequence[tuple[int, str]]) -> list[_BoardItem]:
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
                items[-1] = _BoardItem(words=(*last.words, _upright(token)), source=source)
            else:
                items.append(_BoardItem(words=(_upright(token),), source=source))
    return items


def _upright(word: str) -> str:
    """Correct MCl to MCI: among capitals, a small l is a misread I."""
    return word.replace("l", "I") if word.replace("l", "").isupper() else word


def _sides(rows: Sequence[list[_BoardItem]]) -> tuple[tuple[str, str] | None, Score | None, set[int]]:
    """Teams and score: try one line, then two lines, then the teams alone."""
    for row in rows:
        for place in range(len(row)):
            found = _on_one_line(row[place : place + 4])
            if found is not None:
                return found
    for row in rows:
        # A clock or an aggregate may stand between the two numbers.
        close = [item for item in row if item.words or item.number]
        for place in range(len(close) - 3):
            home, left, right, away = close[place : place + 4]
            if _named(home) and _goals(left) and _goals(right) and _named(away):
                return _found(home, away, left, right)
    stacked = [pair for row in rows for pair in pairwise(row) if _named(pair[0]) and _goals(pair[1])]
    if len(stacked) == 2 and len(rows) > 1:
        (left, home), (right, away) = stacked
        return _found(left, right, home, away)
    for row in rows:
        for first, second in pairwise(row):
            if _code(first) and _code(second):
                return _found(first, second)
        for item in row:
            if len(item.words) == 2 and all(_is_code(word) for word in item.words):
                return (item.words[0], item.words[1]), None, {item.source}
    return None, None, set()


def _on_one_line(items: Sequence[_BoardItem]) -> tuple[tuple[str, str], Score | None, set[int]] | None:
    kinds = "".join("w" if _named(item) else "n" if _goals(item) else "d" if item.number else "-" for item in items)
    if kinds == "wnnw":
        return _found(items[0], items[3], items[1], items[2])
    if kinds == "wnwn":
        return _found(items[0], items[2], items[1], items[3])
    if kinds[:3] in ("wnw", "wdw") and len(items[1].number) == 2:
        # Two numbers read as one: between two names there must be two.
        first, second = (_BoardItem(number=digit, source=items[1].source) for digit in items[1].number)
        return _found(items[0], items[2], first, second)
    if kinds[:3] == "wnw" and _code(items[0]) and _code(items[2]):
        return _found(items[0], items[2])  # one of the two numbers was not detected
    return None


def _found(
    left: _BoardItem, right: _BoardItem, home: _BoardItem | None = None, away: _BoardItem | None = None
) -> tuple[tuple[str, str], Score | None, set[int]]:
    score = Score(int(home.number), int(away.number)) if home and away else None
    teams = (" ".join(left.words[-MAX_NAME_LENGTH:]), " ".join(right.words[:MAX_NAME_LENGTH]))
    return teams, score, {item.source for item in (left, right, home, away) if item is not None}


def _named(item: _BoardItem) -> bool:
    """A single letter is at most a fragment of a name."""
    return len("".join(item.words)) > 1


def _goals(item: _BoardItem) -> bool:
    return bool(item.number) and len(item.number) <= 2 and int(item.number) <= MAX_GOALS


def _code(item: _BoardItem) -> bool:
    return len(item.words) == 1 and _is_code(item.words[0])


def _is_code(word: str) -> bool:
    return 2 < len(word) <= 4 and word.isupper()
