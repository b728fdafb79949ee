"""PostgreSQL store of feed listings: their fixtures, provenance, conflicts and doubtful pairings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.errors import NotFound
from found_footy.feeds.models import (
    DoubtfulPairing,
    FeedListing,
    KnownListing,
    MatchListing,
    MonitoredFixture,
    Pairing,
    PairingCandidate,
)
from found_footy.fixtures.models import FixtureStage, League, Sport, Team
from found_footy.storage.postgres import Connection, Database, fetch, load_queries

SQL = load_queries(__package__, "store")

ALL_STAGES = tuple(str(stage) for stage in FixtureStage)


class ListingStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    @asynccontextmanager
    async def registration(self) -> AsyncIterator[RegistrationTransaction]:
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock"], {})
            yield RegistrationTransaction(connection)

    async def followed(
        self, stages: Sequence[FixtureStage], *, completed_since: datetime, feed: str | None = None
    ) -> Sequence[MonitoredFixture]:
        params = {"stages": [str(stage) for stage in stages], "since": completed_since, "feed": feed}
        return [_match(row) for row in await self._db.fetch(SQL["followed"], **params)]

    async def save_locators(self, feed: str, locators: Mapping[int, str]) -> None:
        async with self._db.connection() as connection:
            await _locate(connection, feed, locators)

    async def doubtful(self) -> Sequence[DoubtfulPairing]:
        """Return the pairings that await an operator's decision."""
        rows = await self._db.fetch(SQL["doubtful"])
        return [DoubtfulPairing(**(row | {"reasons": tuple(row["reasons"])})) for row in rows]

    async def decide(self, feed: str, feed_id: int, fixture_id: int, same: bool, now: datetime) -> None:
        """Save a decision. If `same`, the listing is paired at once; otherwise the next ingest creates a fixture."""
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock"], {})
            params = {"feed": feed, "feed_id": feed_id, "fixture_id": fixture_id, "same": same, "now": now}
            found = await fetch(connection, SQL["decide"], params)
            if not found:
                raise NotFound(f"no doubtful pairing of {feed} match {feed_id} with fixture {fixture_id}")
            if same:
                row = {**found[0], "founding": False}
                await fetch(connection, SQL["join"], {"rows": Jsonb([row]), "now": now})
                await fetch(connection, SQL["settle_doubts"], {"feed": feed, "ids": [feed_id]})


class RegistrationTransaction:
    """A transaction that registers a feed's matches; only one runs at a time."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        """For the store of fixtures, which adds new ones in the same transaction."""

    async def known(self, feed: str, feed_ids: Sequence[int]) -> Mapping[int, KnownListing]:
        found = await fetch(self.connection, SQL["known"], {"feed": feed, "ids": list(feed_ids)})
        return {row["feed_id"]: KnownListing(row["fixture_id"], row["founding"]) for row in found}

    async def candidates(self, since: datetime, until: datetime, without_feed: str) -> Sequence[PairingCandidate]:
        found = await fetch(self.connection, SQL["candidates"], {"since": since, "until": until})
        return [
            PairingCandidate(
                row["id"],
                Sport(row["sport"]),
                tuple(row["home"]),
                tuple(row["away"]),
                row["kickoff"],
                row["competition"],
            )
            for row in found
            if without_feed not in row["feeds"]
        ]

    async def decided(self, feed: str, feed_ids: Sequence[int]) -> Mapping[tuple[int, int], bool]:
        found = await fetch(self.connection, SQL["decided"], {"feed": feed, "ids": list(feed_ids)})
        return {(row["feed_id"], row["fixture_id"]): row["same"] for row in found}

    async def taken(self, fixture_ids: Sequence[int]) -> frozenset[int]:
        found = await fetch(self.connection, SQL["taken"], {"ids": list(fixture_ids)})
        return frozenset(row["id"] for row in found)

    async def join(self, joined: Sequence[tuple[MatchListing, Pairing, bool]], now: datetime) -> None:
        records = [
            {
                "feed": listing.feed,
                "feed_id": listing.feed_id,
                "fixture_id": pairing.fixture_id,
                "founding": founding,
                "swapped": pairing.swapped,
                "confidence": pairing.confidence,
                "reasons": list(pairing.reasons),
            }
            for listing, pairing, founding in joined
        ]
        for feed in {listing.feed for listing, _, _ in joined}:
            ids = [listing.feed_id for listing, _, _ in joined if listing.feed == feed]
            await fetch(self.connection, SQL["settle_doubts"], {"feed": feed, "ids": ids})
        if records:
            await fetch(self.connection, SQL["join"], {"rows": Jsonb(records), "now": now})

    async def locate(self, feed: str, locators: Mapping[int, str]) -> None:
        await _locate(self.connection, feed, locators)

    async def doubt(self, doubts: Sequence[tuple[MatchListing, Pairing]], now: datetime) -> None:
        records = [
            {
                "feed": listing.feed,
                "feed_id": listing.feed_id,
                "fixture_id": pairing.fixture_id,
                "home": listing.home[0],
                "away": listing.away[0],
                "kickoff": listing.kickoff.isoformat(),
                "competition": listing.competition,
                "swapped": pairing.swapped,
                "confidence": pairing.confidence,
                "reasons": list(pairing.reasons),
            }
            for listing, pairing in doubts
        ]
        if records:
            await fetch(self.connection, SQL["doubt"], {"rows": Jsonb(records), "now": now})


async def _locate(connection: Connection, feed: str, locators: Mapping[int, str]) -> None:
    if locators:
        rows = [{"feed_id": id_, "locator": locators[id_]} for id_ in sorted(locators)]
        await fetch(connection, SQL["locate"], {"feed": feed, "rows": Jsonb(rows)})


def _match(row: Mapping[str, Any]) -> MonitoredFixture:
    return MonitoredFixture(
        id=row["id"],
        stage=FixtureStage(row["stage"]),
        status=row["status"],
        kickoff=row["kickoff"],
        home=Team(row["home_id"], row["home_name"], row["home_short"]),
        away=Team(row["away_id"], row["away_name"], row["away_short"]),
        league=League(row["league_id"], row["league_name"], row["country"], row["season"], row["round"]),
        completed_at=row["completed_at"],
        last_report_at=row["last_poll_at"],
        staging_polled_at=row["staging_polled_at"],
        activated_at=row["activated_at"],
        listings=tuple(FeedListing(**listing) for listing in row["listings"]),
    )
