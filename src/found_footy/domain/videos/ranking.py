"""The order in which an event's clips are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranked:
    id: str
    verified: bool
    popularity: int
    """How many posts showed it, or a copy of it."""
    file_size: int


def ranks(videos: Iterable[Ranked]) -> dict[str, int]:
    """1 is the best: verified ones first, then what was posted most, then the larger file."""
    order = sorted(videos, key=lambda video: (not video.verified, -video.popularity, -video.file_size, video.id))
    return {video.id: place for place, video in enumerate(order, start=1)}
