"""Where a minute stands on the line of a match, in percent of its length.

Each half has a stretch of its own for stoppage time, so that 45+2' stands before 46'.
"""

from __future__ import annotations

PARTS = ((0, 45, 5), (45, 90, 8), (90, 105, 3), (105, 120, 4))
"""First and last minute of each part, and the room for its stoppage time."""
NORMAL = 2
"""Parts of a match without extra time."""


def needs_extra_time(minutes: list[int]) -> bool:
    return any(minute > PARTS[NORMAL - 1][1] for minute in minutes)


def place(elapsed: int, extra: int | None = None, *, long: bool = False) -> float:
    """What is beyond the line stands at its end."""
    at = 0.0
    parts = PARTS if long else PARTS[:NORMAL]
    for first, last, stoppage in parts:
        if elapsed <= last:
            at += max(0, elapsed - first) + (min(extra or 0, stoppage) if elapsed == last else 0)
            break
        at += last - first + stoppage
    return round(100 * at / _length(long), 1)


def half_time(*, long: bool = False) -> float:
    first, last, stoppage = PARTS[0]
    return round(100 * (last - first + stoppage) / _length(long), 1)


def full_time(*, long: bool = False) -> float:
    """The end of the 90 minutes, where extra time begins."""
    return round(100 * sum(last - first + stoppage for first, last, stoppage in PARTS[:NORMAL]) / _length(long), 1)


def _length(long: bool) -> int:
    return sum(last - first + stoppage for first, last, stoppage in (PARTS if long else PARTS[:NORMAL]))
