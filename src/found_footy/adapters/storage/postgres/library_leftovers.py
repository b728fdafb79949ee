"""Objects that no row names any more, and those that one does. Rows go first, so that nothing is shown that is gone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from found_footy.adapters.storage.postgres.database import fetch
from found_footy.adapters.storage.postgres.library_part import LibraryPart
from found_footy.adapters.storage.postgres.library_rows import storable
from found_footy.adapters.storage.postgres.queries import query
from found_footy.domain.clips.keys import clip_file_key, keyframe_key, master_key, sprite_key
from found_footy.domain.clips.removing import FORGOTTEN
from found_footy.domain.errors import FootyError

PAGE = 1000
LONGEST_ERROR = 500


class LibraryLeftovers(LibraryPart):
    async def forget_files(self, clip_id: int) -> list[str]:
        clip = {"id": clip_id}
        async with self._db.connection() as connection:
            found = await fetch(connection, "library.clip", clip)
            if not found:
                return []
            source_id = found[0]["source_id"]
            # The source first, as everybody does: whoever cleans up the last of its clips sees that it is the last.
            await fetch(connection, "library.lock_source", {"id": source_id})
            await fetch(connection, "library.lock_clip", clip)
            keyframes = await fetch(connection, "library.forget_keyframes", clip)
            await fetch(connection, "library.forget_vectors", clip)
            await fetch(connection, "library.forget_pairs", clip)
            await fetch(connection, "library.forget_sprite", clip)
            # File and sheet in any case: whoever made them may have died before it could say so.
            keys = [clip_file_key(source_id, clip_id), sprite_key(source_id, clip_id)]
            keys += [keyframe_key(source_id, clip_id, row["number"]) for row in keyframes]
            film = {"id": source_id, "forgotten": sorted(FORGOTTEN)}
            if await fetch(connection, "library.forget_film", film):
                keys.append(master_key(source_id))
            await fetch(connection, "library.ask_deletions", {"keys": keys})
            stem = clip_file_key(source_id, clip_id).removesuffix("mp4")
            pictures = keyframe_key(source_id, clip_id, 0).removesuffix("0.jpg")
            patterns = {"patterns": [f"{stem}%", f"{pictures}%", master_key(source_id)]}
            return [row["key"] for row in await fetch(connection, "library.deletions_of_clip", patterns)]

    async def deletions(self, most: int) -> list[str]:
        return [row["key"] for row in await self._db.fetch("library.deletions", most=most)]

    async def note_deleted(self, keys: Sequence[str]) -> None:
        if keys:
            await self._db.fetch("library.withdraw_deletions", keys=list(keys))

    async def note_not_deleted(self, keys: Sequence[str], error: FootyError) -> None:
        if keys:
            said = storable(f"{error.kind}: {error}")[:LONGEST_ERROR]
            await self._db.fetch("library.note_not_deleted", keys=list(keys), error=said)

    async def keys(self) -> AsyncGenerator[str, None]:
        """A page at a time, all as of one moment. Whoever stops before the end closes it: it holds a connection."""
        async with self._db.connection() as connection, connection.cursor(name="library_keys") as cursor:
            cursor.itersize = PAGE
            await cursor.execute(query("library.keys"))
            async for row in cursor:
                yield row["key"]
