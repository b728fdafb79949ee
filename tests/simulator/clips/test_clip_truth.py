"""What a clip shows follows from its spec, and fits the script."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from clip_helpers import scenario_with, spec_of
from hypothesis import given
from hypothesis import strategies as st

from footy_simulator.clips.broadcast import (
    BOARDS,
    ENDS_AT,
    GOAL_AT,
    ClockFace,
    broadcast_timeline,
    clock_face,
    visible_part,
)
from footy_simulator.clips.figures import code_of, codes_of, kits_of
from footy_simulator.clips.models import BOARD_STYLES, BoardStyle, ClipSpec
from footy_simulator.clips.plan import MIN_DISTANCE_MINUTES, HardCase, all_clips, clips_for, hard_clips
from footy_simulator.clips.truth import clip_truth, score_at, seconds_in_common
from footy_simulator.loader import load_scenario

MATCHDAY = load_scenario("matchday").football
SPECS = list(all_clips(MATCHDAY))


@pytest.mark.parametrize(
    ("style", "second", "face"),
    [
        ("classic", 0, ClockFace("00:00")),
        ("classic", 754.9, ClockFace("12:34")),
        ("classic", 2699, ClockFace("44:59")),
        ("classic", 2700, ClockFace("45:00", "+4")),
        ("glass", 2837, ClockFace("47:17", "+4")),
        ("split", 2837, ClockFace("45:00", "+4", "02:17")),
        ("lower", 2837, ClockFace("45+2:17")),
        ("compact", 2837, ClockFace("47:17")),
    ],
)
def test_how_each_style_writes_the_clock(style: BoardStyle, second: float, face: ClockFace) -> None:
    assert clock_face(style, second, half_ends=2700, added=4) == face


def test_no_added_minutes_are_shown_where_there_are_none() -> None:
    assert clock_face("split", 5461, half_ends=5400, added=0) == ClockFace("90:00", None, "01:01")


@pytest.mark.parametrize(
    ("minute", "clock"),
    [("12", 11), ("45+2", 46), ("46", 45), ("90+3", 92), ("1", 0)],
)
def test_the_clock_shows_the_minute_before_the_one_that_the_feed_counts(minute: str, clock: int) -> None:
    truth = clip_truth(spec_of("copy", minute=minute, match={"broadcast": {"style": "classic"}}))
    assert truth.minutes is not None
    assert truth.minutes[0] == clock
    assert truth.verdict == "verified"


def test_a_minute_that_drifts_is_shown_as_the_feed_has_it_in_the_end() -> None:
    spec = spec_of("copy", minute=38, changes=[{"after": 1, "minute": 39}, {"after": 3, "minute": 41}])
    assert spec.footage.goal_clock // 60 == 40


def test_the_score_changes_some_seconds_after_the_goal() -> None:
    spec = spec_of("copy -3s 9s")
    changes = broadcast_timeline(spec.footage).score_changes
    assert 2 < changes - GOAL_AT < 5
    assert score_at(spec.footage, changes - 0.01) == (0, 0)
    assert score_at(spec.footage, changes) == (1, 0)
    assert clip_truth(spec).scores == ((0, 0), (1, 0))


def test_two_goals_of_one_minute_come_one_after_the_other() -> None:
    first, second = (clips_for(MATCHDAY, 1380103, goal)[0].footage for goal in (3, 4))
    assert (first.before, first.after, second.after) == ((3, 0), (3, 1), (3, 2))
    assert first.goal_clock < second.goal_clock
    assert first.goal_clock // 60 == second.goal_clock // 60 == 72


def test_a_goal_that_var_took_back_is_not_in_the_score_any_more() -> None:
    withdrawn, real = (clips_for(MATCHDAY, 1380101, goal)[0].footage for goal in (3, 4))
    assert (withdrawn.before, withdrawn.after) == ((2, 1), (2, 2))
    assert (real.before, real.after) == ((2, 1), (2, 2))


def test_the_wrong_minute_is_far_from_the_goal() -> None:
    for spec in SPECS:
        if spec.kind == "wrong_minute":
            goal = MATCHDAY.matches[[match.id for match in MATCHDAY.matches].index(spec.match)].goals[spec.goal]
            minutes = clip_truth(spec).minutes
            assert minutes is not None
            assert (
                min(abs(minutes[0] + 1 - goal.minute.played), abs(minutes[1] - goal.minute.played))
                >= MIN_DISTANCE_MINUTES - 1
            )


def test_another_match_has_other_teams_and_last_season_another_score() -> None:
    for spec in SPECS:
        shown, goal = clip_truth(spec), clips_for(MATCHDAY, spec.match, spec.goal)[0].footage
        if spec.kind == "other_match":
            assert not set(shown.teams or ()) & set(goal.codes)
        if spec.kind == "last_season":
            assert shown.teams == goal.codes
            assert not set(shown.scores) & {goal.before, goal.after}
            assert (shown.verdict, shown.reason) == ("unverified", None)


def test_a_replay_shows_no_clock() -> None:
    truth = clip_truth(spec_of("replay"))
    assert (truth.verdict, truth.clock, truth.clock_seen, truth.scores) == ("unverified", "none", (), ())
    assert truth.length >= 3


@pytest.mark.parametrize("style", BOARD_STYLES)
def test_a_crop_keeps_the_scoreboard_or_cuts_all_of_it_off(style: BoardStyle) -> None:
    board, without = BOARDS[style], visible_part("copy", ["no_clock"], style)
    assert visible_part("copy", ["crop"], style).holds(board)
    assert without.top >= board.bottom or without.bottom <= board.top
    assert without.right - without.left == pytest.approx(without.bottom - without.top)


def test_a_clock_in_the_middle_alone_never_decides() -> None:
    for spec in SPECS:
        first, middle, last = clip_truth(spec).readings
        if middle.clock is not None:
            assert first.clock or last.clock


def test_every_verdict_of_the_matchday_has_its_reason() -> None:
    for truth in map(clip_truth, SPECS):
        assert (truth.verdict == "rejected") == (truth.reason is not None)
        assert (truth.footage is None) == (truth.reason in ("not_a_video", "broken"))
        if truth.verdict == "verified":
            assert truth.clock in ("clear", "hard")


def test_copies_of_one_goal_share_their_footage_and_nothing_else_does() -> None:
    specs = clips_for(scenario_with("copy -4s 6s", "copy logo -1s 6s", "wrong_minute", "replay"), 5001, 0)
    plain, logo, wrong, replay = map(clip_truth, specs)
    assert seconds_in_common(plain, logo) == pytest.approx(3)
    assert seconds_in_common(plain, wrong) == 0
    assert plain.footage == replay.footage
    assert seconds_in_common(plain, replay) == 0


def test_the_truth_is_json() -> None:
    for spec in SPECS:
        assert json.loads(json.dumps(clip_truth(spec).to_json()))["kind"] == spec.kind


def test_the_same_scenario_gives_the_same_specs() -> None:
    assert list(all_clips(load_scenario("matchday").football)) == SPECS


def test_masters_contain_the_footage_of_their_copies() -> None:
    for spec in SPECS:
        if spec.kind != "too_long" and spec.has_picture:
            assert spec.master.start <= spec.start
            assert spec.start + spec.length <= spec.master.end <= ENDS_AT
            assert spec.master.height >= spec.height


@pytest.mark.parametrize(
    ("name", "code"),
    [("Liverpool", "LIV"), ("Paris Saint Germain", "PSG"), ("Éibar", "EIB"), ("1. FC Köln", "FCK"), ("Q", "QFC")],
)
def test_codes_are_three_letters_of_the_name(name: str, code: str) -> None:
    assert code_of(name) == code


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_two_names_get_two_codes_and_two_kits(home: str, away: str) -> None:
    first, second = codes_of(home, away)
    assert first != second
    assert all(len(code) == 3 and code.isascii() and code.isupper() for code in (first, second))
    kits = kits_of("ground", home, away)
    assert kits[0].shirt != kits[1].shirt


def test_hard_clips_match_their_kind() -> None:
    """What scenarios do not post: benchmarks count how often each is verified."""
    cases: dict[str, list[ClipSpec]] = {}
    for case, spec in hard_clips(MATCHDAY):
        cases.setdefault(case, []).append(spec)
    assert set(cases) == set(get_args(HardCase))
    scripts = {match.id: match for match in MATCHDAY.matches}
    for spec in cases["minute 4 to 7 off"]:
        script = scripts[spec.match].goals[spec.goal]
        reported = [script.minute, *(change.minute for change in script.changes if change.minute)]
        shown = spec.footage.goal_clock // 60 + 1
        assert 4 <= min(abs(shown - minute.played) for minute in reported) <= 7
    for spec in cases["minute 1 to 6 for a stoppage goal"]:
        assert scripts[spec.match].goals[spec.goal].minute.extra
        assert spec.footage.goal_clock < 6 * 60
    for spec in cases["last season, same score and minute"]:
        goal = clips_for(MATCHDAY, spec.match, spec.goal)[0].footage
        assert (spec.footage.before, spec.footage.goal_clock) == (goal.before, goal.goal_clock)
        assert spec.footage.moment != goal.moment
    assert {clip_truth(spec).clock for spec in cases["other match, unreadable board"]} == {"none"}
    for spec in cases["board only between sampled frames"]:
        truth = clip_truth(spec)
        assert (truth.verdict, truth.clock) == ("verified", "hard")
        assert not any(
            start <= share * spec.length < end for start, end in truth.clock_seen for share in (0.25, 0.5, 0.75)
        )


def test_a_clip_is_verifiable_if_a_clock_is_in_the_picture_wherever_that_is() -> None:
    for spec in SPECS:
        truth = clip_truth(spec)
        if truth.verdict != "rejected" and spec.kind != "last_season":
            assert truth.verdict == ("verified" if truth.clock_seen else "unverified")
