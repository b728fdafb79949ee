"""Time from a goal in the first feed until it is stable: one feed, and two that agree

The feeds are scripted; poll, comparison, store and cache are the real ones. Measured in polls, because the seconds
depend on the interval.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from tests.support.feeds import ScriptedFeed
from tests.support.football import START, match
from tests.support.polling import FeedSystem

from bench.table import table
from found_footy.fixtures.models import IngestDayInput, Team
from found_footy.fixtures.store import FixtureStore
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.storage.migrations import migrate
from found_footy.storage.objects.store import open_object_store
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache

LATE = (0, 1, 2, 3)
"""Delay of the second feed in polls."""
INTERVAL = 30


async def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = DataFolder(folder / "data")
        with data.lock():
            postgres, valkey = EmbeddedPostgres(data), EmbeddedValkey(data)
            await postgres.start()
            await valkey.start()
            try:
                await migrate(postgres.url)
                alone = await _polls(postgres.url, valkey.url, folder, None)
                rows.append(["one feed", alone, (alone - 1) * INTERVAL, "–"])
                for late in LATE:
                    polls = await _polls(postgres.url, valkey.url, folder, late)
                    rows.append([f"two, the second {late} polls later", polls, (polls - 1) * INTERVAL, alone - polls])
            finally:
                await postgres.destroy()
                await valkey.destroy()
    table(["feeds", "polls until certain", "seconds at 30 s", "polls saved"], rows)


async def _polls(database_url: str, cache_url: str, folder: Path, late: int | None) -> int:
    """Return the number of polls until the goal is handed to the search, including the first that lists it."""
    database = Database(database_url)
    await database.open()
    cache = RedisCache(cache_url, prefix=f"late-{late}:")
    objects = open_object_store((folder / "o").as_uri(), endpoint=None, region="", access_key=None, secret_key=None)
    try:
        async with database.connection() as connection:
            await connection.execute("truncate fixtures, outbox cascade")
        other = replace(match(fixture_id=740), home=Team(1, "Liverpool FC"), away=Team(2, "Man City"))
        feeds = {"one": ScriptedFeed(match())} | ({} if late is None else {"two": ScriptedFeed(other)})
        day = START.date()
        feeds["one"].days[day] = [match()]
        if late is not None:
            feeds["two"].days[day] = [other]
        system = FeedSystem(FixtureStore(database), cache, objects, feeds)
        await system.call(system.ingest.ingest_day, IngestDayInput(day.isoformat(), START))
        await system.poll()
        for poll in range(10):
            if late is not None and poll >= late:
                scored = match("23 home 7")
                feeds["two"].serve(replace(other, goals=scored.goals, score=scored.score))
            if (await system.poll(match("23 home 7"))).to_search:
                return poll + 1
    finally:
        await objects.aclose()
        await cache.aclose()
        await database.close()
    raise AssertionError("the goal never became certain")
