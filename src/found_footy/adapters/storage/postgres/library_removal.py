"""How a source leaves the library: its clips go through the clean-up, and one without clips goes at once."""

from __future__ import annotations

from datetime import timedelta

from found_footy.adapters.storage.postgres import library_rows as rows
from found_footy.adapters.storage.postgres.database import Connection, fetch
from found_footy.adapters.storage.postgres.library_news import source_news
from found_footy.adapters.storage.postgres.library_part import LibraryPart
from found_footy.adapters.storage.postgres.news import announce
from found_footy.adapters.storage.postgres.review_writing import write_outcome
from found_footy.domain.clips.keys import master_key
from found_footy.domain.clips.removing import remove
from found_footy.domain.clips.review import Reviewer
from found_footy.domain.clips.values import Source
from found_footy.domain.errors import NotFound
from found_footy.ports_library import Removed


class LibraryRemoval(LibraryPart):
    async def remove(self, source_id: int, who: Reviewer, undo_for: timedelta) -> Removed:
        given = {"id": source_id}
        async with self._db.connection() as connection:
            if not await fetch(connection, "library.lock_source", given):
                raise NotFound(f"there is no source {source_id}")
            source = rows.source_of((await fetch(connection, "library.source", given))[0])
            clips = {row["id"]: rows.clip_of(row) for row in await fetch(connection, "library.lock_clips_of", given)}
            outcome = remove(source, list(clips.values()), who, undo_for)
            if outcome is not None:
                done = await write_outcome(connection, outcome, clips, who)
                return Removed(source_id, False, len(outcome.after), done.id)
            if not clips:
                await _delete(connection, source, who)
            return Removed(source_id, not clips)


async def _delete(connection: Connection, source: Source, who: Reviewer) -> None:
    """The row first: its objects are on the list from then on, also a master whose maker died before he said so."""
    keys = [master_key(source.id), *([source.upload_key] if source.upload_key else [])]
    await fetch(connection, "library.ask_deletions", {"keys": keys})
    if source.event_id is not None:
        refused = {"event": source.event_id, "md5": source.video_md5, "now": who.now}
        await fetch(connection, "library.refuse_goal", refused)
    await fetch(connection, "library.delete_source", {"id": source.id})
    await announce(connection, [source_news(source.id, "deleted")])
