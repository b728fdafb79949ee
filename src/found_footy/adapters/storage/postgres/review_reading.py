"""What the review page shows beside the clips themselves: neighbours, likely copies, and who did what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.library_rows import clip_of, source_of
from found_footy.domain.clips.review import ActionKind
from found_footy.domain.clips.reviewed import LikelyCopy, Told
from found_footy.domain.clips.states import EDITABLE
from found_footy.domain.clips.values import Clip, Source
from found_footy.domain.errors import NotFound


class PostgresReviewReading:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def around(self, clip_ids: Sequence[int], each_side: int) -> list[Clip]:
        if not clip_ids:
            return []
        found = await self._db.fetch(
            "review_reading.around", ids=list(clip_ids), each_side=each_side, editable=sorted(EDITABLE)
        )
        return [clip_of(row) for row in found]

    async def sources(self, source_ids: Sequence[int]) -> list[Source]:
        if not source_ids:
            return []
        return [source_of(row) for row in await self._db.fetch("review_reading.sources", ids=list(source_ids))]

    async def copies(self, clip_ids: Sequence[int]) -> Mapping[int, Sequence[LikelyCopy]]:
        if not clip_ids:
            return {}
        copies: dict[int, list[LikelyCopy]] = {}
        for row in await self._db.fetch("review_reading.copies", ids=list(clip_ids)):
            copies.setdefault(row["of_clip"], []).append(LikelyCopy(clip_of(row), row["same"], row["said_by"]))
        return copies

    async def action(self, action_id: int) -> Told:
        found = await self._db.fetch("review_reading.action", id=action_id)
        if not found:
            raise NotFound(f"there is no action {action_id}")
        return _told(found[0])

    async def actions(self, since: int, most: int) -> list[Told]:
        return [_told(row) for row in await self._db.fetch("review_reading.actions", since=since, most=most)]


def _told(row: Mapping[str, Any]) -> Told:
    return Told(
        id=row["id"],
        kind=ActionKind(row["kind"]),
        reviewer=row["reviewer"],
        name=row["name"],
        at=row["at"],
        settles_at=row["settles_at"],
        clips=tuple(sorted(int(id_) for id_ in row["after"])),
        made=tuple(row["made"]),
        source_id=row["source_id"],
        title=row["title"],
        undone_at=row["undone_at"],
        settled_at=row["settled_at"],
    )
