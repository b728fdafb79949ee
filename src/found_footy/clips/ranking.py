"""Display order of an event's clips."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RankedClip:
    id: str
    verified: bool
    popularity: int
    """Number of posts with this clip or a copy of it."""
    file_size: int


def rank_clips(videos: Iterable[RankedClip]) -> dict[str, int]:
    """Rank of each clip, 1 is best: verified clips first, then popularity, then file size."""
    order = sorted(videos, key=lambda video: (not video.verified, -video.popularity, -video.file_size, video.id))
    return {video.id: rank for rank, video in enumerate(order, start=1)}
