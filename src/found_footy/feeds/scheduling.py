"""Polling priorities and pace: the remaining quota of a feed, and the matches to request."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, Protocol, TypeVar

from found_footy.feeds.models import (
    MatchMonitoringRecord,
    MatchPriority,
    MonitoredFixture,
    MonitoringState,
    Quota,
    feed_match_id,
)
from found_footy.feeds.poll_state import is_paused
from found_footy.fixtures.models import PHASES, FixtureStage, Phase

LOW_QUOTA_SHARE = 0.25
"""Below this share of the daily quota, the remaining requests are spread over the rest of the day."""
RESERVED_SHARE = 0.02
"""Share of the quota reserved for ingest and manual calls."""
DISCOVERY_SHARE = 0.01
"""Share of the quota for listing the day's matches again."""
MAX_SMALL_PLAN_REQUESTS = 1000
"""Plans with at most this many requests per day cannot poll every match in every cycle."""
SMALL_RESERVE = 8
"""Requests of a small plan reserved for ingest: three days, at startup and at midnight."""
MATCH_LENGTH = timedelta(minutes=115)
"""From kick-off to full time, including half-time and stoppage time."""
OVERRUN_ALLOWANCE = timedelta(minutes=15)
"""Time allowed for a match that should already be over."""


@dataclass(frozen=True, slots=True)
class PollPace:
    """`interval` between polls; None means no polls until the quota resets."""

    interval: timedelta | None
    slowed: bool
    reason: str = ""

    def permits(self, last: datetime | None, now: datetime) -> bool:
        if not self.slowed:
            return True
        return self.interval is not None and (last is None or now - last >= self.interval)


NO_POLL_INTERVAL = timedelta(days=1)
"""Interval of a match whose feeds wait for their quotas to be reset, which happens within a day."""


def poll_intervals(matches: Iterable[MonitoredFixture], paces: Mapping[str, PollPace]) -> dict[int, timedelta]:
    """Return the poll interval by fixture: that of its fastest feed. `paces` are those of the enabled feeds.

    A fixture that no enabled feed lists has no interval.
    """
    found = {}
    for match in matches:
        listed = [paces[each.feed] for each in match.listings if each.feed in paces]
        if listed:
            found[match.id] = min(NO_POLL_INTERVAL if pace.interval is None else pace.interval for pace in listed)
    return found


