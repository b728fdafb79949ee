from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from found_footy.feeds.models import FeedListing, MonitoredFixture, Quota
from found_footy.feeds.scheduling import (
    PollPace,
    discovery_interval,
    is_small_plan,
    minute_quota_left,
    poll_intervals,
    poll_pace,
    small_plan_pace,
)
from found_footy.fixtures.models import FixtureStage
from tests.support.football import match

NOON = datetime(2026, 8, 22, 12, 0, tzinfo=UTC)
POLL = timedelta(seconds=30)


@pytest.mark.parametrize(
    ("limit", "remaining", "requests", "interval", "slowed"),
    [
        (None, None, 1, 30, False),  # the feed does not tell
        (7500, 7000, 1, 30, False),
        (7500, 1876, 1, 30, False),  # just above a quarter
        (7500, 1875, 1, 30, False),  # 43,200 s over 1,725 polls are 25 s each: no need to slow down
        (7500, 1500, 1, 32, True),  # 43,200 s / (1,500 - 150)
        (7500, 1500, 2, 64, True),  # two requests a poll
        (100, 25, 1, 1878, True),  # 43,200 s / 23
        (100, 2, 1, None, True),  # what is left is the reserve
        (100, 0, 1, None, True),
    ],
)
def test_the_pace_that_a_quota_bears(
    limit: int | None, remaining: int | None, requests: int, interval: int | None, slowed: bool
) -> None:
    allowed = poll_pace(Quota(NOON, limit, remaining), NOON, POLL, requests)
    seconds = None if allowed.interval is None else round(allowed.interval.total_seconds())
    assert (seconds, allowed.slowed) == (interval, slowed)


def test_yesterdays_quota_is_discarded() -> None:
    assert not poll_pace(Quota(NOON, 100, 0), NOON + timedelta(hours=12), POLL, 1).slowed


@pytest.mark.parametrize(
    ("allowed", "seconds_ago", "may"),
    [
        (PollPace(POLL, slowed=False), 1, True),  # whoever is not slowed asks when it is time
        (PollPace(timedelta(seconds=90), slowed=True), None, True),
        (PollPace(timedelta(seconds=90), slowed=True), 60, False),
        (PollPace(timedelta(seconds=90), slowed=True), 90, True),
        (PollPace(None, slowed=True), 9999, False),
    ],
)
def test_when_a_slowed_poll_may_go(allowed: PollPace, seconds_ago: int | None, may: bool) -> None:
    last = None if seconds_ago is None else NOON - timedelta(seconds=seconds_ago)
    assert allowed.permits(last, NOON) is may


@pytest.mark.parametrize(
    ("remaining", "seconds_ago", "may"), [(None, 0, True), (5, 0, True), (0, 10, False), (0, 60, True)]
)
def test_a_used_up_minute_is_waited_for(remaining: int | None, seconds_ago: int, may: bool) -> None:
    quota = Quota(NOON - timedelta(seconds=seconds_ago), minute_remaining=remaining)
    assert minute_quota_left(quota, NOON) is may


@pytest.mark.parametrize(
    ("limit", "small"), [(None, False), (0, False), (100, True), (1000, True), (1001, False), (7500, False)]
)
def test_a_plan_is_small_where_it_cannot_bear_a_poll_of_every_match(limit: int | None, small: bool) -> None:
    assert is_small_plan(Quota(NOON, limit, limit)) is small


H = timedelta(hours=1)


