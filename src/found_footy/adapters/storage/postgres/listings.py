"""Which match of which feed is which of ours, who said what of it, and what is in doubt."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres.database import Connection, Database, fetch
from found_footy.adapters.storage.postgres.store import add_fixtures
from found_footy.domain.errors import NotFound
from found_footy.domain.feeds.listing import Candidate, Listing, Pairing
from found_footy.domain.feeds.reconciled import Contradiction, FieldOrigin, Said
from found_footy.domain.fixtures.model import League, LiveFixture, Sport, Stage, Team
from found_footy.ports_feeds import FollowedListing, FollowedMatch, KnownListing

ALL_STAGES = tuple(str(stage) for stage in Stage)


class PostgresListings:
    def __init__(self, database: Database) -> None:
        self._db = database

    @asynccontextmanager
    async def registering(self) -> AsyncIterator[PostgresRegistering]:
        async with self._db.connection() as connection:
            await fetch(connection, "listings.lock", {})
            yield PostgresRegistering(connection)

    async def followed(
        self, stages: Sequence[Stage], *, completed_since: datetime, feed: str | None = None
    ) -> Sequence[FollowedMatch]:
        params = {"stages": [str(stage) for stage in stages], "since": completed_since, "feed": feed}
        return [_match(row) for row in await self._db.fetch("listings.followed", **params)]

    async def save_origins(
        self,
        origins: Mapping[int, Mapping[str, FieldOrigin]],
        contradictions: Mapping[int, Sequence[Contradiction]],
        now: datetime,
    ) -> None:
        if origins:
            records = [{"id": id_, "origins": origins_row(said)} for id_, said in origins.items()]
            await self._db.fetch("listings.save_origins", rows=Jsonb(records))
        disputed = [
            {"fixture_id": id_, "field": each.field, "said": dict(each.said), "chosen": each.chosen}
            for id_, found in contradictions.items()
            for each in found
        ]
        if disputed:
            await self._db.fetch("listings.contradict", rows=Jsonb(disputed), now=now)

    async def save_locators(self, feed: str, locators: Mapping[int, str]) -> None:
        async with self._db.connection() as connection:
            await _locate(connection, feed, locators)

    async def doubtful(self) -> list[dict[str, Any]]:
        """Pairings that wait for a person."""
        return await self._db.fetch("listings.doubtful")

    async def decide(self, feed: str, feed_id: int, fixture_id: int, same: bool, now: datetime) -> None:
        """The same: it joins at once. Different: it becomes a match of its own with the next ingest."""
        async with self._db.connection() as connection:
            await fetch(connection, "listings.lock", {})
            params = {"feed": feed, "feed_id": feed_id, "fixture_id": fixture_id, "same": same, "now": now}
            found = await fetch(connection, "listings.decide", params)
            if not found:
                raise NotFound(f"there is no doubt whether match {feed_id} of {feed} is fixture {fixture_id}")
            if same:
                row = {**found[0], "founding": False}
                await fetch(connection, "listings.join", {"rows": Jsonb([row]), "now": now})
                await fetch(connection, "listings.settle_doubts", {"feed": feed, "ids": [feed_id]})


class PostgresRegistering:
    """One transaction in which matches of a feed find their place; no other one runs beside it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def known(self, feed: str, feed_ids: Sequence[int]) -> Mapping[int, KnownListing]:
        found = await fetch(self._connection, "listings.known", {"feed": feed, "ids": list(feed_ids)})
        return {row["feed_id"]: KnownListing(row["fixture_id"], row["founding"]) for row in found}

    async def candidates(self, since: datetime, until: datetime, without_feed: str) -> Sequence[Candidate]:
        found = await fetch(self._connection, "listings.candidates", {"since": since, "until": until})
        return [
            Candidate(
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
        found = await fetch(self._connection, "listings.decided", {"feed": feed, "ids": list(feed_ids)})
        return {(row["feed_id"], row["fixture_id"]): row["same"] for row in found}

    async def taken(self, fixture_ids: Sequence[int]) -> frozenset[int]:
        found = await fetch(self._connection, "listings.taken", {"ids": list(fixture_ids)})
        return frozenset(row["id"] for row in found)

    async def add(self, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime) -> Mapping[str, int]:
        saved = await add_fixtures(self._connection, fixtures, now)
        counts = {str(stage): 0 for stage in Stage}
        for row in saved:
            counts[row["stage"]] += row["is_new"]
        return counts

    async def join(self, joined: Sequence[tuple[Listing, Pairing, bool]], now: datetime) -> None:
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
            await fetch(self._connection, "listings.settle_doubts", {"feed": feed, "ids": ids})
        if records:
            await fetch(self._connection, "listings.join", {"rows": Jsonb(records), "now": now})

    async def locate(self, feed: str, locators: Mapping[int, str]) -> None:
        await _locate(self._connection, feed, locators)

    async def doubt(self, doubts: Sequence[tuple[Listing, Pairing]], now: datetime) -> None:
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
            await fetch(self._connection, "listings.doubt", {"rows": Jsonb(records), "now": now})


async def _locate(connection: Connection, feed: str, locators: Mapping[int, str]) -> None:
    if locators:
        rows = [{"feed_id": id_, "locator": locators[id_]} for id_ in sorted(locators)]
        await fetch(connection, "listings.locate", {"feed": feed, "rows": Jsonb(rows)})


def origins_row(origins: Mapping[str, FieldOrigin]) -> dict[str, Any]:
    return {
        name: {**_said(origin.chosen), "others": [_said(other) for other in origin.others]}
        for name, origin in origins.items()
    }


def _said(said: Said) -> dict[str, Any]:
    return {"feed": said.feed, "value": said.value, "at": said.at.isoformat(), "confidence": said.confidence}


def _match(row: Mapping[str, Any]) -> FollowedMatch:
    return FollowedMatch(
        id=row["id"],
        stage=Stage(row["stage"]),
        status=row["status"],
        kickoff=row["kickoff"],
        home=Team(row["home_id"], row["home_name"], row["home_short"]),
        away=Team(row["away_id"], row["away_name"], row["away_short"]),
        league=League(row["league_id"], row["league_name"], row["country"], row["season"], row["round"]),
        completed_at=row["completed_at"],
        heard_at=row["last_poll_at"],
        staging_polled_at=row["staging_polled_at"],
        activated_at=row["activated_at"],
        listings=tuple(FollowedListing(**listing) for listing in row["listings"]),
    )
