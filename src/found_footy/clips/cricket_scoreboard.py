"""Cricket scoreboards: overs, counted in balls (12.3 is the third ball after twelve overs, ball 75), and scoreboard
texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from found_footy.clips.scoreboard import MAX_NAME_LENGTH, ScoreboardText
from found_footy.fixtures.models import Score
from found_footy.text import word_set

BALLS_PER_OVER = 6
MAX_OVERS = 250
"""No innings is longer; a larger number is not an over count."""

_OVERS = re.compile(r"([0-9]{1,3})(?:\.([0-6]))?")


def balls_bowled(over: int, ball: int) -> int:
    """Convert overs to balls: 11.6 and 12.0 are the same moment."""
    return over * BALLS_PER_OVER + ball


def parse_overs(text: str) -> int | None:
    """Balls bowled, or None if the text is not a number of overs."""
    found = _OVERS.fullmatch(text.strip())
    if found is None or int(found[1]) > MAX_OVERS:
        return None
    return balls_bowled(int(found[1]), int(found[2] or 0))


# --- Scoreboard parsing: batting side, runs and wickets, and overs.


MAX_WICKETS = 10
MAX_RUNS = 1200
"""Higher than any innings on record."""

_NOISE = word_set(
    "LIVE HD UHD OV OVS OVER OVERS CRR RRR NRR RR SR PP WKT WKTS RUN RUNS NEED FROM OFF BALL BALLS TARGET TRAIL LEAD "
    "DAY TEST ODI T FINAL LAST THIS TO WIN KPH KMH MPH OUT NO NOT REQ PROJ EXTRAS"
)
_VERSUS = frozenset(["V", "VS"])
_OTHER_NUMBERS = (
    re.compile(r"\b(?:C|R|N)?RR\b\W{0,3}\d+(?:[.,]\d+)?", re.IGNORECASE),
    re.compile(r"\b(?:SR|ECON?|RATE|REQ|PROJ|TARGET)\b\W{0,3}\d+(?:[.,]\d+)?", re.IGNORECASE),
    re.compile(r"\d+(?:[.,]\d+)?\s?(?:KPH|KM/?H|MPH)", re.IGNORECASE),
)
"""Removed before parsing: a run rate of 7.3 is not an over count."""
_TOKEN = re.compile(
    r"(?P<overs>(?<![\d.,:/-])\d{1,3}[.,][0-6](?![\d.,:]))(?:\s?/\s?\d{2,3}(?!\d))?"  # 12.3, also as 12.3/20
    r"|(?P<before>\bOV(?:ERS|S)?\b[.:]?)\s?(?P<whole>\d{1,3})(?![\d.,])(?:\s?/\s?\d{2,3}(?!\d))?"  # OVERS 12
    r"|(?<![\d.,])(?P<count>\d{1,3})(?:\s?/\s?\d{2,3})?\s?OV(?:ERS|S)?\b"  # 12 OV
    r"|(?<![\d.,:/-])(?P<left>\d{1,4})\s?[-–/]\s?(?P<right>\d{1,4})(?![\d.,:/-])"  # 95-3
    r"|(?P<word>[^\W\d_]+(?:[.'&][^\W\d_]+)*)"
    r"|(?P<rest>\S)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _CricketBoardItem:
    """A word, an over count, a pair of numbers, or a separator."""

    source: int
    word: str = ""
    overs: str = ""
    certain: bool = True
    """False for whole overs: an innings' over limit is written the same way."""
    pair: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _ScoreCandidate:
    pair: tuple[int, int]
    name: str
    versus: bool
    """The name is the second in `IND v AUS`, which does not identify the batting side."""
    overs_follow: bool
    sources: frozenset[int]

    @property
    def sort_key(self) -> tuple[bool, bool, int]:
        """Sort key: an innings has at least as many runs as any bowler's figures; of two innings, the overs belong to
        the current one.
        """
        coded = is_code(self.name)
        return coded, coded and self.overs_follow, max(self.pair)


