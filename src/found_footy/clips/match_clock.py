"""Match clock: tokens of a clock's text, with OCR confusions corrected, and the minute of play it shows."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")

MAX_TEXT_LENGTH = 200
"""Text beyond this length is ignored: scoreboards are shorter."""


class MatchPeriod(StrEnum):
    FIRST_HALF = "1H"
    SECOND_HALF = "2H"
    EXTRA_TIME = "ET"
    EXTRA_SECOND = "ET2"


class ClockMark(StrEnum):
    """Word shown instead of a running clock. It marks the end of a period, but no minute."""

    HALF_TIME = "HT"
    FULL_TIME = "FT"
    AFTER_EXTRA_TIME = "AET"
    PENALTIES = "PENS"


@dataclass(frozen=True, slots=True)
class ClockTime:
    minute: int
    second: int | None = None
    """None if only the minute is shown."""


@dataclass(frozen=True, slots=True)
class ScannedText:
    """Tokens of a text, each kind in order of appearance."""

    times: tuple[ClockTime, ...] = ()
    """67:23, or 67' without seconds."""
    stoppages: tuple[tuple[int, int], ...] = ()
    """45+2 as (45, 2)."""
    sub_clocks: tuple[ClockTime, ...] = ()
    """Times after a plus sign: +02:17."""
    added: int | None = None
    """4 for +4."""
    period: MatchPeriod | None = None
    mark: ClockMark | None = None


_LOOKALIKES = str.maketrans(
    {"∶": ":", "꞉": ":", "’": "'", "‘": "'", "′": "'", "´": "'", "`": "'", "ʹ": "'", "–": "-", "—": "-"}
    | {"ª": "°", "º": "°", "˚": "°"}  # before normalization, which would turn them into letters
)
_LOOKALIKE_DIGITS = str.maketrans("OQILSBZ|!", "001158211")
_DIGIT_LOOKALIKE = "[0-9OQILSBZ|!]"

_HALF_WORD = (
    "HALF|HALBZEIT|HZ|HT|TEMPO|TIEMPO|PARTE|MI-?TEMPS|MT|YARI|DEVRE|HELFT|POLOČAS|POLOCAS|POLUVREME|POLU|POLČAS|"
    "PO[LŁ](?:OWA)?|HALVLEK|HALVLEG|OMG(?:ANG)?|TAJM|ТАЙМ|PUOLI(?:AIKA)?|F[EÉ]LID[OŐ]|REPRIZA|HI[EỆ]P"
)


def _half_marks(digit: str, roman: str, suffixes: str, ordinals: str, characters: str) -> str:
    """Pattern of the marks of one half: 2ND, 2ND HALF, 2T, 2H, H2, 2. HZ, 2° TEMPO, II TEMPO, SEGUNDO TIEMPO, 下半."""
    return (
        rf"{digit}(?:{suffixes}|°)\.?(?! ?LEG)(?: ?(?:{_HALF_WORD}|[THPY](?![A-Z])))?"
        rf"|{digit}(?:\.|E|-?[AЙ]|:A|{suffixes})? ?(?:{_HALF_WORD})"
        rf"|{digit}\.?[THY]|{digit} [HT](?![A-Z])|H ?{digit}(?![0-9])|[RT]{digit}(?![0-9])|MT ?{digit}(?![0-9])"
        rf"|{roman} ?(?:{_HALF_WORD})|{roman} T(?![A-Z])|(?:{ordinals}) (?:{_HALF_WORD})"
        rf"|(?:BABAK|HI[EỆ]P|REPRIZA) (?:{digit}|{roman})(?![0-9I])|{characters}"
    )


