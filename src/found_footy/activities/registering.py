"""Giving the matches that a feed lists their place: load what is known, decide, save, in one transaction."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.feeds.ids import id_space, in_our_ids
from found_footy.domain.feeds.listing import Listing, Pairing, Sameness
from found_footy.domain.feeds.placing import listing_of, place
from found_footy.domain.feeds.team_sameness import is_placeholder
from found_footy.domain.fixtures.lifecycle import LifecycleRules, stage_at_first_sight
from found_footy.domain.fixtures.model import LiveFixture, Sport
from found_footy.domain.fixtures.tracking import Tracked, is_tracked
from found_footy.feed_registry import OpenFeed
from found_footy.ports_feeds import ListingStore, Registering

log = logging.getLogger(__name__)

AROUND = timedelta(days=6)
"""Matches whose beginnings are further apart are never the same; cricket is played over five days."""
FOLLOWS_ALL = "all"


@dataclass(frozen=True, slots=True)
class Registered:
    tracked: int = 0
    added: int = 0
    joined: int = 0
    doubtful: int = 0


async def register(
    store: ListingStore,
    opened: OpenFeed,
    fixtures: Sequence[LiveFixture],
    tracked: Tracked,
    rules: LifecycleRules,
    now: datetime,
) -> Registered:
    if not fixtures:
        return Registered()
    by_id = {live.id: live for live in fixtures}
    listings = [listing_of(opened.id, live) for live in by_id.values()]
    async with store.registering() as registering:
        known = await registering.known(opened.id, list(by_id))
        kickoffs = [live.kickoff for live in fixtures]
        candidates = await registering.candidates(min(kickoffs) - AROUND, max(kickoffs) + AROUND, opened.id)
        decided = await registering.decided(opened.id, list(by_id))
        # A large ingest weighs many thousand pairs; the heartbeat goes on meanwhile.
        places = await asyncio.to_thread(place, listings, known, candidates, decided)
        wanted = [listing for listing in places.new if _wanted(opened, by_id[listing.feed_id], tracked)]
        founded = await _found(registering, opened, [(listing, by_id[listing.feed_id]) for listing in wanted])
        refreshed = [
            replace(in_our_ids(by_id[feed_id], opened.id_space), id=at.fixture_id)
            for feed_id, at in known.items()
            if at.founding
        ]
        placed = [
            (live, stage_at_first_sight(live.status, live.kickoff, now, rules))
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
    return Registered(
        tracked=len(known) + len(places.joined) + len(founded),
        added=sum(added.values()),
        joined=len(places.joined),
        doubtful=len(places.doubtful),
    )


def _wanted(opened: OpenFeed, live: LiveFixture, tracked: Tracked) -> bool:
    source, own_ids = opened.source, opened.id_space == 0
    if source.follow != FOLLOWS_ALL:
        return False
    # A match of teams that are not known yet could never be paired with another feed's.
    if not own_ids and (is_placeholder(live.home.name) or is_placeholder(live.away.name)):
        return False
    if live.sport is Sport.FOOTBALL and source.names_football_leagues:
        return True
    return is_tracked(live, tracked, source.adapter, own_ids=own_ids)


async def _found(
    registering: Registering, opened: OpenFeed, new: Sequence[tuple[Listing, LiveFixture]]
) -> list[tuple[Listing, LiveFixture]]:
    """Matches that are new to us, in our ids. A number that is taken by another feed's match gets its own space."""
    taken = await registering.taken([live.id + opened.id_space for _, live in new])
    founded = []
    for listing, live in new:
        try:
            ours = in_our_ids(replace(live, feed=opened.id), opened.id_space)
            if ours.id in taken:
                ours = replace(ours, id=live.id + id_space(opened.id, own=False))
        except FeedSchemaError as error:
            log.warning(str(error), extra={"action": "fixture_rejected", "feed": opened.id, "error": error.kind})
            continue
        founded.append((listing, ours))
    return founded


def _own(fixture_id: int) -> Pairing:
    return Pairing(Sameness.SAME, fixture_id, confidence=1.0)
