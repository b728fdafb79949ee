from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.match_clock import (
    MAX_MINUTE,
    compute_absolute_minute,
    is_other_sports_mark,
    parse_added_field,
    parse_clock,
    parse_clock_field,
    parse_stoppage_clock_field,
    period_mark,
    with_period_of,
)


@pytest.mark.parametrize(
    ("text", "minute"),
    [
        # running clocks
        ("67:23", 67),
        ("04:45", 4),
        ("4:45", 4),
        ("00:00", 0),
        ("67'", 67),
        ("67’", 67),
        ("67 min", 67),
        ("67", 67),
        ("104:10", 104),
        ("67 : 23", 67),
        ("１２：３４", 12),  # full-width digits
        # period marks: a number too small for its period restarted at the half
        ("1H 23:10", 23),
        ("2H 12:30", 57),
        ("2H 67:00", 67),
        ("2H12:30", 57),
        ("12:30 2H", 57),
        ("2nd half 00:15", 45),
        ("2H 45:00", 45),
        ("2H 45+2", 92),
        ("2nd leg 12:30", 12),
        ("ET 98:12", 98),
        ("ET 08:12", 98),
        ("ET2 03:10", 108),
        ("ET 15+1", 106),
        ("ET 45:00", None),
        # in other languages
        ("2T 04:55", 49),
        ("2T04:55", 49),
        ("04:55 2T", 49),
        ("1T 04:55", 4),
        ("2.HZ 04:55", 49),
        ("2. Halbzeit 04:55", 49),
        ("2nd 04:55", 49),
        ("1st 04:55", 4),
        ("2ª 04:55", 49),
        ("2ª parte 04:55", 49),
        ("2º T 04:55", 49),
        ("2° tempo 04:55", 49),
        ("ST 04:55", 49),
        ("PT 04:55", 4),
        ("2MT 04:55", 49),
        ("2ème mi-temps 04:55", 49),
        ("II T 04:55", 49),
        ("Segundo tiempo 04:55", 49),
        ("2. Yarı 04:55", 49),
        ("Babak 2 04:55", 49),
        ("下半场 04:55", 49),
        ("後半 04:55", 49),
        ("2 T 04:55", 49),
        ("2DO. TIEMPO 04:55", 49),
        ("2. Devre 04:55", 49),
        ("2. félidő 04:55", 49),
        ("2. puoliaika 04:55", 49),
        ("Repriza II 04:55", 49),
        ("R2 04:55", 49),
        ("Hiệp 2 04:55", 49),
        ("후반 04:55", 49),
        ("2TS 03:10", 108),
        ("St. Pauli 04:55", 4),
        ("04:55 EST 1-0 PAT", 4),
        # cards at a period's end prove no minute
        ("HT", None),
        ("FT", None),
        ("FULL TIME", None),
        ("AET", None),
        ("HT 1-0", None),
        ("HT 45:00", None),
        ("HT 12:30", None),  # the break, counted down
        ("FT 90+4", None),
        ("ET HT", None),
        ("Mi-temps", None),
        ("Intervalo", None),
        # stoppage time
        ("45+2", 47),
        ("45'+2'", 47),
        ("90 + 3", 93),
        ("90+3:15", 93),
        ("90:00 +4 02:17", 92),
        ("90:00 02:36", 92),
        ("45:00+01:30", 46),
        ("90:00 +4", 90),  # announced, not played
        ("92:17 +4", 92),
        ("47:10 +3 02:10", 47),  # the main clock runs on and has counted it already
        ("105+1", 106),
        ("120+1", 121),
        ("67+2", None),  # no period ends there
        ("45+31", None),
        # what OCR makes of them
        ("B5:3Z", 85),
        ("O4:4S", 4),
        ("l2:30", 12),
        ("67.23", 67),
        ("67;23", 67),
        ("04:51.", 4),
        ("27:14KRA 1 1 OLY(1-5)", 27),
        ("85:32 ZSC 1-1 ASC", 85),
        # not a clock
        ("1-1", None),
        ("(1-5)", None),
        ("1:1", None),
        ("12.05.2024", None),
        ("10:13 PM", None),
        ("9:20 a.m.", None),
        ("2024-05-12", None),
        ("2024", None),
        ("2019-20", None),
        ("4K", None),
        ("HD", None),
        ("beIN SPORTS HD 1", None),
        ("KRA 1 1 OLY", None),
        ("67:83", None),
        ("1:23:45", None),
        ("151:00", None),
        ("67:23 20:45", None),  # two clocks, neither of them a sub-clock
        ("+4", None),
        ("+02:17", None),
        ("1H", None),
        ("-5", None),
        ("", None),
    ],
)
def test_the_minute_that_a_text_shows(text: str, minute: int | None) -> None:
    assert parse_clock(text) == minute


