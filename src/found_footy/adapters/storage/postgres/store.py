"""The system of record. A poll is a fixed number of statements, however many fixtures it covers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres import rows
from found_footy.adapters.storage.postgres.database import Connection, Database, fetch
from found_footy.adapters.storage.postgres.news import announce
from found_footy.domain.errors import FootyError, NotFound, StoreRejected
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.fixtures.comparison import Verdict
from found_footy.domain.fixtures.model import KnownEvent, LiveFixture, Stage
from found_footy.domain.fixtures.polling import FixtureOutcome, FixtureState, News
from found_footy.ports import Coverage, FeedState

log = logging.getLogger(__name__)

SAW_IT = frozenset({Verdict.NEW, Verdict.SEEN, Verdict.STABLE})


class PostgresStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    @property
    def database(self) -> Database:
        """For the other stores that share its pool."""
        return self._db

    # --- ingest and staging

    async def update_staging(self, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime) -> int:
        async with self._db.connection() as connection:
            saved = await add_fixtures(connection, fixtures, now)
        return sum(row["stage"] != Stage.STAGING for row in saved)

    async def activate_due(self, now: datetime, lead: timedelta) -> list[int]:
        async with self._db.connection() as connection:
            moved = await fetch(connection, "fixtures.activate_due", {"now": now, "until": now + lead})
            ids = [row["id"] for row in moved]
            await announce(connection, [News("fixture.active", id_) for id_ in ids])
        return ids

    async def older_than(self, before: datetime) -> list[int]:
        return [row["id"] for row in await self._db.fetch("fixtures.older_than", before=before)]

    async def delete_older_than(self, before: datetime) -> int:
        async with self._db.connection() as connection:
            await fetch(connection, "outbox.delete_older_than", {"before": before})
            return len(await fetch(connection, "fixtures.delete_older_than", {"before": before}))

    # --- the poll

    @asynccontextmanager
    async def poll(self) -> AsyncIterator[PostgresPoll]:
        async with self._db.connection() as connection:
            yield PostgresPoll(connection)

    async def record_failures(self, failures: Mapping[int, FootyError], now: datetime) -> None:
        if failures:
            records = [{"id": id_, "kind": e.kind, "message": str(e)} for id_, e in failures.items()]
            await self._db.fetch("fixtures.record_failures", rows=Jsonb(records), now=now)

    async def events_to_search(self, silent_since: datetime) -> list[str]:
        return [row["id"] for row in await self._db.fetch("events.to_search", silent_since=silent_since)]

    async def coverage(self, fixture_ids: Sequence[int]) -> Sequence[Coverage]:
        found = await self._db.fetch("clips.coverage", ids=list(fixture_ids))
        return [Coverage(**row) for row in found]

    # --- the search

    async def set_monitor_complete(self, event_id: str, workflow_id: str) -> bool:
        async with self._db.connection() as connection:
            wanted = await fetch(connection, "events.set_monitor_complete", {"id": event_id})
            if wanted:
                workflow = {"event_id": event_id, "kind": "search", "workflow_id": workflow_id}
                await fetch(connection, "events.add_workflows", {"rows": Jsonb([workflow])})
        return bool(wanted)

    async def set_download_complete(self, event_id: str) -> None:
        async with self._db.connection() as connection:
            saved = await fetch(connection, "events.set_download_complete", {"id": event_id})
            news = [News("goal.complete", row["fixture_id"], event_id) for row in saved if not row["was_complete"]]
            await announce(connection, news)

    # --- the feed's own state

    async def save_feed_state(self, feed: str, quota: Quota | None, now: datetime, error: FootyError | None) -> None:
        await self._db.fetch(
            "fixtures.save_feed_state",
            feed=feed,
            now=now,
            error=f"{error.kind}: {error}" if error else None,
            quota=Jsonb(rows.quota_row(quota)) if quota else None,
        )

    async def feed_state(self, feed: str) -> FeedState | None:
        found = await self._db.fetch("fixtures.feed_state", feed=feed)
        if not found:
            return None
        row = found[0]
        quota = rows.quota_of(row["quota"]) if row["quota"] else None
        return FeedState(quota, row["asked_at"], row["answered_at"], row["error"])

    # --- what people look at

    async def fixtures(self, *, stage: str | None = None, day: date | None = None) -> list[dict[str, Any]]:
        return [row["document"] for row in await self._db.fetch("fixtures.list", stage=stage, day=day)]

    async def fixture(self, fixture_id: int) -> dict[str, Any]:
        found = await self._db.fetch("fixtures.one", id=fixture_id)
        if not found:
            raise NotFound(f"there is no fixture {fixture_id}")
        document: dict[str, Any] = found[0]["document"]
        return document

    async def event(self, event_id: str) -> dict[str, Any]:
        found = await self._db.fetch("events.one", id=event_id)
        if not found:
            raise NotFound(f"there is no event {event_id!r}")
        document: dict[str, Any] = found[0]["document"]
        return document


async def add_fixtures(
    connection: Connection, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime
) -> list[dict[str, Any]]:
    """Rows of those that are new or still in staging; one that the database refuses costs only itself."""
    if not fixtures:
        return []
    records = [rows.live_row(live, stage) for live, stage in fixtures]
    try:
        async with connection.transaction():
            saved = await fetch(connection, "fixtures.add", {"rows": Jsonb(records), "now": now})
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        if len(fixtures) == 1:
            log.error(str(error).strip(), extra={"action": "fixture_refused", "fixture_id": fixtures[0][0].id})
            return []
        return [row for fixture in fixtures for row in await add_fixtures(connection, [fixture], now)]
    news = [
        News(f"fixture.{row['stage']}", row["id"]) for row in saved if row["is_new"] or row["stage"] != Stage.STAGING
    ]
    await announce(connection, news)
    return saved


class PostgresPoll:
    """One transaction over the active fixtures of a poll."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def load(self, fixture_ids: Sequence[int]) -> list[FixtureState]:
        ids = list(fixture_ids)
        fixtures = await fetch(self._connection, "fixtures.lock_active", {"ids": ids})
        events: dict[int, list[KnownEvent]] = {}
        for row in await fetch(self._connection, "events.of_fixtures", {"ids": ids}):
            events.setdefault(row["fixture_id"], []).append(rows.event_of(row))
        return [rows.state_of(row, tuple(events.get(row["id"], ()))) for row in fixtures]

    async def release(self, fixture_ids: Sequence[int], stage: Stage, at: datetime) -> None:
        if fixture_ids:
            params = {"ids": list(fixture_ids), "stage": stage, "at": at}
            moved = [row["id"] for row in await fetch(self._connection, "fixtures.release", params)]
            await fetch(self._connection, "fixtures.delete_live_of_inactive", {"ids": moved})
            await announce(self._connection, [News(f"fixture.{stage}", id_) for id_ in moved])

    async def save(self, outcomes: Sequence[FixtureOutcome]) -> Mapping[int, FootyError]:
        try:
            async with self._connection.transaction():
                await self._save(outcomes)
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            if len(outcomes) == 1:
                return {outcomes[0].live.id: StoreRejected(str(error).strip())}
            # One fixture's values must not cost the others their poll: find it by saving each alone.
            failures: dict[int, FootyError] = {}
            for outcome in outcomes:
                failures |= await self.save([outcome])
            return failures
        return {}

    async def _save(self, outcomes: Sequence[FixtureOutcome]) -> None:
        decisions = [(outcome.poll, decision) for outcome in outcomes for decision in outcome.decisions]
        await self._bulk("fixtures.overwrite_live", [rows.snapshot_row(outcome) for outcome in outcomes])
        await self._bulk("events.upsert", [rows.event_row(decision.event) for _, decision in decisions])
        await self._bulk(
            "events.add_attributions",
            [rows.attribution_row(decision, poll) for poll, decision in decisions if decision.changed],
        )
        await self._bulk(
            "events.add_workflows",
            [
                rows.workflow_row(decision.event.id, "monitor", poll.id, poll.at)
                for poll, decision in decisions
                if decision.verdict in SAW_IT
            ],
        )
        await self._bulk("fixtures.update_polled", [rows.polled_row(outcome) for outcome in outcomes])
        left = [outcome.live.id for outcome in outcomes if outcome.stage is not Stage.ACTIVE]
        if left:
            await fetch(self._connection, "fixtures.delete_live_of_inactive", {"ids": left})
        await announce(self._connection, [news for outcome in outcomes for news in outcome.news])

    async def _bulk(self, name: str, records: Sequence[rows.Row]) -> None:
        if records:
            await fetch(self._connection, name, {"rows": Jsonb(records)})
