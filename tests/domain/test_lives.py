"""The life of a match at a feed: a table, and what leads from one state to the next."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.domain.errors import (
    BrowserAway,
    CacheUnavailable,
    FeedBusy,
    FeedMalformed,
    FeedUnavailable,
    FootyError,
    NotInAnswer,
    PageNotOpened,
)
from found_footy.domain.feeds.lives import (
    TRANSITIONS,
    LifeEvent,
    LifeRules,
    after_failure,
    after_success,
    as_time_goes,
    changed_by_time,
    discovered,
    is_paused,
    pause_ended,
)
from found_footy.domain.feeds.monitoring import MatchLife, MonitorRecord, Priority

NOW = datetime(2026, 3, 7, 15, 0, tzinfo=UTC)
RULES = LifeRules()
DOWN = FeedUnavailable("espn: HTTP 503")


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def a_record(life: str = "active", **changes: object) -> MonitorRecord:
    record = discovered("espn", 401, Priority.LIVE, NOW, title="Arsenal v Spurs")
    return replace(record, life=MatchLife(life), **changes)  # type: ignore[arg-type]


def failed(record: MonitorRecord, times: int, now: datetime = NOW, error: FootyError = DOWN) -> MonitorRecord:
    for _ in range(times):
        record = after_failure(record, error, now, RULES)
    return record


LIVES = [
    # life         answered     over         failed too often  aged
    ("discovered", "active", "completed", "paused", "discovered"),
    ("active", "active", "completed", "paused", "active"),
    ("paused", "active", "completed", "paused", "paused"),
    ("completed", "active", "completed", "completed", "archived"),
    ("archived", "active", "archived", "archived", "archived"),
]


@pytest.mark.parametrize("row", LIVES, ids=lambda row: row[0])
def test_where_each_event_leads(row: tuple[str, ...]) -> None:
    before, *afterwards = row
    for event, after in zip(LifeEvent, afterwards, strict=True):
        assert TRANSITIONS.get((MatchLife(before), event), MatchLife(before)) is MatchLife(after), event


def test_the_first_good_answer_makes_a_match_active() -> None:
    record = after_success(discovered("espn", 401, Priority.IMMINENT, NOW), NOW, over=False, priority=Priority.LIVE)
    assert (record.life, record.priority) == (MatchLife.ACTIVE, Priority.LIVE)
    assert (record.updated_at, record.asked_at, record.total, record.total_failures) == (NOW, NOW, 1, 0)


@pytest.mark.parametrize(("failures", "life"), [(1, "active"), (4, "active"), (5, "paused"), (6, "paused")])
def test_five_failures_in_a_row_pause_a_match(failures: int, life: str) -> None:
    record = failed(a_record(), failures)
    assert record.life is MatchLife(life)
    assert record.paused_until == (NOW + RULES.cool_down if life == "paused" else None)
    assert (record.failures_in_a_row, record.total_failures) == (failures, failures)
    assert record.error == "FeedUnavailable: espn: HTTP 503"


def test_a_good_answer_between_failures_forgives_them() -> None:
    record = after_success(failed(a_record(), 4), NOW, over=False)
    assert failed(record, 4).life is MatchLife.ACTIVE
    assert (record.error, record.failures_in_a_row, record.total_failures) == (None, 0, 4)


def test_a_pause_ends_with_its_time_and_a_good_answer() -> None:
    paused = failed(a_record(), 5)
    assert is_paused(paused, NOW + seconds(119))
    assert not is_paused(paused, NOW + seconds(120)), "it may be tried again"
    assert paused.life is MatchLife.PAUSED, "which alone does not end the pause"
    back = after_success(paused, NOW + seconds(121), over=False)
    assert (back.life, back.paused_until, back.failures_in_a_row) == (MatchLife.ACTIVE, None, 0)


def test_one_failure_after_the_cool_down_pauses_again() -> None:
    later = NOW + seconds(130)
    again = failed(failed(a_record(), 5), 1, later)
    assert (again.life, again.paused_until) == (MatchLife.PAUSED, later + RULES.cool_down)


def test_a_match_can_end_while_it_is_paused() -> None:
    paused = failed(a_record(), 5)
    by_this_feed = after_success(paused, NOW + seconds(130), over=True)
    by_another = as_time_goes(paused, NOW + seconds(10), RULES, completed_at=NOW + seconds(5))
    for record in (by_this_feed, by_another):
        assert (record.life, record.priority, record.paused_until) == (MatchLife.COMPLETED, Priority.COMPLETED, None)
    assert by_another.completed_at == NOW + seconds(5)


def test_a_match_that_is_over_is_not_paused_by_failures() -> None:
    record = failed(after_success(a_record(), NOW, over=True), 9)
    assert (record.life, record.paused_until, record.total_failures) == (MatchLife.COMPLETED, None, 9)


@pytest.mark.parametrize(("hours", "life"), [(0, "completed"), (23.99, "completed"), (24, "archived")])
def test_a_match_is_archived_a_day_after_its_end_however_often_it_was_heard_of(hours: float, life: str) -> None:
    record = after_success(a_record(), NOW, over=True)
    record = after_success(record, NOW + timedelta(hours=hours), over=True)
    assert as_time_goes(record, NOW + timedelta(hours=hours), RULES).life is MatchLife(life)


@pytest.mark.parametrize("life", ["discovered", "active", "paused", "completed"])
def test_a_match_that_ended_elsewhere_is_archived_whatever_this_feed_was_doing(life: str) -> None:
    record = as_time_goes(a_record(life), NOW + timedelta(hours=25), RULES, completed_at=NOW)
    assert record.life is MatchLife.ARCHIVED
    assert as_time_goes(record, NOW + timedelta(hours=50), RULES, completed_at=NOW) == record


def test_only_what_time_changes_has_to_be_saved() -> None:
    old, young = a_record("completed", completed_at=NOW), a_record("completed", completed_at=NOW + seconds(1))
    assert changed_by_time([old, young, a_record()], NOW + RULES.archive, RULES) == [
        replace(old, life=MatchLife.ARCHIVED, priority=Priority.COMPLETED)
    ]


@pytest.mark.parametrize("life", ["completed", "archived"])
def test_a_final_whistle_that_is_taken_back_brings_the_match_back(life: str) -> None:
    record = after_success(a_record(life, completed_at=NOW), NOW, over=False, priority=Priority.LIVE)
    assert (record.life, record.priority, record.completed_at) == (MatchLife.ACTIVE, Priority.LIVE, None)


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (DOWN, True),
        (FeedMalformed("espn: not JSON"), True),
        (NotInAnswer("espn: 401 is not in the answer"), True),
        (FeedBusy("espn: no turn"), False),
        (BrowserAway("no browser"), False),
        (PageNotOpened("no connection"), True),
        (CacheUnavailable("redis://h cannot be reached"), False),
    ],
)
def test_what_is_our_own_fault_is_not_held_against_a_feed(error: FootyError, counts: bool) -> None:
    record = failed(a_record(), 9, error=error)
    assert (record.life is MatchLife.PAUSED) is counts
    assert record.total_failures == (9 if counts else 0)
    assert record.error == f"{error.kind}: {error}"


def test_a_long_story_of_a_feed_is_cut() -> None:
    assert len(failed(a_record(), 1, error=FeedMalformed("x" * 100_000)).error or "") == 300


@pytest.mark.parametrize(
    ("life", "until", "expected"),
    [
        ("paused", NOW + seconds(90), NOW),
        ("paused", NOW, NOW),
        ("paused", NOW - seconds(90), NOW - seconds(90)),
        ("active", None, None),
    ],
)
def test_a_pause_that_is_ended_lets_it_be_asked_for_and_forgives_nothing(
    life: str, until: datetime | None, expected: datetime | None
) -> None:
    record = a_record(life, paused_until=until, failures_in_a_row=6)
    ended = pause_ended(record, NOW)
    assert ended == replace(record, paused_until=expected)
    assert not is_paused(ended, NOW)