def next_reset(now: datetime) -> datetime:
    """Return the next reset of daily quotas, at 00:00 UTC."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def poll_pace(quota: Quota | None, now: datetime, normal: timedelta, requests_per_poll: int) -> PollPace:
    """Return the interval that the remaining daily quota allows."""
    if quota is None or not quota.day_limit or quota.day_remaining is None:
        return PollPace(normal, slowed=False)
    if quota.read_at.date() < now.date():
        return PollPace(normal, slowed=False)  # reset since it was read
    if quota.day_remaining > LOW_QUOTA_SHARE * quota.day_limit:
        return PollPace(normal, slowed=False)
    quota_text = f"{quota.day_remaining} of {quota.day_limit} requests are left until 00:00 UTC"
    spendable = quota.day_remaining - max(1, round(RESERVED_SHARE * quota.day_limit))
    polls = spendable // max(1, requests_per_poll)
    if polls <= 0:
        return PollPace(None, slowed=True, reason=quota_text)
    sustainable = (next_reset(now) - now) / polls
    if sustainable <= normal:
        return PollPace(normal, slowed=False)
    return PollPace(sustainable, slowed=True, reason=quota_text)


def is_small_plan(quota: Quota | None) -> bool:
    return quota is not None and quota.day_limit is not None and 0 < quota.day_limit <= MAX_SMALL_PLAN_REQUESTS


def small_plan_pace(quota: Quota, now: datetime, normal: timedelta, kickoffs: Iterable[datetime]) -> PollPace:
    """Return the poll interval per match in play under a small plan, so that the quota lasts all day.

    `kickoffs` are those of matches in play or still to start today. One request covers one match, so the interval is
    the total remaining playing time divided by the remaining requests.
    """
    limit, remaining = quota.day_limit or 0, quota.day_remaining
    if remaining is None or quota.read_at.date() < now.date():
        remaining = limit
    quota_text = f"{remaining} of {limit} requests are left until 00:00 UTC"
    spendable = remaining - min(SMALL_RESERVE, limit // 4)
    if spendable <= 0:
        return PollPace(None, slowed=True, reason=quota_text)
    playing_time = sum((_in_play_today(kickoff, now) for kickoff in kickoffs), timedelta(0))
    interval = max(normal, playing_time / spendable)
    interval_text = f"each match in play is polled every {interval.total_seconds():.0f} s"
    return PollPace(interval, slowed=True, reason=f"{quota_text}; {interval_text}")


def _in_play_today(kickoff: datetime, now: datetime) -> timedelta:
    end = next_reset(now)
    if kickoff >= end:
        return timedelta(0)
    if kickoff > now:
        return min(MATCH_LENGTH, end - kickoff)
    return min(max(OVERRUN_ALLOWANCE, kickoff + MATCH_LENGTH - now), end - now)


def discovery_interval(quota: Quota | None, normal: timedelta) -> timedelta | None:
    """Return the interval that costs at most 1 % of the daily quota; None if the rest is reserved."""
    if quota is None or not quota.day_limit:
        return normal
    reserve = SMALL_RESERVE if is_small_plan(quota) else round(RESERVED_SHARE * quota.day_limit)
    if quota.day_remaining is not None and quota.day_remaining <= reserve:
        return None
    affordable = timedelta(days=1) / (DISCOVERY_SHARE * quota.day_limit)
    return max(normal, min(affordable, RARE_POLL_INTERVAL))


def minute_quota_left(quota: Quota | None, now: datetime) -> bool:
    if quota is None or quota.minute_remaining is None or quota.minute_remaining > 0:
        return True
    return now - quota.read_at >= timedelta(minutes=1)


# --- Which matches a poll requests from a feed, and in which order.


UNIFORM_INTERVALS = 6
"""Intervals after the end of a match before they become longer."""
RARE_POLL_INTERVAL = timedelta(hours=6)
"""Interval between requests for an upcoming or finished match under a small plan."""
_NEVER = datetime.min.replace(tzinfo=UTC)


class Followed(Protocol):
    """A match at a feed. Stage, status and kick-off are those of the fixture."""

    @property
    def feed(self) -> str: ...

    @property
    def feed_id(self) -> int: ...

    @property
    def stage(self) -> FixtureStage: ...

    @property
    def status(self) -> str: ...

    @property
    def kickoff(self) -> datetime: ...

    @property
    def completed_at(self) -> datetime | None: ...


FollowedT = TypeVar("FollowedT", bound=Followed)


@dataclass(frozen=True, slots=True)
class ScrapeRequest(Generic[FollowedT]):
    """A match that is due."""

    listing: FollowedT
    priority: MatchPriority
    answered_at: datetime | None = None
    """Time of this feed's last answer for the match."""


@dataclass(frozen=True, slots=True)
class SchedulingRules:
    imminent: timedelta = timedelta(hours=1)
    staging_poll: timedelta = timedelta(minutes=15)
    completed_poll: timedelta = timedelta(minutes=5)
    archive: timedelta = timedelta(hours=24)
    discovery: timedelta = timedelta(minutes=10)
    """Interval at which today's matches of a feed are listed again: feeds add matches during the day."""


def priority_of(
    stage: FixtureStage, status: str, kickoff: datetime, now: datetime, imminent: timedelta = timedelta(hours=1)
) -> MatchPriority:
    """Return the polling priority. COMPLETED also covers matches that start later.

    A break does not end a match, so it stays LIVE while its fixture is active. An unknown status counts as in play.
    """
    phase = PHASES.get(status, Phase.IN_PLAY)
    # The time of a TBD match is a placeholder and that of a PST match has passed, so only NS starts by the clock.
    starts_soon = status == "NS" and kickoff <= now + imminent
    match stage:
        case FixtureStage.ACTIVE if phase is Phase.UPCOMING and kickoff > now:
            return MatchPriority.IMMINENT
        case FixtureStage.ACTIVE:
            return MatchPriority.LIVE
        case FixtureStage.STAGING if starts_soon:
            return MatchPriority.IMMINENT
        case _:
            return MatchPriority.COMPLETED


