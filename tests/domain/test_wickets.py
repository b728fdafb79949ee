"""A wicket is an event as a goal is: overs for minutes, and innings that have nothing to do with each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from found_footy.domain.fixtures.comparison import Verdict
from found_footy.domain.fixtures.goals import in_order
from found_footy.domain.fixtures.identity import FAR, minutes_apart
from found_footy.domain.fixtures.model import (
    WICKET,
    LiveFixture,
    LiveGoal,
    Minute,
    Person,
    Score,
    Side,
    Sport,
    WicketKind,
)
from tests.support.two_feeds import Newsroom, says


def wicket(text: str) -> LiveGoal:
    """`1/3.2 V Kohli` is out in the third over of the first innings, in which the home side bats."""
    moment, _, name = text.partition(" ")
    innings, _, ball = moment.partition("/")
    over, _, number = ball.partition(".")
    side = Side.AWAY if int(innings) % 2 else Side.HOME
    return LiveGoal(
        side, Minute(int(over), int(number), int(innings)), Person(None, name), WicketKind.CAUGHT, type=WICKET
    )


def scorecard(feed: str, *wickets: str, over: int = 15, innings: int = 1) -> LiveFixture:
    out = tuple(map(wicket, wickets))
    taken = Score(sum(each.side is Side.HOME for each in out), sum(each.side is Side.AWAY for each in out))
    live = replace(says(feed), status="LIVE", sport=Sport.CRICKET, goals=out, score=taken)
    return replace(live, minute=Minute(over, 0, innings))


KOHLI, SHARMA, GILL = "1/3.2 Virat Kohli", "1/3.4 Rohit Sharma", "1/4.1 Shubman Gill"


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        (Minute(3, 2, 1), Minute(3, 5, 1), 0),
        (Minute(3, 6, 1), Minute(4, 0, 1), 1),
        (Minute(45, None, 1), Minute(45, 3, 1), 0),
        (Minute(3, 2, 1), Minute(3, 2, 2), FAR),
        (Minute(3, 2, 1), Minute(3, 2), FAR),
        (Minute(90), Minute(90, 4), 0),
    ],
)
def test_overs_are_counted_within_an_innings(a: Minute, b: Minute, apart: int) -> None:
    assert minutes_apart(a, b) == minutes_apart(b, a) == apart


def test_wickets_come_in_the_order_of_the_innings() -> None:
    listed = [wicket(text) for text in ("2/1.1 A", "1/19.6 B", "1/2.3 C", "1/2.1 D")]
    assert [each.player.name for each in in_order(listed, None)] == ["D", "C", "B", "A"]


def test_two_feeds_that_agree_make_a_wicket_certain_at_once() -> None:
    news = Newsroom()
    decisions = news.hears(scorecard("a", "1/3.2 V Kohli"), scorecard("b", KOHLI))
    assert [decision.verdict for decision in decisions] == [Verdict.STABLE]
    (event,) = news.left
    assert (event.id, event.team.name, event.after) == ("5000_50_0_Wicket_1", "Manchester City", Score(0, 1))


def test_quick_wickets_of_several_batters_stay_apart() -> None:
    news = Newsroom()
    news.hears(scorecard("a", KOHLI), scorecard("b"), times=2)
    news.hears(scorecard("a", KOHLI, SHARMA, GILL), scorecard("b", KOHLI), times=2)
    news.hears(scorecard("a", KOHLI, SHARMA, GILL), scorecard("b", KOHLI, "1/3.4 RG Sharma", "1/4.1 S Gill"))
    assert [event.player.name for event in news.left] == ["Virat Kohli", "Rohit Sharma", "Shubman Gill"]
    assert all(event.stable and event.feeds == ("a", "b") for event in news.left)


def test_a_batter_who_is_called_back_is_taken_off_the_list() -> None:
    news = Newsroom()
    news.hears(scorecard("a", KOHLI, SHARMA), scorecard("b", KOHLI, SHARMA))
    news.hears(scorecard("a", SHARMA), scorecard("b", SHARMA), times=3)
    assert [(event.player.name, event.after) for event in news.left] == [("Rohit Sharma", Score(0, 1))]


def test_the_same_batter_in_another_innings_is_another_wicket() -> None:
    news = Newsroom()
    first, third = "1/3.2 Virat Kohli", "3/3.2 Virat Kohli"
    news.hears(scorecard("a", first), times=3)
    news.hears(scorecard("a", first, third), times=3)
    assert [event.minute.innings for event in news.left] == [1, 3]


def test_a_feed_that_is_an_innings_further_has_caught_up() -> None:
    news = Newsroom()
    news.hears(scorecard("a", KOHLI), scorecard("b", over=2), times=3)
    news.hears(scorecard("b", over=2), times=5)
    assert len(news.certain) == 1
    news.hears(scorecard("b", over=0, innings=2), times=3)
    assert news.certain == []
