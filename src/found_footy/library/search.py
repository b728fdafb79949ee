"""Library search by text, by clip or by image; clips of one moment are one result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.rows import DictRow

from found_footy.config import Settings
from found_footy.errors import BadRequest, EmbeddingError, FootyError, NotFound
from found_footy.library.embedders import Embedder, build_embedders
from found_footy.library.embedding_store import model_columns, vector_literal
from found_footy.library.models import ClipState, state_label
from found_footy.library.moments import (
    MAX_CANDIDATES,
    ClipResult,
    ScoredClip,
    SearchFilter,
    SearchResults,
    SearchText,
    SimilarityGraph,
    cluster_moments,
    group_by_moment,
    text_matches_first,
)
from found_footy.media.processor import IMAGE_PROCESSES, IMAGE_SECONDS, MediaProcessor
from found_footy.storage.postgres import Connection, Database, fetch, load_queries

SQL = load_queries(__package__, "search")

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_SIMILAR = 100
"""Maximum number of similar clips; further ones have little in common with the query."""
EF_SEARCH = 80
MAX_SCANNED = 40_000
"""Index entries that a filtered search reads at most."""
EXACT_SEARCH_LIMIT = 2000
"""Up to this many vectors are compared directly; beyond that the index is used."""
MIN_INDEX_HITS = 20
"""If the index finds fewer although more match, all vectors are compared."""
MAX_CONNECTED = 3000
STATEMENT_TIMEOUT = "5s"
TEXT_SECONDS = 5.0
"""How long a search by words waits for a model. A server has longer to embed images."""


@dataclass(frozen=True, slots=True)
class SimilarityOrder:
    """How a similarity search compares and sorts."""

    model: str | None = None
    """Embedding model; None means the first enabled one."""
    least: bool = False
    """Least similar first."""


DEFAULT_ORDER = SimilarityOrder()


class LibrarySearch:
    """Finds live clips that are not archived. All methods raise StoreUnavailable.

    By default the first embedder computes similarity; the first one with text support finds images by words.
    """

    def __init__(self, database: Database, embedders: Sequence[Embedder] = (), *, ef_search: int = EF_SEARCH) -> None:
        self._db = database
        self._embedders = tuple(embedders)
        self._ef_search = ef_search

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the enabled models; similarity searches use the first one by default."""
        return tuple(each.name for each in self._embedders)

    async def by_text(self, search_filter: SearchFilter, *, images: bool = True) -> SearchResults:
        """Search by facts and, if a model supports text, by image content."""
        hits = await self.matching(search_filter, MAX_CANDIDATES + 1)
        embedder = next((each for each in self._embedders if each.supports_text), None) if images else None
        if embedder is None or not search_filter.text.words or len(hits) > MAX_CANDIDATES:
            return await self._results(hits, None)
        try:
            async with asyncio.timeout(TEXT_SECONDS):
                vector = await embedder.embed_text(search_filter.text.words)
        except (FootyError, TimeoutError) as error:
            # Whatever is wrong with the model, the text matches are an answer.
            reason = str(error) or f"{embedder.name} did not answer within {TEXT_SECONDS:g} s"
            return replace(await self._results(hits, None), incomplete_reason=f"image search failed: {reason}")
        # The words describe the image here, not the facts; minutes and filters still apply.
        filters = replace(search_filter, text=SearchText(minutes=search_filter.text.minutes))
        seen = await self.nearest(embedder.name, embedder.version, vector, filters, MAX_CANDIDATES)
        return await self._results(text_matches_first(hits, seen)[: MAX_CANDIDATES + 1], embedder.name)

    async def similar_to_clip(
        self, clip_id: int, search_filter: SearchFilter, order: SimilarityOrder = DEFAULT_ORDER
    ) -> SearchResults:
        """Raises NotFound, BadRequest, EmbeddingError."""
        model = self._embedder(order.model)
        vector = await self.vector(clip_id, model.name, model.version)
        return await self._similar(model, vector, search_filter, order, without=clip_id)

    async def similar_to_image(
        self, bgr: NDArray[np.uint8], search_filter: SearchFilter, order: SimilarityOrder = DEFAULT_ORDER
    ) -> SearchResults:
        """Raises BadRequest, EmbeddingError."""
        model = self._embedder(order.model)
        vectors = await model.embed_images([bgr])
        return await self._similar(model, vectors[0], search_filter, order)

    async def _similar(
        self,
        model: Embedder,
        vector: NDArray[np.float32],
        search_filter: SearchFilter,
        order: SimilarityOrder,
        without: int | None = None,
    ) -> SearchResults:
        if order.least:
            # The least similar vectors are the nearest to the opposite one, which the index finds too.
            found = await self.nearest(model.name, model.version, -vector, search_filter, MAX_SIMILAR)
            hits = [ScoredClip(hit.clip_id, -(hit.similarity or 0.0)) for hit in found]
        else:
            hits = await self.nearest(model.name, model.version, vector, search_filter, MAX_SIMILAR)
        return await self._results(hits, model.name, without)

    async def _results(
        self, hits: Sequence[ScoredClip], model: str | None, without: int | None = None
    ) -> SearchResults:
        candidates = hits[:MAX_CANDIDATES]
        if not candidates:
            return SearchResults((), model)
        graph = await self.connected([hit.clip_id for hit in candidates])
        clips = await self.clips(graph.clips)
        groups = cluster_moments(graph.clips, graph.alike, graph.verdicts)
        moments = group_by_moment(candidates, groups, clips, without)
        return SearchResults(tuple(moments), model, has_more=len(hits) > MAX_CANDIDATES)

    def _embedder(self, name: str | None) -> Embedder:
        """Return the named embedder; by default the first one."""
        if not self._embedders:
            raise EmbeddingError("no embedding model is enabled: set FOOTY_EMBEDDING_MODELS")
        if name is None:
            return self._embedders[0]
        for each in self._embedders:
            if each.name == name:
                return each
        raise BadRequest(f"unknown model {name[:60]!r}: choose from {', '.join(each.name for each in self._embedders)}")

    # --- Database queries.

    async def matching(self, search_filter: SearchFilter, limit: int) -> list[ScoredClip]:
        """Newest first; clips of one goal are adjacent."""
        async with self._tuned() as connection:
            params = await _params(connection, search_filter)
            rows = await fetch(connection, SQL["matching"], {**params, "limit": limit})
        return [ScoredClip(row["id"]) for row in rows]

    async def nearest(
        self, model: str, version: str, vector: NDArray[np.float32], search_filter: SearchFilter, limit: int
    ) -> list[ScoredClip]:
        """Most similar first, among matching clips with a vector of this version."""
        try:
            return await self._nearest(model, version, vector, search_filter, limit)
        except (psycopg.errors.UndefinedColumn, psycopg.errors.DataException):
            # The model has no column yet, or one with other dimensions: no clip has a vector of this version.
            return []

    async def _nearest(
        self, model: str, version: str, vector: NDArray[np.float32], search_filter: SearchFilter, limit: int
    ) -> list[ScoredClip]:
        vector_params = {"vector": vector_literal(vector), "version": version, "limit": limit}
        async with self._tuned() as connection:
            params = await _params(connection, search_filter)
            is_small = False
            if not search_filter.is_empty:
                (row,) = await fetch(connection, SQL["count_matching"], {**params, "limit": EXACT_SEARCH_LIMIT + 1})
                is_small = row["number"] <= EXACT_SEARCH_LIMIT
            rows: list[DictRow] = []
            if not is_small:
                await fetch(connection, SQL["use_index"], {})
                rows = await _fetch_model(connection, "nearest", model, {**params, **vector_params}, len(vector))
            if is_small or (len(rows) < min(limit, MIN_INDEX_HITS) and not search_filter.is_empty):
                rows = await _fetch_model(connection, "nearest_exact", model, {**params, **vector_params})
        return [ScoredClip(row["clip_id"], row["similarity"]) for row in rows]

    async def vector(self, clip_id: int, model: str, version: str) -> NDArray[np.float32]:
        """Raises NotFound, also for a clip without a vector of this version."""
        try:
            async with self._db.connection() as connection:
                rows = await _fetch_model(connection, "vector", model, {"clip_id": clip_id, "version": version})
        except psycopg.errors.UndefinedColumn:
            raise NotFound(f"no clip is embedded with {model} yet") from None
        if not rows:
            raise NotFound(f"clip {clip_id} not found")
        if rows[0]["vector"] is None:
            state = ClipState(rows[0]["state"])
            raise NotFound(f"clip {clip_id} is not embedded yet: it is {state_label(state)}")
        return np.array(json.loads(rows[0]["vector"]), dtype=np.float32)

    async def connected(self, clip_ids: Sequence[int]) -> SimilarityGraph:
        """These clips and all clips connected with them."""
        async with self._tuned() as connection:
            params = {"ids": list(clip_ids), "states": SearchFilter().states, "limit": MAX_CONNECTED + len(clip_ids)}
            ids = [row["id"] for row in await fetch(connection, SQL["connected"], params)]
            rows = await fetch(connection, SQL["links"], {"ids": ids})
        return SimilarityGraph(
            clips=tuple(ids),
            alike=tuple((row["one"], row["other"]) for row in rows if row["same"] is None),
            verdicts={(row["one"], row["other"]): row["same"] for row in rows if row["same"] is not None},
        )

    async def clips(self, clip_ids: Sequence[int]) -> dict[int, ClipResult]:
        rows = await self._db.fetch(SQL["clips"], ids=list(clip_ids))
        return {row["id"]: _clip_result(row) for row in rows}

    @asynccontextmanager
    async def _tuned(self) -> AsyncIterator[Connection]:
        async with self._db.connection() as connection:
            params = {
                "ef_search": str(self._ef_search),
                "max_scanned": str(MAX_SCANNED),
                "timeout": STATEMENT_TIMEOUT,
            }
            await fetch(connection, SQL["tune"], params)
            yield connection


