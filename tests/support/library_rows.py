"""Sources and clips of a library as rows alone: no film stands behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.library.models import LibraryClip, SourceKind, Submission, upload_key
from found_footy.library.review import Reviewer
from found_footy.library.review_store import ReviewStore
from found_footy.library.stages import Lane, LibraryStage, find_stage
from found_footy.library.store import LibraryStore, sprite_to_json
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.models import MasterVideo, SpriteSheet
from found_footy.storage.postgres import Database
from tests.support.clips import fingerprint

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
UNDO_FOR = timedelta(seconds=60)
LEASE = timedelta(seconds=120)
DETECTOR = "test-1"

ANNA = Reviewer("window-1", "Anna", NOW)
BEN = Reviewer("window-2", "Ben", NOW)


async def pending(
    store: LibraryStore,
    stage: str,
    models: Mapping[str, str],
    now: datetime,
    limit: int = 99,
    lane: Lane | None = None,
) -> list[int]:
    """Items that this stage may take now."""
    work = await store.pending_work(models, now, limit)
    return sorted(each.item for each in work if each.stage == stage and lane in (None, each.lane))


def tiling_error(frames: int, clips: Sequence[LibraryClip]) -> str | None:
    """What is wrong with the tiling of a source."""
    tiles = sorted((clip for clip in clips if clip.live), key=lambda clip: clip.first)
    if not tiles:
        return "no live clips" if clips else None
    at = 0
    for tile in tiles:
        if tile.first != at:
            return f"{'gap' if tile.first > at else 'overlap'} before frame {tile.first}"
        at = tile.end
    return None if at == frames else f"the last clip ends with frame {at - 1} of {frames}"


def later(who: Reviewer, seconds: float) -> Reviewer:
    return replace(who, now=NOW + timedelta(seconds=seconds))


def master(frames: int = 100, md5: str = "m" * 32) -> MasterVideo:
    return MasterVideo(frames, Fraction(25), 1280, 720, True, 1000, md5)


def sprite(frames: int) -> SpriteSheet:
    return SpriteSheet(8, 2, 160, 90, min(frames, 16), max(1, frames // 16), frames, Fraction(25))


def picture_of(clip: LibraryClip) -> Fingerprint:
    return fingerprint(f"{clip.source_id}-{clip.first}")


@dataclass
class LibraryStores:
    """The two stores, and the steps that the stages would take."""

    database: Database

    def __post_init__(self) -> None:
        self.library = LibraryStore(self.database)
        self.review = ReviewStore(self.database, UNDO_FOR)

    async def new_source(self, name: str = "film") -> int:
        what = Submission(SourceKind.FILE, name, upload_key=upload_key(name), by="Anna")
        return await self.library.submit(what, NOW)

    async def cut(self, frames: int = 100, cuts: Sequence[int] = (40, 70), name: str = "film") -> list[LibraryClip]:
        """A source whose clips wait for their sheets."""
        source_id = await self.new_source(name)
        await self.library.save_master(source_id, master(frames))
        async with self.database.connection() as connection:
            await connection.execute("update library_sources set state = 'spliced' where id = %s", [source_id])
        await self.library.save_scenes(source_id, f"{name}-{frames}", DETECTOR, cuts)
        return await self.library.clips_of(source_id)

    async def ready(self, frames: int = 100, cuts: Sequence[int] = (40, 70), name: str = "film") -> list[LibraryClip]:
        """A source whose clips wait for review."""
        clips = await self.cut(frames, cuts, name)
        prepared = [
            [Jsonb(sprite_to_json(sprite(clip.frames))), picture_of(clip).to_bytes(), clip.id] for clip in clips
        ]
        async with self.database.connection() as connection, connection.cursor() as cursor:
            await cursor.executemany(
                "update library_clips set state = 'pending_review', has_file = true, sprite = %s, fingerprint = %s"
                " where id = %s",
                prepared,
            )
        return await self.library.clips_of(clips[0].source_id)

    async def prepare(self, clip: LibraryClip, now: datetime = NOW) -> None:
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
        assert tiling_error(source.master.frames, clips) is None
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
    def __init__(self, library: LibraryStore, stage: str, item: int, now: datetime) -> None:
        self.library, self.stage, self.item, self.now = library, find_stage(stage), item, now

    async def __aenter__(self) -> LibraryStage:
        assert await self.library.begin(self.stage, self.item, self.now)
        return self.stage

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is None:
            assert await self.library.finish(self.stage, self.item, self.now)
