"""Remembers how the clips of a goal are aligned: that changes only with the clips themselves."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from found_footy.web.goal.alignment import Aligned, By, ClipFacts, align
from found_footy.web.ports import LinkReading

MOST_GOALS = 1000
MOST_CLIPS = 40
"""That are compared with each other; what comes after them in rank is shown without."""


class AlignedClips:
    """One for each process."""

    def __init__(self, links: LinkReading) -> None:
        self._links = links
        self._known: OrderedDict[tuple[str, ...], Mapping[str, Aligned]] = OrderedDict()

    async def aligned(self, event_id: str, clips: Sequence[ClipFacts]) -> Mapping[str, Aligned]:
        """`clips` in the order of their rank, without fingerprints."""
        clips = clips[:MOST_CLIPS]
        if len(clips) < 2:
            return {clip.id: Aligned(0.0, By.REFERENCE) for clip in clips}
        name = (event_id, *(clip.id for clip in clips))
        found = self._known.get(name)
        if found is None:
            fingerprints = await self._links.fingerprints(event_id)
            facts = [replace(clip, fingerprint=fingerprints.get(clip.id)) for clip in clips]
            found = self._known[name] = await asyncio.to_thread(align, facts)
            if len(self._known) > MOST_GOALS:
                self._known.popitem(last=False)
        self._known.move_to_end(name)
        return found