@pytest.mark.parametrize(
    ("remaining", "kickoffs", "seconds"),
    [
        (100, [0], 75),  # one match, 115 min over 92 requests
        (100, [0] * 5, 375),  # five at once
        (100, [0, 8], 150),  # one later today takes its share
        (100, [0, 36], 75),  # tomorrow's has tomorrow's requests
        (100, [11.5], 30),  # only half an hour of it is today
        (54, [-1], 72),  # 55 min are left over 46 requests
        (54, [-9], 30),  # long over and not finished yet: another quarter of an hour
        (100, [], 30),
        (8, [0], None),  # what is left is the reserve
        (0, [0], None),
    ],
)
def test_a_small_plan_is_spread_over_the_time_that_todays_matches_are_in_play(
    remaining: int, kickoffs: list[float], seconds: int | None
) -> None:
    allowed = small_plan_pace(Quota(NOON, 100, remaining), NOON, POLL, [NOON + hours * H for hours in kickoffs])
    assert (allowed.interval and round(allowed.interval.total_seconds())) == seconds
    assert f"{remaining} of 100 requests are left until 00:00 UTC" in allowed.reason


def test_a_small_plan_has_all_its_requests_again_the_next_day() -> None:
    allowed = small_plan_pace(Quota(NOON - 24 * H, 100, 0), NOON, POLL, [NOON])
    assert (allowed.interval and round(allowed.interval.total_seconds())) == 75


def test_an_evening_of_eight_matches_fits_into_a_free_key() -> None:
    """Simulated minute by minute: all are asked for until their end, and the requests last."""
    kickoffs = [NOON + 5 * H] * 3 + [NOON + 7.5 * H] * 5
    asked: dict[int, list[datetime]] = {number: [] for number in range(8)}
    remaining, now = 97, NOON
    while now < NOON + 12 * H:
        ahead = [kickoff for kickoff in kickoffs if now < kickoff + 2 * H]
        allowed = small_plan_pace(Quota(now, 100, remaining), now, POLL, ahead)
        for number, kickoff in enumerate(kickoffs):
            is_on = kickoff <= now < kickoff + 2 * H and allowed.interval is not None
            if is_on and (not asked[number] or now - asked[number][-1] >= (allowed.interval or H)):
                asked[number].append(now)
                remaining -= 1
        now += POLL
    assert remaining >= 0
    for number, kickoff in enumerate(kickoffs):
        assert len(asked[number]) >= 8
        assert asked[number][-1] >= kickoff + timedelta(minutes=95)


NONE = PollPace(None, slowed=True)


@pytest.mark.parametrize(
    ("listed_by", "paces", "seconds"),
    [
        ("espn", {"espn": PollPace(timedelta(seconds=30), slowed=False)}, 30),
        ("api", {"api": PollPace(timedelta(minutes=23), slowed=True)}, 23 * 60),
        ("api espn", {"api": PollPace(timedelta(minutes=23), slowed=True), "espn": PollPace(POLL, slowed=False)}, 30),
        ("api", {"api": NONE}, 86_400),
        ("api", {"espn": PollPace(POLL, slowed=False)}, None),
    ],
)
def test_a_match_is_polled_at_the_interval_of_its_fastest_feed(
    listed_by: str, paces: dict[str, PollPace], seconds: float | None
) -> None:
    fixture = match()
    monitored = MonitoredFixture(
        id=1,
        stage=FixtureStage.ACTIVE,
        status="1H",
        kickoff=NOON,
        home=fixture.home,
        away=fixture.away,
        league=fixture.league,
        listings=tuple(FeedListing(feed, 1) for feed in listed_by.split()),
    )
    expected = {} if seconds is None else {1: timedelta(seconds=seconds)}
    assert poll_intervals([monitored], paces) == expected


@pytest.mark.parametrize(
    ("limit", "remaining", "minutes"),
    [
        (None, None, 10),  # the feed states no quota
        (75_000, 70_000, 10),
        (7_500, 7_000, 19.2),  # 75 lists a day
        (7_500, 150, None),  # the rest is reserved
        (100, 60, 360),
        (100, 8, None),
    ],
)
def test_listing_the_days_matches_again_costs_one_percent_of_the_quota(
    limit: int | None, remaining: int | None, minutes: float | None
) -> None:
    interval = discovery_interval(Quota(NOON, limit, remaining), timedelta(minutes=10))
    assert interval == (None if minutes is None else timedelta(minutes=minutes))
