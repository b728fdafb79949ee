"""PostgreSQL and Redis stores of operations. The operations page needs a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.feeds.models import DoubtfulPairing, Quota
from found_footy.fixtures.models import OutboxEvent
from found_footy.library.stages import STAGES
from found_footy.notifications.outbox import append_outbox
from found_footy.operations.check_store import SQL as CHECK_SQL
from found_footy.operations.check_store import service_check
from found_footy.operations.models import (
    COVERAGE_WINDOWS,
    CoverageObjective,
    CoverageWindow,
    DatabaseFacts,
    Deliveries,
    FeedUse,
    FieldConflict,
    FreshnessStats,
    HealthGrade,
    HealthSample,
    HealthState,
    HealthSummary,
    Hour,
    LeagueCoverage,
    LibraryStageUse,
    LiveMatch,
    MatchFeed,
    MatchUpdate,
    OpenGoal,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
    SourceUse,
    StorageUse,
)
from found_footy.storage import redis as read
from found_footy.storage.migrations import read_schema_state
from found_footy.storage.postgres import Connection, Database, fetch, load_queries
from found_footy.storage.redis import RedisCache, load_script

RECORD_RECOVERY = load_script(__package__, "record_recovery")

SQL = load_queries(__package__, "store")

MAX_MATCHES = 200
MAX_LISTED_GOALS = 200
MAX_CONFLICTS = 100
MAX_UNCERTAIN_PAIRINGS = 100
DEFAULT_OBJECTIVE = CoverageObjective()
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(hours=24), timedelta(days=7)


class OperationsStore:
    def __init__(self, database: Database, coverage_within: timedelta = DEFAULT_OBJECTIVE.within) -> None:
        """`coverage_within` is the deadline of the coverage objective."""
        self._db = database
        self._coverage_within = coverage_within

    async def missing_migrations(self) -> tuple[str, ...]:
        """Return migrations in which the database differs from this version."""
        async with self._db.connection(check_schema=False) as connection:
            return await _schema_problems(connection)

    async def active_goals(self) -> int:
        return int((await self._db.fetch(SQL["active_goals"]))[0]["number"])

    async def facts(self, now: datetime) -> DatabaseFacts:
        async with self._db.connection(check_schema=False) as connection:
            schema_problems = await _schema_problems(connection)
            matches = await fetch(connection, SQL["matches"], {"limit": MAX_MATCHES})
            goals = await fetch(connection, SQL["goals"], {"limit": MAX_LISTED_GOALS})
            sources = await fetch(connection, SQL["sources"], {"since": now - DAY})
            hours = await fetch(connection, SQL["hours"], {"since": first_hour(now)})
            feeds = await fetch(connection, SQL["feeds"], {})
            disputes = await fetch(connection, SQL["disputes"], {"since": now - HOUR, "limit": MAX_CONFLICTS})
            doubts = await fetch(connection, SQL["doubts"], {"since": now - DAY, "limit": MAX_UNCERTAIN_PAIRINGS})
            (deliveries,) = await fetch(connection, SQL["deliveries"], {"now": now})
            checks = await fetch(connection, CHECK_SQL["checks"], {})
            library = await fetch(connection, SQL["library_stages"], {"stages": Jsonb(_library_stages())})
            storage = await fetch(connection, SQL["storage_usage"], {})
            coverage = await fetch(connection, SQL["coverage"], {"since": now - WEEK})
            windows = await fetch(
                connection,
                SQL["coverage_windows"],
                {"now": now, "within": self._coverage_within, "hours": list(COVERAGE_WINDOWS)},
            )
            statuses = await fetch(connection, SQL["statuses"], {})
            (totals,) = await fetch(connection, SQL["totals"], {})
        in_work = goals[0]["in_work"] if goals else 0
        return DatabaseFacts(
            matches=tuple(_match(row) for row in matches),
            matches_total=matches[0]["total"] if matches else 0,
            goals=tuple(_goal(row) for row in goals),
            goals_in_work=in_work,
            sources=tuple(SourceUse(**row) for row in sources),
            hours=tuple(Hour(**(row | {"at": row["at"].astimezone(UTC)})) for row in hours),
            feeds=tuple(feed_use(row) for row in feeds),
            disputes=tuple(FieldConflict(**row) for row in disputes),
            doubts=tuple(DoubtfulPairing(**(row | {"reasons": tuple(row["reasons"])})) for row in doubts),
            checks=tuple(service_check(row) for row in checks),
            library=tuple(LibraryStageUse(**row) for row in library),
            storage=tuple(StorageUse(**(row | {"measured_at": row["measured_at"].astimezone(UTC)})) for row in storage),
            coverage=tuple(LeagueCoverage(**(row | {"seconds": tuple(row["seconds"])})) for row in coverage),
            coverage_windows=tuple(CoverageWindow(**row) for row in windows),
            deliveries=Deliveries(**deliveries),
            goals_by_status={
                **dict.fromkeys(("validating", "watching", "extracting"), 0),
                **{row["status"]: row["number"] for row in statuses},
                "complete": totals["complete"],
                "withdrawn": totals["withdrawn"],
            },
            clips={"verified": totals["verified"], "unverified": totals["unverified"]},
            outbox_position=totals["outbox_position"],
            schema_problems=schema_problems,
        )

    # --- Feed health: state, samples and audit log.

    async def state(self) -> HealthState | None:
        found = await self._db.fetch(SQL["state"])
        return HealthState(**(_in_utc(found[0]) | {"grade": HealthGrade(found[0]["grade"])})) if found else None

    async def save(self, state: HealthState, summary: HealthSummary, recovery: Recovery | None = None) -> bool:
        async with self._db.connection() as connection:
            before = await fetch(connection, SQL["lock_state"], {})
            if before and before[0]["revision"] != state.revision - 1:
                return False
            if recovery is not None:  # before the state, which refers to it
                await _write(connection, recovery)
            row = {**asdict(state), "grade": str(state.grade), "judged_at": state.judged_at or summary.generated_at}
            if not await fetch(connection, SQL["save_state"], {**row, "summary": Jsonb(summary_document(summary))}):
                await connection.rollback()  # two watchdogs started at once on an empty database
                return False
            await fetch(connection, SQL["add_sample"], _sample_row(summary))
            known = before[0]["grade"] if before else str(HealthGrade.HEALTHY)
            if known != str(state.grade):
                payload = {"from": known, "to": str(state.grade), "reasons": list(summary.reasons)}
                await append_outbox(connection, [OutboxEvent("feeds.health", None, payload=payload)])
        return True

    async def summary(self) -> HealthSummary | None:
        found = await self._db.fetch(SQL["summary"])
        return summary_of(found[0]["summary"]) if found else None

    async def active_matches(self) -> Sequence[MatchUpdate]:
        return [
            MatchUpdate(row["id"], row["at"].astimezone(UTC), tuple(zip(row["feeds"], row["feed_ids"], strict=True)))
            for row in await self._db.fetch(SQL["active"])
        ]

    async def feed_uses(self) -> Sequence[FeedUse]:
        return [feed_use(row) for row in await self._db.fetch(SQL["feeds"])]

    async def titles(self, fixture_ids: Sequence[int]) -> Mapping[int, str]:
        rows = await self._db.fetch(SQL["titles"], ids=list(fixture_ids)) if fixture_ids else []
        return {row["id"]: row["title"] for row in rows}

    async def samples(self, since: datetime) -> Sequence[HealthSample]:
        rows = await self._db.fetch(SQL["samples"], since=since)
        return [HealthSample(**(_in_utc(row) | {"grade": HealthGrade(row["grade"])})) for row in rows]

    async def recoveries(self, limit: int = 100) -> Sequence[Recovery]:
        return [_recovery(row) for row in await self._db.fetch(SQL["recoveries"], limit=limit)]

    async def recovery(self, recovery_id: str) -> Recovery | None:
        found = await self._db.fetch(SQL["recovery"], id=recovery_id)
        return _recovery(found[0]) if found else None

    async def add_recovery(self, recovery: Recovery) -> None:
        async with self._db.connection() as connection:
            await _write(connection, recovery)


def first_hour(now: datetime) -> datetime:
    """Return the start of the first of 24 hours, of which the last is the current one."""
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=23)


async def _schema_problems(connection: Connection) -> tuple[str, ...]:
    state = await read_schema_state(connection)
    return (*state.missing, *state.unknown, *state.changed)


def _library_stages() -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "stage": stage.name,
            "item": stage.item,
            # The state `embedded` is not a backlog: few of these clips need to be embedded again.
            "takes": None if stage.only_outdated_embeddings else stage.takes,
            "working": stage.working,
            "failed": stage.failed,
        }
        for number, stage in enumerate(STAGES)
    ]


def _goal(row: dict[str, Any]) -> OpenGoal:
    return OpenGoal(**{name: value for name, value in row.items() if name != "in_work"})


def _match(row: dict[str, Any]) -> LiveMatch:
    values = {name: value for name, value in row.items() if name not in ("total", "listings")}
    return LiveMatch(**values, listings=tuple(MatchFeed(**each) for each in row["listings"]))


def feed_use(row: dict[str, Any]) -> FeedUse:
    quota = Quota.from_json(row["quota"]) if row["quota"] else None
    return FeedUse(row["feed"], row["asked_at"], row["answered_at"], row["error"], quota)


SAMPLE_RETENTION = timedelta(days=2)
"""How long samples are kept."""


async def _write(connection: Connection, recovery: Recovery) -> None:
    """Write the entry. Its start, its outcome and the end of the outage are published to the outbox."""
    known = await fetch(connection, SQL["lock_recovery"], {"id": recovery.id})
    row = asdict(recovery) | {
        "action": str(recovery.action),
        "outcome": str(recovery.outcome) if recovery.outcome else None,
        "before": Jsonb(dict(recovery.before)),
        "after": Jsonb(dict(recovery.after)),
    }
    await fetch(connection, SQL["add_recovery"], row)
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
    await append_outbox(connection, [OutboxEvent("feeds.recovery", None, payload=payload)])


def _sample_row(summary: HealthSummary) -> dict[str, Any]:
    return {
        "at": summary.generated_at,
        "grade": str(summary.grade),
        "median": summary.freshness.median,
        "p95": summary.freshness.p95,
        "maximum": summary.freshness.maximum,
        "matches": summary.freshness.count,
        "failure_ratio": summary.failure_ratio,
        "before": summary.generated_at - SAMPLE_RETENTION,
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


# --- JSON format of health summaries and audit entries in Redis.


def summary_fields(summary: HealthSummary) -> read.Fields:
    stats = summary.freshness
    return {
        "grade": summary.grade,
        "since": summary.since.timestamp(),
        "freshness_stats": {"median": stats.median, "p95": stats.p95, "max": stats.maximum, "count": stats.count},
        "generated_at": summary.generated_at.timestamp(),
        "last_success_time": _seconds(summary.last_success),
        "stall_seconds": summary.stall_seconds,
        "queue_depth": dict(summary.queue),
        "active_tasks": summary.active,
        "failure_ratio": summary.failure_ratio,
        "paused_matches": list(summary.paused),
        "reasons": list(summary.reasons),
    }


def summary_of_health_json(fields: read.Fields) -> HealthSummary:
    stats, queue = read.mapping(fields, "freshness_stats"), read.mapping(fields, "queue_depth")
    return HealthSummary(
        grade=read.one_of(fields, "grade", HealthGrade),
        since=read.timestamp(fields, "since"),
        freshness=FreshnessStats(
            median=read.number(stats, "median"),
            p95=read.number(stats, "p95"),
            maximum=read.number(stats, "max"),
            count=read.integer(stats, "count"),
        ),
        generated_at=read.timestamp(fields, "generated_at"),
        last_success=read.optional_timestamp(fields, "last_success_time"),
        stall_seconds=read.number(fields, "stall_seconds"),
        queue={priority: read.integer(queue, priority) for priority in queue},
        active=read.integer(fields, "active_tasks"),
        failure_ratio=read.number(fields, "failure_ratio"),
        paused=read.strings(fields, "paused_matches"),
        reasons=read.strings(fields, "reasons"),
    )


def recovery_fields(recovery: Recovery) -> read.Fields:
    return {
        "entry_id": recovery.id,
        "timestamp": recovery.at.timestamp(),
        "action_type": recovery.action,
        "trigger_condition": recovery.trigger,
        "outcome": recovery.outcome,
        "duration_seconds": recovery.seconds,
        "healthy_at": _seconds(recovery.healthy_at),
        "metadata": {"before": dict(recovery.before), "after": dict(recovery.after)},
    }


def recovery_of(fields: read.Fields) -> Recovery:
    metadata = read.mapping(fields, "metadata")
    outcome = fields.get("outcome")
    return Recovery(
        id=read.string(fields, "entry_id"),
        at=read.timestamp(fields, "timestamp"),
        action=read.one_of(fields, "action_type", RecoveryAction),
        trigger=read.string(fields, "trigger_condition"),
        before=read.mapping(metadata, "before"),
        after=read.mapping(metadata, "after"),
        outcome=None if outcome is None else read.one_of(fields, "outcome", RecoveryOutcome),
        seconds=read.optional_number(fields, "duration_seconds"),
        healthy_at=read.optional_timestamp(fields, "healthy_at"),
    )


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


# --- Redis copies for fast readers; PostgreSQL has the originals.


SUMMARY, AUDIT = "health_summary", "audit_log"
AUDIT_LENGTH = 100
MISSED_CHECKS = 3
"""Lifetime of a summary in check intervals: the watchdog may miss two checks."""


class HealthCache:
    def __init__(self, cache: RedisCache, *, every: timedelta = timedelta(seconds=15)) -> None:
        """`every` is the interval of checks."""
        self._cache = cache
        self._milliseconds = max(1, round(MISSED_CHECKS * every.total_seconds() * 1000))

    async def publish(self, summary: HealthSummary) -> None:
        text = read.dump(summary_fields(summary))
        await self._cache.run("SET", self._cache.key(SUMMARY), text, "PX", self._milliseconds)

    async def summary(self) -> HealthSummary | None:
        key = self._cache.key(SUMMARY)
        return read.readable(key, await self._cache.run("GET", key), summary_of_health_json)

    async def publish_recovery(self, recovery: Recovery) -> None:
        """Add the entry, or overwrite the one with the same id in place."""
        text = read.dump(recovery_fields(recovery))
        await self._cache.run_script(RECORD_RECOVERY, [self._cache.key(AUDIT)], [text, recovery.id, AUDIT_LENGTH])

    async def recoveries(self, limit: int = AUDIT_LENGTH) -> Sequence[Recovery]:
        """Return the entries, newest first."""
        key = self._cache.key(AUDIT)
        texts = await self._cache.run("LRANGE", key, 0, limit - 1)
        found = [read.readable(key, text, recovery_of) for text in texts]
        return [recovery for recovery in found if recovery is not None]
