"""Debounce, removal and identity of goals: the rules as cases."""

from __future__ import annotations

import pytest

from found_footy.domain.fixtures.comparison import CertaintyRules, Verdict
from found_footy.domain.fixtures.model import GoalKind, Person, Score
from tests.support.football import Monitor, goal, match, poll


def test_a_goal_is_certain_after_three_polls() -> None:
    monitor = Monitor()
    verdicts = [monitor.sees("23 home 7")[0].verdict for _ in range(3)]
    assert verdicts == [Verdict.NEW, Verdict.SEEN, Verdict.STABLE]
    assert monitor.ids() == ["5000_40_7_Goal_1"]
    assert monitor.sees("23 home 7") == []  # a poll that only confirms changes nothing


def test_the_number_of_polls_is_a_setting() -> None:
    monitor = Monitor(CertaintyRules(debounce=1, drop=1))
    assert monitor.sees("23 home 7")[0].verdict is Verdict.STABLE
    assert monitor.sees()[0].verdict is Verdict.WITHDRAWN


def test_the_same_poll_counts_once() -> None:
    monitor = Monitor()
    for _ in range(5):
        monitor.hears(match("23 home 7"), poll(1))
    assert monitor.events["5000_40_7_Goal_1"].seen == 1


def test_an_older_poll_that_arrives_late_changes_nothing() -> None:
    monitor = Monitor()
    monitor.hears(match("23 home 7"), poll(5))
    assert monitor.hears(match(), poll(4)) == []
    assert monitor.hears(match("23 home 7", "25 home 9"), poll(3)) == []


def test_a_goal_that_three_polls_lack_is_withdrawn_for_good() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", times=4)
    verdicts = [monitor.sees()[0].verdict for _ in range(3)]
    assert verdicts == [Verdict.MISSING, Verdict.MISSING, Verdict.WITHDRAWN]
    assert monitor.sees() == []
    monitor.sees("23 home 7", times=3)
    assert monitor.ids(monitor.stable) == ["5000_40_7_Goal_2"]
    assert monitor.ids(monitor.removed) == ["5000_40_7_Goal_1"]


def test_a_stable_goal_that_flickers_stays() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", times=3)
    for _ in range(5):
        monitor.sees(times=2)
        monitor.sees("23 home 7")
    assert monitor.ids(monitor.stable) == ["5000_40_7_Goal_1"]
    assert monitor.stable[0].missing == 0


def test_polls_must_agree_in_a_row() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", times=2)
    monitor.sees()
    monitor.sees("23 home 7", times=2)
    assert monitor.stable == []
    monitor.sees("23 home 7")
    assert len(monitor.stable) == 1


@pytest.mark.parametrize(
    ("score", "goes"),
    [
        ("1-0", False),  # the score still counts it: the list is incomplete
        ("0-0", True),
        (None, False),  # no score says nothing
        ("0-1", True),  # the other side's score is no evidence for this side
        ("2-0", False),
    ],
)
def test_absence_counts_only_where_the_score_agrees(score: str | None, goes: bool) -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", times=3)
    monitor.sees(score=score, times=3)
    assert bool(monitor.removed) is goes


def test_a_score_that_lags_behind_does_not_hold_a_goal_up() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", score="0-0", times=3)
    assert len(monitor.stable) == 1


@pytest.mark.parametrize(
    ("first", "then", "same"),
    [
        ("23 home 7", "23 home 9", True),  # the feed gives it to somebody else
        ("23 home ?", "23 home 7", True),  # a scorer at last
        ("23 home 7", "25 home 9", True),
        ("23 home 7", "26 home 9", False),  # too far apart for one goal
        ("23 home 7", "25 home 7", True),
        ("23 home 7", "26 home 7", False),
        ("23 home 7", "23 away 7", False),  # the other side
        ("90 home 7", "90+4 home 7", True),  # a period's end is what feeds write first
        ("90+1 home 7", "90+3 home 7", True),
        ("90+1 home 7", "90+6 home 7", False),
    ],
)
def test_which_goal_is_which(first: str, then: str, same: bool) -> None:
    monitor = Monitor()
    monitor.sees(first, times=3)
    monitor.sees(then)
    assert (len(monitor.events) == 1) is same


def test_a_change_of_scorer_keeps_the_id_and_is_remembered() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", times=3)
    (decision,) = monitor.sees("24 home 9")
    assert decision.verdict is Verdict.CHANGED
    assert decision.event.id == "5000_40_7_Goal_1"
    assert decision.event.player == Person(9, "Player 9")
    assert decision.changed == {
        "minute": ("23'", "24'"),
        "player": ("Player 7", "Player 9"),
        "player_id": (7, 9),
    }


