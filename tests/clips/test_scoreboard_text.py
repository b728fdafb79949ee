from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.scoreboard import is_game_menu, parse_scoreboard
from found_footy.clips.scoreboard_region import locate_scoreboard
from found_footy.media.models import TextLine


@pytest.mark.parametrize(
    ("rows", "clock", "teams", "score"),
    [
        ([["85:32", "ZSC 1-1 ASC"]], "85:32", "ZSC ASC", "1-1"),
        ([["27:14KRA 1 1 OLY(1-5)"]], "27:14", "KRA OLY", "1-1"),  # the aggregate is not the score
        ([["27:17", "KRA", "11", "OLY", "(1-5)"]], "27:17", "KRA OLY", "1-1"),  # two numbers read as one
        ([["27:15", "KRA", "OLY", "(1-5)"]], "27:15", "KRA OLY", None),
        ([["27:15", "KRA (1) 1-0 (5) OLY"]], "27:15", "KRA OLY", "1-0"),
        ([["KRA 1 [3] 0 [2] OLY", "27:15"]], "27:15", "KRA OLY", "1-0"),
        ([["KRA", "1", "27:15", "0", "OLY"]], "27:15", "KRA OLY", "1-0"),  # the clock between the numbers
        ([["27:16 KRA 1-1 (1-5) OLY"]], "27:16", "KRA OLY", "1-1"),  # between the score and a team
        ([["27:16", "KRA", "1", "(1-5)", "1", "OLY"]], "27:16", "KRA OLY", "1-1"),
        ([["27:16 KRA 1 1 OLY AGG 1-5"]], "27:16", "KRA OLY", "1-1"),
        ([["27:15", "KRA", "1", "OLY"]], "27:15", "KRA OLY", None),  # half a score is none
        ([["04:43 RMA 0 0 SEV"]], "04:43", "RMA SEV", "0-0"),
        ([["04:53 RMA SEV"]], "04:53", "RMA SEV", None),
        ([["2H 12:30 RMA O O SEV"]], "2H 12:30", "RMA SEV", "0-0"),
        ([["PSG 2-4 BVB39:38"]], "39:38", "PSG BVB", "2-4"),  # BVB lends no B to the clock
        ([["B5:32 ZSC 1:1 ASC"]], "B5:32", "ZSC ASC", "1-1"),
        ([["57:34 MCl 4-2 BVB"]], "57:34", "MCI BVB", "4-2"),
        ([["67:23", "REAL MADRID 2 - 1 SEVILLA FC"]], "67:23", "REAL MADRID SEVILLA FC", "2-1"),
        ([["RMA 1"], ["SEV 0"], ["67:23"]], "67:23", "RMA SEV", "1-0"),
        ([["ARS 2", "CHE 1", "67:23"]], "67:23", "ARS CHE", "2-1"),
        ([["67' ARS 2 1 CHE"]], "67'", "ARS CHE", "2-1"),
        ([["ARS 2 1 CHE", "67 min"]], "67 min", "ARS CHE", "2-1"),
        ([["HT ARS 2 1 CHE"]], "HT", "ARS CHE", "2-1"),
        ([["90+3:15 ARS 2-1 CHE"]], "90+3:15", "ARS CHE", "2-1"),
        ([["85:39", "ZSC 1-1 ASC", "TOTAL CHAMPIONS LEAGUE"]], "85:39", "ZSC ASC", "1-1"),  # a banner behind it
        ([["85:39", "J 0 V 3"]], "85:39", None, None),  # a letter is no team
        ([["SPORTS HD 1"]], None, None, None),
        # a period mark beside, above or below the clock
        ([["EST", "1", "0", "PAT", "2T", "04:55"]], "2T 04:55", "EST PAT", "1-0"),
        ([["EST 1 0 PAT 2T04:55"]], "2T04:55", "EST PAT", "1-0"),
        ([["2nd"], ["04:55", "EST 1-0 PAT"]], "2ND 04:55", "EST PAT", "1-0"),
        ([["EST 1-0 PAT", "04:55"], ["2.HZ"]], "2.HZ 04:55", "EST PAT", "1-0"),
        ([["EST 1-0 PAT", "1H 04:55"], ["2T"]], "1H 04:55", "EST PAT", "1-0"),
        ([["PAL", "1 x 0", "COR", "13:10", "2T"]], "2T 13:10", "PAL COR", "1-0"),
        ([["2MT 25:10 PSG 3 - 0 OM"]], "2MT 25:10", "PSG OM", "3-0"),
        ([["67:08RIVERPLATE01BOCAJUNIORS0"]], "67:08", "RIVERPLATE BOCAJUNIORS", "0-1"),
        ([["Sunday", "10:13 PM"]], None, None, None),
    ],
)
def test_a_scoreboard_is_parsed_into_fields(
    rows: list[list[str]], clock: str | None, teams: str | None, score: str | None
) -> None:
    board = parse_scoreboard(rows)
    assert board.clock == clock
    assert (" ".join(board.teams) if board.teams else None) == teams
    assert (str(board.score) if board.score else None) == score


