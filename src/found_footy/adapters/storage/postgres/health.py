"""The feeds' health in the database: the state machine's state, its history, and the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres.database import Connection, Database, fetch
from found_footy.adapters.storage.postgres.news import announce
from found_footy.adapters.storage.postgres.operations import feed_use
from found_footy.domain.feeds.health_values import (
    FreshnessStats,
    HealthGrade,
    HealthState,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)
from found_footy.domain.fixtures.polling import News
from found_footy.domain.operations.feeds_measured import FeedUse
from found_footy.ports_health import HealthSample

KEPT = timedelta(days=2)
"""How long a sample is kept."""


class PostgresHealth:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def state(self) -> HealthState | None:
        found = await self._db.fetch("health.state")
        return HealthState(**(_in_utc(found[0]) | {"grade": HealthGrade(found[0]["grade"])})) if found else None

    async def save(self, state: HealthState, summary: HealthSummary, recovery: Recovery | None = None) -> bool:
        async with self._db.connection() as connection:
            before = await fetch(connection, "health.lock_state", {})
            if before and before[0]["turn"] != state.turn - 1:
                return False
            if recovery is not None:  # before the state, which refers to it
                await _write(connection, recovery)
            row = {**asdict(state), "grade": str(state.grade), "judged_at": state.judged_at or summary.generated_at}
            if not await fetch(connection, "health.save_state", {**row, "summary": Jsonb(summary_document(summary))}):
                await connection.rollback()  # two watchdogs began at once on an empty database
                return False
            await fetch(connection, "health.add_sample", _sample_row(summary))
            known = before[0]["grade"] if before else str(HealthGrade.HEALTHY)
            if known != str(state.grade):
                payload = {"from": known, "to": str(state.grade), "reasons": list(summary.reasons)}
                await announce(connection, [News("feeds.health", None, payload=payload)])
        return True

    async def summary(self) -> HealthSummary | None:
        found = await self._db.fetch("health.summary")
        return summary_of(found[0]["summary"]) if found else None

    async def active(self) -> Mapping[int, datetime]:
        return {row["id"]: row["at"].astimezone(UTC) for row in await self._db.fetch("health.active")}

    async def feed_uses(self) -> Sequence[FeedUse]:
        return [feed_use(row) for row in await self._db.fetch("operations.feeds")]

    async def titles(self, fixture_ids: Sequence[int]) -> Mapping[int, str]:
        rows = await self._db.fetch("health.titles", ids=list(fixture_ids)) if fixture_ids else []
        return {row["id"]: row["title"] for row in rows}

    async def samples(self, since: datetime) -> Sequence[HealthSample]:
        rows = await self._db.fetch("health.samples", since=since)
        return [HealthSample(**(_in_utc(row) | {"grade": HealthGrade(row["grade"])})) for row in rows]

    async def recoveries(self, limit: int = 100) -> Sequence[Recovery]:
        return [_recovery(row) for row in await self._db.fetch("health.recoveries", limit=limit)]

    async def recovery(self, recovery_id: str) -> Recovery | None:
        found = await self._db.fetch("health.recovery", id=recovery_id)
        return _recovery(found[0]) if found else None

    async def add_recovery(self, recovery: Recovery) -> None:
        async with self._db.connection() as connection:
            await _write(connection, recovery)


async def _write(connection: Connection, recovery: Recovery) -> None:
    """With the news of its begin, and of each end of it: its outcome, and the end of the outage."""
    known = await fetch(connection, "health.lock_recovery", {"id": recovery.id})
    row = asdict(recovery) | {
        "action": str(recovery.action),
        "outcome": str(recovery.outcome) if recovery.outcome else None,
        "before": Jsonb(dict(recovery.before)),
        "after": Jsonb(dict(recovery.after)),
    }
    await fetch(connection, "health.add_recovery", row)
    ends = (row["outcome"], recovery.healthy_at)
    if known and (known[0]["outcome"], known[0]["healthy_at"]) == ends:
        return
    if not known and recovery.outcome is not None:
        state = "ended"
    elif not known or recovery.outcome is None:
        state = "begun"
    else:
        state = "healthy" if recovery.healthy_at else "ended"
    payload = {
        "id": recovery.id,
        "state": state,
        "action": row["action"],
        "trigger": recovery.trigger,
        "outcome": row["outcome"],
        "healthy_at": recovery.healthy_at.isoformat() if recovery.healthy_at else None,
    }
    await announce(connection, [News("feeds.recovery", None, payload=payload)])


def _sample_row(summary: HealthSummary) -> dict[str, Any]:
    return {
        "at": summary.generated_at,
        "grade": str(summary.grade),
        "median": summary.freshness.median,
        "p95": summary.freshness.p95,
        "maximum": summary.freshness.maximum,
        "matches": summary.freshness.count,
        "failure_ratio": summary.failure_ratio,
        "before": summary.generated_at - KEPT,
    }


def summary_document(summary: HealthSummary) -> dict[str, Any]:
    moments = {name: getattr(summary, name) for name in ("since", "generated_at", "last_success")}
    return asdict(summary) | {name: at.isoformat() if at else None for name, at in moments.items()}


def summary_of(document: Mapping[str, Any]) -> HealthSummary:
    last = document["last_success"]
    return HealthSummary(
        grade=HealthGrade(document["grade"]),
        since=datetime.fromisoformat(document["since"]),
        freshness=FreshnessStats(**document["freshness"]),
        generated_at=datetime.fromisoformat(document["generated_at"]),
        last_success=datetime.fromisoformat(last) if last else None,
        stall_seconds=document["stall_seconds"],
        queue=document["queue"],
        active=document["active"],
        failure_ratio=document["failure_ratio"],
        paused=tuple(document["paused"]),
        reasons=tuple(document["reasons"]),
    )


def _recovery(row: Mapping[str, Any]) -> Recovery:
    outcome = RecoveryOutcome(row["outcome"]) if row["outcome"] else None
    return Recovery(**(_in_utc(row) | {"action": RecoveryAction(row["action"]), "outcome": outcome}))


def _in_utc(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each.astimezone(UTC) if isinstance(each, datetime) else each for name, each in row.items()}
