"""What review needs to read beside the clips. An adapter fills it; `bootstrap_web_library.py` chooses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from found_footy.domain.clips.reviewed import LikelyCopy, Told
from found_footy.domain.clips.values import Clip, Source


class ReviewReading(Protocol):
    """All methods raise StoreUnavailable."""

    async def around(self, clip_ids: Sequence[int], each_side: int) -> list[Clip]:
        """The live clips of their sources that lie so near to one of them, by source and frame; and with them those
        that were split or merged into one of these and can still come back. Clips that do not exist are left out."""

    async def sources(self, source_ids: Sequence[int]) -> list[Source]: ...

    async def copies(self, clip_ids: Sequence[int]) -> Mapping[int, Sequence[LikelyCopy]]:
        """Of live clips. Those that nobody has judged come first."""

    async def action(self, action_id: int) -> Told:
        """Raises NotFound."""

    async def actions(self, since: int, most: int) -> list[Told]:
        """The latest ones after `since`, the newest last."""
