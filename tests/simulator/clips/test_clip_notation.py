"""How a scenario says what is posted of a goal."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from clip_helpers import scenario_with

from footy_simulator.clips.models import BOARD_STYLES, REASONS, Alteration, ClipKind
from footy_simulator.clips.plan import DEFAULT_CLIPS, all_clips, clips_for
from footy_simulator.loader import load_scenario
from footy_simulator.scenario import PostedClip
from found_footy.errors import ScenarioError


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("copy", {"kind": "copy"}),
        ("copy logo grey", {"kind": "copy", "also": ["logo", "grey"]}),
        ("copy 480p 30fps 600k", {"kind": "copy", "height": 480, "fps": 30, "kbit": 600}),
        ("copy -4.5s 8s +2m", {"kind": "copy", "start": -4.5, "length": 8, "after": 2}),
        ("copy +1s 5.5s", {"kind": "copy", "start": 1, "length": 5.5}),
        ("filmed 720p", {"kind": "filmed", "height": 720}),
    ],
)
def test_a_clip_in_one_line_is_the_same_as_its_fields(line: str, fields: dict[str, Any]) -> None:
    assert scenario_with(line) == scenario_with(fields)


@pytest.mark.parametrize(
    ("clip", "told"),
    [
        ("film", "clips[0]: got 'film', expected a clip kind as the first word, one of copy, replay"),
        ("", "clips[0]: got '', expected a clip kind as the first word"),
        ("copy upside_down", "expected words such as logo, watermark"),
        ("copy 480p 720p", "expected a single height; '720p' is another one"),
        ("copy 500p", "clips[0].height: got 500, expected a height of 360, 480, 540, 720, 1080"),
        ("copy 24fps", "clips[0].fps: got 24, expected a frame rate of 25, 30, 50"),
        ("copy 50k", "clips[0].kbit: got 50, expected greater than or equal to 100"),
        ("copy 2s", "clips[0].length: got 2, expected greater than or equal to 3"),
        ("copy -13s", "clips[0].start: got -13, expected greater than or equal to -12"),
        ("copy +10s 20s", "clips[0].length: got 20.0, expected up to 14: the broadcast ends 24 seconds after the goal"),
        ("too_short 5s", "clips[0].length: got 5.0, expected nothing: too_short has its own"),
        ("zip 480p", "clips[0].height: got 480, expected nothing with zip"),
        ("too_long 30fps", "clips[0].fps: got 30, expected nothing with too_long"),
        ("filmed logo", "clips[0].also: got ['logo'], expected nothing with filmed"),
        ("copy logo logo", "clips[0].also: got ['logo', 'logo'], expected each alteration once"),
        ("copy grey sepia", "clips[0].also: got ['grey', 'sepia'], expected one of grey, sepia, vivid"),
        ({"kind": "copy", "size": 3}, "clips[0].size: got 3, expected the fields kind, also, start"),
    ],
)
def test_problems_of_a_clip(clip: Any, told: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        scenario_with(clip)
    assert str(raised.value).startswith("day.yaml: matches[0].goals[0].clips[0]")
    assert told in str(raised.value)


def test_a_wrong_minute_needs_another_minute() -> None:
    with pytest.raises(ScenarioError, match=r"clips\[0\].kind: got 'wrong_minute', expected another kind"):
        scenario_with("wrong_minute", minute=3, match={"half_length": 4, "stoppage": [0, 0]})


@pytest.mark.parametrize(
    ("broadcast", "told"),
    [
        ({"style": "neon"}, "broadcast.style: got 'neon', expected 'classic', 'split'"),
        ({"codes": ["TOW", "rov"]}, "broadcast.codes[1]: got 'rov', expected three capital letters"),
        ({"codes": ["TOW"]}, "broadcast.codes[1]: got nothing"),
        ({"codes": ["TOW", "TOW"]}, "broadcast.codes: got ['TOW', 'TOW'], expected two different ones"),
    ],
)
def test_problems_of_a_broadcast(broadcast: dict[str, Any], told: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        scenario_with("copy", match={"broadcast": broadcast})
    assert told in str(raised.value)


def test_a_goal_without_clips_gets_the_usual_ones() -> None:
    specs = clips_for(scenario_with(), 5001, 0)
    assert [(spec.kind, spec.also) for spec in specs] == [(clip.kind, clip.also) for clip in DEFAULT_CLIPS]


def test_nothing_is_posted_of_a_goal_with_an_empty_list() -> None:
    scenario = scenario_with("copy")
    match = scenario.matches[0]
    silent = match.model_copy(update={"goals": (match.goals[0].model_copy(update={"clips": ()}),)})
    assert clips_for(scenario.model_copy(update={"matches": (silent,)}), 5001, 0) == []


def test_the_default_matchday_has_every_kind_every_alteration_and_every_style() -> None:
    specs = list(all_clips(load_scenario("matchday").football))
    assert {spec.kind for spec in specs} == set(get_args(ClipKind))
    assert {name for spec in specs for name in spec.also} == set(get_args(Alteration))
    assert {spec.footage.style for spec in specs} == set(BOARD_STYLES)
    assert {REASONS.get(spec.kind) for spec in specs} == {None, *REASONS.values()}
    assert {spec.fps for spec in specs} >= {25, 30, 50}
    assert {spec.height for spec in specs} >= {360, 480, 540, 720}


def test_the_quick_one_has_few_small_clips() -> None:
    specs = list(all_clips(load_scenario("quick")))
    assert len(specs) <= 15 + 8
    assert {spec.height for spec in specs} == {360}


def test_the_fields_of_a_clip_can_be_left_out() -> None:
    assert PostedClip(kind="copy") == PostedClip(kind="copy", also=(), after=1)
