"""When the next request to a feed may start: a bucket of turns that fills by one in each interval.

The state is one number: the moment at which the bucket will be full again. The cache's server keeps it and applies
this very rule in a script (`adapters/storage/redis/scripts/take_turn.lua`); here it can be read and tried out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Admission:
    full_at: int
    """The new state."""
    wait: int
    """0 where the request may start now."""


def admit(full_at: int, now: int, interval: int, burst: int) -> Admission:
    """All in microseconds. A full bucket lets `burst` requests start together, an empty one waits for `interval`."""
    if interval <= 0:
        return Admission(now, 0)
    capacity = max(1, burst) * interval
    # More than an empty bucket there is not: the clock went back, or the limits were other ones. Neither blocks us.
    full_at = min(max(full_at, now), now + capacity)
    wait = full_at + interval - (now + capacity)
    return Admission(full_at, wait) if wait > 0 else Admission(full_at + interval, 0)
