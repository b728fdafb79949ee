"""The life of one match at one feed: found, followed, paused after failures, over, and left alone at last.

Our own fixture has a life of its own (`fixtures/lifecycle`), which follows all feeds together. This one is about one
feed: a feed that fails for a match is left alone for a while, whatever the others say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.domain.errors import CacheUnavailable, FeedBusy, FootyError
from found_footy.domain.feeds.monitoring import MatchLife, MonitorRecord, Priority

ERROR_CHARACTERS = 300


class LifeEvent(StrEnum):
    ANSWERED = "answered"
    """A good answer, and the match is not over."""
    OVER = "over"
    """It is over, as this feed says or as we know from another."""
    FAILED_TOO_OFTEN = "failed_too_often"
    AGED = "aged"
    """It has been over for so long that nothing new is expected."""


TRANSITIONS: Mapping[tuple[MatchLife, LifeEvent], MatchLife] = {
    (MatchLife.DISCOVERED, LifeEvent.ANSWERED): MatchLife.ACTIVE,
    (MatchLife.DISCOVERED, LifeEvent.OVER): MatchLife.COMPLETED,
    (MatchLife.DISCOVERED, LifeEvent.FAILED_TOO_OFTEN): MatchLife.PAUSED,
    (MatchLife.ACTIVE, LifeEvent.ANSWERED): MatchLife.ACTIVE,
    (MatchLife.ACTIVE, LifeEvent.OVER): MatchLife.COMPLETED,
    (MatchLife.ACTIVE, LifeEvent.FAILED_TOO_OFTEN): MatchLife.PAUSED,
    (MatchLife.PAUSED, LifeEvent.ANSWERED): MatchLife.ACTIVE,
    (MatchLife.PAUSED, LifeEvent.OVER): MatchLife.COMPLETED,
    (MatchLife.PAUSED, LifeEvent.FAILED_TOO_OFTEN): MatchLife.PAUSED,
    # A feed takes its final whistle back, or an abandoned match is played after all: then it is followed again.
    (MatchLife.COMPLETED, LifeEvent.ANSWERED): MatchLife.ACTIVE,
    (MatchLife.COMPLETED, LifeEvent.OVER): MatchLife.COMPLETED,
    # It is asked for rarely enough as it is.
    (MatchLife.COMPLETED, LifeEvent.FAILED_TOO_OFTEN): MatchLife.COMPLETED,
    (MatchLife.COMPLETED, LifeEvent.AGED): MatchLife.ARCHIVED,
    (MatchLife.ARCHIVED, LifeEvent.ANSWERED): MatchLife.ACTIVE,
    (MatchLife.ARCHIVED, LifeEvent.OVER): MatchLife.ARCHIVED,
    (MatchLife.ARCHIVED, LifeEvent.FAILED_TOO_OFTEN): MatchLife.ARCHIVED,
    (MatchLife.ARCHIVED, LifeEvent.AGED): MatchLife.ARCHIVED,
}
"""Where nothing stands here (only a match that is over can age), the life stays as it is."""


@dataclass(frozen=True, slots=True)
class LifeRules:
    pause_failures: int = 5
    cool_down: timedelta = timedelta(seconds=120)
    archive: timedelta = timedelta(hours=24)


def discovered(feed: str, feed_id: int, priority: Priority, now: datetime, title: str = "") -> MonitorRecord:
    """The record of a match that has none: new, or lost with the cache."""
    return MonitorRecord(feed, feed_id, MatchLife.DISCOVERED, priority, created_at=now, title=title)


def after_success(
    record: MonitorRecord, now: datetime, *, over: bool, priority: Priority | None = None
) -> MonitorRecord:
    """A good answer: all failures are forgiven. `over` is what this answer says of the match."""
    answered = replace(
        record,
        priority=record.priority if priority is None else priority,
        updated_at=now,
        asked_at=now,
        failures_in_a_row=0,
        total=record.total + 1,
        error=None,
    )
    return _entered(answered, LifeEvent.OVER if over else LifeEvent.ANSWERED, now)


def after_failure(record: MonitorRecord, error: FootyError, now: datetime, rules: LifeRules) -> MonitorRecord:
    """A request that was given up. Failures stay counted over a pause: the first one after it pauses again."""
    said = f"{error.kind}: {error}"[:ERROR_CHARACTERS]
    if not is_the_feeds_fault(error):
        return replace(record, error=said)
    failed = replace(
        record,
        asked_at=now,
        failures_in_a_row=record.failures_in_a_row + 1,
        total=record.total + 1,
        total_failures=record.total_failures + 1,
        error=said,
    )
    if failed.failures_in_a_row < rules.pause_failures:
        return failed
    paused = _entered(failed, LifeEvent.FAILED_TOO_OFTEN, now)
    return replace(paused, paused_until=now + rules.cool_down) if paused.life is MatchLife.PAUSED else paused


def is_the_feeds_fault(error: FootyError) -> bool:
    """Our own limits and our own cache say nothing of the feed, which was not even asked."""
    return not isinstance(error, (FeedBusy, CacheUnavailable))


def as_time_goes(
    record: MonitorRecord, now: datetime, rules: LifeRules, completed_at: datetime | None = None
) -> MonitorRecord:
    """What happens without an answer of this feed. `completed_at` is when our fixture was completed, if it is.

    A match may end while this feed is paused or dead; it is archived all the same.
    """
    if completed_at is not None and record.life is not MatchLife.ARCHIVED:
        record = _entered(record, LifeEvent.OVER, completed_at)
    if record.completed_at is not None and now - record.completed_at >= rules.archive:
        record = _entered(record, LifeEvent.AGED, now)
    return record


def changed_by_time(records: Iterable[MonitorRecord], now: datetime, rules: LifeRules) -> list[MonitorRecord]:
    """Those that have to be saved anew, though nobody asked for them."""
    aged = [(record, as_time_goes(record, now, rules)) for record in records]
    return [after for before, after in aged if after != before]


def is_paused(record: MonitorRecord, now: datetime) -> bool:
    """Whether the feed is not to be asked for it yet."""
    return record.life is MatchLife.PAUSED and record.paused_until is not None and now < record.paused_until


def pause_ended(record: MonitorRecord, now: datetime) -> MonitorRecord:
    """To be asked for again at once: what it failed by may have been started anew. One more failure pauses it again."""
    return replace(record, paused_until=now) if is_paused(record, now) else record


def _entered(record: MonitorRecord, event: LifeEvent, at: datetime) -> MonitorRecord:
    life = TRANSITIONS.get((record.life, event), record.life)
    is_over = life in (MatchLife.COMPLETED, MatchLife.ARCHIVED)
    return replace(
        record,
        life=life,
        priority=Priority.COMPLETED if is_over else record.priority,
        completed_at=(record.completed_at or at) if is_over else None,
        paused_until=record.paused_until if life is MatchLife.PAUSED else None,
    )
