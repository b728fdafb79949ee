"""Registration of a feed's fixtures, and which of them are followed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from found_footy.errors import CacheUnavailable, FeedError, FeedSchemaError, FootyError
from found_footy.feeds.alignment import id_offset, to_fixture_ids
from found_footy.feeds.match_pairing import pair_listings, to_listing
from found_footy.feeds.models import FeedAnswer, MatchListing, OpenFeed, Pairing, PairingVerdict
from found_footy.feeds.store import ListingStore, RegistrationTransaction
from found_footy.feeds.team_similarity import is_placeholder
from found_footy.fixtures.follow_list import FollowBook
from found_footy.fixtures.following import EVERYTHING, Following
from found_footy.fixtures.lifecycle import LifecycleRules, initial_stage
from found_footy.fixtures.models import IngestCounts, LiveFixture, Sport
from found_footy.operations.unexpected_answers import UnexpectedAnswerRecorder
from found_footy.runtime.http_exchanges import record_exchanges

if TYPE_CHECKING:
    from found_footy.feeds.cache import FeedCache
    from found_footy.fixtures.store import FixtureStore


@dataclass(frozen=True, slots=True)
class TrackedIds:
    """The follow list, plus ids of the feed whose ids are used unchanged. The default follows everything."""

    teams: Collection[int] = ()
    leagues: Collection[int] = ()
    following: Following = EVERYTHING


def is_tracked(live: LiveFixture, tracked: TrackedIds, adapter: str, *, own_ids: bool) -> bool:
    """Return whether the fixture is followed by name or by id. `own_ids` is whether the feed's ids are fixture ids."""
    if own_ids and has_tracked_id(live, tracked.teams, tracked.leagues):
        return True
    return tracked.following.matches(live, adapter)


def has_tracked_id(live: LiveFixture, teams: Collection[int], leagues: Collection[int]) -> bool:
    return live.league.id in leagues or live.home.id in teams or live.away.id in teams


# --- Registration: load existing listings, pair new ones and save them, in one transaction.


log = logging.getLogger(__name__)

CANDIDATE_WINDOW = timedelta(days=6)
"""Maximum distance between the starts of two listings of one match; cricket lasts up to five days."""
FOLLOW_ALL = "all"


@dataclass(frozen=True, slots=True)
class RegistrationResult:
    tracked: int = 0
    added: int = 0
    joined: int = 0
    doubtful: int = 0


async def register_matches(
    store: FixtureStore,
    listing_store: ListingStore,
    opened: OpenFeed,
    fixtures: Sequence[LiveFixture],
    tracked: TrackedIds,
    rules: LifecycleRules,
    now: datetime,
) -> RegistrationResult:
    if not fixtures:
        return RegistrationResult()
    by_id = {live.id: live for live in fixtures}
    listings = [to_listing(opened.id, live) for live in by_id.values()]
    async with listing_store.registration() as registration:
        existing = await registration.known(opened.id, list(by_id))
        kickoffs = [live.kickoff for live in fixtures]
        candidates = await registration.candidates(
            min(kickoffs) - CANDIDATE_WINDOW, max(kickoffs) + CANDIDATE_WINDOW, opened.id
        )
        decisions = await registration.decided(opened.id, list(by_id))
        # In a thread: a large ingest compares thousands of pairs, and heartbeats must continue.
        results = await asyncio.to_thread(pair_listings, listings, existing, candidates, decisions)
        to_create = [listing for listing in results.new if _should_follow(opened, by_id[listing.feed_id], tracked)]
        created = await _create_fixtures(
            registration, opened, [(listing, by_id[listing.feed_id]) for listing in to_create]
        )
        refreshed = [
            replace(to_fixture_ids(by_id[feed_id], opened.id_offset), id=at.fixture_id)
            for feed_id, at in existing.items()
            if at.founding
        ]
        staged = [
            (live, initial_stage(live.status, live.kickoff, now, rules))
            for live in [*refreshed, *(live for _, live in created)]
        ]
        added = await store.add(registration.connection, staged, now)
        paired = [(listing, pairing, False) for listing, pairing in results.joined]
        paired += [(listing, _same_fixture(live.id), True) for listing, live in created]
        await registration.join(paired, now)
        await registration.locate(opened.id, {live.id: live.locator for live in by_id.values() if live.locator})
        await registration.doubt(results.doubtful, now)
    for listing, pairing in results.doubtful:
        log.warning(
            f"{listing.home[0]} - {listing.away[0]} of {listing.feed} may be fixture {pairing.fixture_id}",
            extra={"action": "pairing_doubtful", "fixture_id": pairing.fixture_id, "feed": listing.feed},
        )
    return RegistrationResult(
        tracked=len(existing) + len(results.joined) + len(created),
        added=sum(each.is_new for each in added),
        joined=len(results.joined),
        doubtful=len(results.doubtful),
    )


