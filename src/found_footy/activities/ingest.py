"""Bringing fixtures in, and letting old ones go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import asdict, replace
from datetime import date, datetime

from found_footy.activities.boundary import implements
from found_footy.activities.registering import register
from found_footy.activities.unexpected import AnswerKeeper
from found_footy.domain.errors import FeedError, FeedRejected, FootyError
from found_footy.domain.fixtures.lifecycle import LifecycleRules
from found_footy.domain.fixtures.tracking import Tracked
from found_footy.domain.recordings.keys import recording_prefix
from found_footy.domain.videos.keys import STAGING, fixture_prefix
from found_footy.feed_registry import FeedRegistry, OpenFeed
from found_footy.follow_book import FollowBook
from found_footy.http_exchanges import record_exchanges
from found_footy.ports import FeedAnswer, FixtureStore, ObjectStore
from found_footy.ports_feeds import ListingStore
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
        listings: ListingStore,
        objects: ObjectStore,
        registry: FeedRegistry,
        lifecycle: LifecycleRules,
        tracked: Tracked,
        follows: FollowBook | None = None,
        keeper: AnswerKeeper | None = None,
    ) -> None:
        """`follows` replaces the list in `tracked` by the one that holds when an ingest starts."""
        self._store = store
        self._listings = listings
        self._objects = objects
        self._registry = registry
        self._lifecycle = lifecycle
        self._tracked = tracked
        self._follows = follows
        self._keeper = keeper or AnswerKeeper()

    @implements(INGEST_DAY)
    async def ingest_day(self, order: IngestDay) -> Ingested:
        """Asks all feeds; what one of them gives is stored whatever becomes of the others."""
        day = date.fromisoformat(order.day)
        tracked = self._tracked
        if self._follows is not None:
            # Read anew: whoever has just added a competition starts an ingest to see its matches.
            tracked = replace(tracked, following=await self._follows.refresh())
        opened = await self._registry.feeds()
        answers = await asyncio.gather(*(self._asked(each, each.feed.fixtures_on(day), order.at) for each in opened))
        ingested = Ingested()
        # The most trusted first: it founds the match, and the others join it.
        for each, answer in zip(opened, answers, strict=True):
            ingested = _sum(ingested, await self._add(each, answer, order.at, tracked))
        errors = [error for answer in answers for error in answer.errors]
        if errors:
            raise errors[0]  # what came is stored; the rest is asked for again, or told
        return ingested

    @implements(INGEST_FIXTURES)
    async def ingest_fixtures(self, order: IngestIds) -> Ingested:
        """The ids are those of the feed whose ids are ours."""
        opened = next((each for each in await self._registry.feeds() if each.id_space == 0), None)
        if opened is None:
            raise FeedRejected("the feed that these ids belong to is switched off, or lacks its key")
        answer = await self._asked(opened, opened.feed.fixtures_by_ids(order.fixture_ids), order.at)
        if answer.errors:
            raise answer.errors[0]
        if answer.failures and not answer.fixtures:
            raise next(iter(answer.failures.values()))
        return await self._add(opened, answer, order.at, Tracked())

    async def _asked(self, opened: OpenFeed, asking: Awaitable[FeedAnswer], at: datetime) -> FeedAnswer:
        with record_exchanges() as exchanges:
            try:
                answer = await asking
            except FeedError as error:
                answer = FeedAnswer(errors=(error,))
        await self._keeper.note(f"feed {opened.id}", [*answer.errors, *answer.failures.values()], exchanges)
        problem: FootyError | None = answer.errors[0] if answer.errors else None
        if problem is None and answer.failures and not answer.fixtures:
            problem = next(iter(answer.failures.values()))
        await self._store.save_feed_state(opened.id, opened.feed.quota, at, problem)
        return answer

    @implements(CLEANUP_OLD_FIXTURES)
    async def cleanup_old_fixtures(self, order: CleanUp) -> CleanedUp:
        # The files first: rows that are gone cannot tell what to delete.
        for fixture_id in await self._store.older_than(order.before):
            await self._delete_files(fixture_prefix(fixture_id), before=None)
            await self._delete_files(recording_prefix(fixture_id), before=None)
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

    async def _add(self, opened: OpenFeed, answer: FeedAnswer, at: datetime, tracked: Tracked) -> Ingested:
        done = await register(self._listings, opened, answer.fixtures, tracked, self._lifecycle, at)
        for id_, error in answer.failures.items():
            log.warning(
                str(error),
                extra={"action": "fixture_rejected", "feed": opened.id, "feed_id": id_, "error": error.kind},
            )
        log.info(
            "fixtures ingested",
            extra={"action": "ingested", "feed": opened.id, "found": len(answer.fixtures), **asdict(done)},
        )
        return Ingested(
            found=len(answer.fixtures),
            tracked=done.tracked,
            added=done.added,
            rejected=len(answer.failures),
            unknown=list(answer.unknown),
            joined=done.joined,
            doubtful=done.doubtful,
        )


def _sum(one: Ingested, other: Ingested) -> Ingested:
    return Ingested(
        found=one.found + other.found,
        tracked=one.tracked + other.tracked,
        added=one.added + other.added,
        rejected=one.rejected + other.rejected,
        unknown=[*one.unknown, *other.unknown],
        joined=one.joined + other.joined,
        doubtful=one.doubtful + other.doubtful,
    )
