"""What the operations page asks of the database: a handful of statements, however large it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from found_footy.adapters.storage.postgres.database import Connection, Database, fetch
from found_footy.adapters.storage.postgres.migrate import migrations
from found_footy.adapters.storage.postgres.rows import quota_of
from found_footy.adapters.storage.postgres.service_checks import service_check
from found_footy.domain.operations.feeds_measured import Dispute, Doubt, FeedUse, MatchFeed
from found_footy.domain.operations.measured import (
    Deliveries,
    GoalInWork,
    Hour,
    LiveMatch,
    Recorded,
    SourceUse,
)

MOST_MATCHES = 200
MOST_GOALS = 200
MOST_DISPUTES = 100
MOST_DOUBTS = 100
HOUR, DAY = timedelta(hours=1), timedelta(hours=24)


class PostgresOperations:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def lacking(self) -> tuple[str, ...]:
        """Migrations that this version needs and the database does not have."""
        async with self._db.connection() as connection:
            return await _lacking(connection)

    async def recorded(self, now: datetime) -> Recorded:
        async with self._db.connection() as connection:
            lacking = await _lacking(connection)
            matches = await fetch(connection, "operations.matches", {"limit": MOST_MATCHES})
            goals = await fetch(connection, "operations.goals", {"limit": MOST_GOALS})
            sources = await fetch(connection, "operations.sources", {"since": now - DAY})
            hours = await fetch(connection, "operations.hours", {"since": first_hour(now)})
            feeds = await fetch(connection, "operations.feeds", {})
            disputes = await fetch(connection, "operations.disputes", {"since": now - HOUR, "limit": MOST_DISPUTES})
            doubts = await fetch(connection, "operations.doubts", {"since": now - DAY, "limit": MOST_DOUBTS})
            (deliveries,) = await fetch(connection, "operations.deliveries", {"now": now})
            checks = await fetch(connection, "service_checks.checks", {})
            statuses = await fetch(connection, "operations.statuses", {})
            (totals,) = await fetch(connection, "operations.totals", {})
        in_work = goals[0]["in_work"] if goals else 0
        return Recorded(
            matches=tuple(_match(row) for row in matches),
            goals=tuple(_goal(row) for row in goals),
            goals_in_work=in_work,
            sources=tuple(SourceUse(**row) for row in sources),
            hours=tuple(Hour(**(row | {"at": row["at"].astimezone(UTC)})) for row in hours),
            feeds=tuple(feed_use(row) for row in feeds),
            disputes=tuple(Dispute(**row) for row in disputes),
            doubts=tuple(Doubt(**(row | {"reasons": tuple(row["reasons"])})) for row in doubts),
            checks=tuple(service_check(row) for row in checks),
            deliveries=Deliveries(**deliveries),
            goals_by_status={
                **dict.fromkeys(("validating", "watching", "extracting"), 0),
                **{row["status"]: row["number"] for row in statuses},
                "complete": totals["complete"],
                "withdrawn": totals["withdrawn"],
            },
            clips={"verified": totals["verified"], "unverified": totals["unverified"]},
            news=totals["news"],
            lacking=lacking,
        )


def first_hour(now: datetime) -> datetime:
    """The beginning of the first of 24 hours of which the last is under way."""
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=23)


async def _lacking(connection: Connection) -> tuple[str, ...]:
    applied = {row["name"] for row in await fetch(connection, "operations.schema", {})}
    return tuple(name for name in _needed() if name not in applied)


@cache
def _needed() -> tuple[str, ...]:
    return tuple(migration.name for migration in migrations())


def _goal(row: dict[str, Any]) -> GoalInWork:
    return GoalInWork(**{name: value for name, value in row.items() if name != "in_work"})


def _match(row: dict[str, Any]) -> LiveMatch:
    return LiveMatch(**(row | {"listings": tuple(MatchFeed(**each) for each in row["listings"])}))


def feed_use(row: dict[str, Any]) -> FeedUse:
    quota = quota_of(row["quota"]) if row["quota"] else None
    return FeedUse(row["feed"], row["asked_at"], row["answered_at"], row["error"], quota)
