"""One match's silence and a planned slow-down are no outage: no recovery, and the report says what is the matter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.errors import FeedMalformed, NotInAnswer
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, MonitoringState
from found_footy.feeds.poll_state import MonitoringRules, after_failure
from found_footy.operations.feed_health import (
    Evidence,
    FeedMeasurement,
    HealthRules,
    assess_freshness,
    missing_answers,
    next_state,
    stale,
    unanswered_matches,
)
from found_footy.operations.findings import assess
from found_footy.operations.models import (
    NO_USABLE_FEED,
    CacheFacts,
    FeedDeclaration,
    FeedUse,
    HealthGrade,
    HealthKnown,
    HealthLimits,
    HealthState,
    HealthSummary,
    MatchFeed,
    MemoryUse,
)
from tests.support.operations import NOW, a_match, ago, cached, measured, recorded

RULES = HealthRules()
MINUTE = timedelta(minutes=1)


def feeds(ages: list[float], **more: object) -> FeedMeasurement:
    updates = {number: ago(seconds=age) for number, age in enumerate(ages)}
    return replace(FeedMeasurement(updates, max(updates.values(), default=None)), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("situation", "measurement", "evidence"),
    [
        ("49 fresh, one silent for 12 h", feeds([5.0] * 49 + [43_200.0]), Evidence.GOOD),
        ("two matches, one silent", feeds([5.0, 500.0]), Evidence.OLD),
        ("the only match is missing from the feed's answers", feeds([500.0], unanswered=frozenset({0})), Evidence.GOOD),
        ("the only match is silent, a feed answers", feeds([500.0], last_success=NOW), Evidence.OLD),
        ("two vanished matches", feeds([500.0, 500.0], unanswered=frozenset({0, 1}), last_success=NOW), Evidence.GOOD),
        ("a quarter is silent", feeds([5.0] * 6 + [120.0] * 2), Evidence.VERY_STALE),
        ("less than a quarter is silent", feeds([5.0] * 7 + [120.0] * 2), Evidence.OLD),
        ("no feed answers", feeds([90.0] * 50), Evidence.VERY_STALE),
        ("polled every 23 min", feeds([1300.0] * 3, intervals=dict.fromkeys(range(3), 23 * MINUTE)), Evidence.GOOD),
        ("late for 23 min", feeds([1420.0] * 3, intervals=dict.fromkeys(range(3), 23 * MINUTE)), Evidence.OLD),
        ("stalled at 23 min", feeds([1500.0] * 3, intervals=dict.fromkeys(range(3), 23 * MINUTE)), Evidence.VERY_STALE),
        ("one of two is slow", feeds([5.0, 1300.0], intervals={1: 23 * MINUTE}), Evidence.GOOD),
        ("nothing in play, no feed answers", feeds([], no_answer="no feed answers"), Evidence.UNREACHABLE),
        ("all feeds off", feeds([500.0], unanswered=frozenset({0}), no_answer=NO_USABLE_FEED), Evidence.UNREACHABLE),
    ],
)
def test_recovery_acts_on_a_stall_or_a_share_of_matches(
    situation: str, measurement: FeedMeasurement, evidence: Evidence
) -> None:
    assert assess_freshness(measurement, NOW, RULES).evidence is evidence, situation
    state = HealthState(HealthGrade.FAILING, ago(hours=1), judged_at=ago(seconds=15))
    assert next_state(state, measurement, NOW, RULES).act is (evidence is Evidence.VERY_STALE)


def record(feed: str = "espn", error: Exception | None = None) -> MatchMonitoringRecord:
    error_text = f"{type(error).__name__}: {error}" if error else None
    return MatchMonitoringRecord(
        feed,
        1,
        MonitoringState.ACTIVE,
        MatchPriority.LIVE,
        NOW,
        consecutive_failures=int(error is not None),
        error=error_text,
    )


VANISHED, BROKEN = NotInAnswer("not in the answer"), FeedMalformed("no score")


@pytest.mark.parametrize(
    ("listed", "records", "usable", "unanswered"),
    [
        (["espn"], [record()], {"espn"}, False),
        (["espn"], [], {"espn"}, False),
        (["espn"], [record(error=BROKEN)], {"espn"}, False),
        (["espn"], [record(error=VANISHED)], {"espn"}, True),
        (["espn", "crex"], [record(error=VANISHED), record("crex")], {"espn", "crex"}, False),
        (["espn", "crex"], [record(error=VANISHED), record("crex", VANISHED)], {"espn", "crex"}, True),
        (["espn", "crex"], [record(error=VANISHED), record("crex")], {"espn"}, True),
        (["espn"], [record()], {"crex"}, True),
        (["espn"], [record()], set(), True),
        (["espn"], [record()], None, False),
    ],
)
def test_a_match_without_an_answering_feed(
    listed: list[str], records: list[MatchMonitoringRecord], usable: set[str] | None, unanswered: bool
) -> None:
    assert (7 in unanswered_matches({7: [(feed, 1) for feed in listed]}, records, usable)) is unanswered


def test_a_match_without_an_answering_feed_is_a_finding_and_no_failure() -> None:
    gone = a_match(7002, polled_seconds=900)
    records = tuple(
        replace(record(each.feed, VANISHED), feed_id=each.feed_id, updated_at=ago(minutes=15)) for each in gone.listings
    )
    found = measured(recorded=recorded(matches=(gone, a_match()), goals=()), cached=cached(records=records))
    report = assess(found, HealthLimits())
    (finding,) = [each for each in report.findings if each.kind == "match_unanswered"]
    assert (str(report.grade), finding.fixture_id) == ("degraded", 7002)
    assert "No feed answers for Home 7002 – Away 7002, last updated 15 min ago" in finding.what
    assert [each for each in report.findings if each.kind == "polls"] == []


@pytest.mark.parametrize(("used", "found"), [(100, []), (230, []), (231, ["cache_memory"])])
def test_a_cache_that_is_nearly_full_is_a_finding(used: int, found: list[str]) -> None:
    memory = MemoryUse(used << 20, 256 << 20)
    report = assess(measured(cached=replace(cached(), memory=memory)), HealthLimits())
    assert [each.kind for each in report.findings if each.kind == "cache_memory"] == found


def test_a_match_is_stale_by_its_planned_interval() -> None:
    updates = {1: ago(seconds=60), 2: ago(seconds=60)}
    assert stale(updates, NOW, 45, {2: 23 * MINUTE}) == [(1, 60.0)]


# --- A day


@dataclass
class Day:
    """50 matches on two feeds, polled and judged by a simulated clock."""

    now: datetime = datetime(2026, 8, 22, 0, 0, tzinfo=UTC)
    updates: dict[int, datetime] = field(default_factory=dict)
    records: dict[tuple[str, int], MatchMonitoringRecord] = field(default_factory=dict)
    answered: dict[str, datetime] = field(default_factory=dict)
    state: HealthState | None = None
    summary: HealthSummary | None = None
    recoveries: int = 0
    grades: set[HealthGrade] = field(default_factory=set)

    def enabled(self) -> set[str]:
        """ESPN is off from 06:00 to 08:00; then only the slow feed is left."""
        return {"crex"} if 6 <= self.now.hour < 8 else {"espn", "crex"}

    def listed(self, match: int) -> list[tuple[str, int]]:
        """Match 3 is listed by ESPN alone."""
        return [("espn", match)] if match == 3 else [("espn", match), ("crex", match)]

    def interval(self) -> timedelta:
        """The quota runs low from 20:00 on."""
        return 23 * MINUTE if self.now.hour >= 20 else timedelta(seconds=30)

    def poll(self) -> None:
        for feed in self.enabled():
            for match in range(50):
                if (feed, match) not in self.listed(match):
                    continue
                known = self.records.get((feed, match)) or replace(record(feed), feed_id=match)
                if match == 1 or (match == 2 and self.now.hour >= 2):
                    # 1: the feed's data of it is broken; 2: it vanished from both feeds.
                    error = BROKEN if match == 1 else VANISHED
                    self.records[feed, match] = after_failure(known, error, self.now, MonitoringRules())
                else:
                    self.records[feed, match] = replace(known, updated_at=self.now, consecutive_failures=0, error=None)
                    self.updates[match] = self.now
            self.answered[feed] = self.now

    def check(self, first: datetime) -> None:
        enabled = self.enabled()
        uses = [FeedUse(feed, at, at, None, None) for feed, at in self.answered.items() if feed in enabled]
        listings = {match: self.listed(match) for match in range(50)}
        what = FeedMeasurement(
            {match: self.updates.get(match, first) for match in range(50)},
            max(self.answered.values()),
            intervals=dict.fromkeys(range(50), self.interval()),
            unanswered=unanswered_matches(listings, self.records.values(), enabled),
            no_answer=missing_answers(uses, self.now, following=True),
        )
        judged = next_state(self.state, what, self.now, RULES)
        self.state, self.summary = judged.state, judged.summary
        self.recoveries += judged.act
        self.grades.add(judged.state.grade)

    def kinds(self) -> set[str]:
        """Findings of the operations page."""
        matches = tuple(
            replace(
                a_match(match + 1),
                polled_at=self.updates.get(match),
                activated_at=self.now - timedelta(hours=1),
                listings=tuple(MatchFeed(*each) for each in self.listed(match)),
            )
            for match in range(50)
        )
        cache = CacheFacts(
            records=tuple(self.records.values()),
            last_updates=self.updates,
            intervals={match + 1: self.interval() for match in range(50)},
            summary=self.summary,
        )
        on = self.enabled()
        feeds = tuple(
            FeedDeclaration(feed, feed, 1, True, feed in on, None if feed in on else False) for feed in ("espn", "crex")
        )
        uses = tuple(FeedUse(feed, at, at, None, None) for feed, at in self.answered.items())
        found = measured(
            recorded=recorded(matches=matches, goals=(), feeds=uses),
            cached=cache,
            health=HealthKnown(self.summary),
            declared=feeds,
        )
        report = assess(replace(found, at=self.now), HealthLimits())
        return {each.kind for each in report.findings}


def test_a_day_with_a_silent_and_a_vanished_match_a_low_quota_and_a_feed_switched_off_needs_no_recovery() -> None:
    day = Day()
    first, last_poll = day.now, day.now
    day.poll()
    seen: dict[int, set[str]] = {}
    while day.now < first + timedelta(hours=24):
        day.now += timedelta(seconds=15)
        if day.now - last_poll >= day.interval():
            day.poll()
            last_poll = day.now
        day.check(first)
        if (day.now.minute, day.now.second) == (30, 0):
            seen[day.now.hour] = day.kinds()
    assert (day.recoveries, day.grades) == (0, {HealthGrade.HEALTHY})
    assert len(day.updates) == 49, "all that a feed answers for, and 2 until it vanished"
    assert "match_unanswered" not in seen[1]
    assert "match_unanswered" in seen[3], "the vanished match"
    assert {"feed_off", "match_unanswered"} <= seen[7], "and the match of the disabled feed"
    assert "feed_off" not in seen[9]
    assert {"polls", "feed_paused"} & seen[12], "the silent match"
    assert "polls" not in seen[22] or "polls" in seen[12], "a planned slow-down makes no further match late"


def test_a_day_without_any_answer_is_an_outage() -> None:
    """The same day fails without answers, so the day above proves something."""
    day = Day()
    day.poll()
    first = day.now
    while day.recoveries == 0:
        day.now += timedelta(seconds=15)
        day.check(first)
    assert day.now - first == timedelta(seconds=RULES.stall + 15), "and a stall of 90 s since the first check"
