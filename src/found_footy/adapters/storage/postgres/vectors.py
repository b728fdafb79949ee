"""Vectors of clips: one row a clip, and for each model a column of its own beside one that tells its version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from psycopg import sql

from found_footy.adapters.storage.postgres.database import Connection, Database
from found_footy.domain.errors import NotFound, SettingsError, StoreRejected
from found_footy.ports_library import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_NAME = 40
MOST_DIMENSIONS = 4000
"""What an index of pgvector takes."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class PostgresVectors:
    """Fills `VectorStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def prepare(self, embedders: Sequence[Embedder]) -> None:
        wanted = {column(each.name): dimensions_of(each) for each in embedders}
        async with self._db.connection() as connection:
            # All workers start at once, and each would make the same column.
            await connection.execute("select pg_advisory_xact_lock(hashtext('found-footy vectors'))")
            there = await _columns(connection)
            for name, dimensions in wanted.items():
                if there.get(name) != dimensions:
                    await _make(connection, name, dimensions, replaces=name in there)

    async def save(self, clip_id: int, model: str, version: str, vector: NDArray[np.float32]) -> None:
        """Raises NotFound where the clip is gone, and StoreRejected for a vector that fits no column."""
        query = sql.SQL(
            "insert into library_embeddings (clip_id, {vector}, {version}) values (%s, %s::vector, %s)"
            " on conflict (clip_id) do update set {vector} = excluded.{vector}, {version} = excluded.{version}"
        ).format(**columns(model))
        try:
            async with self._db.connection() as connection:
                await connection.execute(query, (clip_id, written(vector), version))
        except psycopg.errors.ForeignKeyViolation:
            raise NotFound(f"there is no clip {clip_id}") from None
        except (psycopg.errors.DataException, psycopg.errors.UndefinedColumn) as error:
            raise StoreRejected(f"a vector of {model}: {str(error).splitlines()[0]}") from None

    async def versions(self, clip_id: int, models: Sequence[str]) -> dict[str, str]:
        wanted = sql.SQL(", ").join(
            sql.SQL("{} as {}").format(columns(each)["version"], sql.Identifier(each)) for each in models
        )
        query = sql.SQL("select {} from library_embeddings where clip_id = %s").format(wanted)
        async with self._db.connection() as connection:
            row = await (await connection.execute(query, (clip_id,))).fetchone()
        return {model: version for model, version in (row or {}).items() if version is not None}


def column(model: str) -> str:
    """Raises SettingsError for what cannot name a column."""
    taken = model == "clip_id" or model.endswith("_version")
    if taken or len(model) > LONGEST_NAME or _NAME.fullmatch(model) is None:
        raise SettingsError(f"a model cannot be called {model[:60]!r}: letters, digits and _ only")
    return model


def columns(model: str) -> dict[str, sql.Identifier]:
    """For queries: where the vector stands, and its version."""
    name = column(model)
    return {"vector": sql.Identifier(name), "version": sql.Identifier(f"{name}_version")}


def written(vector: NDArray[np.floating]) -> str:
    """As pgvector reads it. Raises StoreRejected."""
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise StoreRejected("a vector is a row of numbers")
    return "[" + ",".join(f"{value:.8g}" for value in vector.tolist()) + "]"


def dimensions_of(embedder: Embedder) -> int:
    if not 1 <= embedder.dimensions <= MOST_DIMENSIONS:
        raise SettingsError(
            f"the model {embedder.name} has {embedder.dimensions} dimensions; 1 to {MOST_DIMENSIONS} work"
        )
    return embedder.dimensions


async def _columns(connection: Connection) -> dict[str, int]:
    """The vectors' columns with their dimensions."""
    cursor = await connection.execute(
        "select attname, atttypmod from pg_attribute where attrelid = 'library_embeddings'::regclass"
        " and atttypid = 'vector'::regtype and not attisdropped"
    )
    return {row["attname"]: row["atttypmod"] for row in await cursor.fetchall()}


async def _make(connection: Connection, name: str, dimensions: int, *, replaces: bool) -> None:
    """Vectors of another length are of another model, whatever its name is: nothing can be compared with them."""
    names = {**columns(name), "index": sql.Identifier(f"library_embeddings_{name}"), "size": sql.Literal(dimensions)}
    table = sql.SQL("alter table library_embeddings ")
    if replaces:
        await connection.execute(table + sql.SQL("drop column {vector}, drop column {version}").format(**names))
    added = sql.SQL("add column {vector} vector({size}), add column {version} text").format(**names)
    await connection.execute(table + added)
    # Beside the rest of its row: to look elsewhere for each vector costs more than to compare it.
    await connection.execute(table + sql.SQL("alter column {vector} set storage main").format(**names))
    # Over numbers of half the length: the index is a third as large, so that it stays in memory, and finds as well.
    expression = sql.SQL("(({vector}::halfvec({size})) halfvec_cosine_ops)").format(**names)
    index = sql.SQL("create index {index} on library_embeddings using hnsw ").format(**names)
    await connection.execute(index + expression)
    # Whoever lacks a vector of the newest version is looked for all the time.
    versions = sql.Identifier(f"library_embeddings_{name}_version")
    await connection.execute(sql.SQL("create index {} on library_embeddings ({version})").format(versions, **names))