PERIOD_MARKS = {
    MatchPeriod.FIRST_HALF: "1H",
    MatchPeriod.SECOND_HALF: "2H",
    MatchPeriod.EXTRA_TIME: "ET",
    MatchPeriod.EXTRA_SECOND: "ET2",
}
_PERIODS = (
    (
        MatchPeriod.EXTRA_SECOND,
        r"ET ?2(?![0-9])|2 ?ET|2ND (?:HALF )?(?:OF )?(?:ET|EXTRA TIME)|2°? ?TS",
    ),
    (
        MatchPeriod.EXTRA_TIME,
        r"ET ?1(?![0-9])|1 ?ET|E\.T\.|ET|EXTRA[ -]?TIME|1°? ?TS|PR[OÓ]RROGA|VERL[AÄ]NGERUNG|PROLONGATIONS?",
    ),
    (
        MatchPeriod.FIRST_HALF,
        _half_marks(
            "1",
            "I",
            "ST|ER|RE|ERE|ÈRE",
            "FIRST|PRIMO|PRIMERO?|PRIMEIR[OA]|PREMI[EÈ]RE|ERSTE|[Iİ]LK",
            "上半场?|前半|전반",
        )
        + r"|P\.?T\.?(?=$| ?[0-9])",
    ),
    (
        MatchPeriod.SECOND_HALF,
        _half_marks(
            "2", "II", "ND|DO|DA|DE|ÈME", "SECOND[OE]?|SEGUND[OA]|DEUXI[EÈ]ME|ZWEITE|[Iİ]KINCI", "下半场?|[後后]半|후반"
        )
        + r"|ZT|S\.?T\.?(?=$| ?[0-9])",
    ),
)
_MARKS = (
    (ClockMark.AFTER_EXTRA_TIME, r"A\.?E\.?T\.?"),
    (ClockMark.HALF_TIME, r"HT|HALF[ -]?TIME|MI-?TEMPS|MT|INTERVALO|INTERVALLO|DESCANSO|ENTRETIEMPO|HALBZEIT|中场休息"),
    (ClockMark.FULL_TIME, r"FT|FULL[ -]?TIME|ENDSTAND|FIM DE JOGO|FINAL DEL PARTIDO|MA[CÇ] SONU|全场结束"),
    (ClockMark.PENALTIES, r"PENS|PENALTIES|SHOOT-?OUT"),
)

_OTHER_SPORT = re.compile(
    r"(?<![A-Z0-9])(?:Q ?[1-4]|[1-4] ?Q|[1-4]?(?:ST|ND|RD|TH)? ?(?:QTR|QUARTER)|P[1-3]|[1-3](?:ST|ND|RD) PERIOD"
    r"|[1-4](?:ST|ND|RD|TH) ?& ?(?:[0-9]+|GOAL)|OVERS|RUN RATE|INNINGS|SET [1-5])(?![A-Z])"
)
_LATE_PERIOD = re.compile(r"3RD|4TH")


def period_mark(text: str) -> str | None:
    """Return the text if it is nothing but a period mark, such as `2T` or `1. HZ`."""
    plain = _normalize(text).strip(" .|-()[]")
    if re.fullmatch("[12][AE]", plain):  # 2ª, as OCR reads it, and 2e
        plain = f"{plain[0]}°"
    return plain if any(re.fullmatch(words, plain) for _, words in _PERIODS) else None


_SHORT_MARK = re.compile(r"(?:[A-Z]\.?){2,3} ")


def has_short_mark(clock: str) -> bool:
    """Whether the clock's period mark is only a few letters, such as ST or ET, and may belong to an advertisement."""
    return _SHORT_MARK.match(_normalize(clock)) is not None


def with_period_of(clock: str, other: str | None) -> str:
    """Add the period mark of another reading of the same scoreboard to a clock without one. Short marks are not reused:
    they may be misread.
    """
    if other is None or has_short_mark(other):
        return clock
    parsed, marked = parse_clock_field(clock), parse_clock_field(other)
    if parsed is None or marked is None or parsed.period or parsed.mark or not marked.period:
        return clock
    return f"{PERIOD_MARKS[marked.period]} {clock}"


