"""Registration of a feed's fixtures, and which of them are followed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from found_footy.errors import FeedSchemaError
from found_footy.feeds.alignment import id_offset, to_fixture_ids
from found_footy.feeds.match_pairing import listing_of, place_listings
from found_footy.feeds.models import MatchListing, OpenFeed, Pairing, PairingVerdict
from found_footy.feeds.store import ListingStore, RegistrationTransaction
from found_footy.feeds.team_similarity import is_placeholder
from found_footy.fixtures.following import EVERYTHING, Following
from found_footy.fixtures.lifecycle import LifecycleRules, initial_stage
from found_footy.fixtures.models import LiveFixture, Sport


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

AROUND = timedelta(days=6)
"""Maximum distance between the starts of two listings of one match; cricket lasts up to five days."""
FOLLOWS_ALL = "all"


@dataclass(frozen=True, slots=True)
class RegistrationResult:
    tracked: int = 0
    added: int = 0
    joined: int = 0
    doubtful: int = 0


async def register_matches(
    store: ListingStore,
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
    async with store.registration() as registering:
        known = await registering.known(opened.id, list(by_id))
        kickoffs = [live.kickoff for live in fixtures]
        candidates = await registering.candidates(min(kickoffs) - AROUND, max(kickoffs) + AROUND, opened.id)
        decided = await registering.decided(opened.id, list(by_id))
        # In a thread: a large ingest compares thousands of pairs, and the heartbeat must continue.
        places = await asyncio.to_thread(place_listings, listings, known, candidates, decided)
        wanted = [listing for listing in places.new if _wanted(opened, by_id[listing.feed_id], tracked)]
        founded = await _found(registering, opened, [(listing, by_id[listing.feed_id]) for listing in wanted])
        refreshed = [
            replace(to_fixture_ids(by_id[feed_id], opened.id_offset), id=at.fixture_id)
            for feed_id, at in known.items()
            if at.founding
        ]
        placed = [
            (live, initial_stage(live.status, live.kickoff, now, rules))
            for live in [*refreshed, *(live for _, live in founded)]
        ]
        added = await registering.add(placed, now)
        joined = [(listing, pairing, False) for listing, pairing in places.joined]
        joined += [(listing, _own(live.id), True) for listing, live in founded]
        await registering.join(joined, now)
        await registering.locate(opened.id, {live.id: live.locator for live in by_id.values() if live.locator})
        await registering.doubt(places.doubtful, now)
    for listing, pairing in places.doubtful:
        log.warning(
            f"{listing.home[0]} - {listing.away[0]} of {listing.feed} may be fixture {pairing.fixture_id}",
            extra={"action": "pairing_doubtful", "fixture_id": pairing.fixture_id, "feed": listing.feed},
        )
    return RegistrationResult(
        tracked=len(known) + len(places.joined) + len(founded),
        added=sum(added.values()),
        joined=len(places.joined),
        doubtful=len(places.doubtful),
    )


def _wanted(opened: OpenFeed, live: LiveFixture, tracked: TrackedIds) -> bool:
    source, own_ids = opened.source, opened.id_offset == 0
    if source.follow != FOLLOWS_ALL:
        return False
    # A match with placeholder teams could never be paired with another feed's.
    if not own_ids and (is_placeholder(live.home.name) or is_placeholder(live.away.name)):
        return False
    if live.sport is Sport.FOOTBALL and source.names_football_leagues:
        return True
    return is_tracked(live, tracked, source.adapter, own_ids=own_ids)


async def _found(
    registering: RegistrationTransaction, opened: OpenFeed, new: Sequence[tuple[MatchListing, LiveFixture]]
) -> list[tuple[MatchListing, LiveFixture]]:
    """Return new matches in fixture ids. An id taken by another feed's match is moved to this feed's id space."""
    taken = await registering.taken([live.id + opened.id_offset for _, live in new])
    founded = []
    for listing, live in new:
        try:
            ours = to_fixture_ids(replace(live, feed=opened.id), opened.id_offset)
            if ours.id in taken:
                ours = replace(ours, id=live.id + id_offset(opened.id, own=False))
        except FeedSchemaError as error:
            log.warning(str(error), extra={"action": "fixture_rejected", "feed": opened.id, "error": error.kind})
            continue
        founded.append((listing, ours))
    return founded


def _own(fixture_id: int) -> Pairing:
    return Pairing(PairingVerdict.SAME, fixture_id, confidence=1.0)
