"""State machine for one match at one feed: discovered, active, paused after failures, completed, archived.

The fixture itself has a separate lifecycle (`fixtures/lifecycle`) across all feeds. This one covers one feed: a feed
that fails for a match is paused for it, regardless of the other feeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.errors import CacheUnavailable, FeedBusy, FeedUnavailable, FootyError
from found_footy.feeds.models import MatchMonitoringRecord, MatchPosition, MatchPriority, MonitoringState
from found_footy.text import shorten


class MonitoringEvent(StrEnum):
    ANSWERED = "answered"
    """A good answer for a match that is not over."""
    OVER = "over"
    """The match is over, according to this feed or another one."""
    FAILED_TOO_OFTEN = "failed_too_often"
    EXPIRED = "expired"
    """The match ended so long ago that no change is expected."""


TRANSITIONS: Mapping[tuple[MonitoringState, MonitoringEvent], MonitoringState] = {
    (MonitoringState.DISCOVERED, MonitoringEvent.ANSWERED): MonitoringState.ACTIVE,
    (MonitoringState.DISCOVERED, MonitoringEvent.OVER): MonitoringState.COMPLETED,
    (MonitoringState.DISCOVERED, MonitoringEvent.FAILED_TOO_OFTEN): MonitoringState.PAUSED,
    (MonitoringState.ACTIVE, MonitoringEvent.ANSWERED): MonitoringState.ACTIVE,
    (MonitoringState.ACTIVE, MonitoringEvent.OVER): MonitoringState.COMPLETED,
    (MonitoringState.ACTIVE, MonitoringEvent.FAILED_TOO_OFTEN): MonitoringState.PAUSED,
    (MonitoringState.PAUSED, MonitoringEvent.ANSWERED): MonitoringState.ACTIVE,
    (MonitoringState.PAUSED, MonitoringEvent.OVER): MonitoringState.COMPLETED,
    (MonitoringState.PAUSED, MonitoringEvent.FAILED_TOO_OFTEN): MonitoringState.PAUSED,
    # Polled again if the feed reverts full time, or if an abandoned match is resumed.
    (MonitoringState.COMPLETED, MonitoringEvent.ANSWERED): MonitoringState.ACTIVE,
    (MonitoringState.COMPLETED, MonitoringEvent.OVER): MonitoringState.COMPLETED,
    # Completed matches are polled rarely, so failures do not pause them.
    (MonitoringState.COMPLETED, MonitoringEvent.FAILED_TOO_OFTEN): MonitoringState.COMPLETED,
    (MonitoringState.COMPLETED, MonitoringEvent.EXPIRED): MonitoringState.ARCHIVED,
    (MonitoringState.ARCHIVED, MonitoringEvent.ANSWERED): MonitoringState.ACTIVE,
    (MonitoringState.ARCHIVED, MonitoringEvent.OVER): MonitoringState.ARCHIVED,
    (MonitoringState.ARCHIVED, MonitoringEvent.FAILED_TOO_OFTEN): MonitoringState.ARCHIVED,
    (MonitoringState.ARCHIVED, MonitoringEvent.EXPIRED): MonitoringState.ARCHIVED,
}
"""Transitions. An event that is not listed leaves the state unchanged (only a completed match expires)."""


@dataclass(frozen=True, slots=True)
class MonitoringRules:
    pause_failures: int = 5
    cool_down: timedelta = timedelta(seconds=120)
    archive: timedelta = timedelta(hours=24)


def new_record(
    feed: str, feed_id: int, priority: MatchPriority, now: datetime, title: str = ""
) -> MatchMonitoringRecord:
    """Return the record of a match that has none: it is new, or its record was lost with the cache."""
    return MatchMonitoringRecord(feed, feed_id, MonitoringState.DISCOVERED, priority, created_at=now, title=title)


def after_success(
    record: MatchMonitoringRecord,
    now: datetime,
    *,
    is_over: bool,
    position: MatchPosition | None = None,
) -> MatchMonitoringRecord:
    """Record a good answer and reset the failures. `is_over` is whether the answer reports the end of the match."""
    answered = replace(
        record,
        updated_at=now,
        asked_at=now,
        consecutive_failures=0,
        total=record.total + 1,
        error=None,
        position=position,
    )
    return _apply_event(answered, MonitoringEvent.OVER if is_over else MonitoringEvent.ANSWERED, now)


def after_failure(
    record: MatchMonitoringRecord, error: FootyError, now: datetime, rules: MonitoringRules
) -> MatchMonitoringRecord:
    """Record a failed request. Failures are kept across a pause: the first one after it pauses again."""
    message = shorten(f"{error.kind}: {error}")
    if not is_feed_failure(error):
        return replace(record, error=message)
    failed = replace(
        record,
        asked_at=now,
        consecutive_failures=record.consecutive_failures + 1,
        total=record.total + 1,
        total_failures=record.total_failures + 1,
        error=message,
    )
    if failed.consecutive_failures < rules.pause_failures:
        return failed
    paused = _apply_event(failed, MonitoringEvent.FAILED_TOO_OFTEN, now)
    return replace(paused, paused_until=now + rules.cool_down) if paused.state is MonitoringState.PAUSED else paused


def is_feed_failure(error: FootyError) -> bool:
    """Return whether the feed caused the error, rather than our rate limits or cache."""
    return not isinstance(error, (FeedBusy, CacheUnavailable))


def advance(
    record: MatchMonitoringRecord, now: datetime, rules: MonitoringRules, completed_at: datetime | None = None
) -> MatchMonitoringRecord:
    """Update the record without an answer. `completed_at` is when the fixture was completed, if it is.

    A match may end while this feed is paused or down; it is still archived.
    """
    if completed_at is not None and record.state is not MonitoringState.ARCHIVED:
        record = _apply_event(record, MonitoringEvent.OVER, completed_at)
    if record.completed_at is not None and now - record.completed_at >= rules.archive:
        record = _apply_event(record, MonitoringEvent.EXPIRED, now)
    return record


def is_paused(record: MatchMonitoringRecord, now: datetime) -> bool:
    """Return whether the pause has not expired yet."""
    return record.state is MonitoringState.PAUSED and record.paused_until is not None and now < record.paused_until


def resume(record: MatchMonitoringRecord, now: datetime) -> MatchMonitoringRecord:
    """End the pause: the match is polled immediately, and one more failure pauses it again."""
    return replace(record, paused_until=now) if is_paused(record, now) else record


def _apply_event(record: MatchMonitoringRecord, event: MonitoringEvent, at: datetime) -> MatchMonitoringRecord:
    state = TRANSITIONS.get((record.state, event), record.state)
    is_over = state in (MonitoringState.COMPLETED, MonitoringState.ARCHIVED)
    priority = MatchPriority.COMPLETED if is_over else record.priority
    completed_at = (record.completed_at or at) if is_over else None
    paused_until = record.paused_until if state is MonitoringState.PAUSED else None
    changes = (state, priority, completed_at, paused_until)
    if changes == (record.state, record.priority, record.completed_at, record.paused_until):
        return record  # unchanged, as in most polls
    return replace(record, state=state, priority=priority, completed_at=completed_at, paused_until=paused_until)


# --- Why a match has no new report: all its feeds fail, or none of them lists it.


def is_unreachable(records: Sequence[MatchMonitoringRecord], listings: int) -> bool:
    """Return whether no feed provides the match: each that lists it fails or omits it, or none is enabled.

    `listings` is the number of enabled feeds that list it. A feed that was not polled is no evidence.
    """
    return sum(record.error is not None for record in records) == listings


def find_no_report_reason(records: Sequence[MatchMonitoringRecord]) -> FeedUnavailable | None:
    """Return the reason, or None if a feed is only slow: the match is late, but nothing has failed."""
    errors = [f"{record.feed}: {record.error}" for record in records if record.error]
    return FeedUnavailable("; ".join(errors)) if errors and len(errors) == len(records) else None