def is_other_sports_mark(text: str, *, alone: bool) -> bool:
    """Whether a text beside a clock belongs to another sport: quarters, thirds, downs, overs, innings or sets.

    `alone`: the text is a box of its own; `3RD` and `4TH` also occur in captions.
    """
    plain = _normalize(text)
    return _OTHER_SPORT.search(plain) is not None or (alone and _LATE_PERIOD.fullmatch(plain) is not None)


_SCORE = re.compile(r"(?<![0-9:+])\(? ?[0-9]{1,2} ?- ?[0-9]{1,2} ?\)?(?![0-9:])")
_STOPPAGE = re.compile(r"(?<![0-9:;.,/-])([0-9]{1,3})'? ?\+ ?([0-9]{1,2})(?: ?[:;.] ?[0-5][0-9])?'?(?![0-9:])")
_OPEN_PLUS = re.compile(r"(?<![0-9:;.,/-])([0-9]{1,3})'? ?\+(?! ?[0-9])")
_SUB_CLOCK = re.compile(r"\+ ?([0-9]{1,2}) ?[:;.] ?([0-5][0-9])(?![0-9])")
_ADDED = re.compile(r"\+ ?([0-9]{1,2})(?![0-9:;.])")
_TIME = re.compile(r"(?<![0-9:;.,/-])([0-9]{1,3}) ?[:;.] ?([0-5][0-9])(?![0-9]|[:;.,/-][0-9]| ?[AP]\.?M\b)")
_MINUTE = re.compile(r"(?<![0-9:;.,/+-])([0-9]{1,3}) ?(?:'|MIN(?![A-Z]))")
_BARE = re.compile(r"[0-9]{1,2}|1[0-9]{2}")
_CONFUSED_TIME = re.compile(
    rf"(?<![A-Z0-9:;.,/|!-]){_DIGIT_LOOKALIKE}{{1,3}} ?[:;.] ?{_DIGIT_LOOKALIKE}{{2}}(?![A-Z0-9|!]|[:;.,/-][0-9])"
)
_CONFUSED_MINUTE = re.compile(rf"(?<![A-Z0-9:;.,/|!-]){_DIGIT_LOOKALIKE}{{1,3}}'")


def scan_clock_text(text: str) -> ScannedText:
    """Tokenize a text. Scores, dates, years and words are dropped."""
    rest = _restore_digits(_normalize(text))
    rest, period = _extract_first(rest, _PERIODS)
    rest, mark = _extract_first(rest, _MARKS)
    rest = _SCORE.sub(" # ", rest)
    stoppages, rest = _extract_all(_STOPPAGE, rest)
    opened, rest = _extract_all(_OPEN_PLUS, rest)
    subs, rest = _extract_all(_SUB_CLOCK, rest)
    added, rest = _extract_all(_ADDED, rest)
    clocks, rest = _extract_all(_TIME, rest)
    minutes, rest = _extract_all(_MINUTE, rest)
    times = [ClockTime(int(minute), int(second)) for minute, second in clocks]
    times += [ClockTime(int(found[0])) for found in (*minutes, *opened)]
    bare = rest.strip(" #'.:")
    if not times and not stoppages and not added and not subs and _BARE.fullmatch(bare):
        times.append(ClockTime(int(bare)))
    return ScannedText(
        times=tuple(times),
        stoppages=tuple((int(base), int(more)) for base, more in stoppages),
        sub_clocks=tuple(ClockTime(int(minute), int(second)) for minute, second in subs),
        added=int(added[0][0]) if added else None,
        period=period,
        mark=mark,
    )


def _normalize(text: str) -> str:
    """Normalize to compatible forms (full-width digits and colons), capitals and single spaces."""
    plain = unicodedata.normalize("NFKC", text[:MAX_TEXT_LENGTH].translate(_LOOKALIKES)).translate(_LOOKALIKES).upper()
    return " ".join(plain.split())


