"""What grows without end is deleted by age or size; what an editor kept never is."""

from __future__ import annotations

from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

from found_footy.app import build_housekeeper
from found_footy.config import Settings
from found_footy.fixtures.store import FixtureStore
from found_footy.operations.store import OperationsStore
from found_footy.runtime.clock import utc_now
from found_footy.storage.postgres import Database
from found_footy.storage.stores import build_objects
from tests.support.football import START, follow_matches, match

ADD_SOURCE = b"""
with source as (
    insert into library_sources (kind, state, title, url, frames, rate_num, rate_den, width, height, file_size,
        file_md5, created_at)
    values ('url', 'spliced', %(title)s, 'https://x.example', 100, 25, 1, 640, 360, %(size)s, 'aa',
        now() - make_interval(days => %(age)s))
    returning id)
insert into library_clips (source_id, first_frame, end_frame, state) select id, 0, 100, %(state)s from source
"""


async def housekeep(database: Database, tmp_path: Path, **given: object) -> None:
    settings = Settings().model_copy(update={"data_dir": tmp_path, **given})
    async with aclosing(build_objects(settings)) as objects:
        await build_housekeeper(settings, database, objects).run()


async def titles(database: Database) -> list[str]:
    return [row["title"] for row in await database.fetch(b"select title from library_sources order by id")]


async def test_the_library_expires_by_age_but_keeps_what_was_approved(store: FixtureStore, tmp_path: Path) -> None:
    database = store.database
    for title, state, age in (("old", "pending_review", 40), ("kept", "embedded", 400), ("new", "pending_review", 1)):
        await database.fetch(ADD_SOURCE, title=title, state=state, age=age, size=1000)
    await housekeep(database, tmp_path)
    assert await titles(database) == ["old", "kept", "new"], "without a limit nothing is deleted"
    await housekeep(database, tmp_path, library_days=30)
    assert await titles(database) == ["kept", "new"]
    queued = await database.fetch(b"select key from library_deletions order by 1")
    assert [row["key"] for row in queued] == ["library/1/1.mp4", "library/1/1.webp", "library/1/master.mp4"]
    (link,) = await database.fetch(b"select reason from ended_links where path = 's/1'")
    assert link["reason"] == "deleted by the retention of the library"


async def test_the_library_expires_by_size_the_oldest_first(store: FixtureStore, tmp_path: Path) -> None:
    database = store.database
    for title, state, age in (
        ("a", "pending_review", 4),
        ("b", "embedded", 3),
        ("c", "spliced", 2),
        ("d", "spliced", 1),
    ):
        await database.fetch(ADD_SOURCE, title=title, state=state, age=age, size=1_000_000_000)
    await housekeep(database, tmp_path, library_gb=2.5)
    assert await titles(database) == ["b", "d"], "kept ones count for the size, but stay"


async def test_audit_links_and_sessions_expire_but_takedowns_and_their_links_stay(
    store: FixtureStore, tmp_path: Path
) -> None:
    database = store.database
    async with database.connection() as connection:
        await connection.execute(
            "insert into recoveries (id, at, action, trigger)"
            " values ('old', now() - interval '400 days', 'soft_restart', 'x'), ('new', now(), 'soft_restart', 'x')"
        )
        await connection.execute(
            "insert into takedowns (kind, scope, target, reason, at, by)"
            " values ('remove', 'clip', 'x', 'r', now() - interval '4000 days', 'cli')"
        )
        await connection.execute("insert into takedown_videos values (1, 'e', 'm', '{}')")
        await connection.execute(
            "insert into ended_links values ('v/old', 'r', now() - interval '3000 days'), ('v/new', 'r', now()),"
            " ('v/' || substr(md5('e/m'), 1, 16), 'taken down', now() - interval '3000 days')"
        )
    await housekeep(database, tmp_path)
    assert [row["id"] for row in await database.fetch(b"select id from recoveries")] == ["new"]
    links = await database.fetch(b"select reason from ended_links order by ended_at")
    assert [row["reason"] for row in links] == ["taken down", "r"]
    assert await database.fetch(b"select 1 from takedowns")


async def test_data_about_deleted_content_expires(store: FixtureStore, tmp_path: Path) -> None:
    database = store.database
    await follow_matches(store, [(match("23 home 7"), "active")], START)
    async with database.connection() as connection:
        await connection.execute(ADD_SOURCE, {"title": "film", "state": "pending_review", "age": 3, "size": 1})
        await connection.execute(
            "insert into library_scenes (file_md5, detector, cuts, found_at) values"
            " ('aa', 'd', '{}', now() - interval '9 days'), ('gone', 'd', '{}', now() - interval '2 days'),"
            " ('soon', 'd', '{}', now())"
        )
        await connection.execute(
            "insert into events (id, fixture_id, team_id, team_name, side, type, kind, elapsed, seq, home_before,"
            " away_before, home_after, away_after, first_seen, seen, missing) values"
            " ('e', 5000, 40, 'Liverpool', 'home', 'Goal', 'normal', 23, 1, 0, 0, 1, 0, now(), 1, 0)"
        )
        await connection.execute(
            "insert into videos (event_id, md5, state, duration, width, height, aspect, fps, bit_rate, file_size,"
            " codec, staged_at) values ('e', repeat('a', 32), 'staged', 5, 640, 360, 1.78, 25, 900, 100, 'h264', now())"
        )
        await connection.execute(
            "insert into library_blocked_clips values ('e', repeat('a', 32), now()), ('gone', repeat('b', 32), now())"
        )
    await housekeep(database, tmp_path)
    scenes = await database.fetch(b"select file_md5 from library_scenes order by found_at")
    assert [row["file_md5"] for row in scenes] == ["aa", "soon"], "in use, and perhaps about to be used"
    assert [row["event_id"] for row in await database.fetch(b"select event_id from library_blocked_clips")] == ["e"]


async def test_the_object_store_is_measured_by_area(store: FixtureStore, tmp_path: Path) -> None:
    settings = Settings().model_copy(update={"data_dir": tmp_path})
    (tmp_path / "film").write_bytes(b"x" * 10)
    async with aclosing(build_objects(settings)) as objects:
        for key in ("7001/e/a.mp4", "staging/e/a.mp4", "library/1/master.mp4", "library/1/1.mp4", "hidden/1/e/a.mp4"):
            await objects.put(key, tmp_path / "film")
        await build_housekeeper(settings, store.database, objects).measure()
    facts = await OperationsStore(store.database).facts(utc_now() + timedelta(seconds=1))
    used = {each.area: (each.objects, each.bytes) for each in facts.storage}
    assert used.pop("database")[1] > 1_000_000
    assert used == {"clips": (1, 10), "staging": (1, 10), "library": (2, 20), "hidden": (1, 10), "recordings": (0, 0)}
