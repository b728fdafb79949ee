"""A few searches at once, the others in the order in which they came, and no endless queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._most = at_once + waiting
        self._at_once = at_once
        self.inside = 0
        """Those that run, and those that wait."""

    @property
    def running(self) -> int:
        return min(self.inside, self._at_once)

    @property
    def waiting(self) -> int:
        return self.inside - self.running

    @property
    def full(self) -> bool:
        return self.inside >= self._most

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        self.inside += 1
        try:
            async with self._free:
                yield
        finally:
            self.inside -= 1
