"""What is drawn: the board says what the truth says, matches look different, and a goal goes in."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from clip_helpers import difference, spec_of

from footy_simulator.clips.broadcast import BOARDS, GOAL_AT, CameraName, ClockFace, broadcast_timeline
from footy_simulator.clips.football_scene import FootballScene, attacks_left, play_of
from footy_simulator.clips.models import BOARD_STYLES, BoardStyle, Footage
from footy_simulator.clips.plan import goal_footage
from footy_simulator.clips.scoreboard import BoardContent, Scoreboard
from footy_simulator.clips.stadium import ground_of, stage_of
from footy_simulator.clips.truth import clip_truth
from footy_simulator.loader import load_scenario

FOOTAGE = spec_of("copy", minute="90+3").footage
SIZE = (640, 360)


def test_the_board_is_drawn_with_the_text_of_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[BoardContent] = []
    monkeypatch.setattr(Scoreboard, "put", lambda _, frame, text: drawn.append(text))
    spec = spec_of("copy -2s 8s", minute="90+3", match={"broadcast": {"style": "split", "codes": ["TWN", "RVR"]}})
    scene = FootballScene(spec.footage, *SIZE)
    for reading in clip_truth(spec).readings:
        scene.draw(spec.start + reading.at)
        text = drawn.pop()
        assert text.face == ClockFace("90:00", "+4", reading.stoppage_clock)
        assert (reading.clock, reading.added, reading.score) == ("90:00", "+4", text.score)
        assert text.codes == ("TWN", "RVR")
    assert drawn == []


def test_no_board_in_a_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scoreboard, "put", lambda *_: pytest.fail("a scoreboard in a replay"))
    start, end = broadcast_timeline(FOOTAGE).replays
    scene = FootballScene(FOOTAGE, *SIZE)
    for time in (start, (start + end) / 2, end - 0.05):
        scene.draw(time)


@pytest.mark.parametrize("style", BOARD_STYLES)
def test_a_board_stays_in_its_box_and_changes_with_the_clock(style: BoardStyle) -> None:
    grey = np.full((360, 640, 3), 90, np.uint8)
    board, frames = Scoreboard(style, *SIZE), []
    for clock in ("12:31", "12:38"):
        frame = grey.copy()
        board.put(frame, BoardContent(ClockFace(clock), ("TWN", "RVR"), (1, 0)))
        frames.append(frame)
    box = BOARDS[style]
    outside = np.ones((360, 640), bool)
    outside[round(box.top * 360) : round(box.bottom * 360), round(box.left * 640) : round(box.right * 640)] = False
    assert np.array_equal(frames[0][outside], grey[outside])
    changed = np.abs(frames[0].astype(int) - frames[1]).max(axis=2) > 40
    assert 10 < changed.sum() < 400
    assert frames[0][~outside].max() - frames[0][~outside].min() > 120


def test_the_wipe_covers_the_cut() -> None:
    scene, middle = FootballScene(FOOTAGE, *SIZE), broadcast_timeline(FOOTAGE).wipes[0]
    before, after = scene.draw(middle - 0.001), scene.draw(middle + 0.001)
    assert difference(before, after) < 3


def test_the_same_moment_is_drawn_the_same_way_in_any_order() -> None:
    one, other = FootballScene(FOOTAGE, *SIZE), FootballScene(FOOTAGE, *SIZE)
    one.draw(3.0)
    assert np.array_equal(one.draw(11.0), other.draw(11.0))


@pytest.mark.parametrize("change", [{"moment": "another goal"}, {"venue": "another ground"}])
def test_other_goals_and_other_grounds_look_different(change: dict[str, str]) -> None:
    other = replace(FOOTAGE, **change)
    assert difference(FootballScene(FOOTAGE, *SIZE).draw(10.0), FootballScene(other, *SIZE).draw(10.0)) > 12


def test_the_ball_is_in_the_net_where_something_is_scored() -> None:
    def crossing(footage: Footage) -> tuple[float, float]:
        play = play_of(footage)
        x, y, _ = play.ball[play.index(0.0)]
        return float(x), abs(float(y) - 34)

    line, from_middle = crossing(FOOTAGE)
    assert line == pytest.approx(105, abs=0.1)
    assert from_middle < 3.66
    assert crossing(replace(FOOTAGE, after=FOOTAGE.before))[1] > 3.66
    assert crossing(replace(FOOTAGE, penalty=True))[1] < 3.66


def test_players_run_at_human_speed() -> None:
    places = play_of(FOOTAGE).places
    speed = np.hypot(*np.moveaxis(np.diff(places, axis=0), 2, 0)) * 50
    assert np.percentile(speed, 99) < 12.4


def test_the_clock_goes_on_during_the_replay() -> None:
    timeline = broadcast_timeline(FOOTAGE)
    assert timeline.shots[-1].play_start == timeline.shots[-1].start - GOAL_AT


def test_goals_of_one_match_share_ground_crowd_and_cameras() -> None:
    """Real grounds look alike in every goal: only what moves tells two goals apart."""
    match = load_scenario("matchday").football.matches[0]
    first, second = goal_footage(match, 0), goal_footage(match, 1)
    assert first.moment != second.moment
    for name in get_args(CameraName):
        one, other = (stage_of(footage, ground_of(footage), name, 180, attack_left=True) for footage in (first, second))
        assert np.array_equal(one.image, other.image)
        assert np.array_equal(one.matrix, other.matrix)


def test_a_side_attacks_one_goal_throughout_a_half() -> None:
    match = load_scenario("matchday").football.matches[0]
    footage = goal_footage(match, 0)
    assert attacks_left(footage) != attacks_left(replace(footage, side=1 - footage.side))
    assert attacks_left(footage) == attacks_left(replace(footage, moment="another goal of this half"))
