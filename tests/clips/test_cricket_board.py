"""What a cricket scoreboard's texts say, whatever else stands beside them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.cricket_scoreboard import parse_cricket_scoreboard, parse_overs, possible_wickets
from found_footy.clips.scoreboard_region import locate_scoreboard
from found_footy.fixtures.models import Score, Sport
from found_footy.media.models import TextLine


@pytest.mark.parametrize(
    ("row", "batting", "score", "overs"),
    [
        (["IND 95-3", "12.3"], "IND", "95-3", "12.3"),
        (["IND", "95/3", "(12.3)"], "IND", "95-3", "12.3"),
        (["IND95-3 12.3 OV"], "IND", "95-3", "12.3"),
        (["AUS", "3-95", "OVERS 12.3"], "AUS", "3-95", "12.3"),  # the wickets first
        (["95-3 (12.3)"], None, "95-3", "12.3"),
        (["Sri Lanka 95-3 12.3"], "Sri Lanka", "95-3", "12.3"),
        (["IND 95-3", "12,3/20"], "IND", "95-3", "12.3"),
        (["IND 95-3", "OV 13"], "IND", "95-3", "13"),
        (["IND 95-3 13 OV"], "IND", "95-3", "13"),
        (["IND 95-3"], "IND", "95-3", None),
        # what looks like it
        (["IND 95-3", "CRR 7.6", "12.3"], "IND", "95-3", "12.3"),
        (["IND 95-3", "RRR 9.1"], "IND", "95-3", None),
        (["IND 8-2 1.4", "142.3 KPH"], "IND", "8-2", "1.4"),
        (["INDIA 95-3 12.3", "STARC 1-23 (3.4)", "KOHLI 44 (31)"], "INDIA", "95-3", "12.3"),
        (["AUS 187-3", "IND 95-3", "12.3"], "IND", "95-3", "12.3"),  # the overs belong to the innings that is on
        (["ENG 325 & 45-2 (10.1)"], None, "45-2", "10.1"),
        (["TARGET 188", "NEED 45 FROM 30"], None, None, None),
        (["THIS OVER 1 4 W"], None, None, None),
        (["16/11/2026", "16-11"], None, None, None),
        (["0-364.2 OV"], None, None, None),  # 0-36 and 4.2, or 0-364 and 2: nobody knows
        (["999.3"], None, None, None),
        (["LIV 2-1 MCI", "67:23"], "LIV", "2-1", None),
        ([], None, None, None),
    ],
)
def test_a_row_of_texts(row: list[str], batting: str | None, score: str | None, overs: str | None) -> None:
    board = parse_cricket_scoreboard([row])
    assert (board.batting, str(board.score) if board.score else None, board.clock) == (batting, score, overs)


@pytest.mark.parametrize(
    ("row", "batting", "teams"),
    [
        (["IND v AUS", "95-3", "12.3"], None, ("IND", "AUS")),
        (["IND", "98-2", "11.2", "v AUS"], "IND", ("IND", "AUS")),
        (["IND 98-2", "vs", "AUS"], "IND", ("IND", "AUS")),
        (["IND 98-2"], "IND", None),
    ],
)
def test_a_v_names_both_sides_and_not_who_bats(row: list[str], batting: str | None, teams: tuple[str, str]) -> None:
    board = parse_cricket_scoreboard([row])
    assert (board.batting, board.teams) == (batting, teams)


def test_two_rows_belong_together() -> None:
    board = parse_cricket_scoreboard([["NZ 24/0"], ["OVERS 2.4"]])
    assert (board.batting, board.score, board.clock) == ("NZ", Score(24, 0), "2.4")
    assert board.used == {0, 1}


@given(st.lists(st.lists(st.text(alphabet="IND v95-3/12.3().OVERS,:", max_size=20), max_size=4), max_size=4))
def test_any_texts_can_be_read(rows: list[list[str]]) -> None:
    board = parse_cricket_scoreboard(rows)
    assert board.used <= set(range(sum(map(len, rows))))
    assert board.clock is None or parse_overs(board.clock) is not None
    assert board.score is None or possible_wickets(board.score)


@pytest.mark.parametrize(
    ("text", "balls"),
    [("12.3", 75), ("0.1", 1), ("11.6", 72), ("12.0", 72), ("12", 72), ("12.7", None), ("251", None), ("x", None)],
)
def test_overs_are_counted_in_balls(text: str, balls: int | None) -> None:
    assert parse_overs(text) == balls


@pytest.mark.parametrize(("score", "wickets"), [("95-3", {3}), ("3-95", {3}), ("8-2", {8, 2}), ("10-10", {10})])
def test_either_number_may_be_the_wickets_where_both_are_small(score: str, wickets: set[int]) -> None:
    one, _, other = score.partition("-")
    assert possible_wickets(Score(int(one), int(other))) == wickets


def line(text: str, left: float, top: float, height: float = 20) -> TextLine:
    return TextLine(text, left, top, left + 0.6 * height * len(text), top + height)


def test_the_region_is_around_the_score_and_its_texts_stay_separate() -> None:
    lines = [line("ENG", 40, 30), line("0-36", 100, 30), line("4.2 OV", 170, 30), line("VELTRO", 900, 31)]
    place = locate_scoreboard(lines, Sport.CRICKET)
    assert place is not None
    assert (place.clock.text, place.board.clock, place.board.batting) == ("0-36", "4.2", "ENG")
    (row,) = place.translated(10, 5, 2).parts
    assert [part.text for part in row] == ["ENG", "0-36", "4.2 OV"]
    assert all(one.right <= other.left for one, other in itertools.pairwise(row))


def test_two_numbers_or_bowling_figures_are_not_a_scoreboard() -> None:
    assert locate_scoreboard([line("2-1", 40, 30)], Sport.CRICKET) is None
    place = locate_scoreboard(
        [line("IND 95-3", 40, 30), line("12.3", 160, 30), line("STARC 1-23", 230, 30)], Sport.CRICKET
    )
    assert place is not None
    assert place.clock.text == "IND 95-3"
