"""Matches that are followed, as an ingest leaves them: each founded by the feed that lists it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from found_footy.feeds.match_pairing import listing_of
from found_footy.feeds.models import Pairing, PairingVerdict
from found_footy.feeds.store import ListingStore
from found_footy.fixtures.models import LiveFixture
from found_footy.fixtures.store import FixtureStore


async def follow(store: FixtureStore, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime) -> Mapping[str, int]:
    """With the stage each starts in; returns how many are new, by stage."""
    async with ListingStore(store.database).registration() as registering:
        added = await registering.add(fixtures, now)
        founded = [
            (listing_of(live.feed, live), Pairing(PairingVerdict.SAME, live.id, confidence=1.0), True)
            for live, _ in fixtures
        ]
        await registering.join(founded, now)
    return added


async def delete_expired(store: FixtureStore, before: datetime) -> int:
    """Delete the rows of fixtures past retention; return their number."""
    return await store.delete_expired(await store.expired(before, 0, 1000), before)
