"""Two feeds of one match, poll after poll: what becomes certain, what is withdrawn, what stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from found_footy.fixtures.comparison import compare
from found_footy.fixtures.models import DebounceRules, EventChange, Player, Score
from tests.support.football import poll
from tests.support.two_feeds import ReconcilingMonitor, feed_answer

SALAH, JOTA, FODEN = "10 home Mohamed Salah", "20 home Diogo Jota", "30 away Phil Foden"


def test_two_feeds_that_agree_make_a_goal_certain_at_once() -> None:
    monitor = ReconcilingMonitor()
    (decision,) = monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH))
    assert decision.change is EventChange.STABLE
    assert decision.event.feeds == ("a", "b")


def test_a_second_feed_confirms_a_goal_of_the_first() -> None:
    monitor = ReconcilingMonitor()
    assert monitor.poll(feed_answer("a", SALAH), feed_answer("b"))[0].change is EventChange.NEW
    assert monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH))[0].change is EventChange.STABLE


@pytest.mark.parametrize(("agreeing", "verdict"), [(2, EventChange.STABLE), (3, EventChange.NEW)])
def test_how_many_must_agree_is_a_rule(agreeing: int, verdict: EventChange) -> None:
    monitor = ReconcilingMonitor(DebounceRules(agreeing_feeds=agreeing))
    assert monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH))[0].change is verdict


@pytest.mark.parametrize("feed", ["a", "b"])
def test_one_feed_alone_needs_three_polls_whichever_it_is(feed: str) -> None:
    monitor = ReconcilingMonitor()
    answers = [feed_answer(each, *([SALAH] if each == feed else [])) for each in ("a", "b")]
    assert [monitor.poll(*answers)[0].change for _ in range(3)] == [
        EventChange.NEW,
        EventChange.SEEN,
        EventChange.STABLE,
    ]


def test_snapshots_are_not_counted_twice() -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH))
    assert monitor.reconciled is not None
    repeated = replace(
        monitor.reconciled.live, goals=tuple(replace(goal, confirmed=False) for goal in monitor.reconciled.live.goals)
    )
    assert compare(repeated, monitor.not_removed, poll(2), monitor.rules, monitor.last) == []


def test_a_single_report_of_one_feed_never_becomes_stable() -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH), times=3)
    for liar, other in (("a", "b"), ("b", "a")):
        monitor.poll(feed_answer(liar, SALAH, "12 away Nobody"), feed_answer(other, SALAH))
        monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH), times=3)
    assert monitor.stable == ["10 home Mohamed Salah"]
    assert len(monitor.ever_stable) == 1


@pytest.mark.parametrize("feed", ["a", "b"])
def test_a_goal_that_one_feed_drops_is_still_listed_by_the_other(feed: str) -> None:
    monitor = ReconcilingMonitor()
    other = "b" if feed == "a" else "a"
    monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH))
    monitor.poll(feed_answer(feed), feed_answer(other, SALAH), times=10)
    assert monitor.stable == ["10 home Mohamed Salah"]
    assert monitor.not_removed[0].feeds == (other,)


def test_a_goal_that_both_drop_is_withdrawn_after_three_polls() -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH))
    monitor.poll(feed_answer("a"), feed_answer("b", SALAH), times=5)
    verdicts = [monitor.poll(feed_answer("a"), feed_answer("b"))[0].change for _ in range(3)]
    assert verdicts == [EventChange.MISSING, EventChange.MISSING, EventChange.WITHDRAWN]


@pytest.mark.parametrize(
    ("score", "goes"),
    [("0-0", True), ("1-0", False), (None, True)],
)
def test_a_score_of_any_feed_that_still_counts_it_keeps_a_goal(score: str | None, goes: bool) -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH))
    monitor.poll(feed_answer("a"), feed_answer("b", score=score), times=3)
    assert (monitor.not_removed == []) is goes


def test_a_lagging_score_removes_no_goals() -> None:
    """The first feed counts nothing yet; the second lists one goal of the two that it counts."""
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("b", SALAH, JOTA), times=3)
    monitor.poll(feed_answer("a"), feed_answer("b", JOTA, score="2-0"), times=5)
    assert monitor.stable == ["10 home Mohamed Salah", "20 home Diogo Jota"]


@pytest.mark.parametrize(
    ("minute", "status", "goes"),
    [
        (9, "1H", False),  # the feed that is left has not come so far yet
        (14, "1H", False),
        (15, "1H", True),
        (45, "HT", True),
        (9, "FT", True),  # over: nothing more will come
    ],
)
def test_where_the_feed_of_a_goal_dies_another_can_deny_it_only_once_it_has_caught_up(
    minute: int, status: str, goes: bool
) -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH), feed_answer("b", minute=8), times=3)
    assert len(monitor.stable) == 1
    monitor.poll(feed_answer("b", minute=minute, status=status), times=3)
    assert (monitor.stable == []) is goes


def test_a_feed_without_a_clock_has_caught_up_after_a_time() -> None:
    monitor = ReconcilingMonitor(DebounceRules(catch_up_time=timedelta(minutes=3)))
    monitor.poll(feed_answer("a", SALAH), times=3)
    silent = replace(feed_answer("b"), minute=None)
    monitor.poll(silent, times=4)
    assert len(monitor.stable) == 1
    monitor.poll(silent, times=6)
    assert monitor.stable == []


def test_a_goal_that_the_late_feed_lists_at_last_is_the_same_goal() -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH), feed_answer("b", minute=8), times=3)
    monitor.poll(feed_answer("b", minute=9), times=4)
    monitor.poll(feed_answer("b", "11 home M. Salah", minute=12))
    assert len(monitor.events) == 1
    assert monitor.not_removed[0].feeds == ("b",)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Mohamed Salah", "M. Salah"),
        ("M. Salah", "Mohamed Salah"),
        ("Darwin Núñez", "D. Nunez"),
        ("Salah", "Mohamed Salah Hamed Mahrous Ghaly"),
        ("Heung-Min Son", "Son Heung-min"),
    ],
)
def test_two_spellings_of_one_scorer_do_not_flap(first: str, second: str) -> None:
    monitor = ReconcilingMonitor()
    a, b = feed_answer("a", f"10 home {first}"), feed_answer("b", f"10 home {second}")
    numbered = replace(a, goals=(replace(a.goals[0], player=Player(306, first)),))
    decisions = monitor.poll(numbered, b, times=3)
    for answers in ((b,), (numbered, b), (b,), (numbered,)) * 2:
        decisions += monitor.poll(*answers)
    assert [decision for decision in decisions if decision.changed] == []
    assert len(monitor.events) == 1
    assert monitor.not_removed[0].player == Player(306, first)


def test_a_later_player_id_is_not_another_scorer() -> None:
    monitor = ReconcilingMonitor()
    a, b = feed_answer("a", SALAH), feed_answer("b", "10 home M. Salah")
    numbered = replace(a, goals=(replace(a.goals[0], player=Player(306, "Mohamed Salah")),))
    monitor.poll(b, times=3)
    (decision,) = monitor.poll(numbered, b)
    assert decision.changed == {}
    assert decision.event.player == Player(306, "Mohamed Salah")
    assert decision.event.id == "5000_40_0_Goal_1"


def test_the_fuller_of_two_names_without_a_number_stays() -> None:
    monitor = ReconcilingMonitor()
    for answer in (feed_answer("a", "10 home M. Salah"), feed_answer("b", SALAH), feed_answer("a", "10 home M. Salah")):
        decisions = monitor.poll(answer)
        assert [decision for decision in decisions if decision.changed] == []
    assert monitor.not_removed[0].player.name == "Mohamed Salah"


def test_a_reattributed_goal_is_a_change() -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH))
    (decision,) = monitor.poll(feed_answer("a", "10 home Diogo Jota"), feed_answer("b", SALAH))
    assert decision.change is EventChange.CHANGED
    assert decision.changed == {"player": ("Mohamed Salah", "Diogo Jota")}


def test_a_disputed_minute_does_not_create_a_second_goal() -> None:
    monitor = ReconcilingMonitor()
    late, early = "14 home Mohamed Salah", "10 home M. Salah"
    for answers in (
        (feed_answer("b", late),) * 1,
        (feed_answer("a", early), feed_answer("b", late)),
        (feed_answer("b", late),),
    ):
        monitor.poll(*answers, times=4)
    assert len(monitor.events) == 1


def test_goals_of_one_minute_in_another_order_are_two() -> None:
    monitor = ReconcilingMonitor()
    home, away = "10 home Mohamed Salah", "10 away Phil Foden"
    for first, second in ((("a", home, away), ("b", away, home)), (("b", away, home), ("a", home, away))):
        monitor.poll(feed_answer(*first), feed_answer(*second), times=3)
        monitor.poll(feed_answer(*first), times=2)
        monitor.poll(feed_answer(*second), times=2)
    assert sorted(monitor.stable) == ["10 away Phil Foden", "10 home Mohamed Salah"]
    assert len(monitor.events) == 2


def test_an_early_goal_that_both_cancel_shifts_the_later_ones() -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH, JOTA, FODEN), feed_answer("b", SALAH, JOTA, FODEN))
    monitor.poll(feed_answer("a", JOTA, FODEN), feed_answer("b", SALAH, JOTA, FODEN), times=4)
    assert len(monitor.stable) == 3
    monitor.poll(feed_answer("a", JOTA, FODEN), feed_answer("b", JOTA, FODEN), times=3)
    assert [(event.player.name, event.after) for event in monitor.not_removed] == [
        ("Diogo Jota", Score(1, 0)),
        ("Phil Foden", Score(1, 1)),
    ]


def test_each_score_after_is_one_more_than_before() -> None:
    monitor = ReconcilingMonitor()
    monitor.poll(feed_answer("a", SALAH, FODEN), feed_answer("b", JOTA, FODEN, score="2-1"), times=3)
    for event in monitor.not_removed:
        assert event.after == event.before.plus(event.side)
