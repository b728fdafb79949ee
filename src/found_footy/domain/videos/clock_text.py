"""What stands in a clock's text: times, minutes, plus signs and period marks, with OCR's confusions undone."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")

LONGEST = 200
"""A scoreboard has fewer characters; what follows cannot be part of its clock."""


class Period(StrEnum):
    FIRST_HALF = "1H"
    SECOND_HALF = "2H"
    EXTRA_TIME = "ET"
    EXTRA_SECOND = "ET2"


class Mark(StrEnum):
    """Words that stand in the clock's place while it does not run."""

    HALF_TIME = "HT"
    FULL_TIME = "FT"
    AFTER_EXTRA_TIME = "AET"
    PENALTIES = "PENS"


@dataclass(frozen=True, slots=True)
class Time:
    minute: int
    second: int | None = None
    """None where only the minute is written."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """The parts of a text, each in the order of appearance."""

    times: tuple[Time, ...] = ()
    """67:23, or 67' with no seconds."""
    stoppages: tuple[tuple[int, int], ...] = ()
    """45+2 as (45, 2)."""
    sub_clocks: tuple[Time, ...] = ()
    """Times that a plus sign announces: +02:17."""
    added: int | None = None
    """+4"""
    period: Period | None = None
    mark: Mark | None = None


_SAME = str.maketrans(
    {"∶": ":", "꞉": ":", "’": "'", "‘": "'", "′": "'", "´": "'", "`": "'", "ʹ": "'", "–": "-", "—": "-"}
)
_DIGITS = str.maketrans("OQILSBZ|!", "001158211")
_CONFUSED = "[0-9OQILSBZ|!]"

_PERIODS = (
    (Period.EXTRA_SECOND, r"ET ?2(?![0-9])|2 ?ET|2ND (?:HALF )?(?:OF )?(?:ET|EXTRA TIME)"),
    (Period.EXTRA_TIME, r"ET ?1(?![0-9])|1 ?ET|E\.T\.|ET|EXTRA[ -]?TIME"),
    (Period.FIRST_HALF, r"1ST HALF|FIRST HALF|1 ?H|H ?1(?![0-9])|1ST(?! LEG)|1T|1\. ?HZ"),
    (Period.SECOND_HALF, r"2ND HALF|SECOND HALF|2 ?H|H ?2(?![0-9])|2ND(?! LEG)|2T|2\. ?HZ"),
)
_MARKS = (
    (Mark.AFTER_EXTRA_TIME, r"A\.?E\.?T\.?"),
    (Mark.HALF_TIME, r"HT|HALF[ -]?TIME"),
    (Mark.FULL_TIME, r"FT|FULL[ -]?TIME"),
    (Mark.PENALTIES, r"PENS|PENALTIES|SHOOT-?OUT"),
)

_SCORE = re.compile(r"(?<![0-9:+])\(? ?[0-9]{1,2} ?- ?[0-9]{1,2} ?\)?(?![0-9:])")
_STOPPAGE = re.compile(r"(?<![0-9:;.,/-])([0-9]{1,3})'? ?\+ ?([0-9]{1,2})(?: ?[:;.] ?[0-5][0-9])?'?(?![0-9:])")
_OPEN_PLUS = re.compile(r"(?<![0-9:;.,/-])([0-9]{1,3})'? ?\+(?! ?[0-9])")
_SUB_CLOCK = re.compile(r"\+ ?([0-9]{1,2}) ?[:;.] ?([0-5][0-9])(?![0-9])")
_ADDED = re.compile(r"\+ ?([0-9]{1,2})(?![0-9:;.])")
_TIME = re.compile(r"(?<![0-9:;.,/-])([0-9]{1,3}) ?[:;.] ?([0-5][0-9])(?![0-9]|[:;.,/-][0-9])")
_MINUTE = re.compile(r"(?<![0-9:;.,/+-])([0-9]{1,3}) ?(?:'|MIN(?![A-Z]))")
_BARE = re.compile(r"[0-9]{1,2}|1[0-9]{2}")
_CONFUSED_TIME = re.compile(
    rf"(?<![A-Z0-9:;.,/|!-]){_CONFUSED}{{1,3}} ?[:;.] ?{_CONFUSED}{{2}}(?![A-Z0-9|!]|[:;.,/-][0-9])"
)
_CONFUSED_MINUTE = re.compile(rf"(?<![A-Z0-9:;.,/|!-]){_CONFUSED}{{1,3}}'")


def scan(text: str) -> Scanned:
    """Takes a text apart. Scores, dates, years and words leave nothing behind."""
    rest = _digits_restored(_plain(text))
    rest, period = _taken(rest, _PERIODS)
    rest, mark = _taken(rest, _MARKS)
    rest = _SCORE.sub(" # ", rest)
    stoppages, rest = _all(_STOPPAGE, rest)
    opened, rest = _all(_OPEN_PLUS, rest)
    subs, rest = _all(_SUB_CLOCK, rest)
    added, rest = _all(_ADDED, rest)
    clocks, rest = _all(_TIME, rest)
    minutes, rest = _all(_MINUTE, rest)
    times = [Time(int(minute), int(second)) for minute, second in clocks]
    times += [Time(int(found[0])) for found in (*minutes, *opened)]
    bare = rest.strip(" #'.:")
    if not times and not stoppages and not added and not subs and _BARE.fullmatch(bare):
        times.append(Time(int(bare)))
    return Scanned(
        times=tuple(times),
        stoppages=tuple((int(base), int(more)) for base, more in stoppages),
        sub_clocks=tuple(Time(int(minute), int(second)) for minute, second in subs),
        added=int(added[0][0]) if added else None,
        period=period,
        mark=mark,
    )


def _plain(text: str) -> str:
    """Compatible forms (full-width digits and colons), capitals, single blanks."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST]).translate(_SAME).upper()
    return " ".join(plain.split())


def _digits_restored(text: str) -> str:
    """B5:3Z is 85:32. Only where a time is shaped, and where at least one true digit says that it is one."""
    for shape in (_CONFUSED_TIME, _CONFUSED_MINUTE):
        text = shape.sub(_restore, text)
    return text


def _restore(found: re.Match[str]) -> str:
    return found[0].translate(_DIGITS) if re.search("[0-9]", found[0]) else found[0]


def _taken(text: str, table: tuple[tuple[T, str], ...]) -> tuple[str, T | None]:
    """The first entry whose words stand in the text by themselves, and the text without them."""
    for entry, words in table:
        found = re.search(rf"(?<![A-Z0-9:+'])(?:{words})(?![A-Z])", text)
        if found:
            return f"{text[: found.start()]} # {text[found.end() :]}", entry
    return text, None


def _all(pattern: re.Pattern[str], text: str) -> tuple[list[tuple[str, ...]], str]:
    return [found.groups() for found in pattern.finditer(text)], pattern.sub(" # ", text)
