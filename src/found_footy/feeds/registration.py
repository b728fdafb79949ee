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
from found_footy.feeds.match_pairing import listing_of, place_listings
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
    """Return whether the fixture is followed by name or by id. `own_ids`: whether the feed's ids are fixture ids."""
    if own_ids and has_tracked_id(live, tracked.teams, tracked.leagues):
        return True
    return tracked.following.matches(live, adapter)


def has_tracked_id(live: LiveFixture, teams: Collection[int], leagues: Collection[int]) -> bool:
    return live.league.id in leagues or live.home.id in teams or live.away.id in teams


# --- Registration: load known listings, place new ones and save them, in one transaction.


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
    listings = [listing_of(opened.id, live) for live in by_id.values()]
    async with listing_store.registration() as registration:
        known = await registration.known(opened.id, list(by_id))
        kickoffs = [live.kickoff for live in fixtures]
        candidates = await registration.candidates(
            min(kickoffs) - CANDIDATE_WINDOW, max(kickoffs) + CANDIDATE_WINDOW, opened.id
        )
        decided = await registration.decided(opened.id, list(by_id))
        # In a thread: a large ingest compares thousands of pairs, and the heartbeat must continue.
        places = await asyncio.to_thread(place_listings, listings, known, candidates, decided)
        wanted = [listing for listing in places.new if _should_follow(opened, by_id[listing.feed_id], tracked)]
        founded = await _create_fixtures(
            registration, opened, [(listing, by_id[listing.feed_id]) for listing in wanted]
        )
        refreshed = [
            replace(to_fixture_ids(by_id[feed_id], opened.id_offset), id=at.fixture_id)
            for feed_id, at in known.items()
            if at.founding
        ]
        placed = [
            (live, initial_stage(live.status, live.kickoff, now, rules))
            for live in [*refreshed, *(live for _, live in founded)]
        ]
        added = await store.add(registration.connection, placed, now)
        joined = [(listing, pairing, False) for listing, pairing in places.joined]
        joined += [(listing, _same_fixture(live.id), True) for listing, live in founded]
        await registration.join(joined, now)
        await registration.locate(opened.id, {live.id: live.locator for live in by_id.values() if live.locator})
        await registration.doubt(places.doubtful, now)
    for listing, pairing in places.doubtful:
        log.warning(
            f"{listing.home[0]} - {listing.away[0]} of {listing.feed} may be fixture {pairing.fixture_id}",
            extra={"action": "pairing_doubtful", "fixture_id": pairing.fixture_id, "feed": listing.feed},
        )
    return RegistrationResult(
        tracked=len(known) + len(places.joined) + len(founded),
        added=sum(each.is_new for each in added),
        joined=len(places.joined),
        doubtful=len(places.doubtful),
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
    """Return new matches in fixture ids. An id taken by another feed's match is moved to this feed's id space."""
    taken = await registration.taken([live.id + opened.id_offset for _, live in new])
    founded = []
    for listing, live in new:
        try:
            fixture = to_fixture_ids(replace(live, feed=opened.id), opened.id_offset)
            if fixture.id in taken:
                fixture = replace(fixture, id=live.id + id_offset(opened.id, own=False))
        except FeedSchemaError as error:
            log.warning(str(error), extra={"action": "fixture_rejected", "feed": opened.id, "error": error.kind})
            continue
        founded.append((listing, fixture))
    return founded


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
        """`follows` replaces the list in `tracked` with the current follow list."""
        self._store = store
        self._listings = listings
        self._cache = cache
        self._rules = rules
        self._tracked = tracked
        self._follows = follows
        self._unexpected = unexpected or UnexpectedAnswerRecorder()

    async def tracked(self) -> TrackedIds:
        """Reload the follow list: adding a competition starts an ingest that must include it."""
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
        """Return the answer, with a failure of the whole feed as an error in it, and save the state of the feed."""
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
        done = await register_matches(self._store, self._listings, opened, answer.fixtures, tracked, self._rules, at)
        for id_, error in answer.failures.items():
            log.warning(
                str(error),
                extra={"action": "fixture_rejected", "feed": opened.id, "feed_id": id_, "error": error.kind},
            )
        log.info(
            "fixtures ingested",
            extra={"action": "ingested", "feed": opened.id, "found": len(answer.fixtures), **asdict(done)},
        )
        return IngestCounts(
            found=len(answer.fixtures),
            tracked=done.tracked,
            added=done.added,
            rejected=len(answer.failures),
            unknown=list(answer.unknown),
            joined=done.joined,
            doubtful=done.doubtful,
        )
