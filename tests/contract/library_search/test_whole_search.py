"""One search from the question to the moments: store, models and decisions together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.contract.embeddings.drawn import compressed, cropped, drawn, mirrored
from tests.contract.library_search.shelf import GOAL, Shelf, pointing

from found_footy.adapters.embeddings.mobilenet import MobileNet
from found_footy.adapters.storage.postgres.library_search import PostgresLibrarySearch
from found_footy.adapters.storage.postgres.vectors import PostgresVectors
from found_footy.domain.clips.searching import Found, Wanted, asked
from found_footy.domain.errors import EmbeddingError, EmbeddingUnavailable, NotFound
from found_footy.library_search import LibrarySearch


def shown(found: Found) -> list[tuple[int, list[int]]]:
    return [(each.clip.id, sorted(copy.id for copy in each.copies)) for each in found.moments]


@dataclass
class Wordy:
    """A model with a text side: "rain" points one way, all else another."""

    name: str = "wordy"
    dimensions: int = 8
    version: str = "1"
    has_text: bool = True
    down: bool = False

    async def pictures(self, bgr: object) -> NDArray[np.float32]:
        return np.stack([pointing(1, dimensions=8)])

    async def text(self, words: str) -> NDArray[np.float32]:
        if self.down:
            raise EmbeddingUnavailable("the server is away")
        return pointing(1, dimensions=8) if "rain" in words else pointing(0, 1, dimensions=8)

    async def aclose(self) -> None: ...


async def test_copies_of_one_moment_are_one_result(shelf: Shelf, search_store: PostgresLibrarySearch) -> None:
    first = await shelf.put(states=("embedded", "embedded"))
    second = await shelf.put(states=("pending_review", "embedded"))
    (third,) = await shelf.put()
    for one, other in ((first[0], second[0]), (second[0], third), (first[1], second[1])):
        await shelf.pair(one, other)
    await shelf.say(first[0], third, same=False)
    search = LibrarySearch(search_store, [])
    found = shown(await search.by_words(Wanted(asked("salah"))))
    assert sorted(found) == [(first[0], [second[0]]), (first[1], [second[1]]), (third, [])]


async def test_copies_are_counted_that_the_words_do_not_name(shelf: Shelf, search_store: PostgresLibrarySearch) -> None:
    (named,) = await shelf.put()
    (other,) = await shelf.put("a film", {})
    (archived,) = await shelf.put("a film", {}, states=("archived",))
    await shelf.say(named, other, same=True)
    await shelf.say(named, archived, same=True)
    assert shown(await LibrarySearch(search_store, []).by_words(Wanted(asked("salah")))) == [(named, [other])]


async def test_pictures_are_found_again_whatever_was_done_to_them(
    shelf: Shelf, vectors: PostgresVectors, search_store: PostgresLibrarySearch
) -> None:
    model = MobileNet()
    pictures = [drawn(number) for number in range(8)]
    clips = await shelf.put(states=("embedded",) * 8)
    for clip, vector in zip(clips, await model.pictures(pictures), strict=True):
        await vectors.save(clip, model.name, model.version, vector)
    search = LibrarySearch(search_store, [model])
    for clip, picture in zip(clips, pictures, strict=True):
        for change in (cropped, mirrored, compressed):
            found = await search.like_picture(change(picture), Wanted())
            assert found.moments[0].clip.id == clip
            assert found.model == "mobilenet_v3_small"
    first = await search.like_clip(clips[0], Wanted())
    assert sorted(each.clip.id for each in first.moments) == clips[1:]


async def test_the_clip_one_looks_from_is_left_out_and_its_copies_are_not(
    shelf: Shelf, vectors: PostgresVectors, search_store: PostgresLibrarySearch
) -> None:
    model = MobileNet()
    clips = await shelf.put(states=("embedded",) * 3)
    for clip in clips:
        await vectors.save(clip, model.name, model.version, pointing(1, clip / 100))
    await shelf.pair(clips[0], clips[1])
    search = LibrarySearch(search_store, [model])
    assert shown(await search.like_clip(clips[0], Wanted())) == [(clips[1], []), (clips[2], [])]
    with pytest.raises(NotFound):
        await search.like_clip(999, Wanted())
    assert shown(await search.like_clip(clips[0], Wanted(place="review"))) == []


async def test_words_find_pictures_where_a_model_knows_words(
    shelf: Shelf, vectors: PostgresVectors, search_store: PostgresLibrarySearch
) -> None:
    model = Wordy()
    await vectors.prepare([MobileNet(), model])
    (named,) = await shelf.put("Fans in the rain", {})
    (seen,) = await shelf.put()
    (dry,) = await shelf.put(facts={**GOAL, "minute": "5'"})
    for clip, vector in ((seen, (1, 0.1)), (dry, (0.1, 1))):
        await vectors.save(clip, model.name, model.version, pointing(*vector, dimensions=8))
    search = LibrarySearch(search_store, [MobileNet(), model])
    assert search.knows_words
    found = await search.by_words(Wanted(asked("rain")))
    assert [each.clip.id for each in found.moments] == [named, seen, dry]
    assert [each.likeness is None for each in found.moments] == [True, False, False]
    assert found.model == "wordy"
    later = await search.by_words(Wanted(asked("rain 5")))
    assert [each.clip.id for each in later.moments] == [dry]
    only_known = await search.by_words(Wanted(asked("rain")), pictures=False)
    assert [each.clip.id for each in only_known.moments] == [named]


async def test_a_model_that_fails_is_not_nothing_found(shelf: Shelf, search_store: PostgresLibrarySearch) -> None:
    (named,) = await shelf.put("rain")
    found = await LibrarySearch(search_store, [Wordy(down=True)]).by_words(Wanted(asked("rain")))
    assert [each.clip.id for each in found.moments] == [named]
    assert found.lacking == "what pictures show: the server is away"
    with pytest.raises(EmbeddingError, match="FOOTY_EMBEDDING_MODELS"):
        await LibrarySearch(search_store, []).like_clip(1, Wanted())


async def test_nothing_found_is_an_answer(search_store: PostgresLibrarySearch) -> None:
    found = await LibrarySearch(search_store, [MobileNet()]).by_words(Wanted(asked("nobody")))
    assert found == Found(())
