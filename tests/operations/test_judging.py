"""What needs a person: a table of systems, each wrong in one way."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from found_footy.feeds.models import Quota
from found_footy.operations.findings import assess, poll_limit
from found_footy.operations.models import (
    BrowserSeen,
    Deliveries,
    Disk,
    EngineStatus,
    HealthGrade,
    HealthLimits,
    Measurement,
    Queue,
    ScheduleState,
    StuckWorkflow,
    SystemGrade,
    TemporalState,
    Worker,
)
from found_footy.text import format_duration
from tests.support.operations import (
    NOW,
    a_dispute,
    a_doubt,
    a_feed,
    a_goal,
    a_match,
    a_queue,
    a_record,
    a_source,
    a_summary,
    ago,
    cached,
    declared,
    failing,
    health,
    measured,
    paused,
    recorded,
    temporal,
)

LIMITS = HealthLimits(timedelta(seconds=30), timedelta(seconds=600))

AWAY = (
    EngineStatus("database", "ok"),
    EngineStatus("temporal", "failed", "no answer"),
    EngineStatus("object store", "ok"),
)
DOWN = (
    EngineStatus("database", "failed", "StoreUnavailable"),
    EngineStatus("temporal", "off"),
    EngineStatus("object store", "ok"),
)
FULL = (EngineStatus("database", "ok"), EngineStatus("temporal", "ok"), EngineStatus("object store", "failed", "S3"))
INGEST = temporal().schedules[0]
PAUSED = ScheduleState("monitor-every-30s", True, "by hand", ago(minutes=9), None)
LATE = a_match(7002, 91)
ESPN = a_feed(feed="espn", quota=None)
NO_CACHE = (
    EngineStatus("database", "ok"),
    EngineStatus("cache", "failed", "CacheUnavailable"),
    EngineStatus("temporal", "ok"),
)
NO_BROWSER = (
    EngineStatus("database", "ok"),
    EngineStatus("cache", "ok"),
    EngineStatus("browser", "failed", "SourceUnavailable"),
)


def queue_of_versions(*versions: str) -> Queue:
    workers = tuple(Worker(f"1@desk found-footy/{version}", ago(seconds=5)) for version in versions)
    return Queue("workflow", workers, 0, timedelta(0))


def judged(grade: HealthGrade, judged_seconds: float = 6, **more: Any) -> Measurement:
    summary = a_summary(grade, judged_seconds, reasons=("no answer of any feed for 95 s",))
    return measured(health=health(summary=summary), cached=cached(summary=None), **more)


def served(queue: Queue) -> TemporalState:
    return temporal(queues=(a_queue(), a_queue("activity"), queue))


def found(system: Measurement) -> list[tuple[str, str]]:
    return [(finding.kind, str(finding.grade)) for finding in assess(system, LIMITS).findings]


def test_a_healthy_system_has_no_findings() -> None:
    verdict = assess(measured(), LIMITS)
    assert (verdict.headline, verdict.grade, verdict.findings) == ("No problems", SystemGrade.OK, ())


@pytest.mark.parametrize(
    ("system", "kind", "grade"),
    [
        (measured(recorded=None, temporal=None, engines=DOWN), "engine_database", "failed"),
        (measured(temporal=None, engines=AWAY), "engine_temporal", "failed"),
        (measured(engines=FULL), "engine_object_store", "failed"),
        (measured(recorded=recorded(schema_problems=("0007_access.sql",))), "schema", "failed"),
        (measured(temporal=temporal(queues=(a_queue(seen_seconds=None), a_queue("activity")))), "no_worker", "failed"),
        (measured(temporal=temporal(queues=(a_queue(seen_seconds=91), a_queue("activity")))), "no_worker", "failed"),
        (measured(temporal=served(a_queue("media", seen_seconds=None))), "no_worker_media", "failed"),
        (measured(temporal=served(a_queue("browser", backlog=1, seen_seconds=None))), "no_worker_browser", "degraded"),
        (measured(temporal=served(a_queue("library", backlog=9, seen_seconds=91))), "no_worker_library", "degraded"),
        (measured(temporal=served(a_queue("media", backlog=9, age=61))), "backlog", "degraded"),
        (measured(temporal=temporal(queues=(a_queue(backlog=5, age=61), a_queue("activity")))), "backlog", "failed"),
        (measured(temporal=temporal(schedules=(INGEST,))), "schedule_missing", "failed"),
        (measured(temporal=temporal(schedules=(INGEST, PAUSED))), "polls_paused", "failed"),
        (measured(temporal=temporal(failed=2)), "workflows_failed", "degraded"),
        (
            measured(temporal=temporal(queues=(queue_of_versions("1.0", "1.1"),))),
            "worker_versions",
            "degraded",
        ),
        (
            measured(temporal=temporal(stuck=(StuckWorkflow("search-1", "SearchWorkflow", ago(hours=5)),))),
            "workflow_stuck",
            "degraded",
        ),
        (measured(recorded=recorded(feeds=(a_feed(error="FeedUnauthorized: no key"),))), "feed", "failed"),
        (measured(recorded=recorded(feeds=(a_feed(error="FeedUnauthorized: no key"), ESPN))), "feed", "degraded"),
        (measured(recorded=recorded(feeds=(a_feed(quota=Quota(NOW, 100, 20)),))), "quota_low", "degraded"),
        (measured(recorded=recorded(feeds=(a_feed(quota=Quota(NOW, 100, 1)),))), "quota_used", "failed"),
        (measured(recorded=recorded(feeds=(a_feed(quota=Quota(NOW, 100, 1)), ESPN))), "quota_used", "degraded"),
        (measured(declared=declared(on=False, switched=False)), "feed_off", "degraded"),
        (measured(declared=declared(lacks="espn needs a browser")), "feed_lacks", "degraded"),
        (measured(declared=(declared(lacks="espn needs a browser")[1],)), "feed_lacks", "failed"),
        (measured(declared=(declared()[2],)), "feeds_off", "failed"),
        (measured(declared=()), "feeds_off", "failed"),
        (measured(cached=cached(records=(a_record(), paused()))), "feed_paused", "degraded"),
        (measured(cached=None, engines=NO_CACHE), "engine_cache", "failed"),
        (measured(browser=None, engines=NO_BROWSER), "engine_browser", "degraded"),
        (measured(browser=BrowserSeen(canary_error="SourceChanged")), "x_changed", "degraded"),
        (measured(browser=BrowserSeen(canary_error="SourceLoggedOut")), "x_canary", "degraded"),
        (judged(HealthGrade.FAILING), "health_failing", "failed"),
        (judged(HealthGrade.DEGRADED), "health_degraded", "degraded"),
        (judged(HealthGrade.RECOVERING), "health_recovering", "degraded"),
        (judged(HealthGrade.HEALTHY, judged_seconds=61), "no_judgement", "degraded"),
        (judged(HealthGrade.FAILING, judged_seconds=61), "no_judgement", "degraded"),
        (measured(health=health(summary=None), cached=cached(summary=None)), "no_judgement", "degraded"),
        (measured(recorded=recorded(disputes=(a_dispute(),))), "dispute", "degraded"),
        (measured(recorded=recorded(doubts=(a_doubt(),))), "pairings", "degraded"),
        (measured(disk=Disk(9, 100)), "disk", "degraded"),
        (measured(disk=Disk(2, 100)), "disk", "failed"),
        (measured(recorded=recorded(matches=(a_match(), LATE))), "polls", "degraded"),
        (measured(recorded=recorded(matches=(a_match(polled_seconds=None),))), "polls", "failed"),
        (measured(recorded=recorded(matches=(a_match(error_kind="FeedSchemaError"),))), "poll_refused", "degraded"),
        (measured(recorded=recorded(goals=(a_goal(searched_at=ago(seconds=601)),))), "goal_silent", "failed"),
        (
            measured(recorded=recorded(goals=(a_goal(search_started=False, searched_at=None),))),
            "goal_not_begun",
            "failed",
        ),
        (measured(recorded=recorded(goals=(a_goal(unanswered=3),))), "goal_unanswered", "degraded"),
        (measured(recorded=recorded(sources=(a_source(), failing("x", 3)))), "source", "degraded"),
        (measured(recorded=recorded(sources=(failing("x", 3),))), "source", "failed"),
        (measured(recorded=recorded(deliveries=Deliveries(0, 1, 1, 0, None, NOW, 0))), "dead_letters", "degraded"),
        (
            measured(recorded=recorded(deliveries=Deliveries(2, 1, 0, 0, ago(minutes=11), None, 0))),
            "deliveries_late",
            "degraded",
        ),
        (measured(recorded=recorded(outbox_position=2001), outbox_read=1000), "news_behind", "degraded"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_problem_has_exactly_its_finding(system: Measurement, kind: str, grade: str) -> None:
    assert found(system) == [(kind, grade)]
    (finding,) = assess(system, LIMITS).findings
    assert finding.what
    assert finding.advice
    assert finding.place in (
        "engines", "matches", "goals", "sources", "feeds", "deliveries", "health", "paused", "pairings",
    )  # fmt: skip


@pytest.mark.parametrize(
    "system",
    [
        measured(recorded=recorded(matches=(a_match(polled_seconds=90),))),
        measured(recorded=recorded(matches=(a_match(polled_seconds=None, activated_at=ago(seconds=80)),))),
        measured(recorded=recorded(matches=(), goals=(), sources=())),
        measured(recorded=recorded(feeds=(a_feed(), a_feed(feed="old", error="gone for good")))),
        measured(
            recorded=recorded(feeds=(a_feed(), a_feed(feed="old", asked_at=ago(hours=2), error="?"))), declared=None
        ),
        measured(declared=None),
        measured(declared=declared(enabled=False, on=False)),
        measured(declared=declared(switched=True)),
        judged(HealthGrade.HEALTHY, judged_seconds=60),
        measured(health=None, cached=None),
        measured(health=health(summary=a_summary(judged_seconds=300))),
        measured(recorded=recorded(disputes=(a_dispute(first_at=ago(seconds=100)),))),
        measured(recorded=recorded(disputes=(a_dispute(first_at=ago(minutes=30), last_at=ago(seconds=91)),))),
        measured(recorded=recorded(goals=(a_goal(searched_at=ago(seconds=600)),))),
        measured(recorded=recorded(goals=(a_goal(search_started=False, stable_at=ago(seconds=80)),))),
        measured(recorded=recorded(goals=(a_goal(unanswered=2),))),
        measured(recorded=recorded(sources=(failing("x", 2),))),
        measured(recorded=recorded(deliveries=Deliveries(9, 1, 0, 0, ago(minutes=9), None, 0))),
        measured(recorded=recorded(feeds=(a_feed(quota=Quota(NOW - timedelta(days=1), 100, 0)),))),  # renewed since
        measured(recorded=recorded(feeds=(a_feed(quota=Quota(NOW, None, None)),))),
        measured(temporal=temporal(queues=(a_queue(backlog=500, age=60), a_queue("activity")))),
        measured(temporal=temporal(queues=(a_queue(seen_seconds=90), a_queue("activity")))),
        measured(temporal=None, engines=(EngineStatus("temporal", "off", "not configured"),)),
        measured(outbox_read=None),
        measured(disk=None),
        measured(disk=Disk(0, 0)),
    ],
)
def test_values_within_limits_are_not_reported(system: Measurement) -> None:
    assert found(system) == []


@pytest.mark.parametrize(
    ("cause", "named"),
    [
        (measured(temporal=None, engines=AWAY, recorded=recorded(matches=(LATE,))), ["engine_temporal"]),
        (measured(temporal=temporal(schedules=(INGEST, PAUSED)), recorded=recorded(matches=(LATE,))), ["polls_paused"]),
        (measured(recorded=recorded(matches=(LATE,), feeds=(a_feed(error="refused"),))), ["feed"]),
        (measured(recorded=recorded(matches=(LATE,), feeds=(a_feed(error="refused"), ESPN))), ["polls", "feed"]),
        (judged(HealthGrade.FAILING, recorded=recorded(matches=(LATE,))), ["health_failing"]),
        (judged(HealthGrade.DEGRADED, recorded=recorded(matches=(LATE,))), ["polls", "health_degraded"]),
        (judged(HealthGrade.FAILING, temporal=None, engines=AWAY), ["engine_temporal"]),
        (measured(cached=None, engines=NO_CACHE, recorded=recorded(matches=(LATE,))), ["engine_cache"]),
        (
            measured(
                cached=cached(records=(paused(),)),
                recorded=recorded(feeds=(a_feed(), a_feed(feed="espn", error="refused"))),
            ),
            ["feed"],
        ),
        (
            measured(
                temporal=temporal(queues=(a_queue(seen_seconds=None), a_queue("activity", None, 9, 900))),
                recorded=recorded(matches=(LATE,), goals=(a_goal(searched_at=ago(hours=1)),)),
            ),
            ["no_worker"],
        ),
    ],
)
def test_consequences_of_a_cause_are_not_reported(cause: Measurement, named: list[str]) -> None:
    assert [kind for kind, _ in found(cause)] == named


def test_failures_are_listed_before_degradations() -> None:
    system = measured(disk=Disk(9, 100), recorded=recorded(matches=(LATE,)), temporal=temporal(failed=1))
    verdict = assess(system, LIMITS)
    assert [str(finding.grade) for finding in verdict.findings] == ["failed", "degraded", "degraded"]
    assert (verdict.grade, verdict.headline) == (SystemGrade.FAILED, "3 problems")


def test_a_finding_has_its_start_and_subject() -> None:
    goal = a_goal(searched_at=ago(minutes=14), elapsed=45, extra=2)
    (finding,) = assess(measured(recorded=recorded(goals=(goal,))), LIMITS).findings
    assert finding.what == "No search activity for Mohamed Salah 45+2' (Liverpool – Manchester City) since 15:16"
    assert (finding.since, finding.event_id) == (ago(minutes=14), goal.event_id)


def test_a_conflict_is_named_without_its_values() -> None:
    other = a_dispute(fixture_id=7002, field="status", first_at=ago(minutes=3))
    (finding,) = assess(measured(recorded=recorded(disputes=(other, a_dispute()))), LIMITS).findings
    assert finding.what == "api_football and espn disagree on the score of Liverpool – Manchester City, and 1 more"
    assert "2" not in finding.advice


def test_the_feed_with_the_shortest_interval_determines_late_polls() -> None:
    used_up = a_feed(quota=Quota(NOW, 100, 1))
    assert poll_limit(measured(recorded=recorded(feeds=(used_up, ESPN))), LIMITS).total_seconds() == 90


def test_a_wicket_is_named_by_its_over() -> None:
    wicket = a_goal(searched_at=ago(minutes=14), elapsed=12, extra=3, innings=2, player=None)
    (finding,) = assess(measured(recorded=recorded(goals=(wicket,))), LIMITS).findings
    assert "the wicket 12.3 ov" in finding.what


def test_many_goals_are_counted_and_not_listed() -> None:
    goals = tuple(a_goal(f"7001_40_{number}_Goal_1", searched_at=ago(hours=1)) for number in range(30))
    findings = assess(measured(recorded=recorded(goals=goals)), LIMITS).findings
    assert len(findings) == 6
    assert findings[-1].what == "The same applies to 25 more goals"


@pytest.mark.parametrize(
    ("poll", "quota", "limit"),
    [
        (30, None, 90),
        (1, None, 10),  # a demo's polls are too close for three of them to be late
        (30, Quota(NOW, 100, 22), 4590),  # 20 polls until midnight
        (3600, None, 10800),
    ],
)
def test_when_a_poll_is_too_old(poll: float, quota: Quota | None, limit: float) -> None:
    system = measured(recorded=recorded(feeds=(a_feed(quota=quota),)))
    assert poll_limit(system, HealthLimits.from_seconds(poll=poll)).total_seconds() == pytest.approx(limit)


@pytest.mark.parametrize(("number", "line"), [(0, "No problems"), (1, "1 problem"), (2, "2 problems")])
def test_the_verdict_in_one_line(number: int, line: str) -> None:
    report = assess(measured(disk=Disk(1, 100)), LIMITS)
    assert replace(report, findings=report.findings * number).headline == line


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (99, "99 s"),
        (100, "2 min"),
        (3540, "59 min"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (86400 * 3, "3 d"),
    ],
)
def test_durations_in_words(seconds: float, said: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == said


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (measured(recorded=recorded(matches=(), feeds=())), [("feeds_silent", "failed")]),
        (
            measured(recorded=recorded(matches=(), feeds=(a_feed(answered_at=ago(hours=27)),))),
            [("feeds_silent", "failed")],
        ),
        (
            measured(recorded=recorded(matches=(), feeds=(a_feed(answered_at=None, error="refused"),))),
            [("feed", "failed")],
        ),
        (measured(recorded=recorded(matches=(), feeds=()), declared=()), [("feeds_off", "failed")]),
        (measured(recorded=recorded(matches=(), feeds=()), declared=None), []),
    ],
)
def test_feeds_that_never_answered_are_a_failure_and_named_once(
    system: Measurement, expected: list[tuple[str, str]]
) -> None:
    assert found(system) == expected