def _restore_digits(text: str) -> str:
    """Correct misread digits: B5:3Z is 85:32. Only in the shape of a time, and with at least one real digit."""
    for shape in (_CONFUSED_TIME, _CONFUSED_MINUTE):
        text = shape.sub(_restore_match, text)
    return text


def _restore_match(found: re.Match[str]) -> str:
    return found[0].translate(_LOOKALIKE_DIGITS) if re.search("[0-9]", found[0]) else found[0]


def _extract_first(text: str, table: tuple[tuple[T, str], ...]) -> tuple[str, T | None]:
    """Return the text without the first table entry that occurs in it as separate words, and that entry."""
    for entry, words in table:
        found = re.search(rf"(?<![A-Z0-9:+'])(?:{words})(?![A-ZÀ-Þ])", text)
        if found:
            return f"{text[: found.start()]} # {text[found.end() :]}", entry
    return text, None


def _extract_all(pattern: re.Pattern[str], text: str) -> tuple[list[tuple[str, ...]], str]:
    return [found.groups() for found in pattern.finditer(text)], pattern.sub(" # ", text)


# --- Minute of play from the broadcast clock, in completed minutes: 85:32 is 85, and 45+2 is 47.


MAX_MINUTE = 150
"""A larger number is not a match clock: no match is that long."""
PERIOD_ENDS = (45, 90, 105, 120)
MAX_STOPPAGE_MINUTES = 30

_HALF = 45
_EXTRA_HALF = 15
_STOPPED_AT = {
    ClockMark.HALF_TIME: 45,
    ClockMark.FULL_TIME: 90,
    ClockMark.AFTER_EXTRA_TIME: 120,
    ClockMark.PENALTIES: 120,
}
_STOPS_BEFORE = {
    ClockMark.HALF_TIME: 60,
    ClockMark.FULL_TIME: 120,
    ClockMark.AFTER_EXTRA_TIME: MAX_MINUTE,
    ClockMark.PENALTIES: MAX_MINUTE,
}


@dataclass(frozen=True, slots=True)
class MatchClock:
    """One reading of the main clock."""

    minute: int
    """Counted from kick-off, also if the clock restarts at each half; without stoppage time."""
    second: int | None = None
    stoppage: int | None = None
    """Minutes of stoppage time played: 2 in 45+2 or in 45:00 +02:17."""
    added: int | None = None
    """Announced minutes of stoppage time, regardless of how many have been played."""
    period: MatchPeriod | None = None
    mark: ClockMark | None = None

    @property
    def is_stopped_at_period_end(self) -> bool:
        """Whether the clock stopped at the start of stoppage time, so that it shows the period but not the minute."""
        return self.minute in PERIOD_ENDS and not self.second and self.stoppage is None


def parse_clock_field(text: str) -> MatchClock | None:
    """Parse running clocks, period marks and stopped clocks. None if the text is not a clock."""
    found = scan_clock_text(text)
    if found.mark is not None:
        return _parse_stopped_clock(found, found.mark)
    return _parse_running_clock(found)


def parse_added_field(text: str) -> int | None:
    """Announced minutes of stoppage time: +4, 4' or 4 min."""
    match = re.fullmatch(r"[^0-9]{0,16}([0-9]{1,2})[^0-9:]{0,16}", text)
    return _at_most(int(match[1]), MAX_STOPPAGE_MINUTES) if match else None


def parse_stoppage_clock_field(text: str) -> int | None:
    """Whole minutes of stoppage time played, from the sub-clock: 02:36 or +2:36."""
    times = times_with_seconds(text)
    return _at_most(times[0].minute, MAX_STOPPAGE_MINUTES) if len(times) == 1 else None


def times_with_seconds(text: str) -> list[ClockTime]:
    """Sub-clocks first, then all other times with seconds."""
    found = scan_clock_text(text)
    return [time for time in (*found.sub_clocks, *found.times) if time.second is not None]


