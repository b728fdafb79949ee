"""How much of a feed's allowance is left, and how fast we may still ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

LOW = 0.25
"""Below this share of the day's requests, the rest is spread over the rest of the day."""
RESERVE = 0.02
"""This share is kept for ingest and for an operator's own calls."""
SMALL_DAY = 1000
"""Plans with at most so many requests a day cannot bear a poll of every match at every cycle."""
SMALL_RESERVE = 8
"""Requests of a small plan that are kept for ingest: three days, at the start and at midnight."""
MATCH_LENGTH = timedelta(minutes=115)
"""From kick-off to the final whistle, with half-time and stoppage time."""
LAST_MINUTES = timedelta(minutes=15)
"""What a match that should be over may still take."""


@dataclass(frozen=True, slots=True)
class Quota:
    """As the feed's headers said at `read_at`. A field is None where the feed does not tell."""

    read_at: datetime
    day_limit: int | None = None
    day_remaining: int | None = None
    minute_limit: int | None = None
    minute_remaining: int | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """`interval` between polls; None means: not at all before the quota is renewed."""

    interval: timedelta | None
    slowed: bool
    reason: str = ""

    def permits(self, last: datetime | None, now: datetime) -> bool:
        if not self.slowed:
            return True
        return self.interval is not None and (last is None or now - last >= self.interval)


def next_reset(now: datetime) -> datetime:
    """Daily quotas are renewed at 00:00 UTC."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def pace(quota: Quota | None, now: datetime, normal: timedelta, requests_per_poll: int) -> Pace:
    """The interval that the day's allowance bears."""
    if quota is None or not quota.day_limit or quota.day_remaining is None:
        return Pace(normal, slowed=False)
    if quota.read_at.date() < now.date():
        return Pace(normal, slowed=False)  # renewed since it was read
    if quota.day_remaining > LOW * quota.day_limit:
        return Pace(normal, slowed=False)
    left = f"{quota.day_remaining} of {quota.day_limit} requests are left until 00:00 UTC"
    spendable = quota.day_remaining - max(1, round(RESERVE * quota.day_limit))
    polls = spendable // max(1, requests_per_poll)
    if polls <= 0:
        return Pace(None, slowed=True, reason=left)
    sustainable = (next_reset(now) - now) / polls
    if sustainable <= normal:
        return Pace(normal, slowed=False)
    return Pace(sustainable, slowed=True, reason=left)


def is_small(quota: Quota | None) -> bool:
    return quota is not None and quota.day_limit is not None and 0 < quota.day_limit <= SMALL_DAY


def spread(quota: Quota, now: datetime, normal: timedelta, kickoffs: Iterable[datetime]) -> Pace:
    """How often each match in play may be asked for under a small plan, so that the day's requests last for all.

    `kickoffs` are those of the matches that are in play or still to come. One request buys one look at one match, so
    the interval is all the time that today's matches will still be in play, divided by the requests that are left.
    """
    limit, remaining = quota.day_limit or 0, quota.day_remaining
    if remaining is None or quota.read_at.date() < now.date():
        remaining = limit
    left = f"{remaining} of {limit} requests are left until 00:00 UTC"
    spendable = remaining - min(SMALL_RESERVE, limit // 4)
    if spendable <= 0:
        return Pace(None, slowed=True, reason=left)
    ahead = sum((_in_play_today(kickoff, now) for kickoff in kickoffs), timedelta(0))
    interval = max(normal, ahead / spendable)
    every = f"each match in play is asked for every {interval.total_seconds():.0f} s"
    return Pace(interval, slowed=True, reason=f"{left}; {every}")


def _in_play_today(kickoff: datetime, now: datetime) -> timedelta:
    end = next_reset(now)
    if kickoff >= end:
        return timedelta(0)
    if kickoff > now:
        return min(MATCH_LENGTH, end - kickoff)
    return min(max(LAST_MINUTES, kickoff + MATCH_LENGTH - now), end - now)


def may_ask_this_minute(quota: Quota | None, now: datetime) -> bool:
    if quota is None or quota.minute_remaining is None or quota.minute_remaining > 0:
        return True
    return now - quota.read_at >= timedelta(minutes=1)
