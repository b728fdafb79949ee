from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from found_footy.domain.feeds.quota import Pace, Quota, may_ask_this_minute, pace

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
    allowed = pace(Quota(NOON, limit, remaining), NOON, POLL, requests)
    seconds = None if allowed.interval is None else round(allowed.interval.total_seconds())
    assert (seconds, allowed.slowed) == (interval, slowed)


def test_yesterdays_quota_is_forgotten() -> None:
    assert not pace(Quota(NOON, 100, 0), NOON + timedelta(hours=12), POLL, 1).slowed


@pytest.mark.parametrize(
    ("allowed", "seconds_ago", "may"),
    [
        (Pace(POLL, slowed=False), 1, True),  # whoever is not slowed asks when it is time
        (Pace(timedelta(seconds=90), slowed=True), None, True),
        (Pace(timedelta(seconds=90), slowed=True), 60, False),
        (Pace(timedelta(seconds=90), slowed=True), 90, True),
        (Pace(None, slowed=True), 9999, False),
    ],
)
def test_when_a_slowed_poll_may_go(allowed: Pace, seconds_ago: int | None, may: bool) -> None:
    last = None if seconds_ago is None else NOON - timedelta(seconds=seconds_ago)
    assert allowed.permits(last, NOON) is may


@pytest.mark.parametrize(
    ("remaining", "seconds_ago", "may"), [(None, 0, True), (5, 0, True), (0, 10, False), (0, 60, True)]
)
def test_a_used_up_minute_is_waited_for(remaining: int | None, seconds_ago: int, may: bool) -> None:
    quota = Quota(NOON - timedelta(seconds=seconds_ago), minute_remaining=remaining)
    assert may_ask_this_minute(quota, NOON) is may
