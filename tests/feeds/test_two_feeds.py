"""Two feeds of one match, poll after poll: what becomes certain, what is withdrawn, what stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from found_footy.fixtures.comparison import compare
from found_footy.fixtures.models import DebounceRules, EventChange, Player, Score
from tests.support.football import poll
from tests.support.two_feeds import Newsroom, says

SALAH, JOTA, FODEN = "10 home Mohamed Salah", "20 home Diogo Jota", "30 away Phil Foden"


def test_two_feeds_that_agree_make_a_goal_certain_at_once() -> None:
    news = Newsroom()
    (decision,) = news.hears(says("a", SALAH), says("b", SALAH))
    assert decision.change is EventChange.STABLE
    assert decision.event.feeds == ("a", "b")


def test_the_second_feed_makes_certain_what_the_first_has_seen() -> None:
    news = Newsroom()
    assert news.hears(says("a", SALAH), says("b"))[0].change is EventChange.NEW
    assert news.hears(says("a", SALAH), says("b", SALAH))[0].change is EventChange.STABLE


@pytest.mark.parametrize(("agreeing", "verdict"), [(2, EventChange.STABLE), (3, EventChange.NEW)])
def test_how_many_must_agree_is_a_rule(agreeing: int, verdict: EventChange) -> None:
    news = Newsroom(DebounceRules(agreeing_feeds=agreeing))
    assert news.hears(says("a", SALAH), says("b", SALAH))[0].change is verdict


@pytest.mark.parametrize("feed", ["a", "b"])
def test_one_feed_alone_needs_three_polls_whichever_it_is(feed: str) -> None:
    news = Newsroom()
    answers = [says(each, *([SALAH] if each == feed else [])) for each in ("a", "b")]
    assert [news.hears(*answers)[0].change for _ in range(3)] == [
        EventChange.NEW,
        EventChange.SEEN,
        EventChange.STABLE,
    ]


def test_words_that_were_counted_before_do_not_count_again() -> None:
    news = Newsroom()
    news.hears(says("a", SALAH))
    assert news.heard is not None
    repeated = replace(news.heard.live, goals=tuple(replace(goal, confirmed=False) for goal in news.heard.live.goals))
    assert compare(repeated, news.left, poll(2), news.rules, news.last) == []


def test_a_lie_of_one_feed_for_one_poll_is_never_certain() -> None:
    news = Newsroom()
    news.hears(says("a", SALAH), says("b", SALAH), times=3)
    for liar, other in (("a", "b"), ("b", "a")):
        news.hears(says(liar, SALAH, "12 away Nobody"), says(other, SALAH))
        news.hears(says("a", SALAH), says("b", SALAH), times=3)
    assert news.certain == ["10 home Mohamed Salah"]
    assert len(news.ever_certain) == 1


@pytest.mark.parametrize("feed", ["a", "b"])
def test_a_goal_that_one_feed_drops_is_still_listed_by_the_other(feed: str) -> None:
    news = Newsroom()
    other = "b" if feed == "a" else "a"
    news.hears(says("a", SALAH), says("b", SALAH))
    news.hears(says(feed), says(other, SALAH), times=10)
    assert news.certain == ["10 home Mohamed Salah"]
    assert news.left[0].feeds == (other,)


def test_a_goal_that_both_drop_is_withdrawn_after_three_polls() -> None:
    news = Newsroom()
    news.hears(says("a", SALAH), says("b", SALAH))
    news.hears(says("a"), says("b", SALAH), times=5)
    verdicts = [news.hears(says("a"), says("b"))[0].change for _ in range(3)]
    assert verdicts == [EventChange.MISSING, EventChange.MISSING, EventChange.WITHDRAWN]


@pytest.mark.parametrize(
    ("score", "goes"),
    [("0-0", True), ("1-0", False), (None, True)],
)
def test_a_score_of_any_feed_that_still_counts_it_keeps_a_goal(score: str | None, goes: bool) -> None:
    news = Newsroom()
    news.hears(says("a", SALAH), says("b", SALAH))
    news.hears(says("a"), says("b", score=score), times=3)
    assert (news.left == []) is goes


def test_a_believed_score_that_lags_behind_the_goals_takes_none_away() -> None:
    """The first feed counts nothing yet; the second lists one goal of the two that it counts."""
    news = Newsroom()
    news.hears(says("b", SALAH, JOTA), times=3)
    news.hears(says("a"), says("b", JOTA, score="2-0"), times=5)
    assert news.certain == ["10 home Mohamed Salah", "20 home Diogo Jota"]


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
    news = Newsroom()
    news.hears(says("a", SALAH), says("b", minute=8), times=3)
    assert len(news.certain) == 1
    news.hears(says("b", minute=minute, status=status), times=3)
    assert (news.certain == []) is goes


def test_a_feed_without_a_clock_has_caught_up_after_a_time() -> None:
    news = Newsroom(DebounceRules(catch_up_time=timedelta(minutes=3)))
    news.hears(says("a", SALAH), times=3)
    silent = replace(says("b"), minute=None)
    news.hears(silent, times=4)
    assert len(news.certain) == 1
    news.hears(silent, times=6)
    assert news.certain == []


def test_a_goal_that_the_late_feed_lists_at_last_is_the_same_goal() -> None:
    news = Newsroom()
    news.hears(says("a", SALAH), says("b", minute=8), times=3)
    news.hears(says("b", minute=9), times=4)
    news.hears(says("b", "11 home M. Salah", minute=12))
    assert len(news.events) == 1
    assert news.left[0].feeds == ("b",)


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
    news = Newsroom()
    a, b = says("a", f"10 home {first}"), says("b", f"10 home {second}")
    numbered = replace(a, goals=(replace(a.goals[0], player=Player(306, first)),))
    decisions = news.hears(numbered, b, times=3)
    for answers in ((b,), (numbered, b), (b,), (numbered,)) * 2:
        decisions += news.hears(*answers)
    assert [decision for decision in decisions if decision.changed] == []
    assert len(news.events) == 1
    assert news.left[0].player == Player(306, first)


def test_a_number_that_comes_later_is_no_other_scorer() -> None:
    news = Newsroom()
    a, b = says("a", SALAH), says("b", "10 home M. Salah")
    numbered = replace(a, goals=(replace(a.goals[0], player=Player(306, "Mohamed Salah")),))
    news.hears(b, times=3)
    (decision,) = news.hears(numbered, b)
    assert decision.changed == {}
    assert decision.event.player == Player(306, "Mohamed Salah")
    assert decision.event.id == "5000_40_0_Goal_1"


def test_the_fuller_of_two_names_without_a_number_stays() -> None:
    news = Newsroom()
    for answer in (says("a", "10 home M. Salah"), says("b", SALAH), says("a", "10 home M. Salah")):
        decisions = news.hears(answer)
        assert [decision for decision in decisions if decision.changed] == []
    assert news.left[0].player.name == "Mohamed Salah"


def test_a_goal_given_to_somebody_else_is_a_change() -> None:
    news = Newsroom()
    news.hears(says("a", SALAH), says("b", SALAH))
    (decision,) = news.hears(says("a", "10 home Diogo Jota"), says("b", SALAH))
    assert decision.change is EventChange.CHANGED
    assert decision.changed == {"player": ("Mohamed Salah", "Diogo Jota")}


def test_a_minute_that_two_feeds_do_not_agree_on_is_no_second_goal() -> None:
    news = Newsroom()
    late, early = "14 home Mohamed Salah", "10 home M. Salah"
    for answers in ((says("b", late),) * 1, (says("a", early), says("b", late)), (says("b", late),)):
        news.hears(*answers, times=4)
    assert len(news.events) == 1


def test_goals_of_one_minute_in_another_order_are_two() -> None:
    news = Newsroom()
    home, away = "10 home Mohamed Salah", "10 away Phil Foden"
    for first, second in ((("a", home, away), ("b", away, home)), (("b", away, home), ("a", home, away))):
        news.hears(says(*first), says(*second), times=3)
        news.hears(says(*first), times=2)
        news.hears(says(*second), times=2)
    assert sorted(news.certain) == ["10 away Phil Foden", "10 home Mohamed Salah"]
    assert len(news.events) == 2


def test_an_early_goal_that_both_cancel_shifts_the_later_ones() -> None:
    news = Newsroom()
    news.hears(says("a", SALAH, JOTA, FODEN), says("b", SALAH, JOTA, FODEN))
    news.hears(says("a", JOTA, FODEN), says("b", SALAH, JOTA, FODEN), times=4)
    assert len(news.certain) == 3
    news.hears(says("a", JOTA, FODEN), says("b", JOTA, FODEN), times=3)
    assert [(event.player.name, event.after) for event in news.left] == [
        ("Diogo Jota", Score(1, 0)),
        ("Phil Foden", Score(1, 1)),
    ]


def test_each_score_after_is_one_more_than_before() -> None:
    news = Newsroom()
    news.hears(says("a", SALAH, FODEN), says("b", JOTA, FODEN, score="2-1"), times=3)
    for event in news.left:
        assert event.after == event.before.plus(event.side)