async def _params(connection: Connection, search_filter: SearchFilter) -> dict[str, Any]:
    text = {
        "words": search_filter.text.words or None,
        "minutes": list(search_filter.text.minutes),
        "team": search_filter.team,
        "player": search_filter.player,
        "competition": search_filter.competition,
        "kind": search_filter.kind,
    }
    parsed = None
    if any(text.values()):
        (row,) = await fetch(connection, SQL["parse_text"], text)
        parsed = row["query"]
    return {
        "query": parsed,
        "states": search_filter.states,
        "since": search_filter.since,
        "until": search_filter.until,
        "verified": search_filter.verified,
        "sport": search_filter.sport,
        "source": search_filter.source,
    }


async def _fetch_model(
    connection: Connection, name: str, model: str, params: dict[str, Any], dimensions: int = 0
) -> list[DictRow]:
    """Run a query with the columns of a model."""
    text = sql.SQL(SQL[name].decode())
    composed = text.format(**model_columns(model), size=sql.Literal(dimensions))
    cursor = await connection.execute(composed, params, prepare=False)
    return await cursor.fetchall()


def _clip_result(row: DictRow) -> ClipResult:
    return ClipResult(
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


@dataclass(frozen=True, slots=True)
class LibrarySearchServices:
    clips: LibrarySearch
    pictures: MediaProcessor


@asynccontextmanager
async def open_search(settings: Settings, database: Database) -> AsyncIterator[LibrarySearchServices]:
    """Open the library search for the pages, the API and the CLI. Raises SettingsError."""
    async with AsyncExitStack() as stack:
        embedders = build_embedders(settings)
        for each in embedders:
            stack.push_async_callback(each.aclose)
        stills = MediaProcessor(settings.media_memory_mb, IMAGE_SECONDS, max_processes=IMAGE_PROCESSES)
        stack.push_async_callback(stills.aclose)
        yield LibrarySearchServices(LibrarySearch(database, embedders), stills)
