"""PostgreSQL store of the findings that last, and their announcement through the outbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.fixtures.models import OutboxEvent
from found_footy.notifications.outbox import append_outbox
from found_footy.operations.finding_changes import FindingChange, FindingRules, TrackedFinding, track_findings
from found_footy.operations.models import Finding, SystemGrade
from found_footy.storage.postgres import Database, fetch, load_queries, storable
from found_footy.text import shorten

SQL = load_queries(__package__, "finding_store")

MAX_TEXT = 500
MAX_KEY = 300


class FindingStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def findings(self) -> list[TrackedFinding]:
        return [_tracked(row) for row in await self._db.fetch(SQL["findings"])]

    async def track(self, seen: Sequence[Finding], now: datetime, rules: FindingRules) -> Sequence[FindingChange]:
        """Save what is listed now, and announce what has begun or ended in the same transaction."""
        bounded = [_bounded(each) for each in seen]
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock"], {})
            known = [_tracked(row) for row in await fetch(connection, SQL["findings"], {})]
            update = track_findings(known, bounded, now, rules)
            rows = [_row(each) for each in update.tracked]
            await fetch(connection, SQL["save"], {"rows": Jsonb(rows)})
            await fetch(connection, SQL["forget_others"], {"keys": [row["key"] for row in rows]})
            await append_outbox(
                connection,
                [OutboxEvent(f"finding.{each.state}", None, payload=_payload(each.finding)) for each in update.changes],
            )
        return update.changes


def _bounded(finding: Finding) -> Finding:
    texts = {name: shorten(storable(getattr(finding, name)), MAX_TEXT) for name in ("what", "advice")}
    values = {**asdict(finding), **texts, "subject": storable(finding.subject, MAX_KEY)}
    return Finding(**(values | {"grade": finding.grade}))


def _row(tracked: TrackedFinding) -> dict[str, Any]:
    finding = tracked.finding
    return {
        **asdict(finding),
        "key": finding.key,
        "grade": str(finding.grade),
        "since": finding.since.isoformat() if finding.since else None,
        "first_seen": tracked.first_seen.isoformat(),
        "last_seen": tracked.last_seen.isoformat(),
        "announced": str(tracked.announced) if tracked.announced else None,
    }


def _tracked(row: Mapping[str, Any]) -> TrackedFinding:
    values: dict[str, Any] = {
        name: each.astimezone(UTC) if isinstance(each, datetime) else each for name, each in row.items()
    }
    first_seen, last_seen, announced = (values.pop(name) for name in ("first_seen", "last_seen", "announced"))
    finding = Finding(**(values | {"grade": SystemGrade(values["grade"])}))
    return TrackedFinding(finding, first_seen, last_seen, SystemGrade(announced) if announced else None)


def _payload(finding: Finding) -> dict[str, Any]:
    return {
        "key": finding.key,
        "kind": finding.kind,
        "grade": str(finding.grade),
        "what": finding.what,
        "advice": finding.advice,
        "since": finding.since.isoformat() if finding.since else None,
        "event_id": finding.event_id,
        "fixture_id": finding.fixture_id,
    }
