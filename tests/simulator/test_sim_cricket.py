"""A scripted cricket match at any moment, over its whole length, and as the feeds tell it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from cricket_helpers import T20, innings, played, wicket
from feed_helpers import feeds_of, scenario
from hypothesis import given
from hypothesis import strategies as st
from sim_helpers import START, script

from footy_simulator.crex import CrexMode
from footy_simulator.cricket import CricketState, cricket_settled_from, cricket_state_at, cricket_timeline, runs_after
from footy_simulator.loader import load_scenario
from footy_simulator.scenario import ScriptedCricketMatch, parse_ball
from footy_simulator.server import Simulator
from footy_simulator.team_facts import espn_match_id
from footy_simulator.truth import expected_outcome
from found_footy.fixtures.models import Innings, Phase, Score, Side, Sport, Toss, WicketKind, phase_of

PAUSED = innings("home", wickets=[wicket(4.3)], breaks=[{"after": 10, "status": "DRINKS", "lasts": 3}])
TEST = played(
    match_type="Test",
    innings=[
        innings("home", lasts=10, overs=40, breaks=[{"after": 20, "status": "LUNCH", "lasts": 2}]),
        innings(
            "away",
            lasts=10,
            overs=40,
            breaks=[
                {"after": 10, "status": "TEA", "lasts": 1},
                {"after": 30, "status": "STUMPS", "lasts": 5},
            ],
            then={"status": "STUMPS", "lasts": 5},
        ),
        innings("home", lasts=10, overs=40, breaks=[{"after": 20.3, "status": "RAIN", "lasts": 4}]),
        innings("away", lasts=10, overs=40),
    ],
    ends="DRAW",
    result="Match drawn",
)


def at(match: ScriptedCricketMatch, minutes: float) -> CricketState:
    return cricket_state_at(match, START, minutes * 60)


@pytest.mark.parametrize(
    ("minutes", "status", "scores", "last"),
    [
        (0, "NS", [], ""),
        (2, "LIVE", [(0, 0, "0.0")], ""),
        (2 + 1 / 6, "LIVE", [(1, 0, "0.1")], "1"),
        (6.49, "LIVE", [(26, 0, "4.2")], "1"),
        (6.5, "LIVE", [(27, 1, "4.3")], "W"),
        (12, "DRINKS", [(60, 1, "10.0")], "1"),
        (14.9, "DRINKS", [(60, 1, "10.0")], "1"),
        (15 + 1 / 6, "LIVE", [(61, 1, "10.1")], "1"),
        (25, "INNBRK", [(120, 1, "20.0")], "1"),
        (29, "LIVE", [(120, 1, "20.0"), (0, 0, "0.0")], ""),
        (49, "RESULT", [(120, 1, "20.0"), (120, 0, "20.0")], "1"),
        (500, "RESULT", [(120, 1, "20.0"), (120, 0, "20.0")], "1"),
    ],
)
def test_a_match_at_a_moment(minutes: float, status: str, scores: list[tuple[int, int, str]], last: str) -> None:
    now = at(played(innings=[PAUSED, innings("away")]), minutes)
    assert now.status == status
    assert [(each.runs, len(each.wickets), f"{each.overs}.{each.balls}") for each in now.innings] == scores
    assert now.last_ball == last
    assert now.result == ("Harbour Lions won by 2 runs" if status == "RESULT" else "")


@pytest.mark.parametrize(("minutes", "winner"), [(0.9, None), (1, Side.HOME), (300, Side.HOME)])
def test_the_toss_is_known_shortly_before_the_first_ball(minutes: float, winner: Side | None) -> None:
    assert at(played(), minutes).toss_winner is winner


def test_a_test_match_has_days_and_breaks_that_do_not_end_it() -> None:
    stretches = cricket_timeline(TEST).stretches
    breaks = [(each.status, each.day) for each in stretches if each.status not in ("LIVE", "NS")]
    assert breaks == [
        ("LUNCH", 1),
        ("INNBRK", 1),
        ("TEA", 1),
        ("STUMPS", 1),
        ("STUMPS", 2),
        ("RAIN", 3),
        ("INNBRK", 3),
        ("DRAW", 3),
    ]
    assert [phase_of(each.status) for each in stretches[1:-1]] == [Phase.IN_PLAY] * (len(stretches) - 2)
    assert at(TEST, 300).day == 3


def test_an_innings_is_over_when_its_balls_are_or_the_match_is() -> None:
    match = played()
    assert [each.over for each in at(match, 23).innings] == [True]
    assert [each.over for each in at(match, 30).innings] == [True, False]
    assert [each.over for each in at(match, 100).innings] == [True, True]


def test_the_run_rate_passes_through_the_scripted_scores() -> None:
    first = played().innings[0]
    assert [runs_after(first, ball) for ball in (0, 30, 60, 90, 120)] == [0, 35, 70, 95, 120]


@given(st.integers(0, 100 * 60), st.integers(0, 100 * 60))
def test_transitions_are_never_reversed(one: int, other: int) -> None:
    earlier, later = (cricket_state_at(TEST, START, offset) for offset in sorted((one, other)))
    assert len(earlier.innings) <= len(later.innings)
    for before, after in zip(earlier.innings, later.innings, strict=False):
        assert (before.runs, before.overs, before.balls) <= (after.runs, after.overs, after.balls) or before.over
        assert before.runs <= after.runs
        assert before.wickets == after.wickets[: len(before.wickets)]


@pytest.mark.parametrize(("text", "count"), [("0.1", 1), (3.2, 20), ("3.6", 24), (4, 24), (20, 120), ("120.0", 720)])
def test_balls(text: object, count: int) -> None:
    assert parse_ball(text).count == count


@pytest.mark.parametrize("text", ["", "x", "3.7", "-1.0", "1.23", "1000", True, None, "3,2"])
def test_invalid_balls(text: object) -> None:
    with pytest.raises(ValueError, match="overs and balls"):
        parse_ball(text)


def test_the_truth_counts_wickets_for_the_side_in_the_field() -> None:
    (match,) = expected_outcome(scenario(cricket=[T20])).matches
    assert (match.sport, match.status, match.stage, match.score) == ("cricket", "RESULT", "completed", (1, 2))
    assert match.id == int("sim1", 36)
    assert [(g.side, g.player, g.kind, g.elapsed, g.extra, g.innings, g.score_after) for g in match.goals] == [
        ("away", "B. B1", "Caught", 4, 3, 1, (0, 1)),
        ("away", "B. B2", "Caught", 9, 6, 1, (0, 2)),
        ("home", "B. B3", "Run Out", 1, 1, 2, (1, 2)),
    ]


@pytest.mark.parametrize("name", ["matchday", "quick"])
def test_the_bundled_matches_end_as_scripted(name: str) -> None:
    whole = load_scenario(name)
    for match in whole.cricket:
        final = cricket_state_at(match, START, cricket_settled_from(match))
        known = expected_outcome(whole).match(match.id)
        fallen = [
            (number, wicket.batter.name, wicket.kind.value, wicket.over, wicket.ball)
            for number, each in enumerate(final.innings, start=1)
            for wicket in each.wickets
        ]
        assert fallen == [(g.innings, g.player, g.kind, g.elapsed, g.extra) for g in known.goals]
        assert final.status == known.status


async def test_espn_reports_the_same_match() -> None:
    """Read by the real adapter, through the innings, a break and the end."""
    both = scenario(script(), cricket=[T20], feeds={"espn": {"cricket": True}})
    async with feeds_of(both, ["eng.1", "cricket/8048"]) as feeds:
        id_ = espn_match_id(int("sim1", 36))
        assert (await feeds.one(feeds.espn, id_)).status == "NS"
        batting = await feeds.one(feeds.espn, id_, 8)
        between = await feeds.one(feeds.espn, id_, 15)
        final = await feeds.one(feeds.espn, id_, 100)
    assert (batting.sport, batting.status, batting.toss) == (Sport.CRICKET, "LIVE", Toss(Side.HOME, "bat"))
    assert (batting.home.name, batting.away.short, batting.venue) == (
        "Harbour Lions",
        "RVK",
        "Harbour Oval, Port Ashby",
    )
    assert batting.innings == (Innings(1, Side.HOME, 42, 1, 6, 0),)
    (first,) = batting.goals
    assert (first.side, first.player.name, first.assist.name, first.kind, str(first.minute)) == (
        Side.AWAY,
        "B. B1",
        "A. Bowler",
        WicketKind.CAUGHT,
        "4.3 ov",
    )
    assert (between.status, between.innings[0].over) == ("INNBRK", True)
    assert (final.status, final.score, len(final.goals)) == ("RESULT", Score(1, 2), 3)
    assert final.innings[1] == Innings(2, Side.AWAY, 118, 1, 19, 4, True)


async def test_crex_lags_and_each_page_is_a_poll() -> None:
    """As its page's own script asks; a browser reads the page in the tests of the adapter."""
    faults = [{"at": "+20m", "kind": "captcha"}, {"at": "+20m", "kind": "server_error"}]
    late = scenario(cricket=[T20], feeds={"crex": {"delay": 60, "faults": faults}})
    wall = iter(range(10_000))
    async with (
        Simulator(
            late, start=datetime.now(UTC), time_source=lambda: float(next(wall)), speed=600, max_step=600
        ) as feed,
        httpx.AsyncClient(base_url=feed.url, follow_redirects=True) as client,
    ):

        async def page() -> int:
            return (await client.get("/cricket-live-score/match-SIM1/match-scorecard")).status_code

        async def data() -> Any:
            return (await client.get("/api/v3/getSC4", params={"key": "SIM1"})).json()

        assert await page() == 200
        assert feed.state().polls == 1
        assert await page() == 200
        # Ten minutes after the start; the page is a minute behind: seven minutes of play.
        assert feed.state().offset_seconds == 600
        assert (await data())["batting"]["score"] == "49-1"
        assert feed.state().polls == 2, "its request for data is none"
        assert [await page(), await page(), await page()] == [403, 503, 200]
        feed.crex_state.mode = CrexMode.MISSING
        assert await page() == 404


async def test_a_scenario_without_cricket_has_no_crex() -> None:
    async with Simulator(load_scenario("quick").football) as simulator, httpx.AsyncClient() as client:
        assert (await client.get(f"{simulator.url}/fixtures/match-list")).status_code == 404