def due_requests(
    listings: Iterable[FollowedT],
    records: Mapping[str, MatchMonitoringRecord],
    missing: Collection[str],
    now: datetime,
    rules: SchedulingRules,
) -> list[ScrapeRequest[FollowedT]]:
    """Return the due requests by priority, then by age of the last answer, oldest first.

    `records` are keyed by match id at the feed; `missing` are ids in the negative cache.
    """
    requests = []
    for listing in listings:
        name = feed_match_id(listing.feed, listing.feed_id)
        record = records.get(name)
        if name in missing or (record is not None and is_paused(record, now)):
            continue
        priority = priority_of(listing.stage, listing.status, listing.kickoff, now, rules.imminent)
        if _is_due(listing, priority, record, now, rules):
            requests.append(ScrapeRequest(listing, priority, record.updated_at if record else None))
    return sorted(
        requests, key=lambda request: (request.priority, request.answered_at or _NEVER, request.listing.feed_id)
    )


def affordable_requests(
    requests: Sequence[ScrapeRequest[FollowedT]],
    records: Mapping[str, MatchMonitoringRecord],
    now: datetime,
    interval: timedelta,
    *,
    others: bool,
) -> list[ScrapeRequest[FollowedT]]:
    """Return the requests of a small plan: matches in play at their interval, the `others` every few hours."""

    def is_due(request: ScrapeRequest[FollowedT]) -> bool:
        in_play = request.priority is MatchPriority.LIVE
        record = records.get(feed_match_id(request.listing.feed, request.listing.feed_id))
        if record is None or record.asked_at is None:
            return in_play or others
        return (in_play or others) and now - record.asked_at >= (interval if in_play else RARE_POLL_INTERVAL)

    return [request for request in requests if is_due(request)]


def is_archived(listing: Followed, record: MatchMonitoringRecord | None, now: datetime, rules: SchedulingRules) -> bool:
    """Return whether the match ended so long ago that it is no longer polled."""
    if listing.stage is not FixtureStage.COMPLETED:
        return False
    if record is not None and record.state is MonitoringState.ARCHIVED:
        return True
    since = listing.completed_at or (record.completed_at if record else None) or listing.kickoff
    return now - since >= rules.archive


def interval_start(now: datetime, interval: timedelta) -> datetime:
    """Return the start of the interval, counted from the full hour so that similar matches share requests."""
    return now - timedelta(seconds=now.timestamp() % interval.total_seconds())


def correction_interval(since_end: timedelta, first: timedelta) -> timedelta:
    """Return the interval at which a finished match is polled: late corrections become rarer with time.

    It doubles as the time since the end doubles, so that a day takes about 20 requests instead of 288.
    """
    doublings = max(0, int(since_end / (UNIFORM_INTERVALS * first)).bit_length())
    return first * (1 << doublings)


def correction_polls(first: timedelta, archive: timedelta) -> int:
    """Return how often a finished match is polled until it is archived."""
    polls, since_end = 0, timedelta(0)
    while since_end < archive:
        polls += 1
        since_end += correction_interval(since_end, first)
    return polls


def _is_due(
    listing: Followed,
    priority: MatchPriority,
    record: MatchMonitoringRecord | None,
    now: datetime,
    rules: SchedulingRules,
) -> bool:
    if priority is not MatchPriority.COMPLETED:
        return True
    if is_archived(listing, record, now, rules):
        return False
    interval = rules.staging_poll
    if listing.stage is FixtureStage.COMPLETED:
        interval = correction_interval(now - (listing.completed_at or listing.kickoff), rules.completed_poll)
    return record is None or record.asked_at is None or record.asked_at < interval_start(now, interval)
