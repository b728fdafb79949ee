"""What the stages found out and made: masters, scenes and their tiles, sheets, likenesses and keyframes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres import library_rows as rows
from found_footy.adapters.storage.postgres.database import fetch
from found_footy.adapters.storage.postgres.library_intake import LONGEST_TITLE
from found_footy.adapters.storage.postgres.library_news import source_news
from found_footy.adapters.storage.postgres.library_part import LibraryPart
from found_footy.adapters.storage.postgres.news import announce
from found_footy.domain.clips.keys import keyframe_key
from found_footy.domain.clips.tiling import tiles_of
from found_footy.domain.clips.values import Clip, Master, Source, Sprite
from found_footy.domain.errors import MediaTooLarge, NotFound
from found_footy.media.fingerprint import Fingerprint
from found_footy.ports_library import Keyframe

MOST_FRAMES = 16_777_215
"""Of a master: more than 70 hours of 60 pictures a second. The constraint against overlaps counts so far."""


class LibraryArtefacts(LibraryPart):
    async def source(self, source_id: int) -> Source:
        found = await self._db.fetch("library.source", id=source_id)
        if not found:
            raise NotFound(f"there is no source {source_id}")
        return rows.source_of(found[0])

    async def clip(self, clip_id: int) -> Clip:
        found = await self._db.fetch("library.clip", id=clip_id)
        if not found:
            raise NotFound(f"there is no clip {clip_id}")
        return rows.clip_of(found[0])

    async def clips_of(self, source_id: int) -> list[Clip]:
        return [rows.clip_of(row) for row in await self._db.fetch("library.clips_of", id=source_id)]

    # --- of a source

    async def note_progress(self, source_id: int, share: float, now: datetime) -> None:
        share = min(1.0, max(0.0, share))
        async with self._db.connection() as connection:
            noted = {"id": source_id, "share": share, "now": now}
            changed = await fetch(connection, "library.note_progress", noted)
            await announce(connection, [source_news(source_id, row["state"], share) for row in changed])

    async def save_master(self, source_id: int, master: Master, title: str | None = None) -> None:
        if master.frames > MOST_FRAMES:
            raise MediaTooLarge(f"{master.frames} frames; at most {MOST_FRAMES} can be cut into clips")
        named = rows.storable(title)[:LONGEST_TITLE] if title else None
        saved = await self._db.fetch("library.save_master", id=source_id, title=named, **rows.master_row(master))
        if not saved:
            raise NotFound(f"there is no source {source_id}")

    async def known_scenes(self, file_md5: str, detector: str) -> list[int] | None:
        found = await self._db.fetch("library.known_scenes", md5=file_md5, detector=detector)
        return list(found[0]["cuts"]) if found else None

    async def save_scenes(self, source_id: int, file_md5: str, detector: str, cuts: Sequence[int]) -> int:
        async with self._db.connection() as connection:
            found = await fetch(connection, "library.lock_source", {"id": source_id})
            if not found or found[0]["frames"] is None:
                raise NotFound(f"there is no master of a source {source_id}")
            scenes = {"md5": file_md5, "detector": detector, "cuts": list(cuts)}
            await fetch(connection, "library.remember_scenes", scenes)
            laid: int = (await fetch(connection, "library.count_tiles", {"id": source_id}))[0]["tiles"]
            if not laid:
                tiles = tiles_of(found[0]["frames"], cuts)
                firsts, ends = ([tile[side] for tile in tiles] for side in (0, 1))
                await fetch(connection, "library.lay_tiles", {"id": source_id, "firsts": firsts, "ends": ends})
                laid = len(tiles)
        return laid

    # --- of a clip

    async def save_sprite(self, clip_id: int, sprite: Sprite, has_file: bool, fingerprint: Fingerprint) -> None:
        made = {
            "sprite": Jsonb(rows.sprite_row(sprite)),
            "has_file": has_file,
            "fingerprint": fingerprint.to_bytes(),
        }
        if not await self._db.fetch("library.save_sprite", id=clip_id, **made):
            raise NotFound(f"there is no clip {clip_id}")

    async def fingerprints_beside(self, clip_id: int) -> Mapping[int, Fingerprint]:
        found = await self._db.fetch("library.fingerprints_beside", id=clip_id)
        return {row["id"]: Fingerprint.from_bytes(row["fingerprint"]) for row in found}

    async def save_pairs(self, clip_id: int, same_as: Sequence[int]) -> None:
        async with self._db.connection() as connection:
            await fetch(connection, "library.lock_pairs", {})
            await fetch(connection, "library.forget_pairs", {"id": clip_id})
            if same_as:
                await fetch(connection, "library.add_pairs", {"id": clip_id, "same": list(same_as)})

    async def save_keyframes(self, clip_id: int, keyframes: Sequence[Keyframe]) -> list[str]:
        taken = [
            {
                "number": each.number,
                "frame": each.frame,
                "chosen_by": each.chosen_by,
                "width": each.width,
                "height": each.height,
            }
            for each in keyframes
        ]
        async with self._db.connection() as connection:
            found = await fetch(connection, "library.lock_clip", {"id": clip_id})
            if not found:
                raise NotFound(f"there is no clip {clip_id}")
            source_id = found[0]["source_id"]
            before = await fetch(connection, "library.forget_keyframes", {"id": clip_id})
            await fetch(connection, "library.add_keyframes", {"id": clip_id, "rows": Jsonb(taken)})
            there = {keyframe_key(source_id, clip_id, each.number) for each in keyframes}
            gone = sorted({keyframe_key(source_id, clip_id, row["number"]) for row in before} - there)
            await fetch(connection, "library.ask_deletions", {"keys": gone})
            await fetch(connection, "library.withdraw_deletions", {"keys": sorted(there)})
        return gone

    async def keyframes(self, clip_id: int) -> list[Keyframe]:
        return [Keyframe(**row) for row in await self._db.fetch("library.keyframes", id=clip_id)]
