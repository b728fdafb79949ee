"""Which clips belong together, as parts of one thing.

A group is named by the clip that it began with: all others point at that one, and never at each other. It keeps its
name when that clip was split or merged away: those that are left, and what was made of it, point at a row that is no
tile any more.
"""

from __future__ import annotations

from collections.abc import Iterable

from found_footy.domain.clips.values import Clip


def root_of(clip: Clip) -> int:
    """The name of its group, also of one that it would be the first of."""
    return clip.id if clip.grouped_with is None else clip.grouped_with


def group_of(clip: Clip, kin: Iterable[Clip]) -> int | None:
    """None where it is alone. `kin` are at least those that point at it."""
    alone = clip.grouped_with is None and all(each.grouped_with != clip.id for each in kin)
    return None if alone else root_of(clip)
