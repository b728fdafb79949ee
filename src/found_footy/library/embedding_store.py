"""Embeddings of clips: one row per clip, and for each model one column with the vector and one with its version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from psycopg import sql

from found_footy.errors import NotFound, SettingsError, StoreRejected
from found_footy.library.embedders import Embedder
from found_footy.storage.postgres import Connection, Database

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_NAME_LENGTH = 40
MAX_DIMENSIONS = 4000
"""Limit of a pgvector index."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class EmbeddingStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def ensure_columns(self, embedders: Sequence[Embedder]) -> None:
        """Create the columns and indexes of each model. Idempotent, and safe from many workers at once."""
        columns = {column_name(each.name): dimensions_of(each) for each in embedders}
        async with self._db.connection() as connection:
            # All workers start at once, and each would create the same columns.
            await connection.execute("select pg_advisory_xact_lock(hashtext('found-footy vectors'))")
            existing = await _vector_columns(connection)
            for name, dimensions in columns.items():
                if existing.get(name) != dimensions:
                    await _create(connection, name, dimensions, replaces=name in existing)

    async def save(self, clip_id: int, model: str, version: str, vector: NDArray[np.float32]) -> None:
        """Save a vector. Raises NotFound if the clip is gone, and StoreRejected for a vector that does not fit its
        column.
        """
        query = sql.SQL(
            "insert into library_embeddings (clip_id, {vector}, {version}) values (%s, %s::vector, %s)"
            " on conflict (clip_id) do update set {vector} = excluded.{vector}, {version} = excluded.{version}"
        ).format(**model_columns(model))
        try:
            async with self._db.connection() as connection:
                await connection.execute(query, (clip_id, vector_literal(vector), version))
        except psycopg.errors.ForeignKeyViolation:
            raise NotFound(f"clip {clip_id} not found") from None
        except (psycopg.errors.DataException, psycopg.errors.UndefinedColumn) as error:
            raise StoreRejected(f"cannot store a vector of {model}: {str(error).splitlines()[0]}") from None

    async def versions(self, clip_id: int, models: Sequence[str]) -> dict[str, str]:
        """Versions of the clip's vectors by model. The models must have their columns."""
        versions = sql.SQL(", ").join(
            sql.SQL("{} as {}").format(model_columns(each)["version"], sql.Identifier(each)) for each in models
        )
        query = sql.SQL("select {} from library_embeddings where clip_id = %s").format(versions)
        async with self._db.connection() as connection:
            row = await (await connection.execute(query, (clip_id,))).fetchone()
        return {model: version for model, version in (row or {}).items() if version is not None}


def column_name(model: str) -> str:
    """Raises SettingsError for an invalid name."""
    taken = model == "clip_id" or model.endswith("_version")
    if taken or len(model) > MAX_NAME_LENGTH or _NAME.fullmatch(model) is None:
        raise SettingsError(f"invalid model name {model[:60]!r}: use lower-case letters, digits and _")
    return model


def model_columns(model: str) -> dict[str, sql.Identifier]:
    """Columns of the vector and of its version, for queries."""
    name = column_name(model)
    return {"vector": sql.Identifier(name), "version": sql.Identifier(f"{name}_version")}


def vector_literal(vector: NDArray[np.floating]) -> str:
    """Vector in pgvector's notation. Raises StoreRejected."""
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise StoreRejected("a vector must be one-dimensional and finite")
    return "[" + ",".join(f"{value:.8g}" for value in vector.tolist()) + "]"


def dimensions_of(embedder: Embedder) -> int:
    if not 1 <= embedder.dimensions <= MAX_DIMENSIONS:
        raise SettingsError(
            f"model {embedder.name} has {embedder.dimensions} dimensions; supported are 1 to {MAX_DIMENSIONS}"
        )
    return embedder.dimensions


async def _vector_columns(connection: Connection) -> dict[str, int]:
    """Existing vector columns with their dimensions."""
    cursor = await connection.execute(
        "select attname, atttypmod from pg_attribute where attrelid = 'library_embeddings'::regclass"
        " and atttypid = 'vector'::regtype and not attisdropped"
    )
    return {row["attname"]: row["atttypmod"] for row in await cursor.fetchall()}


async def _create(connection: Connection, name: str, dimensions: int, *, replaces: bool) -> None:
    """Create a model's columns and indexes. Vectors with other dimensions belong to another model and are dropped."""
    names = {
        **model_columns(name),
        "index": sql.Identifier(f"library_embeddings_{name}"),
        "size": sql.Literal(dimensions),
    }
    table = sql.SQL("alter table library_embeddings ")
    if replaces:
        await connection.execute(table + sql.SQL("drop column {vector}, drop column {version}").format(**names))
    added = sql.SQL("add column {vector} vector({size}), add column {version} text").format(**names)
    await connection.execute(table + added)
    # Store inline: fetching a TOASTed vector costs more than comparing it.
    await connection.execute(table + sql.SQL("alter column {vector} set storage main").format(**names))
    # Half precision: the index is a third of the size, stays in memory, and is as accurate.
    expression = sql.SQL("(({vector}::halfvec({size})) halfvec_cosine_ops)").format(**names)
    index = sql.SQL("create index {index} on library_embeddings using hnsw ").format(**names)
    await connection.execute(index + expression)
    # The dispatcher queries clips without the newest version in every round.
    versions = sql.Identifier(f"library_embeddings_{name}_version")
    await connection.execute(sql.SQL("create index {} on library_embeddings ({version})").format(versions, **names))
