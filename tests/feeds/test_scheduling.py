"""Which matches are asked for, how often, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from found_footy.errors import FeedUnavailable
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, feed_match_id
from found_footy.feeds.poll_state import MonitoringRules, advance, after_failure, after_success, new_record
from found_footy.feeds.scheduling import (
    SchedulingRules,
    due_requests,
    interval_start,
    is_archived,
    priority_of,
)
from found_footy.fixtures.models import PHASES, FixtureStage, Phase

NOW = datetime(2026, 3, 7, 15, 2, tzinfo=UTC)
RULES = SchedulingRules()


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


@dataclass(frozen=True)
class Asked:
    feed_id: int
    stage: FixtureStage = FixtureStage.ACTIVE
    status: str = "2H"
    kickoff: datetime = NOW - minutes(60)
    completed_at: datetime | None = None
    feed: str = "espn"


@pytest.mark.parametrize(
    ("stage", "status", "kickoff_in", "priority"),
    [
        ("active", "1H", -10, "LIVE"),
        ("active", "HT", -50, "LIVE"),
        ("active", "SUSP", -90, "LIVE"),
        ("active", "RAIN", -300, "LIVE"),
        ("active", "LUNCH", -150, "LIVE"),
        ("active", "STUMPS", -600, "LIVE"),
        ("active", "INNBRK", -200, "LIVE"),
        ("active", "FT", -115, "LIVE"),  # until it is certain
        ("active", "NS", 20, "IMMINENT"),
        ("active", "NS", 0, "LIVE"),  # should have begun: the feed may be late
        ("active", "NS", -20, "LIVE"),
        ("active", "NEW", -20, "LIVE"),  # a status that we do not know is not a reason to look away
        ("staging", "NS", 60, "IMMINENT"),
        ("staging", "NS", 61, "COMPLETED"),
        ("staging", "NS", 60 * 24, "COMPLETED"),
        ("staging", "TBD", 5, "COMPLETED"),  # its hour is made up
        ("staging", "PST", -30, "COMPLETED"),  # its hour is over
        ("staging", "SUSP", -800, "COMPLETED"),
        ("completed", "FT", -120, "COMPLETED"),
        ("completed", "ABD", 30, "COMPLETED"),
    ],
)
def test_the_priority_of_a_match(stage: str, status: str, kickoff_in: float, priority: str) -> None:
    assert priority_of(FixtureStage(stage), status, NOW + minutes(kickoff_in), NOW) is MatchPriority[priority]


def test_no_break_of_any_sport_is_the_end() -> None:
    breaks = [status for status, phase in PHASES.items() if phase in (Phase.IN_PLAY, Phase.INTERRUPTED)]
    for days in range(6):
        for status in breaks:
            assert priority_of(FixtureStage.ACTIVE, status, NOW - timedelta(days=days), NOW) is MatchPriority.LIVE


def asked(minutes_ago: float, feed_id: int = 1) -> MatchMonitoringRecord:
    record = new_record("espn", feed_id, MatchPriority.COMPLETED, NOW - minutes(100))
    return after_success(record, NOW - minutes(minutes_ago), is_over=False)


@pytest.mark.parametrize(
    ("stage", "status", "minutes_ago", "is_due"),
    [
        ("active", "2H", 0, True),  # each poll
        ("staging", "NS", 1, False),
        ("staging", "NS", 3, True),  # it is 15:02, and the interval began at 15:00
        ("completed", "FT", 1, False),
        ("completed", "FT", 3, True),
    ],
)
def test_poll_intervals_of_a_match(stage: str, status: str, minutes_ago: float, is_due: bool) -> None:
    kickoff = NOW + timedelta(days=1) if status == "NS" else NOW - minutes(100)
    listing = Asked(1, FixtureStage(stage), status, kickoff, NOW - minutes(10) if stage == "completed" else None)
    assert [one.listing.feed_id for one in due_requests([listing], {"espn_1": asked(minutes_ago)}, (), NOW, RULES)] == [
        1
    ] * is_due


def polled_at(listing: Asked, poll: timedelta, polls: int, start: datetime = NOW) -> list[datetime]:
    """When a match is asked for, in so many polls that all succeed."""
    records: dict[str, MatchMonitoringRecord] = {}
    found = []
    for number in range(polls):
        now = start + number * poll
        for request in due_requests([listing], records, (), now, RULES):
            name = feed_match_id(listing.feed, listing.feed_id)
            known = records.get(name) or new_record(listing.feed, listing.feed_id, request.priority, now)
            records[name] = after_success(known, now, is_over=listing.stage is FixtureStage.COMPLETED)
            found.append(now)
    return found


def test_a_completed_match_is_polled_ever_more_rarely_until_a_day_after_its_end() -> None:
    over = Asked(1, FixtureStage.COMPLETED, "FT", NOW - minutes(120), completed_at=NOW)
    times = polled_at(over, minutes(0.5), 2 * 60 * 25)
    gaps = [later - earlier for earlier, later in pairwise(times[1:])]
    assert gaps[:4] == [minutes(5)] * 4
    assert max(gaps) <= timedelta(hours=6)
    assert len(times) <= 25
    assert times[-1] < NOW + timedelta(hours=24)


def test_a_match_in_staging_is_polled_every_fifteen_minutes_and_each_poll_in_its_last_hour() -> None:
    waiting = Asked(1, FixtureStage.STAGING, "NS", kickoff=NOW + timedelta(hours=3))
    times = polled_at(waiting, minutes(1), 180)
    before, soon = (
        [t for t in times if t < NOW + timedelta(hours=2)],
        [t for t in times if t >= NOW + timedelta(hours=2)],
    )
    assert len(before) == 1 + 8
    assert len(soon) == 60


def test_an_overnight_stumps_break_is_requested_at_each_poll() -> None:
    assert len(polled_at(Asked(1, FixtureStage.ACTIVE, "STUMPS"), minutes(0.5), 2 * 60 * 14)) == 2 * 60 * 14


@pytest.mark.parametrize("interval", [5, 15])
def test_all_matches_of_a_kind_come_due_together(interval: int) -> None:
    assert interval_start(NOW, minutes(interval)) == NOW.replace(minute=0)


def test_the_order_is_priority_and_then_the_stalest() -> None:
    listings = [
        Asked(1),
        Asked(2, FixtureStage.COMPLETED, "FT", completed_at=NOW - minutes(60)),
        Asked(3),
        Asked(4, status="NS", kickoff=NOW + minutes(20)),
        Asked(5),
    ]
    records = {"espn_1": asked(0.5, 1), "espn_3": asked(2, 3)}
    requests = due_requests(listings, records, (), NOW, RULES)
    assert [one.listing.feed_id for one in requests] == [5, 3, 1, 4, 2], "never, 2 min ago, 30 s ago; imminent; over"


def test_a_paused_match_is_not_polled_until_its_cooldown_ends() -> None:
    rules = MonitoringRules(cool_down=minutes(2))
    record = new_record("espn", 1, MatchPriority.LIVE, NOW)
    for _ in range(5):
        record = after_failure(record, FeedUnavailable("down"), NOW, rules)
    others = {"espn_1": record}
    assert [r.listing.feed_id for r in due_requests([Asked(1), Asked(2)], others, (), NOW + minutes(1), RULES)] == [2]
    assert [r.listing.feed_id for r in due_requests([Asked(1), Asked(2)], others, (), NOW + minutes(2), RULES)] == [
        1,
        2,
    ]


def test_unknown_matches_are_not_requested() -> None:
    assert [r.listing.feed_id for r in due_requests([Asked(1), Asked(2)], {}, {"espn_1", "other_2"}, NOW, RULES)] == [2]


def test_an_archived_match_is_never_requested_again_even_without_its_record() -> None:
    old = Asked(1, FixtureStage.COMPLETED, "FT", NOW - timedelta(hours=30), completed_at=NOW - timedelta(hours=28))
    record = advance(
        new_record("espn", 1, MatchPriority.LIVE, NOW), NOW, MonitoringRules(), completed_at=old.completed_at
    )
    assert due_requests([old], {"espn_1": record}, (), NOW, RULES) == due_requests([old], {}, (), NOW, RULES) == []
    assert is_archived(old, None, NOW, RULES)


def test_a_resumed_match_is_requested_whatever_its_record() -> None:
    record = advance(
        new_record("espn", 1, MatchPriority.LIVE, NOW), NOW, MonitoringRules(), completed_at=NOW - timedelta(days=2)
    )
    assert len(due_requests([Asked(1)], {"espn_1": record}, (), NOW, RULES)) == 1


def test_a_completed_match_without_a_moment_of_its_end_is_counted_from_its_kick_off() -> None:
    listing = Asked(1, FixtureStage.COMPLETED, "FT", kickoff=NOW - timedelta(hours=25))
    assert due_requests([listing], {}, (), NOW, RULES) == []


def test_values_survive_a_round_trip() -> None:
    listings = [Asked(number) for number in range(1000)]
    assert [request.listing for request in due_requests(listings, {}, (), NOW, RULES)] == listings
