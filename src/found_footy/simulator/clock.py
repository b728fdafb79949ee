"""Matchday time: how far the matchday has come."""

from __future__ import annotations

import time
from collections.abc import Callable

TimeSource = Callable[[], float]


class MatchdayClock:
    """Seconds of matchday time since its start.

    In lockstep, time moves only when a poll comes, by the real time since the poll before times `speed`,
    and at most by `max_step`: a slow or interrupted consumer misses nothing that lasts longer than that.
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

    @property
    def lockstep(self) -> bool:
        return self._lockstep

    @property
    def offset(self) -> float:
        return self._offset if self._lockstep else (self._time() - self._started) * self._speed

    def poll(self) -> float:
        """A poll has come: move on, and tell the offset that it sees."""
        now = self._time()
        if self._polled is not None:
            self._offset += min((now - self._polled) * self._speed, self._max_step)
        self._polled = now
        return self.offset
