"""How cricket feeds write things down, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.errors import FeedSchemaError, UnknownStatus
from found_footy.feeds.cricket import cricket_status, parse_overs, parse_toss, wicket_kind
from found_footy.fixtures.models import Phase, Side, Team, Toss, WicketKind, phase_of
from found_footy.json_reader import JsonReader


@pytest.mark.parametrize(
    ("state", "words", "status"),
    [
        ("pre", "Scheduled", "NS"),
        ("pre", "Match delayed by rain", "NS"),
        ("pre", "STATUS_POSTPONED", "PST"),
        ("pre", "Match cancelled", "CANC"),
        ("in", "Live", "LIVE"),
        ("in", "India need 40 runs to win", "LIVE"),
        ("in", "Team India trail by 30 runs", "LIVE"),
        ("in", "Stumps", "STUMPS"),
        ("in", "Stumps Day 2 - England trail by 39 runs", "STUMPS"),
        ("in", "Lunch", "LUNCH"),
        ("in", "Tea", "TEA"),
        ("in", "Dinner", "DINNER"),
        ("in", "Drinks", "DRINKS"),
        ("in", "Innings break", "INNBRK"),
        ("in", "Rain stops play", "RAIN"),
        ("in", "Bad light", "RAIN"),
        ("in", "STATUS_RAIN_DELAY", "RAIN"),
        ("post", "Result", "RESULT"),
        ("post", "India won by 17 runs", "RESULT"),
        ("post", "Match tied (India won the Super Over)", "RESULT"),
        ("post", "Match drawn", "DRAW"),
        ("post", "Match tied", "TIE"),
        ("post", "No result", "NR"),
        ("post", "Match abandoned without a ball bowled", "ABD"),
        ("post", "STATUS_CANCELED", "CANC"),
        ("post", "STATUS_POSTPONED", "PST"),
        ("post", "India won by 3 wickets (rain-affected match)", "RESULT"),
        ("post", "Stumps", "STUMPS"),
        ("post", "Lunch - India won the toss", "LUNCH"),
        ("post", "Innings break", "INNBRK"),
    ],
)
def test_each_feed_state_maps_to_one_status(state: str, words: str, status: str) -> None:
    assert cricket_status(state, [None, "", words]) == status


@pytest.mark.parametrize("words", ["Stumps", "Lunch", "Tea", "Dinner", "Drinks", "Innings break", "Rain"])
def test_no_break_is_the_end_of_a_match(words: str) -> None:
    assert phase_of(cricket_status("in", [words])) is Phase.IN_PLAY


def test_an_incomplete_post_state_is_still_live() -> None:
    assert cricket_status("post", ["Live"], completed=False) == "LIVE"


def test_an_unknown_state_has_its_own_error() -> None:
    with pytest.raises(UnknownStatus, match="'sideways'"):
        cricket_status("sideways", ["Live"])


@pytest.mark.parametrize(
    ("given", "overs"),
    [(12.3, (12, 3)), ("12.3", (12, 3)), (20, (20, 0)), (20.0, (20, 0)), ("0.1", (0, 1)), (12.6, (12, 6)), (0, (0, 0))],
)
def test_overs_are_overs_and_balls(given: Any, overs: tuple[int, int]) -> None:
    assert parse_overs(JsonReader(given, "overs")) == overs


@pytest.mark.parametrize("given", [-1, "-1", 12.34, "twelve", None, True, [], 1e9, float("nan"), float("inf"), "١٢"])
def test_invalid_overs_are_reported(given: Any) -> None:
    with pytest.raises(FeedSchemaError, match=r"^overs: got "):
        parse_overs(JsonReader(given, "overs"))


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("c", WicketKind.CAUGHT),
        ("caught", WicketKind.CAUGHT),
        (" Bowled ", WicketKind.BOWLED),
        ("b", WicketKind.BOWLED),
        ("lbw", WicketKind.LBW),
        ("leg before wicket", WicketKind.LBW),
        ("run  out", WicketKind.RUN_OUT),
        ("st", WicketKind.STUMPED),
        ("hit wicket", WicketKind.HIT_WICKET),
        ("retired out", WicketKind.OTHER),
        ("timed out", WicketKind.OTHER),
        ("", WicketKind.OTHER),
        (None, WicketKind.OTHER),
        ("not out", None),
        ("retired not out", None),
        ("retired hurt", None),
    ],
)
def test_a_batter_is_out_in_one_way_or_not_at_all(words: str | None, kind: WicketKind | None) -> None:
    assert wicket_kind(words) is kind


@pytest.mark.parametrize(
    ("text", "toss"),
    [
        ("India, elected to bat first", Toss(Side.HOME, "bat")),
        ("India A , elected to field first", Toss(Side.AWAY, "field")),
        ("IND chose to bowl", Toss(Side.HOME, "field")),
        ("Pakistan elected to bat", None),
        ("India won the toss", None),
        ("", None),
        (None, None),
    ],
)
def test_the_toss_is_parsed_from_text_or_missing(text: str | None, toss: Toss | None) -> None:
    teams = {Side.HOME: Team(1, "India", "IND"), Side.AWAY: Team(2, "India A")}
    assert parse_toss(text, teams) == toss
