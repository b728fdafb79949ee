"""Vectors in the database: a column a model, made by many at once, and nearest neighbours."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from found_footy.errors import NotFound, SettingsError, StoreRejected
from found_footy.library import search as library_search
from found_footy.library.embedding_store import EmbeddingStore
from found_footy.library.moments import SearchFilter
from found_footy.library.search import LibrarySearch
from found_footy.storage.postgres import Database
from tests.library.clip_rows import GOAL, ClipRows, pointing

MODEL = "mobilenet_v3_small"


@dataclass(frozen=True)
class NamedModel:
    """A model of which only the name and the length of its vectors matter."""

    name: str
    dimensions: int
    version: str = "1"
    supports_text: bool = False

    async def embed_images(self, bgr: object) -> NDArray[np.float32]:
        raise NotImplementedError

    async def embed_text(self, words: str) -> NDArray[np.float32]:
        raise NotImplementedError

    async def aclose(self) -> None: ...


async def columns(database: Database) -> dict[str, str]:
    async with database.connection() as connection:
        cursor = await connection.execute(
            "select attname, format_type(atttypid, atttypmod) as type from pg_attribute"
            " where attrelid = 'library_embeddings'::regclass and attnum > 0 and not attisdropped"
        )
        return {row["attname"]: row["type"] for row in await cursor.fetchall()}


async def indices(database: Database) -> set[str]:
    async with database.connection() as connection:
        cursor = await connection.execute(
            "select indexname from pg_indexes where tablename = 'library_embeddings' and indexdef like '%hnsw%'"
        )
        return {row["indexname"] for row in await cursor.fetchall()}


async def test_a_model_gets_a_column_a_version_and_an_index(vectors: EmbeddingStore, clip_rows: ClipRows) -> None:
    await vectors.ensure_columns([NamedModel(MODEL, 576), NamedModel("clip_file", 512)])
    await vectors.ensure_columns([NamedModel(MODEL, 576), NamedModel("clip_file", 512)])
    found = await columns(clip_rows.database)
    assert (found["clip_file"], found["clip_file_version"]) == ("vector(512)", "text")
    assert found[MODEL] == "vector(576)"
    assert {f"library_embeddings_{MODEL}", "library_embeddings_clip_file"} <= await indices(clip_rows.database)


async def test_columns_are_created_once_by_concurrent_workers(vectors: EmbeddingStore, clip_rows: ClipRows) -> None:
    models = [NamedModel("one", 8), NamedModel("two", 16)]
    await asyncio.gather(*(vectors.ensure_columns(models if number % 2 else models[::-1]) for number in range(8)))
    assert {"one", "two"} <= set(await columns(clip_rows.database))


async def test_other_dimensions_replace_the_column(vectors: EmbeddingStore, clip_rows: ClipRows) -> None:
    (clip,) = await clip_rows.add()
    await vectors.ensure_columns([NamedModel("clip_file", 512)])
    await vectors.save(clip, "clip_file", "1", pointing(1, dimensions=512))
    await vectors.ensure_columns([NamedModel("clip_file", 768)])
    await vectors.save(clip, "clip_file", "2", pointing(1, dimensions=768))
    assert (await columns(clip_rows.database))["clip_file"] == "vector(768)"
    assert "library_embeddings_clip_file" in await indices(clip_rows.database)


@pytest.mark.parametrize(
    "name", ["", "Clip", "1st", "a-b", 'a"; drop table x; --', "clip_id", "one_version", "x" * 41, "ä"]
)
async def test_invalid_column_names_are_rejected(vectors: EmbeddingStore, name: str) -> None:
    with pytest.raises(SettingsError):
        await vectors.ensure_columns([NamedModel(name, 8)])


@pytest.mark.parametrize("dimensions", [0, -1, 4001])
async def test_unsupported_dimensions_are_rejected(vectors: EmbeddingStore, dimensions: int) -> None:
    with pytest.raises(SettingsError, match="dimensions"):
        await vectors.ensure_columns([NamedModel("wide", dimensions)])


async def test_a_vector_is_replaced(vectors: EmbeddingStore, clip_rows: ClipRows, search_store: LibrarySearch) -> None:
    (clip,) = await clip_rows.add()
    await vectors.save(clip, MODEL, "1", pointing(1))
    await vectors.save(clip, MODEL, "2", pointing(0, 1))
    assert (await search_store.vector(clip, MODEL, "2"))[1] == pytest.approx(1)
    with pytest.raises(NotFound, match="not embedded yet"):
        await search_store.vector(clip, MODEL, "1")


async def test_vectors_of_two_models_coexist(
    vectors: EmbeddingStore, clip_rows: ClipRows, search_store: LibrarySearch
) -> None:
    await vectors.ensure_columns([NamedModel("clip_file", 8)])
    one, other = await clip_rows.add(states=("embedded", "embedded"))
    for clip, mobile, file in ((one, pointing(1, 0), pointing(0, 1, dimensions=8)),
                               (other, pointing(0, 1), pointing(1, 0, dimensions=8))):  # fmt: skip
        await vectors.save(clip, MODEL, "1", mobile)
        await vectors.save(clip, "clip_file", "1", file)
    near = await search_store.nearest(MODEL, "1", pointing(1, 0.1), SearchFilter(), 1)
    nearer = await search_store.nearest("clip_file", "1", pointing(1, 0.1, dimensions=8), SearchFilter(), 1)
    assert [hit.clip_id for hit in near] == [one]
    assert [hit.clip_id for hit in nearer] == [other]


async def test_results_are_sorted_by_similarity(
    vectors: EmbeddingStore, clip_rows: ClipRows, search_store: LibrarySearch
) -> None:
    clips = await clip_rows.add(states=("embedded",) * 5)
    for angle, clip in enumerate(clips):
        await vectors.save(clip, MODEL, "1", pointing(np.cos(angle / 4), np.sin(angle / 4)))
    found = await search_store.nearest(MODEL, "1", pointing(1), SearchFilter(), 3)
    assert [hit.clip_id for hit in found] == clips[:3]
    assert [hit.similarity for hit in found] == pytest.approx([np.cos(angle / 4) for angle in range(3)], abs=1e-4)


@pytest.mark.parametrize("few", [3000, 0], ids=["one by one", "by the index"])
async def test_similarity_searches_respect_filters_and_versions(
    vectors: EmbeddingStore,
    clip_rows: ClipRows,
    search_store: LibrarySearch,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
) -> None:
    monkeypatch.setattr(library_search, "EXACT_SEARCH_LIMIT", few)
    (right,) = await clip_rows.add(facts={**GOAL, "player": "Darwin Núñez"})
    (wrong,) = await clip_rows.add()
    old, gone = await clip_rows.add(facts={**GOAL, "player": "Darwin Núñez"}, states=("embedded", "review_archived"))
    for clip, version in ((right, "2"), (wrong, "2"), (old, "1"), (gone, "2")):
        await vectors.save(clip, MODEL, version, pointing(1))
    found = await search_store.nearest(MODEL, "2", pointing(1, 1), SearchFilter(player="nunez"), 9)
    assert [hit.clip_id for hit in found] == [right]
    everything = await search_store.nearest(MODEL, "2", pointing(1, 1), SearchFilter(), 9)
    assert {hit.clip_id for hit in everything} == {right, wrong}


async def test_missing_clips_and_missing_vectors_have_different_errors(
    clip_rows: ClipRows, vectors: EmbeddingStore, search_store: LibrarySearch
) -> None:
    (clip,) = await clip_rows.add(states=("pending_review",))
    with pytest.raises(NotFound, match=f"clip {clip} is not embedded yet: it is waiting for review"):
        await search_store.vector(clip, MODEL, "1")
    with pytest.raises(NotFound, match="clip 999 not found"):
        await search_store.vector(999, MODEL, "1")
    with pytest.raises(NotFound, match="clip 999 not found"):
        await vectors.save(999, MODEL, "1", pointing(1))


@pytest.mark.parametrize(
    "vector",
    [
        pointing(1, dimensions=8),
        np.full(576, np.nan, np.float32),
        np.zeros((2, 576), np.float32),
        np.zeros(0, np.float32),
    ],
    ids=["too short", "no numbers", "two of them", "nothing"],
)
async def test_a_vector_with_wrong_dimensions_is_rejected(
    vectors: EmbeddingStore, clip_rows: ClipRows, vector: NDArray[np.float32]
) -> None:
    (clip,) = await clip_rows.add()
    with pytest.raises(StoreRejected):
        await vectors.save(clip, MODEL, "1", vector)


async def test_a_model_without_a_column_is_rejected(vectors: EmbeddingStore, clip_rows: ClipRows) -> None:
    (clip,) = await clip_rows.add()
    with pytest.raises(StoreRejected, match="unheard"):
        await vectors.save(clip, "unheard", "1", pointing(1))


async def test_an_unused_model_finds_nothing(
    clip_rows: ClipRows, vectors: EmbeddingStore, search_store: LibrarySearch
) -> None:
    (clip,) = await clip_rows.add()
    await vectors.save(clip, MODEL, "1", pointing(1))
    assert await search_store.nearest("unheard", "1", pointing(1), SearchFilter(), 5) == []
    assert await search_store.nearest(MODEL, "1", pointing(1, dimensions=8), SearchFilter(), 5) == []
    with pytest.raises(NotFound, match="no clip is embedded with unheard yet"):
        await search_store.vector(clip, "unheard", "1")


async def test_versions_of_a_clip(vectors: EmbeddingStore, clip_rows: ClipRows) -> None:
    await vectors.ensure_columns([NamedModel(MODEL, 576), NamedModel("clip_file", 512)])
    one, two = await clip_rows.add("Two clips", GOAL, ["keyframed"] * 2)
    await vectors.save(one, MODEL, "v1", pointing(1))
    assert await vectors.versions(one, [MODEL, "clip_file"]) == {MODEL: "v1"}
    assert await vectors.versions(two, [MODEL]) == {}
    with pytest.raises(SettingsError):
        await vectors.versions(one, ['a"; drop table x; --'])