def _should_follow(opened: OpenFeed, live: LiveFixture, tracked: TrackedIds) -> bool:
    source, own_ids = opened.source, opened.id_offset == 0
    if source.follow != FOLLOW_ALL:
        return False
    # A match with placeholder teams could never be paired with another feed's.
    if not own_ids and (is_placeholder(live.home.name) or is_placeholder(live.away.name)):
        return False
    if live.sport is Sport.FOOTBALL and source.names_football_leagues:
        return True
    return is_tracked(live, tracked, source.adapter, own_ids=own_ids)


async def _create_fixtures(
    registration: RegistrationTransaction, opened: OpenFeed, new: Sequence[tuple[MatchListing, LiveFixture]]
) -> list[tuple[MatchListing, LiveFixture]]:
    """Convert new matches to fixture ids. An id used by another feed's match moves to this feed's id space."""
    used_ids = await registration.taken([live.id + opened.id_offset for _, live in new])
    created = []
    for listing, live in new:
        try:
            fixture = to_fixture_ids(replace(live, feed=opened.id), opened.id_offset)
            if fixture.id in used_ids:
                fixture = replace(fixture, id=live.id + id_offset(opened.id, is_primary=False))
        except FeedSchemaError as error:
            log.warning(str(error), extra={"action": "fixture_rejected", "feed": opened.id, "error": error.kind})
            continue
        created.append((listing, fixture))
    return created


def _same_fixture(fixture_id: int) -> Pairing:
    return Pairing(PairingVerdict.SAME, fixture_id, confidence=1.0)


# --- Requests for a feed's matches, for ingest and discovery.


class MatchRegistrar:
    """Requests the matches of a feed and registers the followed ones."""

    def __init__(
        self,
        store: FixtureStore,
        listings: ListingStore,
        cache: FeedCache,
        rules: LifecycleRules,
        tracked: TrackedIds,
        follows: FollowBook | None = None,
        unexpected: UnexpectedAnswerRecorder | None = None,
    ) -> None:
        """`follows` provides the current follow list, which replaces the one in `tracked`."""
        self._store = store
        self._listings = listings
        self._cache = cache
        self._rules = rules
        self._tracked = tracked
        self._follows = follows
        self._unexpected = unexpected or UnexpectedAnswerRecorder()

    async def tracked(self) -> TrackedIds:
        """Reload the follow list, because adding a competition starts an ingest that must include it."""
        if self._follows is None:
            return self._tracked
        return replace(self._tracked, following=await self._follows.refresh())

    async def list_day(self, opened: OpenFeed, day: date, at: datetime) -> FeedAnswer:
        if day == at.date():
            with suppress(CacheUnavailable):  # an ingest does not need the cache
                await self._cache.listed.save(opened.id, at)
        return await self._request(opened, opened.feed.fixtures_on(day), at)

    async def list_ids(self, opened: OpenFeed, ids: Sequence[int], at: datetime) -> FeedAnswer:
        return await self._request(opened, opened.feed.fixtures_by_ids(ids), at)

    async def _request(self, opened: OpenFeed, request: Awaitable[FeedAnswer], at: datetime) -> FeedAnswer:
        """Return the answer, in which a failure of the whole feed is an error, and save the feed's state."""
        with record_exchanges() as exchanges:
            try:
                answer = await request
            except FeedError as error:
                answer = FeedAnswer(errors=(error,))
        await self._unexpected.note(f"feed {opened.id}", [*answer.errors, *answer.failures.values()], exchanges)
        problem: FootyError | None = answer.errors[0] if answer.errors else None
        if problem is None and answer.failures and not answer.fixtures:
            problem = next(iter(answer.failures.values()))
        await self._store.save_feed_state(opened.id, opened.feed.quota, at, problem)
        return answer

    async def register(self, opened: OpenFeed, answer: FeedAnswer, at: datetime, tracked: TrackedIds) -> IngestCounts:
        result = await register_matches(self._store, self._listings, opened, answer.fixtures, tracked, self._rules, at)
        for id_, error in answer.failures.items():
            log.warning(
                str(error),
                extra={"action": "fixture_rejected", "feed": opened.id, "feed_id": id_, "error": error.kind},
            )
        log.info(
            "fixtures ingested",
            extra={"action": "ingested", "feed": opened.id, "found": len(answer.fixtures), **asdict(result)},
        )
        return IngestCounts(
            found=len(answer.fixtures),
            tracked=result.tracked,
            added=result.added,
            rejected=len(answer.failures),
            unknown=list(answer.unknown),
            joined=result.joined,
            doubtful=result.doubtful,
        )
