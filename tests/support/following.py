"""Matches that are followed, as an ingest leaves them: each founded by the feed that lists it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from found_footy.adapters.storage.postgres.listings import PostgresListings
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.domain.feeds.listing import Pairing, Sameness
from found_footy.domain.feeds.placing import listing_of
from found_footy.domain.fixtures.model import LiveFixture


async def follow(store: PostgresStore, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime) -> Mapping[str, int]:
    """With the stage each starts in; returns how many are new, by stage."""
    async with PostgresListings(store.database).registering() as registering:
        added = await registering.add(fixtures, now)
        founded = [
            (listing_of(live.feed, live), Pairing(Sameness.SAME, live.id, confidence=1.0), True) for live, _ in fixtures
        ]
        await registering.join(founded, now)
    return added
