"""One list of goals out of several: the cases, a row each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.feeds.reconcile import FeedGoals, merge_goals
from found_footy.fixtures.models import WICKET, LiveGoal, MatchMinute, Player, Score, Side, WicketKind
from tests.support.two_feeds import goal_list, merge

SALAH, JOTA, FODEN = "10 home Mohamed Salah", "20 home Diogo Jota", "30 away Phil Foden"


def test_goals_that_both_list_are_listed_once() -> None:
    lists = goal_list("a", SALAH, FODEN), goal_list("b", SALAH, FODEN)
    assert merge(*lists) == [f"{SALAH} a b", f"{FODEN} a b"]


@pytest.mark.parametrize(
    ("name", "a", "b", "one"),
    [
        ("the believed feed is late", [SALAH], [SALAH, JOTA], [f"{SALAH} a b", f"{JOTA} b"]),
        ("the other is late", [SALAH, JOTA], [SALAH], [f"{SALAH} a b", f"{JOTA} a"]),
        ("the believed feed has nothing", [], [SALAH], [f"{SALAH} b"]),
        ("the other has nothing", [SALAH], [], [f"{SALAH} a"]),
        ("nobody has anything", [], [], []),
        ("an earlier goal is dropped by the believed one", [JOTA], [SALAH, JOTA], [f"{SALAH} b", f"{JOTA} a b"]),
        ("an earlier goal is dropped by the other", [SALAH, JOTA], [JOTA], [f"{SALAH} a", f"{JOTA} a b"]),
        (
            "the believed one lacks a goal in the middle",
            [SALAH, FODEN],
            [SALAH, JOTA, FODEN],
            [f"{SALAH} a b", f"{JOTA} b", f"{FODEN} a b"],
        ),
        ("minutes differ a little", ["10 home Salah"], ["11 home Salah"], ["10 home Salah a b"]),
        ("a period's end", ["90 home Salah"], ["90+5 home Salah"], ["90 home Salah a b"]),
        ("minutes differ more, for one scorer", ["10 home Salah"], ["15 home M. Salah"], ["10 home Salah a b"]),
        ("too much for one goal, and the score allows one", ["10 home Salah"], ["16 home Salah"], ["10 home Salah a"]),
        ("minutes differ more, and so do scorers", ["10 home Salah"], ["13 home Jota"], ["10 home Salah a"]),
        ("scorers differ in one minute", ["10 home Salah"], ["10 home Jota"], ["10 home Salah a b"]),
        ("the believed one knows no scorer", ["10 home ?"], ["10 home Salah"], ["10 home Salah a b"]),
        ("the other knows none", ["10 home Salah"], ["11 home ?"], ["10 home Salah a b"]),
        ("the other side scored, too", ["1 home Salah"], ["1 away Salah"], ["1 home Salah a", "1 away Salah b"]),
        (
            "two of one minute in another order",
            ["10 home Salah", "10 home Jota"],
            ["10 home Jota", "10 home Salah"],
            ["10 home Salah a b", "10 home Jota a b"],
        ),
        (
            "two sides' goals of one minute in another order",
            ["10 home Salah", "10 away Foden"],
            ["10 away Foden", "10 home Salah"],
            ["10 home Salah a b", "10 away Foden a b"],
        ),
        (
            "the same, with scorers that nobody knows",
            ["10 home ?", "10 away ?"],
            ["10 away ?", "10 home ?"],
            ["10 home ? a b", "10 away ? a b"],
        ),
        (
            "two quick ones by one player, of which the believed feed has the first",
            ["10 home Salah"],
            ["10 home Salah", "11 home Salah"],
            ["10 home Salah a b", "11 home Salah b"],
        ),
        (
            "two quick ones by one player, of which the believed feed has kept the second",
            ["11 home Salah"],
            ["10 home Salah", "11 home Salah"],
            ["10 home Salah b", "11 home Salah a b"],
        ),
        (
            "clocks that differ do not turn the order round",
            ["25 away Foden"],
            ["23 away Foden", "24 home Salah"],
            ["25 away Foden a b", "24 home Salah b"],
        ),
        (
            "a goal was cancelled and another one scored, and the other feed is late with both",
            [JOTA],
            [SALAH],
            [f"{JOTA} a"],
        ),
    ],
)  # fmt: skip
def test_two_lists_are_one(name: str, a: list[str], b: list[str], one: list[str]) -> None:
    assert merge(goal_list("a", *a), goal_list("b", *b)) == one, name


@pytest.mark.parametrize(
    ("score", "one"),
    [
        ("1-0", [f"{SALAH} a b"]),  # its own score counts one: the second entry is a mistake of its list
        ("2-0", [f"{SALAH} a b", f"{JOTA} b"]),
        (None, [f"{SALAH} a b", f"{JOTA} b"]),
        ("5-0", [f"{SALAH} a b", f"{JOTA} b"]),
    ],
)
def test_a_feed_adds_no_more_than_its_own_score_counts(score: str | None, one: list[str]) -> None:
    assert merge(goal_list("a", SALAH), goal_list("b", SALAH, JOTA, score=score)) == one


def test_a_goal_that_a_feed_lists_twice_is_one() -> None:
    assert merge(goal_list("a", SALAH, SALAH, score="1-0"), goal_list("b", SALAH)) == [f"{SALAH} a b"]


def test_three_feeds_complete_each_other() -> None:
    lists = goal_list("a", SALAH), goal_list("b", SALAH, JOTA), goal_list("c", SALAH, JOTA, FODEN)
    assert merge(*lists) == [f"{SALAH} a b c", f"{JOTA} b c", f"{FODEN} c"]


def test_the_player_id_comes_from_the_feed_that_has_it() -> None:
    first = goal_list("a", "10 home M. Salah")
    second = FeedGoals("b", (LiveGoal(Side.HOME, MatchMinute(11), Player(306, "Mohamed Salah")),), Score(1, 0))
    (one,) = merge_goals([first, second])
    assert (one.player, one.minute) == (Player(306, "Mohamed Salah"), MatchMinute(10))
    other = FeedGoals("b", (LiveGoal(Side.HOME, MatchMinute(11), Player(9, "Diogo Jota")),), Score(1, 0))
    (one,) = merge_goals([first, other])
    assert one.player == Player(None, "M. Salah")


def wicket(over: int, ball: int, name: str, innings: int = 1, kind: WicketKind = WicketKind.OTHER) -> LiveGoal:
    side = Side.AWAY if innings % 2 else Side.HOME
    return LiveGoal(side, MatchMinute(over, ball, innings), Player(None, name), kind, type=WICKET)


def test_wickets_are_merged_as_goals_are() -> None:
    first = FeedGoals("a", (wicket(3, 2, "V Kohli"), wicket(3, 4, "RG Sharma")), Score(0, 2))
    caught = wicket(3, 2, "Virat Kohli", kind=WicketKind.CAUGHT)
    second = FeedGoals("b", (caught, wicket(3, 4, "Rohit Sharma"), wicket(4, 0, "Shubman Gill")), Score(0, 3))
    one = merge_goals([first, second])
    assert [(w.player.name, w.feeds) for w in one] == [
        ("V Kohli", ("a", "b")),
        ("RG Sharma", ("a", "b")),
        ("Shubman Gill", ("b",)),
    ]
    assert one[0].kind is WicketKind.CAUGHT  # how he was out is what one of them knows


def test_wickets_of_two_innings_have_nothing_to_do_with_each_other() -> None:
    first = FeedGoals("a", (wicket(3, 2, "V Kohli", 1),), Score(0, 1))
    second = FeedGoals("b", (wicket(3, 2, "V Kohli", 1), wicket(3, 2, "V Kohli", 3)), Score(0, 2))
    assert [w.minute.innings for w in merge_goals([first, second])] == [1, 3]


goals = st.builds(
    LiveGoal,
    st.sampled_from(Side),
    st.builds(MatchMinute, st.integers(1, 95), st.one_of(st.none(), st.integers(1, 5))),
    st.one_of(st.just(Player()), st.sampled_from([Player(None, name) for name in ("Salah", "Jota", "Phil Foden")])),
)


@st.composite
def lists(draw: st.DrawFn, feed: str) -> FeedGoals:
    listed = tuple(draw(st.lists(goals, max_size=7)))
    counts = st.builds(Score, st.integers(0, 7), st.integers(0, 7))
    own = Score(sum(g.side is Side.HOME for g in listed), sum(g.side is Side.AWAY for g in listed))
    return FeedGoals(feed, listed, draw(st.one_of(st.just(own), st.none(), counts)))


@given(a=lists("a"), b=lists("b"))
def test_merged_goals_are_reported_and_unique_per_feed(a: FeedGoals, b: FeedGoals) -> None:
    one = merge_goals([a, b])
    for feed in (a, b):
        for side in Side:
            mine = [goal for goal in one if feed.feed in goal.feeds and goal.side is side]
            assert len(mine) <= sum(goal.side is side for goal in feed.goals)
    for side in Side:
        base = len([goal for goal in merge_goals([a]) if goal.side is side])
        there = [goal for goal in one if goal.side is side]
        limit = b.score.of(side) if b.score is not None else sum(goal.side is side for goal in b.goals)
        assert base <= len(there) <= max(base, limit)


@given(a=lists("a"))
def test_a_feed_that_agrees_with_itself_changes_nothing(a: FeedGoals) -> None:
    twin = replace(a, feed="b")
    one = merge_goals([a, twin])
    assert one == merge_goals([a])
    assert all(goal.feeds == ("a", "b") for goal in one)


def test_lists_that_no_match_ever_had_do_not_take_for_ever() -> None:
    many = tuple(LiveGoal(Side.HOME, MatchMinute(23), Player(None, f"Player {n:03d}")) for n in range(100))
    other = tuple(LiveGoal(Side.HOME, MatchMinute(24), Player(None, f"Other {n:03d}")) for n in range(100))
    assert len(merge_goals([FeedGoals("a", many, None), FeedGoals("b", other, None)])) == 100
