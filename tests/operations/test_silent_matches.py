"""One match's silence and a planned slow-down are no outage: no recovery, and the report says what is the matter."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from found_footy.errors import FeedMalformed, MissingFromResponse
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, MonitoringState
from found_footy.feeds.scheduling import PollPace
from found_footy.operations.feed_health import (
    Evidence,
    FeedMeasurement,
    HealthRules,
    assess_freshness,
    next_state,
    stale,
    unanswered_matches,
)
from found_footy.operations.findings import assess
from found_footy.operations.models import (
    NO_USABLE_FEED,
    HealthGrade,
    HealthLimits,
    HealthState,
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


VANISHED, BROKEN = MissingFromResponse("not in the answer"), FeedMalformed("no score")


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


@pytest.mark.parametrize(
    ("pace", "what"),
    [
        (PollPace(23 * MINUTE, True, "100 left"), "api_football is polled only every 23 min: 100 left"),
        (PollPace(None, True, "none left"), "api_football is not polled: none left"),
        (PollPace(timedelta(seconds=30), True, "100 left"), None),  # a plan for which the usual interval is affordable
        (PollPace(timedelta(seconds=30), False), None),
    ],
)
def test_the_pace_in_force_is_reported_and_no_estimate(pace: PollPace, what: str | None) -> None:
    """The estimate assumes twenty matches per request; a feed's plan can allow one."""
    found = measured(cached=replace(cached(), paces={"api_football": pace}))
    quotas = [each.what for each in assess(found, HealthLimits()).findings if each.kind.startswith("quota")]
    assert quotas == ([what] if what else [])


def test_a_match_is_stale_by_its_planned_interval() -> None:
    updates = {1: ago(seconds=60), 2: ago(seconds=60)}
    assert stale(updates, NOW, 45, {2: 23 * MINUTE}) == [(1, 60.0)]
