"""Which matches a feed is asked for in a poll, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, Protocol, TypeVar

from found_footy.domain.feeds.lives import is_paused
from found_footy.domain.feeds.monitoring import MatchLife, MonitorRecord, Priority, match_id
from found_footy.domain.fixtures.model import Stage
from found_footy.domain.fixtures.statuses import PHASES, Phase

RARELY = timedelta(hours=6)
"""Between two requests for an upcoming or finished match under a small plan."""
_NEVER = datetime.min.replace(tzinfo=UTC)


class Followed(Protocol):
    """What has to be known of a match at a feed. Stage, status and kick-off are those of our fixture."""

    @property
    def feed(self) -> str: ...

    @property
    def feed_id(self) -> int: ...

    @property
    def stage(self) -> Stage: ...

    @property
    def status(self) -> str: ...

    @property
    def kickoff(self) -> datetime: ...

    @property
    def completed_at(self) -> datetime | None: ...


FollowedT = TypeVar("FollowedT", bound=Followed)


@dataclass(frozen=True, slots=True)
class Request(Generic[FollowedT]):
    """A match that is due."""

    listing: FollowedT
    priority: Priority
    heard_at: datetime | None = None
    """When this feed last answered for it."""


@dataclass(frozen=True, slots=True)
class SchedulingRules:
    imminent: timedelta = timedelta(hours=1)
    staging_poll: timedelta = timedelta(minutes=15)
    completed_poll: timedelta = timedelta(minutes=5)
    archive: timedelta = timedelta(hours=24)


def priority_of(
    stage: Stage, status: str, kickoff: datetime, now: datetime, imminent: timedelta = timedelta(hours=1)
) -> Priority:
    """COMPLETED also holds what is not soon: nobody waits for either.

    A break is not the end of a match, so it is LIVE for as long as its fixture is active. A status that we do not
    know (yet) counts as play.
    """
    phase = PHASES.get(status, Phase.IN_PLAY)
    # An hour of TBD is made up and that of PST is over, so only NS starts by the clock.
    starts_soon = status == "NS" and kickoff <= now + imminent
    match stage:
        case Stage.ACTIVE if phase is Phase.UPCOMING and kickoff > now:
            return Priority.IMMINENT
        case Stage.ACTIVE:
            return Priority.LIVE
        case Stage.STAGING if starts_soon:
            return Priority.IMMINENT
        case _:
            return Priority.COMPLETED


def due(
    listings: Iterable[FollowedT],
    records: Mapping[str, MonitorRecord],
    missing: Collection[str],
    now: datetime,
    rules: SchedulingRules,
) -> list[Request[FollowedT]]:
    """In the order in which to ask: by priority, then those that were not heard of for longest.

    `records` are by match id at the feed; `missing` are the ids that the feed has just said it does not know.
    """
    requests = []
    for listing in listings:
        name = match_id(listing.feed, listing.feed_id)
        record = records.get(name)
        if name in missing or (record is not None and is_paused(record, now)):
            continue
        priority = priority_of(listing.stage, listing.status, listing.kickoff, now, rules.imminent)
        if _is_its_time(listing, priority, record, now, rules):
            requests.append(Request(listing, priority, record.updated_at if record else None))
    return sorted(requests, key=lambda one: (one.priority, one.heard_at or _NEVER, one.listing.feed_id))


def within_means(
    requests: Sequence[Request[FollowedT]],
    records: Mapping[str, MonitorRecord],
    now: datetime,
    interval: timedelta,
    *,
    others: bool,
) -> list[Request[FollowedT]]:
    """What a small plan asks for: matches in play, each after its interval; the `others` only every few hours."""

    def is_due(request: Request[FollowedT]) -> bool:
        in_play = request.priority is Priority.LIVE
        record = records.get(match_id(request.listing.feed, request.listing.feed_id))
        if record is None or record.asked_at is None:
            return in_play or others
        return (in_play or others) and now - record.asked_at >= (interval if in_play else RARELY)

    return [request for request in requests if is_due(request)]


def is_archived(listing: Followed, record: MonitorRecord | None, now: datetime, rules: SchedulingRules) -> bool:
    """Whether it has been over for so long that it is not asked for any more."""
    if listing.stage is not Stage.COMPLETED:
        return False
    if record is not None and record.life is MatchLife.ARCHIVED:
        return True
    since = listing.completed_at or (record.completed_at if record else None) or listing.kickoff
    return now - since >= rules.archive


def interval_start(now: datetime, interval: timedelta) -> datetime:
    """Counted from the full hour, so that all matches of one kind share their requests."""
    return now - timedelta(seconds=now.timestamp() % interval.total_seconds())


def depths(requests: Sequence[Request[FollowedT]]) -> Mapping[Priority, int]:
    """How many there are of each priority."""
    counted = Counter(request.priority for request in requests)
    return {priority: counted[priority] for priority in Priority}


def _is_its_time(
    listing: Followed, priority: Priority, record: MonitorRecord | None, now: datetime, rules: SchedulingRules
) -> bool:
    if priority is not Priority.COMPLETED:
        return True
    if is_archived(listing, record, now, rules):
        return False
    interval = rules.completed_poll if listing.stage is Stage.COMPLETED else rules.staging_poll
    return record is None or record.asked_at is None or record.asked_at < interval_start(now, interval)
