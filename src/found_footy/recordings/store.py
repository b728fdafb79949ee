"""PostgreSQL store of recordings in progress: a row per poll, feed and match, and one per search."""

from __future__ import annotations

import base64
import json
import logging
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.errors import FeedSchemaError, NotFound, UnknownStatus
from found_footy.feeds.snapshot import decode
from found_footy.json_reader import JsonReader
from found_footy.recordings.file_format import canonical_json, read_search, search_line
from found_footy.recordings.models import (
    RecordedAliases,
    RecordedDownload,
    RecordedError,
    RecordedFeed,
    RecordedSearch,
    RecordedSnapshot,
    Recording,
    RecordingSummary,
    SnapshotToRecord,
)
from found_footy.storage.postgres import Database, fetch, load_queries, storable
from found_footy.text import MAX_ERROR_TEXT

SQL = load_queries(__package__, "store")

log = logging.getLogger(__name__)

Row = Mapping[str, Any]


class RecordingStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    # --- During the match.

    async def known_checksums(self, feed: str, feed_ids: Sequence[int]) -> Mapping[int, str]:
        found = await self._db.fetch(SQL["known_checksums"], feed=feed, ids=list(feed_ids))
        return {row["feed_id"]: row["checksum"] for row in found}

    async def add_answers(self, feed: str, answers: Sequence[SnapshotToRecord]) -> None:
        rows = [
            {
                "feed_id": answer.feed_id,
                "at": answer.at.isoformat(),
                "checksum": answer.checksum,
                "body": None if answer.body is None else base64.b64encode(answer.body).decode(),
                "error_kind": answer.error.kind if answer.error else None,
                "error_message": storable(str(answer.error), MAX_ERROR_TEXT) if answer.error else None,
            }
            for answer in answers
        ]
        if rows:
            await self._db.fetch(SQL["add_answers"], feed=feed, rows=Jsonb(rows))

    async def add_search(self, search: RecordedSearch) -> None:
        body = zlib.compress(canonical_json(search_line(search)))
        params = {"event_id": search.event_id, "attempt": search.attempt, "at": search.at, "body": body}
        await self._db.fetch(SQL["add_search"], **params)

    # --- After the match.

    async def finished_matches(self, limit: int, without: Sequence[int] = ()) -> Sequence[int]:
        found = await self._db.fetch(SQL["finished_matches"], limit=limit, without=list(without))
        return [row["id"] for row in found]

    async def recording(self, fixture_id: int) -> Recording | None:
        # The isolation level must be set before any query of the transaction, including the schema check.
        async with self._db.connection(check_schema=False) as connection:
            # All statements read one snapshot.
            await connection.execute("set transaction isolation level repeatable read read only")
            match = await fetch(connection, SQL["fixture"], {"id": fixture_id})
            if not match:
                raise NotFound(f"fixture {fixture_id} not found")
            answers = await fetch(connection, SQL["answers"], {"id": fixture_id})
            searches = await fetch(connection, SQL["searches"], {"id": fixture_id})
            downloads = await fetch(connection, SQL["downloads"], {"id": fixture_id})
            teams = [match[0]["home_id"], match[0]["away_id"]]
            names = await fetch(connection, SQL["names"], {"ids": teams})
        if not answers:
            return None
        return Recording(
            title=f"{match[0]['home_name']} - {match[0]['away_name']}",
            fixture_id=fixture_id,
            feeds=tuple(RecordedFeed(feed["feed"], founding=feed["founding"]) for feed in match[0]["feeds"]),
            answers=tuple(_merge_repeated(answers)),
            searches=tuple(search for row in searches if (search := _search(row)) is not None),
            downloads=tuple(RecordedDownload(**row) for row in downloads),
            names=tuple(RecordedAliases(row["team_id"], row["team_name"], tuple(row["aliases"])) for row in names),
            document=match[0]["document"],
        )

    async def mark_sealed(self, fixture_id: int, key: str, size: int, now: datetime) -> None:
        async with self._db.connection() as connection:
            await fetch(connection, SQL["seal"], {"id": fixture_id, "key": key, "bytes": size, "now": now})
            await fetch(connection, SQL["delete_answers"], {"id": fixture_id})
            await fetch(connection, SQL["delete_searches"], {"id": fixture_id})

    # --- Operator commands.

    async def enable_all(self, on: bool) -> None:
        async with self._db.connection() as connection:
            await fetch(connection, SQL["enable_all"], {"on": on})
            await fetch(connection, SQL["clear_enabled"], {})

    async def enable(self, fixture_ids: Sequence[int], on: bool) -> None:
        async with self._db.connection() as connection:
            changed = await fetch(connection, SQL["enable"], {"ids": list(fixture_ids), "on": on})
            missing = sorted(set(fixture_ids) - {row["fixture_id"] for row in changed})
            if missing:
                raise NotFound(f"fixture not found: {', '.join(map(str, missing))}")

    async def all_enabled(self) -> bool:
        return bool((await self._db.fetch(SQL["all_enabled"]))[0]["all_matches"])

    async def summaries(self) -> Sequence[RecordingSummary]:
        return [
            RecordingSummary(
                fixture_id=row["fixture_id"],
                title=f"{row['home_name']} - {row['away_name']}",
                kickoff=row["kickoff"],
                stage=row["stage"],
                on=row["recorded"],
                answers=row["answers"],
                searches=row["searches"],
                key=row["key"],
                bytes=row["bytes"],
                sealed_at=row["sealed_at"],
            )
            for row in await self._db.fetch(SQL["summaries"])
        ]


def _merge_repeated(rows: Iterable[Row]) -> list[RecordedSnapshot]:
    """Merge consecutive equal polls into one response with all their times."""
    runs: list[tuple[Row, list[datetime]]] = []
    current: dict[tuple[str, int], int] = {}
    for row in rows:
        match = row["feed"], row["feed_id"]
        place = current.get(match)
        if place is not None and runs[place][0]["checksum"] == row["checksum"]:
            runs[place][1].append(row["at"])
        else:
            current[match] = len(runs)
            runs.append((row, [row["at"]]))
    return [answer for row, times in runs if (answer := _answer(row, tuple(times))) is not None]


def _answer(row: Row, times: tuple[datetime, ...]) -> RecordedSnapshot | None:
    if row["error_kind"] is not None:
        error = RecordedError(row["error_kind"], row["error_message"] or "")
        return RecordedSnapshot(row["feed"], row["feed_id"], times, error=error)
    if row["body"] is None:
        return None  # the row with its body is missing
    try:
        live = decode(json.loads(zlib.decompress(row["body"])))
    except _UNREADABLE as error:
        _skip_row(error, feed=row["feed"], at=str(row["at"]))
        return None
    return RecordedSnapshot(row["feed"], row["feed_id"], times, live=live)


def _search(row: Row) -> RecordedSearch | None:
    try:
        return read_search(JsonReader(json.loads(zlib.decompress(row["body"]))))
    except _UNREADABLE as error:
        _skip_row(error, event_id=row["event_id"], attempt=row["attempt"])
        return None


_UNREADABLE = (zlib.error, ValueError, FeedSchemaError, UnknownStatus)


def _skip_row(error: Exception, **about: object) -> None:
    """Log an unreadable row, perhaps of another version: it must not fail the whole recording."""
    log.error(f"skipped a row of a recording: {error}", extra={"action": "recording_incomplete", **about})