def test_a_goal_turned_into_an_own_goal_is_the_same_goal() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", times=3)
    monitor.sees(goal("23 home 88", GoalKind.OWN_GOAL))
    assert monitor.ids(monitor.stable) == ["5000_40_7_Goal_1"]
    assert monitor.stable[0].kind is GoalKind.OWN_GOAL


def test_a_scorer_that_the_feed_forgets_stays() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", times=3)
    assert monitor.sees("23 home ?") == []


def test_a_minute_that_drifts_far_in_small_steps_is_one_goal() -> None:
    monitor = Monitor()
    for minute in range(20, 40):
        monitor.sees(f"{minute} home 7")
    assert len(monitor.events) == 1


def test_two_goals_in_one_minute_are_two() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", "23 home 9", times=3)
    monitor.sees("23 home 9", "23 home 7", times=3)  # the feed's order is no evidence
    assert sorted(monitor.ids(monitor.stable)) == ["5000_40_7_Goal_1", "5000_40_9_Goal_1"]
    assert monitor.removed == []


def test_a_hat_trick_has_three_numbers() -> None:
    monitor = Monitor()
    monitor.sees("10 home 7", "40 home 7", "70 home 7", times=3)
    assert monitor.ids(monitor.stable) == [f"5000_40_7_Goal_{n}" for n in (1, 2, 3)]


def test_a_cancelled_goal_and_a_real_one_with_the_same_score_are_two() -> None:
    monitor = Monitor()
    monitor.sees("58 away 7", times=2)
    monitor.sees(times=3)
    monitor.sees("64 away 7", times=3)
    assert monitor.ids(monitor.removed) == ["5000_50_7_Goal_1"]
    assert monitor.ids(monitor.stable) == ["5000_50_7_Goal_2"]


def test_cancelling_an_early_goal_shifts_the_scores_after_it_and_nothing_else() -> None:
    monitor = Monitor()
    monitor.sees("10 home 7", "20 home 9", times=3)
    monitor.sees("20 home 9", times=3)
    assert monitor.ids(monitor.stable) == ["5000_40_9_Goal_1"]
    assert monitor.stable[0].after == Score(1, 0)
    assert monitor.ids(monitor.removed) == ["5000_40_7_Goal_1"]


def test_of_two_quick_goals_by_one_player_the_right_one_is_cancelled() -> None:
    monitor = Monitor()
    monitor.sees("10 home 7", "11 home 7", times=3)
    monitor.sees("11 home 7", times=3)
    assert [(event.id, event.minute.elapsed) for event in monitor.stable] == [("5000_40_7_Goal_2", 11)]


def test_both_of_two_quick_goals_drift_together() -> None:
    monitor = Monitor()
    monitor.sees("10 home 7", "12 home 7", times=3)
    monitor.sees("12 home 7", "14 home 7", times=3)
    assert [event.minute.elapsed for event in monitor.stable] == [12, 14]
    assert len(monitor.events) == 2


def test_one_cancelled_and_one_scored_between_two_polls() -> None:
    """A at 10' is gone and C at 12' is new: not "A became B and B became C"."""
    monitor = Monitor()
    monitor.sees("10 home 1", "11 home 2", times=3)
    monitor.sees("11 home 2", "12 home 3", times=3)
    assert sorted(monitor.ids(monitor.stable)) == ["5000_40_2_Goal_1", "5000_40_3_Goal_1"]
    assert monitor.ids(monitor.removed) == ["5000_40_1_Goal_1"]


def test_a_goal_listed_twice_is_one_where_the_score_says_so() -> None:
    monitor = Monitor()
    monitor.sees("23 home 7", "23 home 7", score="1-0", times=3)
    assert len(monitor.events) == 1


def test_ids_stay_unique_when_a_named_scorer_once_was_unknown() -> None:
    monitor = Monitor()
    monitor.sees("10 home ?", times=3)
    monitor.sees("10 home 7", times=3)
    monitor.sees("10 home 7", "30 home ?", "50 home 7", times=3)
    assert monitor.ids(monitor.stable) == ["5000_40_0_Goal_1", "5000_40_0_Goal_2", "5000_40_7_Goal_2"]


def test_hundreds_of_goals_in_one_minute_do_not_take_for_ever() -> None:
    monitor = Monitor()
    monitor.sees(*(f"23 home {n}" for n in range(1, 60)), times=2)
    monitor.sees(*(f"24 home {n}" for n in range(100, 160)), times=4)
    assert len(monitor.stable) >= 60
