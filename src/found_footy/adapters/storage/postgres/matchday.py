"""The matches of a day as people look at them: a fixed number of statements, however many goals there are."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from found_footy.adapters.storage.postgres.database import Database
from found_footy.domain.errors import NotFound

Document = dict[str, Any]

DAY = timedelta(days=1)


class PostgresMatchday:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def days(self, day: date, around: int) -> Document:
        start = _midnight(day)
        (row,) = await self._db.fetch(
            "matchday.days",
            start=start,
            end=start + DAY,
            first=start - around * DAY,
            last=start + (around + 1) * DAY,
        )
        return {
            "position": row["position"],
            "before": _day_of(row["before"]),
            "after": _day_of(row["after"]),
            "counts": {date.fromisoformat(each): number for each, number in row["counts"].items()},
        }

    async def matches(self, day: date, most: int) -> list[Document]:
        start = _midnight(day)
        return await self._db.fetch("matchday.matches", id=None, start=start, end=start + DAY, most=most)

    async def heard(self, day: date, most: int) -> dict[int, datetime]:
        start = _midnight(day)
        found = await self._db.fetch("matchday.heard", start=start, end=start + DAY, most=most)
        return {row["id"]: row["heard_at"] for row in found}

    async def match(self, fixture_id: int) -> Document:
        found = await self._db.fetch("matchday.matches", id=fixture_id, start=None, end=None, most=0)
        if not found:
            raise NotFound(f"there is no match {fixture_id}")
        return found[0]


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _day_of(at: datetime | None) -> date | None:
    return at.astimezone(UTC).date() if at else None
