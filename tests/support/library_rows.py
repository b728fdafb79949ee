"""Sources and clips of a library as rows alone: no film stands behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.library import PostgresLibrary
from found_footy.adapters.storage.postgres.library_rows import sprite_row
from found_footy.adapters.storage.postgres.review import PostgresReview
from found_footy.domain.clips.keys import upload_key
from found_footy.domain.clips.review import Reviewer
from found_footy.domain.clips.stages import Stage, stage_called
from found_footy.domain.clips.tiling import fault_in
from found_footy.domain.clips.values import Clip, Master, SourceKind, Sprite
from found_footy.media.fingerprint import Fingerprint
from found_footy.ports_library import Submission
from tests.support.clips import fingerprint

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
UNDO_FOR = timedelta(seconds=60)
LEASE = timedelta(seconds=120)
DETECTOR = "test-1"

ANNA = Reviewer("window-1", "Anna", NOW)
BEN = Reviewer("window-2", "Ben", NOW)


def later(who: Reviewer, seconds: float) -> Reviewer:
    return replace(who, now=NOW + timedelta(seconds=seconds))


def master(frames: int = 100, md5: str = "m" * 32) -> Master:
    return Master(frames, Fraction(25), 1280, 720, True, 1000, md5)


def sprite(frames: int) -> Sprite:
    return Sprite(8, 2, 160, 90, min(frames, 16), max(1, frames // 16), frames, Fraction(25))


def picture_of(clip: Clip) -> Fingerprint:
    return fingerprint(f"{clip.source_id}-{clip.first}")


@dataclass
class Bench:
    """The two stores, and the steps that the stages would take."""

    database: Database

    def __post_init__(self) -> None:
        self.library = PostgresLibrary(self.database)
        self.review = PostgresReview(self.database, UNDO_FOR)

    async def new_source(self, name: str = "film") -> int:
        what = Submission(SourceKind.FILE, name, upload_key=upload_key(name), by="Anna")
        return await self.library.submit(what, NOW)

    async def cut(self, frames: int = 100, cuts: Sequence[int] = (40, 70), name: str = "film") -> list[Clip]:
        """A source whose clips wait for their sheets."""
        source_id = await self.new_source(name)
        await self.library.save_master(source_id, master(frames))
        async with self.database.connection() as connection:
            await connection.execute("update library_sources set state = 'spliced' where id = %s", [source_id])
        await self.library.save_scenes(source_id, f"{name}-{frames}", DETECTOR, cuts)
        return await self.library.clips_of(source_id)

    async def ready(self, frames: int = 100, cuts: Sequence[int] = (40, 70), name: str = "film") -> list[Clip]:
        """A source whose clips wait for review."""
        clips = await self.cut(frames, cuts, name)
        prepared = [[Jsonb(sprite_row(sprite(clip.frames))), picture_of(clip).to_bytes(), clip.id] for clip in clips]
        async with self.database.connection() as connection, connection.cursor() as cursor:
            await cursor.executemany(
                "update library_clips set state = 'pending_review', has_file = true, sprite = %s, fingerprint = %s"
                " where id = %s",
                prepared,
            )
        return await self.library.clips_of(clips[0].source_id)

    async def prepare(self, clip: Clip, now: datetime = NOW) -> None:
        async with self.stage("sprites", clip.id, now):
            await self.library.save_sprite(clip.id, sprite(clip.frames), True, picture_of(clip))

    def stage(self, stage: str, item: int, now: datetime = NOW) -> _Stage:
        """From its beginning to its end."""
        return _Stage(self.library, stage, item, now)

    async def run(self, stage: str, item: int, now: datetime = NOW) -> None:
        async with self.stage(stage, item, now):
            pass

    async def tiles(self, source_id: int) -> list[tuple[int, int]]:
        """Of the clips that are live, once it is certain that nothing is wrong with them."""
        source = await self.library.source(source_id)
        clips = await self.library.clips_of(source_id)
        assert source.master is not None
        assert fault_in(source.master.frames, clips) is None
        return [(clip.first, clip.end) for clip in clips if clip.live]

    async def rows(
        self, table: str, order: str = "id", without: Sequence[str] = (), where: str = "true"
    ) -> list[dict[str, Any]]:
        """Of a table, as they stand."""
        async with self.database.connection() as connection:
            cursor = await connection.execute(f"select * from {table} where {where} order by {order}".encode())
            return [{name: row[name] for name in row if name not in without} for row in await cursor.fetchall()]

    async def news(self, topic: str) -> list[dict[str, Any]]:
        return [row["payload"] for row in await self.rows("outbox") if row["topic"] == topic]


class _Stage:
    def __init__(self, library: PostgresLibrary, stage: str, item: int, now: datetime) -> None:
        self.library, self.stage, self.item, self.now = library, stage_called(stage), item, now

    async def __aenter__(self) -> Stage:
        assert await self.library.begin(self.stage, self.item, self.now)
        return self.stage

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is None:
            assert await self.library.finish(self.stage, self.item, self.now)
