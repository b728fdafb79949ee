"""Clips of the library by words and by likeness, and what connects them into moments."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.rows import DictRow

from found_footy.adapters.storage.postgres.database import Connection, Database, fetch
from found_footy.adapters.storage.postgres.queries import query
from found_footy.adapters.storage.postgres.vectors import columns, written
from found_footy.domain.clips.searching import FoundClip, Hit, Wanted
from found_footy.domain.clips.states import ClipState, words_for
from found_footy.domain.errors import NotFound
from found_footy.ports_library import Links

if TYPE_CHECKING:
    from numpy.typing import NDArray

EF_SEARCH = 80
MOST_SCANNED = 40_000
"""Rows of the index that a search with filters reads before it is content with what it has."""
FEW = 2000
"""So many vectors are compared one by one in a moment, exactly; beyond that the index is asked."""
ENOUGH = 20
"""Where the index finds less than these although more are wanted, all of them are compared after all."""
MOST_CONNECTED = 3000
TIMEOUT = "5s"


class PostgresLibrarySearch:
    """Fills `SearchStore`."""

    def __init__(self, database: Database, *, ef_search: int = EF_SEARCH) -> None:
        self._db = database
        self._ef_search = ef_search

    async def by_words(self, wanted: Wanted, most: int) -> list[Hit]:
        async with self._tuned() as connection:
            params = await _params(connection, wanted)
            rows = await fetch(connection, "library_search.by_words", {**params, "most": most})
        return [Hit(row["id"]) for row in rows]

    async def by_likeness(
        self, model: str, version: str, vector: NDArray[np.float32], wanted: Wanted, most: int
    ) -> list[Hit]:
        """Where the model has no column yet, or one of other dimensions, nothing has a vector of this version."""
        try:
            return await self._near(model, version, vector, wanted, most)
        except (psycopg.errors.UndefinedColumn, psycopg.errors.DataException):
            return []

    async def _near(
        self, model: str, version: str, vector: NDArray[np.float32], wanted: Wanted, most: int
    ) -> list[Hit]:
        given = {"vector": written(vector), "version": version, "most": most}
        async with self._tuned() as connection:
            params = await _params(connection, wanted)
            few = False
            if not wanted.is_open:
                (row,) = await fetch(connection, "library_search.fitting", {**params, "most": FEW + 1})
                few = row["number"] <= FEW
            rows: list[DictRow] = []
            if not few:
                await fetch(connection, "library_search.by_index", {})
                rows = await _named(connection, "near", model, {**params, **given}, len(vector))
            if few or (len(rows) < min(most, ENOUGH) and not wanted.is_open):
                rows = await _named(connection, "near_exactly", model, {**params, **given})
        return [Hit(row["clip_id"], row["likeness"]) for row in rows]

    async def vector(self, clip_id: int, model: str, version: str) -> NDArray[np.float32]:
        try:
            async with self._db.connection() as connection:
                rows = await _named(connection, "vector_of", model, {"clip_id": clip_id, "version": version})
        except psycopg.errors.UndefinedColumn:
            raise NotFound(f"no clip has a vector of the model {model} yet") from None
        if not rows:
            raise NotFound(f"there is no clip {clip_id}")
        if rows[0]["vector"] is None:
            state = ClipState(rows[0]["state"])
            raise NotFound(f"clip {clip_id} is {words_for(state)}: nothing can be likened to it yet")
        return np.array(json.loads(rows[0]["vector"]), dtype=np.float32)

    async def links(self, clip_ids: Sequence[int]) -> Links:
        states = Wanted().states
        async with self._tuned() as connection:
            given = {"ids": list(clip_ids), "states": states, "most": MOST_CONNECTED + len(clip_ids)}
            ids = [row["id"] for row in await fetch(connection, "library_search.connected", given)]
            rows = await fetch(connection, "library_search.links", {"ids": ids})
        return Links(
            clips=tuple(ids),
            alike=tuple((row["one"], row["other"]) for row in rows if row["same"] is None),
            verdicts={(row["one"], row["other"]): row["same"] for row in rows if row["same"] is not None},
        )

    async def clips(self, clip_ids: Sequence[int]) -> dict[int, FoundClip]:
        rows = await self._db.fetch("library_search.clips", ids=list(clip_ids))
        return {row["id"]: _clip(row) for row in rows}

    @asynccontextmanager
    async def _tuned(self) -> AsyncIterator[Connection]:
        async with self._db.connection() as connection:
            given = {"ef_search": str(self._ef_search), "most_scanned": str(MOST_SCANNED), "timeout": TIMEOUT}
            await fetch(connection, "library_search.tune", given)
            yield connection


async def _params(connection: Connection, wanted: Wanted) -> dict[str, Any]:
    words = {
        "words": wanted.asked.words or None,
        "minutes": list(wanted.asked.minutes),
        "team": wanted.team,
        "player": wanted.player,
        "competition": wanted.competition,
        "kind": wanted.kind,
    }
    looking = None
    if any(words.values()):
        (row,) = await fetch(connection, "library_search.looking_for", words)
        looking = row["looking"]
    return {
        "looking": looking,
        "states": wanted.states,
        "since": wanted.since,
        "until": wanted.until,
        "verified": wanted.verified,
        "sport": wanted.sport,
    }


async def _named(
    connection: Connection, name: str, model: str, params: dict[str, Any], dimensions: int = 0
) -> list[DictRow]:
    """A query that names the columns of a model."""
    text = sql.SQL(query(f"library_search.{name}").decode())
    composed = text.format(**columns(model), size=sql.Literal(dimensions))
    cursor = await connection.execute(composed, params, prepare=False)
    return await cursor.fetchall()


def _clip(row: DictRow) -> FoundClip:
    return FoundClip(
        id=row["id"],
        source_id=row["source_id"],
        first=row["first_frame"],
        end=row["end_frame"],
        rate=Fraction(row["rate_num"], row["rate_den"]),
        state=ClipState(row["state"]),
        title=row["title"],
        width=row["width"] or 0,
        height=row["height"] or 0,
        event_id=row["event_id"],
        facts=row["facts"],
        keyframe=row["keyframe"],
        has_sheet=row["has_sheet"],
    )