@pytest.mark.parametrize(
    ("text", "clock", "added", "sub"),
    [
        ("90:00 +4 02:17 RMA 1 0 SEV", "90:00", "+4", "02:17"),
        ("90:00 RMA 1 0 SEV 02:17 +4", "90:00", "+4", "02:17"),
        ("02:17 90:00 RMA 1 0 SEV", "90:00", None, "02:17"),
        ("45:00 +02:10 ARS 0-0 CHE", "45:00", None, "02:10"),
        ("92:17 ARS 2-1 CHE +4", "92:17", "+4", None),
    ],
)
def test_stoppage_time_has_its_own_fields(text: str, clock: str, added: str | None, sub: str | None) -> None:
    board = parse_scoreboard([[text]])
    assert (board.clock, board.added, board.stoppage_clock) == (clock, added, sub)


@given(st.lists(st.lists(st.text(max_size=20), max_size=4), max_size=4))
def test_any_texts_can_be_read(rows: list[list[str]]) -> None:
    board = parse_scoreboard(rows)
    assert board.used <= set(range(sum(map(len, rows))))


@pytest.mark.parametrize(
    ("rows", "other_sport"),
    [
        ([["Q3 11:40 IND 1-0 GBR"]], "Q3 11:40 IND 1-0 GBR"),
        ([["HOME", "3RD", "11:40"]], "3RD"),
        ([["HOME 3RD 11:40"]], "HOME 3RD 11:40"),
        ([["AUS 2-82", "Run Rate 4.47", "Overs 18.2"]], "Run Rate 4.47"),
        ([["04:55", "EST 1-0 PAT", "3RD ROUND"]], None),
        ([["04:55", "EST 1-0 PAT", "3RD", "ROUND"]], None),
    ],
)
def test_the_scoreboard_of_another_sport_is_noted(rows: list[list[str]], other_sport: str | None) -> None:
    assert parse_scoreboard(rows).other_sport == other_sport


@pytest.mark.parametrize(
    ("text", "menu"), [("CHANGE KICK TAKER", True), ("Division Rivals", True), ("LALIGA EA SPORTS", False)]
)
def test_menus_of_video_games(text: str, menu: bool) -> None:
    assert is_game_menu(text) is menu


def line(text: str, left: float, top: float, height: float = 20) -> TextLine:
    return TextLine(text, left, top, left + 0.6 * height * len(text), top + height)


def test_the_region_is_the_clocks_row_without_distant_texts() -> None:
    lines = [
        line("85:32", 160, 33),
        line("ZSC 1-1 ASC", 242, 34),
        line("SPORTS HD 1", 720, 33),
        line("LEAGUE", 200, 70),
    ]
    place = locate_scoreboard(lines)
    assert place is not None
    assert [row.text for row in place.rows] == ["85:32 ZSC 1-1 ASC"]
    assert place.clock.text == "85:32"


def test_a_scoreboard_wins_over_another_clock() -> None:
    lines = [line("20:45", 900, 10), line("67:23", 100, 50), line("ARS 2-1 CHE", 180, 50)]
    place = locate_scoreboard(lines)
    assert place is not None
    assert place.clock.text == "67:23"


def test_stacked_rows_do_not_overlap_when_they_are_read_again() -> None:
    lines = [line("67:23", 50, 0, 50), line("ARS", 60, 40, 50), line("2", 200, 40, 50), line("CHE", 60, 84, 50)]
    lines.append(line("1", 200, 84, 50))
    place = locate_scoreboard(lines)
    assert place is not None
    assert (place.board.teams, str(place.board.score)) == (("ARS", "CHE"), "2-1")
    upper, middle, lower = place.rows
    assert upper.bottom <= middle.top
    assert middle.bottom <= lower.top


@pytest.mark.parametrize("text", ["HT", "67'", "ARS 2-1 CHE", "SALE 24"])
def test_without_a_clock_there_is_no_region(text: str) -> None:
    assert locate_scoreboard([line(text, 100, 50)]) is None
    assert locate_scoreboard([]) is None


def test_a_region_is_converted_from_a_crop_to_the_whole_frame() -> None:
    place = locate_scoreboard([line("67:23", 300, 30, 60)])
    assert place is not None
    moved = place.translated(right=10, down=5, scale=3).clock
    assert (moved.left, moved.top, moved.height) == (110, 15, 20)
