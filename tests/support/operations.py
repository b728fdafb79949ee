"""A system that was measured: all well, unless a test says otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from found_footy.feeds.models import DoubtfulPairing, MatchMonitoringRecord, MatchPriority, MonitoringState, Quota
from found_footy.operations.findings import assess
from found_footy.operations.health import HealthService
from found_footy.operations.models import (
    AnswersCounted,
    BrowserSeen,
    CacheFacts,
    CheckKind,
    DatabaseFacts,
    Deliveries,
    Disk,
    EngineStatus,
    FeedDeclaration,
    FeedUse,
    FieldConflict,
    FreshnessStats,
    HealthGrade,
    HealthKnown,
    HealthLimits,
    HealthReport,
    HealthSpan,
    HealthSummary,
    Hour,
    LiveMatch,
    MatchFeed,
    Measurement,
    MemoryUse,
    OpenGoal,
    Queue,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
    ScheduleState,
    ServiceCheck,
    SourceUse,
    TemporalState,
    Worker,
)

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)


def ago(**time: float) -> datetime:
    return NOW - timedelta(**time)


def a_match(number: int = 7001, polled_seconds: float | None = 12, **more: Any) -> LiveMatch:
    polled = None if polled_seconds is None else ago(seconds=polled_seconds)
    names = ("Liverpool", "Manchester City") if number == 7001 else (f"Home {number}", f"Away {number}")
    listings = (MatchFeed("api_football", number, founding=True), MatchFeed("espn", 400_000 + number))
    return replace(LiveMatch(number, *names, "2H", polled, ago(hours=2), listings=listings), **more)


def a_goal(event_id: str = "7001_40_306_Goal_1", **more: Any) -> OpenGoal:
    made = OpenGoal(
        event_id=event_id,
        fixture_id=int(event_id.partition("_")[0]),
        home="Liverpool",
        away="Manchester City",
        player="Mohamed Salah",
        elapsed=23,
        extra=None,
        status="watching",
        seen=3,
        first_seen=ago(minutes=5),
        stable_at=ago(minutes=4),
        search_started=True,
        searched_at=ago(seconds=20),
        attempts=4,
        unanswered=0,
        states={"kept": 2, "lost": 1},
    )
    return replace(made, **more)


def a_source(source: str = "bluesky", **more: Any) -> SourceUse:
    made = SourceUse(source, 40, 0, 120, ago(seconds=20), 0, None, None, None)
    return replace(made, **more)


def failing(source: str, times: int, kind: str = "SourceLoggedOut") -> SourceUse:
    return a_source(
        source,
        answers=2,
        failures=times,
        consecutive_failures=times,
        failing_since=ago(minutes=30),
        error_kind=kind,
        error_message=f"{source}: logged out",
    )


def a_feed(**more: Any) -> FeedUse:
    quota = Quota(ago(seconds=12), 7500, 7012, 300, 298)
    return replace(FeedUse("api_football", ago(seconds=12), ago(seconds=12), None, quota), **more)


def a_record(
    number: int = 7001, feed: str = "api_football", heard_seconds: float | None = 12, **more: Any
) -> MatchMonitoringRecord:
    made = MatchMonitoringRecord(
        feed,
        number,
        MonitoringState.ACTIVE,
        MatchPriority.LIVE,
        ago(hours=2),
        updated_at=None if heard_seconds is None else ago(seconds=heard_seconds),
        asked_at=ago(seconds=12),
        total=90,
        title="Liverpool – Manchester City",
    )
    return replace(made, **more)


def paused(number: int = 407_001, feed: str = "espn", **more: Any) -> MatchMonitoringRecord:
    given = {
        "state": MonitoringState.PAUSED,
        "consecutive_failures": 5,
        "paused_until": NOW + timedelta(seconds=80),
        "error": "FeedUnavailable: no answer within 10 s",
        **more,
    }
    return a_record(number, feed, 300, **given)


def cached(**more: Any) -> CacheFacts:
    made = CacheFacts(
        records=(a_record(), a_record(7002, heard_seconds=9), a_record(407_001, "espn", 20)),
        queues={"api_football": {"live": 1, "imminent": 2, "completed": 0, "active": 1}, "espn": {"live": 2}},
        last_updates={7001: ago(seconds=12), 7002: ago(seconds=9), 7003: ago(seconds=25)},
        answers={"espn": AnswersCounted(95, 5, 0, 42.5, {0.5: 60, 1.0: 90, float("inf"): 100})},
        recent={"api_football": (40, 0), "espn": (38, 2)},
        summary=a_summary(),
        memory=MemoryUse(used=64_000_000, limit=256_000_000),
    )
    return replace(made, **more)


def a_summary(grade: HealthGrade = HealthGrade.HEALTHY, judged_seconds: float = 6, **more: Any) -> HealthSummary:
    made = HealthSummary(
        grade,
        ago(hours=2),
        FreshnessStats(12, 25, 25, 3),
        ago(seconds=judged_seconds),
        last_success=ago(seconds=9),
        queue={"live": 3, "imminent": 2, "completed": 0},
        active=1,
        failure_ratio=0.025,
    )
    return replace(made, **more)


def spans(bad: bool = True) -> tuple[HealthSpan, ...]:
    """Six hours of three minutes each; an outage in the middle, and a gap that nobody judged."""

    def one(number: int) -> HealthSpan:
        at = NOW - timedelta(minutes=3 * (119 - number))
        if bad and 60 <= number < 66:
            grade = (HealthGrade.DEGRADED, HealthGrade.FAILING, HealthGrade.FAILING, HealthGrade.RECOVERING)[
                min(3, number - 60)
            ]
            return HealthSpan(at, grade, 70.0, 130.0 + number, 150.0 + number)
        return HealthSpan(at, HealthGrade.HEALTHY, 10.0 + number % 5, 22.0 + number % 7, 26.0 + number % 9)

    return tuple(one(number) for number in range(120) if not 20 <= number < 26)


def a_recovery(**more: Any) -> Recovery:
    made = Recovery(
        "r1",
        ago(hours=3),
        RecoveryAction.SOFT_RESTART,
        "no answer of any feed for 95 s",
        before={"grade": "failing", "freshness": {"median": 96.0, "p95": 131.0, "maximum": 131.0, "count": 3}},
        after={
            "grade": "healthy",
            "freshness": {"median": 4.0, "p95": 8.0, "maximum": 8.0, "count": 3},
            "attempts": [{"steps": [{"name": "workers", "ok": True, "said": "2 workers were restarted"}]}],
        },
        outcome=RecoveryOutcome.SUCCESS,
        seconds=4.2,
        healthy_at=ago(hours=2, minutes=59),
    )
    return replace(made, **more)


def health(**more: Any) -> HealthKnown:
    return replace(HealthKnown(a_summary(), spans(), (a_recovery(),)), **more)


def declared(**espn: Any) -> tuple[FeedDeclaration, ...]:
    return (
        FeedDeclaration("api_football", "api_football", 100, True, True),
        replace(FeedDeclaration("espn", "espn", 80, True, True), **espn),
        FeedDeclaration("crex", "crex", 60, False, False),
    )


def a_dispute(**more: Any) -> FieldConflict:
    said = {"api_football": {"home": 2, "away": 1}, "espn": {"home": 1, "away": 1}}
    made = FieldConflict(
        7001, "Liverpool", "Manchester City", "score", said, "api_football", ago(minutes=4), ago(seconds=12), 8
    )
    return replace(made, **more)


def a_doubt(**more: Any) -> DoubtfulPairing:
    made = DoubtfulPairing(
        "espn", 733_001, 7002, "FC Barcelona B", "Sevilla FC", NOW - timedelta(minutes=30), "LaLiga", 0.62,
        ("the away side is the same", "FC Barcelona B is not quite Barcelona"), ago(minutes=20), ago(minutes=1),
        "Barcelona", "Sevilla", NOW - timedelta(minutes=90), "La Liga",
    )  # fmt: skip
    return replace(made, **more)


def a_check(ok: bool = True, **more: Any) -> ServiceCheck:
    made = ServiceCheck(
        "feed espn" if ok else "source reddit",
        CheckKind.FEED if ok else CheckKind.SOURCE,
        ok,
        ago(hours=30),
        ago(hours=2) if ok else ago(hours=54),
        ago(hours=2),
        "GET site.api.espn.com/apis/site/v2/sports/soccer/eng.1/scoreboard?dates=20260822",
        "HTTP 200, 48213 bytes, 0.4 s; 12 matches" if ok else "HTTP 403, 9 bytes, 0.2 s; SourceLoggedOut: refused",
        "" if ok else "SourceLoggedOut",
        "" if ok else "Run `footy doctor --live`.",
    )
    return replace(made, **more)


def hours() -> tuple[Hour, ...]:
    def one(number: int) -> Hour:
        at = NOW.replace(minute=0) - timedelta(hours=23 - number)
        if number < 14:
            return Hour(at, 0, 0, {})
        lost = {"too short": number - 13, "wrong minute": number % 3, "gone": number % 2, "portrait": number % 4}
        return Hour(at, (number - 12) * 9, number % 5, {name: count for name, count in lost.items() if count})

    return tuple(one(number) for number in range(24))


def recorded(**more: Any) -> DatabaseFacts:
    made = DatabaseFacts(
        matches=(a_match(), a_match(7002, 9), a_match(7003, 25)),
        goals=(
            a_goal(),
            a_goal(
                "7002_529_521_Goal_1", player="Robert Lewandowski", elapsed=45, extra=2, status="validating", seen=2,
                stable_at=None, search_started=False, searched_at=None, first_seen=ago(seconds=40), attempts=0,
                states={}, home="Barcelona", away="Sevilla",
            ),
            a_goal(
                "7003_157_184_Goal_1", player="Harry Kane", elapsed=88, status="extracting", attempts=2,
                states={"downloading": 1, "checking": 2, "waiting": 3}, home="Bayern München", away="1. FC Köln",
            ),
        ),
        goals_in_work=3,
        sources=(a_source(), a_source("reddit", found=31), a_source("x", failures=2, found=203)),
        hours=hours(),
        feeds=(a_feed(), a_feed(feed="espn", quota=None)),
        deliveries=Deliveries(0, 42, 0, 1, None, None, 0),
        goals_by_status={"validating": 1, "watching": 1, "extracting": 1, "complete": 30, "withdrawn": 2},
        clips={"verified": 71, "unverified": 12},
        outbox_position=900,
    )  # fmt: skip
    return replace(made, **more)


def a_queue(kind: str = "workflow", seen_seconds: float | None = 20, backlog: int = 0, age: float = 0) -> Queue:
    workers = () if seen_seconds is None else (Worker("4711@desk", ago(seconds=seen_seconds)),)
    return Queue(kind, workers, backlog, timedelta(seconds=age))


def temporal(**more: Any) -> TemporalState:
    made = TemporalState(
        "found-footy",
        (a_queue(), a_queue("activity")),
        {"SearchWorkflow": 2, "MonitorWorkflow": 0, "UploadWorkflow": 1},
        0,
        (
            ScheduleState("ingest-daily", False, None, ago(hours=15), NOW + timedelta(hours=9)),
            ScheduleState("monitor-every-30s", False, None, ago(seconds=12), NOW + timedelta(seconds=18)),
        ),
    )
    return replace(made, **more)


def measured(**more: Any) -> Measurement:
    engines = tuple(EngineStatus(name, "ok") for name in ("database", "cache", "temporal", "object store"))
    made = Measurement(
        NOW,
        engines,
        recorded(),
        temporal(),
        Disk(75_000_000_000, 200_000_000_000),
        900,
        12,
        health(),
        cached(),
        declared(),
        BrowserSeen(14, 2, 3, 5000.0, {"age": 1}),
    )
    return replace(made, **more)


@dataclass(frozen=True)
class FixedHealth(HealthService):
    """Reports on a given measurement."""

    found: Measurement
    limits: HealthLimits = field(default_factory=HealthLimits)

    async def report(self, now: datetime) -> HealthReport:
        return assess(self.found, self.limits)

    async def readiness(self) -> list[str]:
        return []


def report(**more: Any) -> HealthReport:
    return assess(measured(**more), HealthLimits())
