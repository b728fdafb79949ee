"""Cricket on the pages: scores, dismissals and breaks."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.fixtures.models import Innings, Side
from found_footy.web.pages.match_format import (
    STATUS_TEXT,
    batting,
    clock_text,
    how_out,
    innings_overs,
    innings_percent,
    innings_score,
    match_phase,
    ordinal,
)
from found_footy.web.rendering import STATIC


def innings(number: int, side: str, runs: int, wickets: int, overs: int, balls: int = 0, over: bool = True) -> Innings:
    return Innings(number, Side(side), runs, wickets, overs, balls, over)


FIRST = innings(1, "home", 187, 5, 20)
CHASE = innings(2, "away", 95, 3, 12, 3, over=False)
TEST = [innings(1, "home", 245, 10, 80, 2), innings(2, "away", 301, 7, 90), innings(3, "home", 31, 2, 9, 4, over=False)]


@pytest.mark.parametrize(
    ("played", "side", "runs", "overs"),
    [
        ([], "home", "", ""),
        ([FIRST], "home", "187/5", "(20 ov)"),
        ([FIRST], "away", "", ""),
        ([FIRST, CHASE], "away", "95/3", "(12.3 ov)"),
        (TEST, "home", "245 & 31/2", "(9.4 ov)"),  # ten wickets need not be told
        (TEST, "away", "301/7", "(90 ov)"),
    ],
)
def test_a_cricket_score_is_shown_by_innings(played: list[Any], side: str, runs: str, overs: str) -> None:
    assert innings_score(played, side) == (runs, overs)


@pytest.mark.parametrize(("played", "side"), [([], None), ([FIRST], None), ([FIRST, CHASE], "away"), (TEST, "home")])
def test_batting_side_is_known_during_an_innings(played: list[Any], side: str | None) -> None:
    assert batting(played) == side


@pytest.mark.parametrize(
    ("kind", "bowler", "said"),
    [
        ("Bowled", "Bumrah", "b Bumrah"),
        ("Bowled", None, "bowled"),
        ("Caught", "Bumrah", "caught, b Bumrah"),
        ("LBW", "Bumrah", "lbw b Bumrah"),
        ("Stumped", "Chahal", "stumped, b Chahal"),
        ("Hit Wicket", None, "hit wicket"),
        ("Run Out", "Bumrah", "run out"),  # not the bowler's
        ("Wicket", "Bumrah", "out"),
        ("something new", None, "out"),
    ],
)
def test_dismissals_have_texts(kind: str, bowler: str | None, said: str) -> None:
    assert how_out(kind, bowler) == said


@pytest.mark.parametrize(
    ("number", "said"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (21, "21st")]
)
def test_wickets_have_ordinals(number: int, said: str) -> None:
    assert ordinal(number) == said


@pytest.mark.parametrize(
    ("details", "played", "overs"),
    [
        ({"match_type": "T20I"}, [FIRST], 20),
        ({"match_type": "ODI"}, [FIRST], 50),
        ({"match_type": "Test"}, [FIRST], 90),
        ({}, [*TEST, innings(4, "away", 9, 1, 91, 2)], 92),  # an innings that goes on longer makes its own room
        ({}, [], 20),
    ],
)
def test_an_innings_has_a_length_on_the_timeline(details: dict[str, str], played: list[Any], overs: int) -> None:
    assert innings_overs(details, played) == overs


@pytest.mark.parametrize(
    ("at", "count", "percent"),
    [
        ((1, 0, None), 2, 0.0),
        ((1, 10, 0), 2, 25.0),
        ((1, 19, 5), 2, 49.6),
        ((2, 0, 1), 2, 50.4),
        ((2, 99, 0), 2, 100.0),
        ((4, 10, 0), 4, 87.5),
        ((5, 0, 0), 4, 75.0),  # a super over stands in the last stretch
    ],
)
def test_each_ball_has_a_position_on_the_timeline(at: tuple[int, int, int | None], count: int, percent: float) -> None:
    assert innings_percent(*at, count=count, overs=20) == percent


@pytest.mark.parametrize("count", [2, 4])
def test_the_css_marks_the_end_of_an_innings(count: int) -> None:
    sheet = (STATIC / "matchday.css").read_text()
    (rule,) = [line for line in sheet.splitlines() if f".line.innings-{count} " in line]
    for number in range(1, count):
        assert f"var(--mark) {innings_percent(number + 1, 0, 0, count=count, overs=20):g}% /" in rule


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("LIVE", "12.3 ov"),
        ("INNBRK", "Innings break"),
        ("LUNCH", "Lunch"),
        ("RAIN", "Rain"),
        ("STUMPS", "Stumps"),
        ("RESULT", "Result"),
        ("NR", "No result"),
    ],
)
def test_a_break_has_a_text_and_is_not_the_end(status: str, said: str) -> None:
    assert clock_text(status, "active", 12, 3, "cricket") == said
    assert status in STATUS_TEXT
    over = status in ("RESULT", "NR")
    assert (match_phase(status, "active").name == "OVER") is over