def parse_cricket_scoreboard(rows: Sequence[Sequence[str]]) -> ScoreboardText:
    """Parse rows from top to bottom, each with its texts from left to right. `clock` holds the overs, as `12.3`."""
    lines: list[list[_CricketBoardItem]] = []
    source = 0
    for texts in rows:
        line: list[_CricketBoardItem] = []
        for text in texts:
            line += _parse_items(text, source)
            source += 1
        lines.append(line)
    found = [
        _score_candidate(line, index, item.pair)
        for line in lines
        for index, item in enumerate(line)
        if item.pair is not None
    ]
    best = max(found, key=lambda each: each.sort_key, default=None)
    overs = _find_overs(lines)
    used = (best.sources if best else frozenset()) | ({overs.source} if overs else frozenset())
    name = best.name if best and not best.versus else None
    return ScoreboardText(
        clock=overs.overs if overs else None,
        teams=_find_teams(lines, name),
        score=Score(*best.pair) if best else None,
        batting=name or None,
        used=used,
    )


def possible_wickets(score: Score) -> frozenset[int]:
    """Wicket counts that a pair of numbers allows: broadcasts write both 95-3 and 3-95."""
    return frozenset(number for number in (score.home, score.away) if number <= MAX_WICKETS)


def _parse_items(text: str, source: int) -> list[_CricketBoardItem]:
    for unwanted in _OTHER_NUMBERS:
        text = unwanted.sub(" / ", text)
    items = []
    for match in _TOKEN.finditer(text):
        part = match.groupdict()
        if part["overs"] or part["whole"] or part["count"]:
            overs = (part["overs"] or part["whole"] or part["count"]).replace(",", ".")
            is_valid = parse_overs(overs) is not None
            items.append(_CricketBoardItem(source, overs=overs if is_valid else "", certain=bool(part["overs"])))
        elif part["left"]:
            pair = int(part["left"]), int(part["right"])
            items.append(
                _CricketBoardItem(source, pair=pair if min(pair) <= MAX_WICKETS and max(pair) <= MAX_RUNS else None)
            )
        elif part["word"]:
            items.append(_CricketBoardItem(source, word=part["word"]))
        elif part["rest"] not in "().:*":
            items.append(_CricketBoardItem(source))
    return items


def _score_candidate(line: Sequence[_CricketBoardItem], index: int, pair: tuple[int, int]) -> _ScoreCandidate:
    following = line[index + 1] if index + 1 < len(line) else None
    preceding = _leading_name(list(reversed(line[:index])))
    words = preceding or _leading_name(line[index + 1 :])
    if preceding:
        words.reverse()
    start = index - len(preceding)
    versus = bool(preceding) and start > 0 and line[start - 1].word.upper() in _VERSUS
    return _ScoreCandidate(
        pair=pair,
        name=" ".join(item.word for item in words),
        versus=versus,
        overs_follow=following is not None and bool(following.overs),
        sources=frozenset([line[index].source, *(item.source for item in words)]),
    )


def _leading_name(items: Sequence[_CricketBoardItem]) -> list[_CricketBoardItem]:
    """Leading words of the items: a code, or a name of up to three words from one text."""
    words: list[_CricketBoardItem] = []
    for item in items:
        plain = item.word.upper()
        if not item.word or plain in _NOISE | _VERSUS or len(words) == MAX_NAME_LENGTH:
            break
        if words and (item.source != words[0].source or is_code(words[0].word)):
            break
        words.append(item)
    return words if len("".join(item.word for item in words)) > 1 else []


def _find_overs(lines: Sequence[Sequence[_CricketBoardItem]]) -> _CricketBoardItem | None:
    """Highest over count found: a bowler has bowled fewer overs than the innings."""
    candidates = [item for line in lines for item in line if item.overs]
    certain = [item for item in candidates if item.certain]
    return max(certain or candidates, key=lambda item: parse_overs(item.overs) or 0, default=None)


def _find_teams(lines: Sequence[Sequence[_CricketBoardItem]], batting: str | None) -> tuple[str, str] | None:
    """Both sides, if a `v` stands between them or before the bowling side."""
    for line in lines:
        for index, item in enumerate(line):
            if item.word.upper() not in _VERSUS:
                continue
            left = [each.word for each in reversed(_leading_name(list(reversed(line[:index]))))]
            right = [each.word for each in _leading_name(line[index + 1 :])]
            first = " ".join(left) or batting
            if first and right:
                return first, " ".join(right)
    return None


def is_code(word: str) -> bool:
    return 2 <= len(word) <= 4 and word.isupper()
