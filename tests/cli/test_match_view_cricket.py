"""Terminal output of cricket scores."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.cli.match_view import clock, is_cricket, minute, overs, runs, score


def innings(batting: str, runs_: int, wickets: int) -> dict[str, Any]:
    return {"batting": batting, "runs": runs_, "wickets": wickets}


@pytest.mark.parametrize(
    ("played", "line"),
    [
        ([], "–"),
        ([innings("home", 31, 1)], "31/1 – –"),
        ([innings("away", 31, 1)], "– – 31/1"),
        ([innings("home", 187, 3), innings("away", 95, 3)], "187/3 – 95/3"),
        (
            [innings("home", 250, 10), innings("away", 300, 10), innings("home", 40, 2)],
            "250/10 & 40/2 – 300/10",
        ),
    ],
)
def test_cricket_scores_have_runs_and_wickets(played: list[dict[str, Any]], line: str) -> None:
    document = {"sport": "cricket", "innings": played, "goals": {"home": 3, "away": 1}}
    assert runs(document) == score(document) == line


def test_cricket_times_have_overs_and_balls() -> None:
    assert minute({"elapsed": 12, "extra": 3, "innings": 2}) == "12.3"
    assert minute({"elapsed": 12, "extra": None, "innings": 1}) == "12.0"
    assert overs({"elapsed": 0, "extra": 1}) == "0.1"


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ({"short": "LIVE", "elapsed": 12, "extra": 3}, "LIVE 12.3"),
        ({"short": "INNBRK", "elapsed": 20, "extra": 0}, "INNBRK 20.0"),
        ({"short": "ABD", "elapsed": None, "extra": None}, "ABD"),
    ],
)
def test_the_match_clock_is_formatted(status: dict[str, Any], line: str) -> None:
    assert clock({"sport": "cricket", "fixture": {"status": status}}) == line


def test_football_is_not_cricket() -> None:
    assert is_cricket({"sport": "cricket"})
    assert not is_cricket({"sport": "football"})
    assert not is_cricket({})
