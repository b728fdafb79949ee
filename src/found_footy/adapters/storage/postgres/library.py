"""The clip library in the system of record, as the pipeline sees it. The reviewers' side is in `review.py`.

Locks are always taken in one order: sources by their ids, then clips by theirs, then the action.
"""

from __future__ import annotations

from datetime import datetime

from found_footy.adapters.storage.postgres.database import fetch
from found_footy.adapters.storage.postgres.library_artefacts import LibraryArtefacts
from found_footy.adapters.storage.postgres.library_intake import LibraryIntake
from found_footy.adapters.storage.postgres.library_leftovers import LibraryLeftovers
from found_footy.adapters.storage.postgres.library_removal import LibraryRemoval
from found_footy.adapters.storage.postgres.library_stages import LibraryStages
from found_footy.adapters.storage.postgres.review_writing import lock_action, tell_of_clips, write_standings
from found_footy.domain.clips.review import ActionKind
from found_footy.domain.clips.undo import settle
from found_footy.ports_library import OpenEdit


class PostgresLibrary(LibraryIntake, LibraryStages, LibraryArtefacts, LibraryLeftovers, LibraryRemoval):
    """Fills `LibraryStore`."""

    async def open_edits(self, most: int) -> list[OpenEdit]:
        return [OpenEdit(row["id"], row["settles_at"]) for row in await self._db.fetch("library.open_edits", most=most)]

    async def settle_edit(self, action_id: int, now: datetime) -> bool:
        async with self._db.connection() as connection:
            found = await lock_action(connection, action_id)
            if found is None:
                return False
            action, clips = found
            if action.undone_at or action.settled_at or now < action.settles_at:
                return False
            standings = settle(action, clips)
            await write_standings(connection, clips, standings, now)
            gone = [id_ for id_ in action.after if not clips[id_].live]
            heirs = {"made": list(action.made), "gone": gone, "merged": action.kind is ActionKind.MERGE}
            await fetch(connection, "review.inherit_verdicts", heirs)
            await fetch(connection, "review.note_settled", {"id": action_id, "now": now})
            await tell_of_clips(connection, clips, standings)
        return True
