"""One search from the question to the moments: store, models and decisions together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from found_footy.errors import (
    BadRequest,
    EmbeddingError,
    EmbeddingUnavailable,
    FootyError,
    NotFound,
    SettingsError,
)
from found_footy.library import search as search_module
from found_footy.library.embedding_store import EmbeddingStore
from found_footy.library.moments import SearchFilter, SearchResults, parse_query
from found_footy.library.onnx_embedders import MobileNetEmbedder
from found_footy.library.search import LibrarySearch, SimilarityOrder
from tests.library.clip_rows import GOAL, ClipRows, pointing
from tests.library.scene_pictures import compressed, cropped, draw_scene, mirrored


def shown(found: SearchResults) -> list[tuple[int, list[int]]]:
    return [(each.clip.id, sorted(copy.id for copy in each.copies)) for each in found.moments]


@dataclass
class TextEmbedder:
    """A model with a text side: "rain" points one way, all else another."""

    name: str = "wordy"
    dimensions: int = 8
    version: str = "1"
    supports_text: bool = True
    error: FootyError | None = None

    async def embed_images(self, bgr: object) -> NDArray[np.float32]:
        return np.stack([pointing(1, dimensions=8)])

    async def embed_text(self, words: str) -> NDArray[np.float32]:
        if self.error is not None:
            raise self.error
        return pointing(1, dimensions=8) if "rain" in words else pointing(0, 1, dimensions=8)

    async def aclose(self) -> None: ...


async def test_copies_of_one_moment_are_one_result(clip_rows: ClipRows, search_store: LibrarySearch) -> None:
    first = await clip_rows.add(states=("embedded", "embedded"))
    second = await clip_rows.add(states=("pending_review", "embedded"))
    (third,) = await clip_rows.add()
    for one, other in ((first[0], second[0]), (second[0], third), (first[1], second[1])):
        await clip_rows.pair(one, other)
    await clip_rows.say(first[0], third, same=False)
    search = LibrarySearch(search_store._db, [])
    found = shown(await search.by_text(SearchFilter(parse_query("salah"))))
    assert sorted(found) == [(first[0], [second[0]]), (first[1], [second[1]]), (third, [])]


async def test_copies_without_a_text_match_are_included(clip_rows: ClipRows, search_store: LibrarySearch) -> None:
    (named,) = await clip_rows.add()
    (other,) = await clip_rows.add("a film", {})
    (archived,) = await clip_rows.add("a film", {}, states=("archived",))
    await clip_rows.say(named, other, same=True)
    await clip_rows.say(named, archived, same=True)
    assert shown(await LibrarySearch(search_store._db, []).by_text(SearchFilter(parse_query("salah")))) == [
        (named, [other])
    ]


async def test_modified_images_are_found(
    clip_rows: ClipRows, vectors: EmbeddingStore, search_store: LibrarySearch
) -> None:
    model = MobileNetEmbedder()
    pictures = [draw_scene(number) for number in range(8)]
    clips = await clip_rows.add(states=("embedded",) * 8)
    for clip, vector in zip(clips, await model.embed_images(pictures), strict=True):
        await vectors.save(clip, model.name, model.version, vector)
    search = LibrarySearch(search_store._db, [model])
    for clip, picture in zip(clips, pictures, strict=True):
        for change in (cropped, mirrored, compressed):
            found = await search.similar_to_image(change(picture), SearchFilter())
            assert found.moments[0].clip.id == clip
            assert found.model == "mobilenet_v3_small"
    first = await search.similar_to_clip(clips[0], SearchFilter())
    assert sorted(each.clip.id for each in first.moments) == clips[1:]


async def test_the_query_clip_is_excluded_and_its_copies_are_not(
    clip_rows: ClipRows, vectors: EmbeddingStore, search_store: LibrarySearch
) -> None:
    model = MobileNetEmbedder()
    clips = await clip_rows.add(states=("embedded",) * 3)
    for clip in clips:
        await vectors.save(clip, model.name, model.version, pointing(1, clip / 100))
    await clip_rows.pair(clips[0], clips[1])
    search = LibrarySearch(search_store._db, [model])
    assert shown(await search.similar_to_clip(clips[0], SearchFilter())) == [(clips[1], []), (clips[2], [])]
    with pytest.raises(NotFound):
        await search.similar_to_clip(999, SearchFilter())
    assert shown(await search.similar_to_clip(clips[0], SearchFilter(place="review"))) == []


async def test_words_find_images_if_a_model_supports_text(
    clip_rows: ClipRows, vectors: EmbeddingStore, search_store: LibrarySearch
) -> None:
    model = TextEmbedder()
    await vectors.ensure_columns([MobileNetEmbedder(), model])
    (named,) = await clip_rows.add("Fans in the rain", {})
    (seen,) = await clip_rows.add()
    (dry,) = await clip_rows.add(facts={**GOAL, "minute": "5'"})
    for clip, vector in ((seen, (1, 0.1)), (dry, (0.1, 1))):
        await vectors.save(clip, model.name, model.version, pointing(*vector, dimensions=8))
    search = LibrarySearch(search_store._db, [MobileNetEmbedder(), model])
    found = await search.by_text(SearchFilter(parse_query("rain")))
    assert [each.clip.id for each in found.moments] == [named, seen, dry]
    assert [each.similarity is None for each in found.moments] == [True, False, False]
    assert found.model == "wordy"
    later = await search.by_text(SearchFilter(parse_query("rain 5")))
    assert [each.clip.id for each in later.moments] == [dry]
    only_known = await search.by_text(SearchFilter(parse_query("rain")), images=False)
    assert [each.clip.id for each in only_known.moments] == [named]


@pytest.mark.parametrize(
    "error",
    [
        EmbeddingUnavailable("no connection"),
        EmbeddingError("HTTP 404: no such model"),
        EmbeddingError("the model returned the shape (1, 3)"),
        SettingsError("cannot load the model"),
    ],
)
async def test_a_text_search_returns_text_matches_whatever_error_the_model_has(
    clip_rows: ClipRows, search_store: LibrarySearch, error: FootyError
) -> None:
    (named,) = await clip_rows.add("rain")
    found = await LibrarySearch(search_store._db, [TextEmbedder(error=error)]).by_text(
        SearchFilter(parse_query("rain"))
    )
    assert [each.clip.id for each in found.moments] == [named]
    assert found.incomplete_reason == f"image search failed: {error}"


async def test_a_text_search_does_not_wait_for_a_model_that_hangs(
    clip_rows: ClipRows, search_store: LibrarySearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_module, "TEXT_SECONDS", 0.05)
    model = TextEmbedder()
    monkeypatch.setattr(model, "embed_text", lambda words: asyncio.Event().wait())
    (named,) = await clip_rows.add("rain")
    found = await LibrarySearch(search_store._db, [model]).by_text(SearchFilter(parse_query("rain")))
    assert [each.clip.id for each in found.moments] == [named]
    assert found.incomplete_reason == "image search failed: wordy did not answer within 0.05 s"


async def test_a_similarity_search_without_a_model_fails(search_store: LibrarySearch) -> None:
    with pytest.raises(EmbeddingError, match="FOOTY_EMBEDDING_MODELS"):
        await LibrarySearch(search_store._db, []).similar_to_clip(1, SearchFilter())


async def test_similarity_searches_by_model_and_source_and_least_similar_first(
    clip_rows: ClipRows, vectors: EmbeddingStore, search_store: LibrarySearch
) -> None:
    first, other = MobileNetEmbedder(), TextEmbedder()
    await vectors.ensure_columns([first, other])
    clips = await clip_rows.add(states=("embedded",) * 3)
    (elsewhere,) = await clip_rows.add()
    for clip, angle in zip((*clips, elsewhere), (0, 0.5, 2, 1), strict=True):
        await vectors.save(clip, first.name, first.version, pointing(1, angle))
        await vectors.save(clip, other.name, other.version, pointing(1, 2 - angle, dimensions=8))
    search = LibrarySearch(search_store._db, [first, other])
    source = (await search.clips(clips))[clips[0]].source_id

    async def similar(chosen: SearchFilter = SearchFilter(), **order: Any) -> list[int]:  # noqa: B008
        found = await search.similar_to_clip(clips[0], chosen, SimilarityOrder(**order))
        return [each.clip.id for each in found.moments]

    near, far = clips[1:]
    assert await similar() == [near, elsewhere, far]
    assert await similar(least=True) == [far, elsewhere, near]
    assert await similar(SearchFilter(source=source)) == [near, far]
    assert await similar(SearchFilter(source=source), least=True) == [far, near]
    found = await search.similar_to_clip(clips[0], SearchFilter(), SimilarityOrder("wordy", least=True))
    assert (found.model, found.moments[0].clip.id) == ("wordy", far)
    assert found.moments[0].similarity == pytest.approx(1 / 5**0.5, abs=0.01)
    with pytest.raises(BadRequest, match="choose from mobilenet_v3_small, wordy"):
        await similar(model="other")


async def test_an_empty_result(search_store: LibrarySearch) -> None:
    found = await LibrarySearch(search_store._db, [MobileNetEmbedder()]).by_text(SearchFilter(parse_query("nobody")))
    assert found == SearchResults(())