def compute_absolute_minute(clock: MatchClock | None, stoppage: int | None = None) -> int | None:
    """Minute from kick-off, plus stoppage time if the main clock stops for it. None for HT, FT and the like: they are
    shown long after the period's last minute, too.
    """
    if clock is None or clock.mark is not None:
        return None
    played = clock.stoppage if stoppage is None else stoppage
    # A main clock that continues past the period's end already includes stoppage time.
    minute = clock.minute + played if played is not None and clock.minute in PERIOD_ENDS else clock.minute
    return _at_most(minute, MAX_MINUTE)


def parse_clock(text: str) -> int | None:
    """Minute shown by any text, or None. Never raises.

    A clock that restarts at each half is recognised by its period mark together with a number too small for that
    period: `2H 12:30` is 57 and `2H 67:00` is 67; `ET 08:12` and `ET 98:12` are both 98.
    """
    return compute_absolute_minute(parse_clock_field(text))


def _parse_stopped_clock(found: ScannedText, mark: ClockMark) -> MatchClock:
    """Use a clock next to the mark only if it can be the stopped match clock: in HT 12:30 it counts down the break."""
    running = _parse_running_clock(found)
    end = _STOPPED_AT[mark]
    if mark is ClockMark.HALF_TIME and found.period in (MatchPeriod.EXTRA_TIME, MatchPeriod.EXTRA_SECOND):
        return MatchClock(90 + _EXTRA_HALF, mark=mark, period=found.period)
    if running is not None and end <= running.minute < _STOPS_BEFORE[mark]:
        return MatchClock(running.minute, running.second, running.stoppage, running.added, running.period, mark)
    return MatchClock(end, mark=mark, period=found.period)


def _parse_running_clock(found: ScannedText) -> MatchClock | None:
    if found.stoppages:
        base, played = found.stoppages[0]
        if len(set(found.stoppages)) > 1 or played > MAX_STOPPAGE_MINUTES:
            return None
        minute = _since_kick_off(base, found.period, in_stoppage=True)
        # 67+2 is not a valid minute: stoppage time only follows the end of a period.
        return MatchClock(minute, None, played, None, found.period) if minute in PERIOD_ENDS else None
    if not found.times:
        return None
    main, *others = found.times
    others += found.sub_clocks
    in_stoppage = bool(others) or found.added is not None
    minute = _since_kick_off(main.minute, found.period, in_stoppage=in_stoppage)
    if minute is None or minute > MAX_MINUTE:
        return None
    stoppage = _stoppage_played(minute, others)
    if others and stoppage is None:
        return None
    return MatchClock(minute, main.second, stoppage, found.added, found.period)


def _stoppage_played(minute: int, others: list[ClockTime]) -> int | None:
    """Stoppage time from a second clock. Two times of which neither is a sub-clock are ambiguous."""
    if len(others) != 1 or others[0].minute > MAX_STOPPAGE_MINUTES:
        return None
    played = others[0].minute
    return played if minute in PERIOD_ENDS or minute - played in PERIOD_ENDS else None


def _since_kick_off(minute: int, period: MatchPeriod | None, *, in_stoppage: bool) -> int | None:
    """Convert to minutes from kick-off. With `in_stoppage`, a second half at 45 is ending, not about to start."""
    match period:
        case MatchPeriod.SECOND_HALF if minute < _HALF or (minute == _HALF and in_stoppage):
            return minute + _HALF
        case MatchPeriod.EXTRA_SECOND if minute < _EXTRA_HALF or (minute == _EXTRA_HALF and in_stoppage):
            return 90 + _EXTRA_HALF + minute
        case MatchPeriod.EXTRA_TIME | MatchPeriod.EXTRA_SECOND if minute <= 2 * _EXTRA_HALF:
            return 90 + minute
        case MatchPeriod.EXTRA_TIME | MatchPeriod.EXTRA_SECOND if minute < 90:
            return None
    return minute


def _at_most(number: int, limit: int) -> int | None:
    return number if 0 <= number <= limit else None
