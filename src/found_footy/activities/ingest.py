"""Bringing fixtures in, and letting old ones go."""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import date, datetime

from found_footy.activities.boundary import implements
from found_footy.domain.errors import FeedError
from found_footy.domain.fixtures.lifecycle import LifecycleRules, stage_at_first_sight
from found_footy.domain.fixtures.tracking import is_tracked
from found_footy.domain.videos.keys import STAGING, fixture_prefix
from found_footy.ports import FeedAnswer, FixtureStore, ObjectStore, ScoreFeed
from found_footy.workflows.contracts import (
    CLEANUP_OLD_FIXTURES,
    INGEST_DAY,
    INGEST_FIXTURES,
    CleanedUp,
    CleanUp,
    IngestDay,
    Ingested,
    IngestIds,
)

log = logging.getLogger(__name__)


class IngestActivities:
    def __init__(
        self,
        store: FixtureStore,
        objects: ObjectStore,
        feed: ScoreFeed,
        lifecycle: LifecycleRules,
        teams: Collection[int] = (),
        leagues: Collection[int] = (),
    ) -> None:
        self._store = store
        self._objects = objects
        self._feed = feed
        self._lifecycle = lifecycle
        self._teams = frozenset(teams)
        self._leagues = frozenset(leagues)

    @implements(INGEST_DAY)
    async def ingest_day(self, order: IngestDay) -> Ingested:
        try:
            answer = await self._feed.fixtures_on(date.fromisoformat(order.day))
        except FeedError as error:
            await self._store.save_feed_state(self._feed.name, self._feed.quota, order.at, error)
            raise
        problem = answer.errors[0] if answer.errors else None
        await self._store.save_feed_state(self._feed.name, self._feed.quota, order.at, problem)
        tracked = [live for live in answer.fixtures if is_tracked(live, self._teams, self._leagues)]
        ingested = await self._add(FeedAnswer(tuple(tracked), answer.failures), len(answer.fixtures), order.at)
        if problem is not None:
            raise problem  # what came is stored; the rest is asked for again, or told
        return ingested

    @implements(INGEST_FIXTURES)
    async def ingest_fixtures(self, order: IngestIds) -> Ingested:
        answer = await self._feed.fixtures_by_ids(order.fixture_ids)
        problem = next(iter(answer.failures.values())) if answer.failures and not answer.fixtures else None
        await self._store.save_feed_state(self._feed.name, self._feed.quota, order.at, problem)
        if problem is not None:
            raise problem
        return await self._add(answer, len(answer.fixtures), order.at)

    @implements(CLEANUP_OLD_FIXTURES)
    async def cleanup_old_fixtures(self, order: CleanUp) -> CleanedUp:
        # The files first: rows that are gone cannot tell what to delete.
        for fixture_id in await self._store.older_than(order.before):
            await self._delete_files(fixture_prefix(fixture_id), before=None)
        await self._delete_files(STAGING, before=order.before)
        deleted = await self._store.delete_older_than(order.before)
        log.info("deleted fixtures past retention", extra={"action": "fixtures_deleted", "count": deleted})
        return CleanedUp(deleted)

    async def _delete_files(self, prefix: str, before: datetime | None) -> None:
        found = self._objects.list(prefix)
        keys = [stored.key async for stored in found if before is None or stored.modified < before]
        if keys:
            await self._objects.delete(keys)
            log.info("files deleted", extra={"action": "files_deleted", "prefix": prefix, "count": len(keys)})

    async def _add(self, answer: FeedAnswer, found: int, at: datetime) -> Ingested:
        placed = [
            (live, stage_at_first_sight(live.status, live.kickoff, at, self._lifecycle)) for live in answer.fixtures
        ]
        added = await self._store.add_fixtures(placed, at)
        for id_, error in answer.failures.items():
            log.warning(str(error), extra={"action": "fixture_rejected", "fixture_id": id_, "error": error.kind})
        log.info(
            "fixtures ingested",
            extra={"action": "ingested", "found": found, "tracked": len(placed), "added": sum(added.values())},
        )
        return Ingested(
            found=found,
            tracked=len(placed),
            added=sum(added.values()),
            rejected=len(answer.failures),
            unknown=list(answer.unknown),
        )
