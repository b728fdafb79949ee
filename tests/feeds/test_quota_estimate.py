"""Expected requests of a full matchday, against each feed's limit."""

from __future__ import annotations

from datetime import timedelta

import pytest

from found_footy.feeds.quota_estimate import FeedCost, MatchdayLoad, PollingPlan, estimate_requests, full_matchday
from found_footy.fixtures.following import DEFAULT_ENTRIES, following_of

FREE, PAID = FeedCost("api_football", "api_football", 100), FeedCost("api_football", "api_football", 7500)
UNKNOWN, ESPN = FeedCost("api_football", "api_football"), FeedCost("espn", "espn")


@pytest.mark.parametrize(
    ("entries", "matches", "leagues"),
    [
        ([], 0, 0),
        (["Premier League"], 6, 1),
        (["Premier League", "Champions League"], 9, 1),
        (["top5"], 30, 5),
        (["top5", "Real Madrid"], 30, 5),
        (["Real Madrid", "Barcelona"], 1, 1),
    ],
)
def test_a_full_matchday_is_the_busiest_of_leagues_cups_and_national_teams(
    entries: list[str], matches: int, leagues: int
) -> None:
    assert full_matchday(following_of(entries)) == MatchdayLoad(matches, leagues)


@pytest.mark.parametrize(
    ("entries", "cost", "exceeds"),
    [
        (["Real Madrid"], FREE, True),
        (["Premier League"], PAID, False),
        (list(DEFAULT_ENTRIES), PAID, False),
        (["all"], PAID, True),
        ([], FREE, False),
        (["all"], ESPN, False),
    ],
)
def test_an_excessive_follow_list_is_reported(entries: list[str], cost: FeedCost, exceeds: bool) -> None:
    (found,) = estimate_requests(following_of(entries), [cost])
    assert found.exceeds is exceeds, found


def test_an_unknown_limit_names_the_plans() -> None:
    (found,) = estimate_requests(following_of(["top5"]), [UNKNOWN])
    assert (found.limit, "7,500" in found.note) == (100, True)


def test_polling_half_as_often_costs_about_half() -> None:
    following = following_of(["Premier League"])
    (often,) = estimate_requests(following, [ESPN], PollingPlan(live=timedelta(seconds=30)))
    (seldom,) = estimate_requests(following, [ESPN], PollingPlan(live=timedelta(seconds=60)))
    assert 0.5 <= seldom.requests / often.requests < 0.6


def test_feeds_without_a_football_list_have_no_estimate() -> None:
    assert estimate_requests(following_of(["top5"]), [FeedCost("crex", "crex")]) == ()
