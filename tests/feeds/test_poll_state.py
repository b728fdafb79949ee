"""The state of a match at a feed: a table, and what leads from one state to the next."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.errors import (
    BrowserUnavailable,
    CacheUnavailable,
    FeedBusy,
    FeedMalformed,
    FeedUnavailable,
    FootyError,
    MissingFromResponse,
    PageLoadFailed,
)
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, MonitoringState
from found_footy.feeds.poll_state import (
    TRANSITIONS,
    MonitoringEvent,
    MonitoringRules,
    advance,
    after_failure,
    after_success,
    find_no_report_reason,
    is_paused,
    is_unreachable,
    new_record,
    resume,
)

NOW = datetime(2026, 3, 7, 15, 0, tzinfo=UTC)
RULES = MonitoringRules()
DOWN = FeedUnavailable("espn: HTTP 503")


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def a_record(state: str = "active", **changes: object) -> MatchMonitoringRecord:
    record = new_record("espn", 401, MatchPriority.LIVE, NOW, title="Arsenal v Spurs")
    return replace(record, state=MonitoringState(state), **changes)  # type: ignore[arg-type]


def failed(
    record: MatchMonitoringRecord, times: int, now: datetime = NOW, error: FootyError = DOWN
) -> MatchMonitoringRecord:
    for _ in range(times):
        record = after_failure(record, error, now, RULES)
    return record


LIVES = [
    # state         answered     over         failed too often  aged
    ("discovered", "active", "completed", "paused", "discovered"),
    ("active", "active", "completed", "paused", "active"),
    ("paused", "active", "completed", "paused", "paused"),
    ("completed", "active", "completed", "completed", "archived"),
    ("archived", "active", "archived", "archived", "archived"),
]


@pytest.mark.parametrize("row", LIVES, ids=lambda row: row[0])
def test_where_each_event_leads(row: tuple[str, ...]) -> None:
    before, *afterwards = row
    for event, after in zip(MonitoringEvent, afterwards, strict=True):
        assert TRANSITIONS.get((MonitoringState(before), event), MonitoringState(before)) is MonitoringState(after), (
            event
        )


def test_the_first_good_answer_makes_a_match_active() -> None:
    record = after_success(new_record("espn", 401, MatchPriority.LIVE, NOW), NOW, is_over=False)
    assert (record.state, record.priority) == (MonitoringState.ACTIVE, MatchPriority.LIVE)
    assert (record.updated_at, record.asked_at, record.total, record.total_failures) == (NOW, NOW, 1, 0)


@pytest.mark.parametrize(("failures", "state"), [(1, "active"), (4, "active"), (5, "paused"), (6, "paused")])
def test_five_failures_in_a_row_pause_a_match(failures: int, state: str) -> None:
    record = failed(a_record(), failures)
    assert record.state is MonitoringState(state)
    assert record.paused_until == (NOW + RULES.cool_down if state == "paused" else None)
    assert (record.consecutive_failures, record.total_failures) == (failures, failures)
    assert record.error == "FeedUnavailable: espn: HTTP 503"


def test_a_good_answer_between_failures_forgives_them() -> None:
    record = after_success(failed(a_record(), 4), NOW, is_over=False)
    assert failed(record, 4).state is MonitoringState.ACTIVE
    assert (record.error, record.consecutive_failures, record.total_failures) == (None, 0, 4)


def test_a_pause_ends_with_its_time_and_a_good_answer() -> None:
    paused = failed(a_record(), 5)
    assert is_paused(paused, NOW + seconds(119))
    assert not is_paused(paused, NOW + seconds(120)), "it may be tried again"
    assert paused.state is MonitoringState.PAUSED, "which alone does not end the pause"
    back = after_success(paused, NOW + seconds(121), is_over=False)
    assert (back.state, back.paused_until, back.consecutive_failures) == (MonitoringState.ACTIVE, None, 0)


def test_one_failure_after_the_cool_down_pauses_again() -> None:
    later = NOW + seconds(130)
    again = failed(failed(a_record(), 5), 1, later)
    assert (again.state, again.paused_until) == (MonitoringState.PAUSED, later + RULES.cool_down)


def test_a_match_can_end_while_it_is_paused() -> None:
    paused = failed(a_record(), 5)
    by_this_feed = after_success(paused, NOW + seconds(130), is_over=True)
    by_another = advance(paused, NOW + seconds(10), RULES, completed_at=NOW + seconds(5))
    for record in (by_this_feed, by_another):
        assert (record.state, record.priority, record.paused_until) == (
            MonitoringState.COMPLETED,
            MatchPriority.COMPLETED,
            None,
        )
    assert by_another.completed_at == NOW + seconds(5)


def test_a_match_that_is_over_is_not_paused_by_failures() -> None:
    record = failed(after_success(a_record(), NOW, is_over=True), 9)
    assert (record.state, record.paused_until, record.total_failures) == (MonitoringState.COMPLETED, None, 9)


@pytest.mark.parametrize(("hours", "state"), [(0, "completed"), (23.99, "completed"), (24, "archived")])
def test_a_match_is_archived_a_day_after_its_end_despite_new_snapshots(hours: float, state: str) -> None:
    record = after_success(a_record(), NOW, is_over=True)
    record = after_success(record, NOW + timedelta(hours=hours), is_over=True)
    assert advance(record, NOW + timedelta(hours=hours), RULES).state is MonitoringState(state)


@pytest.mark.parametrize("state", ["discovered", "active", "paused", "completed"])
def test_a_match_that_ended_in_another_feed_is_archived(state: str) -> None:
    record = advance(a_record(state), NOW + timedelta(hours=25), RULES, completed_at=NOW)
    assert record.state is MonitoringState.ARCHIVED
    assert advance(record, NOW + timedelta(hours=50), RULES, completed_at=NOW) == record


@pytest.mark.parametrize("state", ["completed", "archived"])
def test_a_retracted_full_time_reactivates_the_match(state: str) -> None:
    record = after_success(a_record(state, completed_at=NOW), NOW, is_over=False)
    assert (record.state, record.completed_at) == (MonitoringState.ACTIVE, None)


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (DOWN, True),
        (FeedMalformed("espn: not JSON"), True),
        (MissingFromResponse("espn: 401 is not in the answer"), True),
        (FeedBusy("espn: no turn"), False),
        (BrowserUnavailable("no browser"), False),
        (PageLoadFailed("no connection"), True),
        (CacheUnavailable("redis://h cannot be reached"), False),
    ],
)
def test_our_own_errors_do_not_count_against_a_feed(error: FootyError, counts: bool) -> None:
    record = failed(a_record(), 9, error=error)
    assert (record.state is MonitoringState.PAUSED) is counts
    assert record.total_failures == (9 if counts else 0)
    assert record.error == f"{error.kind}: {error}"


def test_a_long_story_of_a_feed_is_cut() -> None:
    assert len(failed(a_record(), 1, error=FeedMalformed("x" * 100_000)).error or "") == 300


@pytest.mark.parametrize(
    ("state", "until", "expected"),
    [
        ("paused", NOW + seconds(90), NOW),
        ("paused", NOW, NOW),
        ("paused", NOW - seconds(90), NOW - seconds(90)),
        ("active", None, None),
    ],
)
def test_ending_a_pause_keeps_the_failure_count(state: str, until: datetime | None, expected: datetime | None) -> None:
    record = a_record(state, paused_until=until, consecutive_failures=6)
    ended = resume(record, NOW)
    assert ended == replace(record, paused_until=expected)
    assert not is_paused(ended, NOW)


# --- Matches without a new report.


LEFT_OUT, GONE = "MissingFromResponse: left out", "FeedUnavailable: gone"


@pytest.mark.parametrize(
    ("errors", "listings", "unreachable", "reason"),
    [
        ((), 0, True, None),  # no feed that lists it is enabled
        ((), 2, False, None),
        ((None,), 1, False, None),
        ((LEFT_OUT,), 1, True, f"feed0: {LEFT_OUT}"),
        ((LEFT_OUT,), 2, False, f"feed0: {LEFT_OUT}"),  # the other one was never asked
        ((LEFT_OUT, LEFT_OUT), 2, True, f"feed0: {LEFT_OUT}; feed1: {LEFT_OUT}"),
        ((LEFT_OUT, GONE), 2, True, f"feed0: {LEFT_OUT}; feed1: {GONE}"),
        ((LEFT_OUT, None), 2, False, None),
    ],
)
def test_a_match_is_unreachable_if_each_feed_that_lists_it_fails_or_omits_it(
    errors: tuple[str | None, ...], listings: int, unreachable: bool, reason: str | None
) -> None:
    records = [
        MatchMonitoringRecord(f"feed{n}", 1, MonitoringState.ACTIVE, MatchPriority.LIVE, NOW, error=error)
        for n, error in enumerate(errors)
    ]
    assert is_unreachable(records, listings) is unreachable
    found = find_no_report_reason(records)
    assert (str(found) if found else None) == reason