@given(st.one_of(st.text(), st.text("0123456789:+'.;- HTFE12OlSB"), st.from_regex(r"[0-9]{1,3}[:+.][0-9]{1,3}")))
def test_any_text_gives_a_minute_of_a_match_or_none(text: str) -> None:
    minute = parse_clock(text)
    assert minute is None or 0 <= minute <= MAX_MINUTE
    for parse in (parse_added_field, parse_stoppage_clock_field):
        number = parse(text)
        assert number is None or 0 <= number <= 30


@given(st.integers(0, 120), st.integers(0, 59))
def test_every_running_clock_shows_its_own_minute(minute: int, second: int) -> None:
    assert parse_clock(f"{minute:02}:{second:02}") == minute


@given(st.sampled_from([45, 90, 105, 120]), st.integers(0, 15), st.integers(0, 59))
def test_all_ways_to_write_stoppage_time_show_the_same_minute(end: int, minute: int, second: int) -> None:
    texts = (
        f"{end}+{minute}",
        f"{end}+{minute}:{second:02}",
        f"{end}:00 +{minute:02}:{second:02}",
        f"{end}'+{minute}'",
    )
    assert {parse_clock(text) for text in texts} == {end + minute}


@pytest.mark.parametrize(
    ("text", "minutes"), [("+4", 4), ("4", 4), ("+4'", 4), ("+ 4 min", 4), ("+31", None), ("4:00", None), ("", None)]
)
def test_announced_minutes(text: str, minutes: int | None) -> None:
    assert parse_added_field(text) == minutes


@pytest.mark.parametrize(
    ("text", "minutes"), [("02:36", 2), ("+2:36", 2), ("+02:36", 2), ("31:00", None), ("2", None), ("none", None)]
)
def test_a_sub_clock_gives_whole_minutes(text: str, minutes: int | None) -> None:
    assert parse_stoppage_clock_field(text) == minutes


@pytest.mark.parametrize(
    ("clock", "stoppage", "minute"),
    [("90:00", 2, 92), ("45:00", 0, 45), ("92:17", 2, 92), ("67:00", 2, 67), ("90+1", 2, 92), ("no clock", 2, None)],
)
def test_stoppage_time_is_added_to_a_stopped_clock(clock: str, stoppage: int, minute: int | None) -> None:
    assert compute_absolute_minute(parse_clock_field(clock), stoppage) == minute


@pytest.mark.parametrize(
    ("text", "stands"), [("90:00", True), ("HT", True), ("90:01", False), ("90+2", False), ("67:00", False)]
)
def test_a_clock_at_a_periods_end_shows_only_the_period(text: str, stands: bool) -> None:
    clock = parse_clock_field(text)
    assert clock is not None
    assert clock.is_stopped_at_period_end is stands


@pytest.mark.parametrize(
    "text", ["2T", "1.HZ", "2nd", "2ª", "2a", "2e", "PT", "ST", "1ST HALF", "H2", "II T", "(2T)", "2 H"]
)
def test_a_text_that_is_a_period_mark(text: str) -> None:
    assert period_mark(text) is not None


@pytest.mark.parametrize(
    ("clock", "other", "combined"),
    [
        ("04:55", "2T 04:53", "2H 04:55"),
        ("04:55", "1.HZ 04:53", "1H 04:55"),
        ("1T 04:55", "2T 04:53", "1T 04:55"),
        ("04:55", "04:53", "04:55"),
        ("04:55", None, "04:55"),
        ("HT", "2T 04:53", "HT"),
        ("04:55", "ET 04:53", "04:55"),  # a fragment, unless it is read again
        ("04:55", "Segundo tiempo 04:53", "2H 04:55"),
    ],
)
def test_a_period_mark_read_once_holds_for_the_clip(clock: str, other: str | None, combined: str) -> None:
    assert with_period_of(clock, other) == combined


@pytest.mark.parametrize("text", ["EST", "2", "HT", "2T 04:55", "2nd leg", "TOT", "T 2", "1-1", "", "STS"])
def test_a_text_that_is_not_a_period_mark(text: str) -> None:
    assert period_mark(text) is None


@pytest.mark.parametrize(
    ("text", "alone", "other"),
    [
        ("Q3", True, True),
        ("Q3 11:40 IND 1-0 GBR", False, True),
        ("4th Qtr", True, True),
        ("3rd", True, True),
        ("3rd round", True, False),
        ("3rd", False, False),
        ("2nd & 7", True, True),
        ("P2", True, True),
        ("Overs 18.2", True, True),
        ("Run Rate 4.47", True, True),
        ("OVER 2.5", True, False),  # a bet on goals
        ("QPR", True, False),
        ("TOP 4", True, False),
        ("2nd Half", True, False),
        ("1st", True, False),
    ],
)
def test_marks_of_other_sports(text: str, alone: bool, other: bool) -> None:
    assert is_other_sports_mark(text, alone=alone) is other
