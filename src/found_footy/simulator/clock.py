"""Matchday time: how far the matchday has come."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

TimeSource = Callable[[], float]
PRESENT_SECONDS = 3.0
"""Real seconds after which time does not wait for a reader any more."""


class MatchdayClock:
    """Seconds of matchday time since its start.

    In lockstep, time moves only when a poll comes, by the real time since the poll before times `speed`,
    and at most by `max_step`: a slow or interrupted consumer misses nothing that lasts longer than that. That holds
    for a `reader` among several who poll, too, as long as it comes at least every few seconds and is answered.
    The first poll sees the very start. Out of lockstep, time runs `speed` times as fast as the wall.
    """

    def __init__(
        self,
        *,
        speed: float = 60.0,
        lockstep: bool = True,
        max_step: float = 60.0,
        time_source: TimeSource = time.monotonic,
    ) -> None:
        self._speed = speed
        self._lockstep = lockstep
        self._max_step = max_step
        self._time = time_source
        self._started = time_source()
        self._polled: float | None = None
        self._offset = 0.0
        self._seen: dict[str, tuple[float, float]] = {}
        """Readers: when each last polled, and the offset that it saw."""

    @property
    def lockstep(self) -> bool:
        return self._lockstep

    @property
    def offset(self) -> float:
        return self._offset if self._lockstep else (self._time() - self._started) * self._speed

    def poll(self, reader: str | None = None) -> float:
        """A poll has come: move on, and tell the offset that it sees. Only for a named reader time waits."""
        now = self._time()
        if self._polled is not None:
            moved = self._offset + min((now - self._polled) * self._speed, self._max_step)
            self._offset = max(self._offset, min(moved, self._furthest(now)))
        self._polled = now
        if reader is not None:
            self._seen[reader] = (now, self._offset)
        return self.offset

    def forget(self, reader: str) -> None:
        """It got no answer: it may pause now, and time does not wait for it before it comes again."""
        self._seen.pop(reader, None)

    def _furthest(self, now: float) -> float:
        present = [offset for at, offset in self._seen.values() if now - at <= PRESENT_SECONDS]
        return min(present) + self._max_step if present else math.inf
