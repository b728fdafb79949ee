"""What the library's pages and its API need to read. An adapter fills it; `bootstrap_web_library.py` chooses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

Listing = Literal["sources", "clips"]


class LibraryReading(Protocol):
    """Documents as the JSON text that the database wrote. All methods raise StoreUnavailable."""

    async def page(
        self, listing: Listing, wanted: Mapping[str, Any], before: int | None, limit: int
    ) -> list[tuple[int, str]]:
        """Newest first, from before that number on: the number of each, and its document. Both lists know the wishes
        `states`, `event` and `q`, sources also `kind`, clips also `source`."""

    async def source(self, source_id: int) -> str:
        """With its tiles. Raises NotFound."""

    async def clip(self, clip_id: int) -> str:
        """With its keyframes, likely copies, group and neighbours, also of one that is no tile any more. Raises
        NotFound."""

    async def totals(self) -> str:
        """How many sources and live clips there are, by state."""
