"""A system that was measured: all well, unless a test says otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from found_footy.domain.feeds.quota import Quota
from found_footy.domain.operations.measured import (
    Deliveries,
    Disk,
    Engine,
    FeedUse,
    GoalInWork,
    Hour,
    LiveMatch,
    Measured,
    Queue,
    Recorded,
    ScheduleState,
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
    return replace(LiveMatch(number, *names, "2H", polled, ago(hours=2)), **more)


def a_goal(event_id: str = "7001_40_306_Goal_1", **more: Any) -> GoalInWork:
    made = GoalInWork(
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
        begun=True,
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
        failures_in_a_row=times,
        failing_since=ago(minutes=30),
        error_kind=kind,
        error_message=f"{source}: logged out",
    )


def a_feed(**more: Any) -> FeedUse:
    quota = Quota(ago(seconds=12), 7500, 7012, 300, 298)
    return replace(FeedUse("api_football", ago(seconds=12), ago(seconds=12), None, quota), **more)


def hours() -> tuple[Hour, ...]:
    def one(number: int) -> Hour:
        at = NOW.replace(minute=0) - timedelta(hours=23 - number)
        if number < 14:
            return Hour(at, 0, 0, {})
        lost = {"too short": number - 13, "wrong minute": number % 3, "gone": number % 2, "portrait": number % 4}
        return Hour(at, (number - 12) * 9, number % 5, {name: count for name, count in lost.items() if count})

    return tuple(one(number) for number in range(24))


def recorded(**more: Any) -> Recorded:
    made = Recorded(
        matches=(a_match(), a_match(7002, 9), a_match(7003, 25)),
        goals=(
            a_goal(),
            a_goal(
                "7002_529_521_Goal_1", player="Robert Lewandowski", elapsed=45, extra=2, status="validating", seen=2,
                stable_at=None, begun=False, searched_at=None, first_seen=ago(seconds=40), attempts=0, states={},
                home="Barcelona", away="Sevilla",
            ),
            a_goal(
                "7003_157_184_Goal_1", player="Harry Kane", elapsed=88, status="extracting", attempts=2,
                states={"downloading": 1, "checking": 2, "waiting": 3}, home="Bayern München", away="1. FC Köln",
            ),
        ),
        goals_in_work=3,
        sources=(a_source(), a_source("reddit", found=31), a_source("x", failures=2, found=203)),
        hours=hours(),
        feed=a_feed(),
        deliveries=Deliveries(0, 42, 0, 1, None, None, 0),
        goals_by_status={"validating": 1, "watching": 1, "extracting": 1, "complete": 30, "withdrawn": 2},
        clips={"verified": 71, "unverified": 12},
        news=900,
    )  # fmt: skip
    return replace(made, **more)


def a_queue(kind: str = "workflow", seen_seconds: float | None = 20, backlog: int = 0, age: float = 0) -> Queue:
    workers = () if seen_seconds is None else (Worker("4711@desk", ago(seconds=seen_seconds)),)
    return Queue(kind, workers, backlog, timedelta(seconds=age))


def temporal(**more: Any) -> TemporalState:
    made = TemporalState(
        "found-footy",
        (a_queue(), a_queue("activity")),
        {"SearchWorkflow": 2, "MonitorWorkflow": 0, "VisionWorkflow": 1},
        0,
        (
            ScheduleState("ingest-daily", False, None, ago(hours=15), NOW + timedelta(hours=9)),
            ScheduleState("monitor-every-30s", False, None, ago(seconds=12), NOW + timedelta(seconds=18)),
        ),
    )
    return replace(made, **more)


def measured(**more: Any) -> Measured:
    engines = (Engine("database", "ok"), Engine("temporal", "ok"), Engine("object store", "ok"))
    made = Measured(NOW, engines, recorded(), temporal(), Disk(75_000_000_000, 200_000_000_000), 900, 12)
    return replace(made, **more)


@dataclass(frozen=True)
class FixedWatch:
    """Stands in for `Watch`: somebody else has measured."""

    found: Measured

    async def measured(self, now: datetime) -> Measured:
        return self.found

    async def ready(self) -> list[str]:
        return []
