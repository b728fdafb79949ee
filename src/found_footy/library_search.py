"""One search in the clip library, for pages, API and command: words, a clip or a picture in, moments out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from found_footy.domain.clips.moments import moments
from found_footy.domain.clips.searching import MOST_FOUND, Asked, Found, Hit, Wanted, as_moments, in_order
from found_footy.domain.errors import EmbeddingError, EmbeddingUnavailable
from found_footy.ports_library import Embedder, SearchStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MOST_LIKE = 100
"""Clips beyond these are not much alike any more."""


class LibrarySearch:
    """`embedders` as the settings name them: likeness is judged by the first, words by the first that knows words."""

    def __init__(self, store: SearchStore, embedders: Sequence[Embedder]) -> None:
        self._store, self._embedders = store, tuple(embedders)

    @property
    def knows_words(self) -> bool:
        """Whether a picture can be found by what it shows."""
        return any(each.has_text for each in self._embedders)

    async def by_words(self, wanted: Wanted, *, pictures: bool = True) -> Found:
        """What is known of the clips, and where a model knows words, also what their pictures show."""
        hits = await self._store.by_words(wanted, MOST_FOUND + 1)
        seer = next((each for each in self._embedders if each.has_text), None) if pictures else None
        if seer is None or not wanted.asked.words or len(hits) > MOST_FOUND:
            return await self._found(hits, None)
        try:
            vector = await seer.text(wanted.asked.words)
        except EmbeddingUnavailable as error:
            # What is known of the clips is found all the same; that it is not everything, is said.
            return replace(await self._found(hits, None), lacking=f"what pictures show: {error}")
        # The words are what the picture shall show, no longer what must be known of it; minutes and filters stay.
        freed = _without_words(wanted)
        seen = await self._store.by_likeness(seer.name, seer.version, vector, freed, MOST_FOUND)
        return await self._found(in_order(hits, seen)[: MOST_FOUND + 1], seer.name)

    async def like_clip(self, clip_id: int, wanted: Wanted) -> Found:
        """Raises NotFound, EmbeddingError."""
        model = self._first()
        vector = await self._store.vector(clip_id, model.name, model.version)
        return await self._like(vector, wanted, without=clip_id)

    async def like_picture(self, bgr: NDArray[np.uint8], wanted: Wanted) -> Found:
        """Raises EmbeddingError."""
        vectors = await self._first().pictures([bgr])
        return await self._like(vectors[0], wanted)

    async def _like(self, vector: NDArray[np.float32], wanted: Wanted, without: int | None = None) -> Found:
        model = self._first()
        hits = await self._store.by_likeness(model.name, model.version, vector, wanted, MOST_LIKE)
        return await self._found(hits, model.name, without)

    async def _found(self, hits: Sequence[Hit], model: str | None, without: int | None = None) -> Found:
        looked_at = hits[:MOST_FOUND]
        if not looked_at:
            return Found((), model)
        links = await self._store.links([hit.clip_id for hit in looked_at])
        clips = await self._store.clips(links.clips)
        groups = moments(links.clips, links.alike, links.verdicts)
        shown = as_moments(looked_at, groups, clips, without)
        return Found(tuple(shown), model, more=len(hits) > MOST_FOUND)

    def _first(self) -> Embedder:
        if not self._embedders:
            raise EmbeddingError("no model is switched on that could judge likeness (FOOTY_EMBEDDING_MODELS)")
        return self._embedders[0]


def _without_words(wanted: Wanted) -> Wanted:
    return replace(wanted, asked=Asked(minutes=wanted.asked.minutes))
