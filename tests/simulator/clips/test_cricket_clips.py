"""Clips of wickets: what is posted of one, what is right to say of each, and that the pictures say it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

from footy_simulator.clips.broadcast import GOAL_AT
from footy_simulator.clips.encode import scene_of
from footy_simulator.clips.models import CRICKET_STYLES, ClipSpec, PostKind
from footy_simulator.clips.plan import MIN_DISTANCE_BALLS, clips_for, fallen_of, wicket_footage
from footy_simulator.clips.truth import clip_truth
from footy_simulator.loader import load_scenario, parse_scenario
from footy_simulator.scenario import Scenario
from found_footy.errors import ScenarioError
from found_footy.media.frame_features import pitch_share

PLAYER = {"key": "6A1", "name": "Jos Buttler"}
CODE = "sim9"


def scenario_with(*clips: Any, ball: str = "12.3", overs: str = "20", **match: Any) -> Scenario:
    """One match of cricket in which the home side lose a wicket, the third."""
    others = [
        {"ball": at, "batter": {"key": f"6B{n}", "name": f"Batter {n}"}, "kind": "run_out", "clips": []}
        for n, at in enumerate(("1.2", "2.4"))
    ]
    wicket = {
        "ball": ball,
        "batter": PLAYER,
        "kind": "run_out",
        "runs": 95,
        **({"clips": list(clips)} if clips else {}),
    }
    played = {
        "code": CODE,
        "home": {"key": "3D", "name": "England", "short": "ENG"},
        "away": {"key": "4E", "name": "New Zealand", "short": "NZ"},
        "start": "+1m",
        "series": "Tour",
        "venue": "Lord's",
        "toss": {"winner": "home"},
        "innings": [{"batting": "home", "lasts": 8, "overs": overs, "runs": 160, "wickets": [*others, wicket]}],
        "result": "England won",
        **match,
    }
    return parse_scenario(yaml.safe_dump({"cricket": [played]}), "day.yaml")


def specs(*clips: str, **more: Any) -> list[ClipSpec]:
    scenario = scenario_with(*clips, **more)
    return clips_for(scenario, scenario.cricket[0].id, 2)


def test_wickets_are_counted_in_the_order_in_which_they_fall() -> None:
    match = load_scenario("matchday").cricket[0]
    assert [str(fallen.wicket.ball) for fallen in fallen_of(match)] == ["3.4", "11.2", "17.6", "2.1", "9.5", "15.3"]
    assert [fallen.number for fallen in fallen_of(match)] == [1, 2, 3, 1, 2, 3]


def test_the_scoreboard_counts_ball_and_wicket_when_it_has_fallen() -> None:
    footage = wicket_footage(scenario_with().cricket[0], 2)
    assert (footage.before, footage.after, footage.balls, footage.codes) == ((95, 2), (95, 3), (74, 75), ("ENG", "NZ"))


@pytest.mark.parametrize(
    ("clip", "verdict", "reason"),
    [
        ("copy", "verified", None),
        ("copy crop", "verified", None),
        ("copy no_clock", "unverified", None),
        ("copy mirrored", "unverified", None),
        ("replay", "unverified", None),
        ("wrong_minute", "rejected", "wrong_minute"),
        ("other_match", "rejected", "other_match"),
        ("last_season", "rejected", "other_match"),
        ("studio", "rejected", "not_soccer"),
        ("gone", "rejected", "gone"),
    ],
)
def test_each_kind_has_its_truth(clip: str, verdict: str, reason: str | None) -> None:
    (spec,) = specs(clip, style="bar")
    shown = clip_truth(spec)
    assert (shown.verdict, shown.reason) == (verdict, reason)


def test_a_copy_shows_the_overs_and_the_score_before_and_after() -> None:
    (spec,) = specs("copy -2s 12s")
    first, *_ = clip_truth(spec).readings
    assert (first.clock, first.score) == ("12.2", (95, 2))
    assert clip_truth(spec).minutes == (74, 75)
    assert clip_truth(spec).scores == ((95, 2), (95, 3))


def other_of(kind: PostKind) -> ClipSpec:
    copy, other = specs("copy", kind)
    assert copy.footage != other.footage
    return other


def test_a_wrong_over_is_far_from_the_wicket() -> None:
    footage = other_of("wrong_minute").footage
    assert footage.balls is not None
    assert abs(footage.balls[1] - 75) >= MIN_DISTANCE_BALLS
    assert footage.before == footage.after


def test_last_seasons_wickets_are_neither_those_before_nor_those_after() -> None:
    footage = other_of("last_season").footage
    assert not {footage.before[1], footage.after[1]} & {2, 3}
    assert footage.balls == (74, 75)


def test_another_match_is_of_other_teams_at_the_same_ball() -> None:
    footage = other_of("other_match").footage
    assert not set(footage.codes) & {"ENG", "NZ"}
    assert footage.balls == (74, 75)


def test_the_default_choice_without_metadata() -> None:
    assert [(spec.kind, spec.also) for spec in specs()] == [("copy", ()), ("copy", ("logo",))]


@pytest.mark.parametrize(
    ("clip", "more", "told"),
    [
        ("wrong_minute", {"overs": "13", "ball": "12.3"}, None),
        ("wrong_minute logo", {}, "it is refused as it is"),
        ("copy crop no_clock", {}, "one of crop, no_clock"),
        ("copy 9000p", {}, "a height of"),
    ],
)
def test_inconsistent_arguments_are_rejected(clip: str, more: dict[str, Any], told: str | None) -> None:
    if told is None:
        scenario_with(clip, **more)
        return
    with pytest.raises(ScenarioError, match=told):
        scenario_with(clip, **more)


def test_a_wrong_over_needs_an_innings_that_is_long_enough() -> None:
    with pytest.raises(ScenarioError, match="no over that is far from the wicket"):
        scenario_with("wrong_minute", overs="4", ball="3.1")


@pytest.mark.parametrize("style", CRICKET_STYLES)
def test_pictures_are_the_same_every_time_and_show_a_ground(style: str) -> None:
    footage = wicket_footage(scenario_with(style=style).cricket[0], 2)
    one, other = (scene_of(footage, 640, 360).draw(GOAL_AT - 0.4) for _ in range(2))
    assert np.array_equal(one, other)
    assert pitch_share(one) >= 0.3
    later = scene_of(footage, 640, 360).draw(GOAL_AT + 1.0)
    assert not np.array_equal(one, later)
