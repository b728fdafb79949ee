"""The clips of a source always tile it: no frame is in two of them, and none in no one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from found_footy.domain.clips.values import Clip


def tiles_of(frames: int, cuts: Iterable[int]) -> list[tuple[int, int]]:
    """The stretches between cuts. A cut is the first frame after it; whatever lies outside of the film is left out."""
    inside = sorted({cut for cut in cuts if 0 < cut < frames})
    edges = [0, *inside, frames]
    return list(pairwise(edges))


def fault_in(frames: int, clips: Sequence[Clip]) -> str | None:
    """What is wrong with the tiling of a source, in words; None where nothing is."""
    tiles = sorted((clip for clip in clips if clip.live), key=lambda clip: clip.first)
    if not tiles:
        return None if not clips else "no clip is a tile of it"
    at = 0
    for tile in tiles:
        if tile.first != at:
            return f"{'frames are missing' if tile.first > at else 'clips overlap'} before frame {tile.first}"
        at = tile.end
    return None if at == frames else f"the last clip ends with frame {at - 1} of {frames}"
