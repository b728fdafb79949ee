"""What a scenario may not say of its feeds and of its cricket."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from cricket_helpers import T20, innings, wicket
from sim_helpers import LEAGUE, script

from footy_simulator.loader import parse_scenario
from found_footy.errors import ScenarioError


def problem(**fields: Any) -> str:
    text = yaml.safe_dump({"leagues": {"pl": LEAGUE.model_dump()}, "matches": [script()], **fields})
    with pytest.raises(ScenarioError) as raised:
        parse_scenario(text, "day.yaml")
    return str(raised.value)


@pytest.mark.parametrize(
    ("feeds", "told"),
    [
        ({"sky": {}}, "feeds.sky: got {}, expected the fields espn, crex"),
        ({"espn": {"delay": -1}}, "feeds.espn.delay: got -1"),
        ({"espn": {"faults": [{"at": "+1m", "kind": "flood"}]}}, "feeds.espn.faults[0].kind: got 'flood'"),
        (
            {"espn": {"faults": [{"at": "+1m", "kind": "invented_goal"}]}},
            "feeds.espn.faults[0].match: got nothing, expected the id of a match: 1",
        ),
        (
            {"espn": {"faults": [{"at": "+46m", "kind": "invented_goal", "match": 1}]}},
            "feeds.espn.faults[0].at: got '2760 s', expected a time at which the match is being played",
        ),
        (
            {"espn": {"faults": [{"at": "+1m", "kind": "html", "polls": 2, "lasts": 3}]}},
            "feeds.espn.faults[0].lasts: got 3, expected either polls or lasts",
        ),
        (
            {"crex": {"faults": [{"at": "+1m", "kind": "hour_off"}]}},
            "feeds.crex.faults[0].kind: got 'hour_off', expected one of server_error, timeout",
        ),
        (
            {"crex": {"faults": [{"at": "+1m", "kind": "timeout", "seconds": 3}]}},
            "feeds.crex.faults[0].seconds: got 3, expected nothing",
        ),
        ({"crex": {"faults": [{"at": "-1m", "kind": "captcha"}]}}, "feeds.crex.faults[0].at: got '-60 s'"),
    ],
)
def test_problems_of_a_feed(feeds: dict[str, Any], told: str) -> None:
    assert told in problem(feeds=feeds)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"code": "SIM 1"}, "cricket[0].code: got 'SIM 1', expected one to eight small letters"),
        ({"code": "0x"}, "cricket[0].code: got '0x'"),
        ({"home": {"key": "a", "name": "Lions", "short": "LIO"}}, "cricket[0].home.key: got 'a', expected one to six"),
        ({"away": T20["home"]}, "cricket[0].away.key: got '1F', expected another team"),
        ({"innings": []}, "cricket[0].innings: got []"),
        ({"innings": [innings("home")] * 3}, "cricket[0].innings: got 3, expected at most 2 in a T20"),
        ({"innings": [innings("away")]}, "cricket[0].innings[0].batting: got 'away', expected the side that bats"),
        ({"innings": [innings("home", overs="20.7")]}, "cricket[0].innings[0].overs: got '20.7', expected overs and"),
        ({"innings": [innings("home", overs=0)]}, "cricket[0].innings[0].overs: got '0.0', expected at least one ball"),
        (
            {"innings": [innings("home", wickets=[wicket(20.1)])]},
            "innings[0].wickets[0].ball: got '20.1', expected a ball that is bowled, up to 19.6",
        ),
        (
            {"innings": [innings("home", wickets=[wicket("5.0")])]},
            "innings[0].wickets[0].ball: got '5.0', expected a ball that is bowled",
        ),
        (
            {"innings": [innings("home", wickets=[wicket(5.1), wicket(5.1, "B2")])]},
            "innings[0].wickets[1].ball: got '5.1', expected a ball on which no other wicket falls",
        ),
        (
            {"innings": [innings("home", wickets=[wicket(5.1), wicket(6.1)])]},
            "innings[0].wickets[1].batter: got 'B. B1', expected somebody who is not out yet",
        ),
        (
            {"innings": [innings("home", wickets=[wicket(5.1, kind="run_out")])]},
            "innings[0].wickets[0].bowler: got 'A. Bowler', expected nobody",
        ),
        (
            {"innings": [innings("home", wickets=[wicket(5.1, bowler=None)])]},
            "innings[0].wickets[0].bowler: got nothing, expected a bowler with caught",
        ),
        (
            {"innings": [innings("home", wickets=[wicket(5.1, runs=90), wicket(6.1, "B2", runs=80)])]},
            "innings[0].wickets: got '80 runs at 6.1', expected 90 to 120",
        ),
        (
            {"innings": [innings("home", breaks=[{"after": 20, "status": "RAIN", "lasts": 3}])]},
            "innings[0].breaks[0].after: got '20.0', expected before the last ball, 19.6",
        ),
        ({"result": ""}, "cricket[0].result: got nothing, expected the result in words"),
    ],
)
def test_problems_of_a_cricket_match(fields: dict[str, Any], told: str) -> None:
    assert told in problem(cricket=[{**T20, **fields}])


def test_two_cricket_matches_with_one_code_and_a_team_with_two_names() -> None:
    other = {**T20, "home": {**T20["home"], "name": "Tigers"}}
    message = problem(cricket=[T20, other])
    assert "cricket[1].code: got 'sim1', expected a code of its own; cricket[0]" in message
    assert "cricket[1].home.name: got 'Tigers', expected 'Harbour Lions'" in message
