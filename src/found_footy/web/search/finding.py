"""What the routes that search the clip library are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from found_footy.domain.clips.searching import Found, Wanted
from found_footy.domain.errors import NotFound
from found_footy.ports_library import PictureDecoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from found_footy.web.services import Services


class ClipFinding(Protocol):
    """All methods raise StoreUnavailable and EmbeddingError; nothing found is an answer."""

    @property
    def knows_words(self) -> bool:
        """Whether words also find what pictures show."""

    async def by_words(self, wanted: Wanted) -> Found: ...

    async def like_clip(self, clip_id: int, wanted: Wanted) -> Found:
        """Raises NotFound, also for a clip that has no vector yet."""

    async def like_picture(self, bgr: NDArray[np.uint8], wanted: Wanted) -> Found: ...


@dataclass(frozen=True, slots=True)
class SearchServices:
    clips: ClipFinding
    pictures: PictureDecoder


def search_services(services: Services) -> SearchServices:
    """Raises NotFound where this system was put together without a search of the library."""
    given = services.library.search
    if given is None:
        raise NotFound("the clip library cannot be searched here")
    return given
