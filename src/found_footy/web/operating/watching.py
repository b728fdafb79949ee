"""The running system, measured once for everybody who looks at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from found_footy.domain.errors import EngineError, FootyError, ObjectStoreError, StoreUnavailable
from found_footy.domain.operations.measured import Disk, Engine, Measured, Recorded, TemporalState
from found_footy.ports import ObjectStore
from found_footy.web.live.hub import Hub
from found_footy.web.ports import OperationsReading, TemporalReading

FRESH_SECONDS = 2.0
ANSWER_SECONDS = 2.0
ANY_KEY = "health"
"""It need not be there: what counts is that somebody says so."""


class Watch:
    def __init__(
        self,
        operations: OperationsReading,
        temporal: TemporalReading | None,
        files: ObjectStore,
        live: Hub,
        *,
        feed: str,
        disk: Callable[[], Disk | None] = lambda: None,
        fresh_seconds: float = FRESH_SECONDS,
    ) -> None:
        self._operations, self._temporal, self._files, self._live = operations, temporal, files, live
        self._feed = feed
        self._disk = disk
        self._fresh_seconds = fresh_seconds
        self._measuring: asyncio.Task[Measured] | None = None
        self._fresh_until = 0.0
        self._asking_files: asyncio.Task[object] | None = None

    async def measured(self, now: datetime) -> Measured:
        """Never fails: what does not answer is part of it. Not older than a few seconds."""
        loop = asyncio.get_running_loop()
        current = self._measuring
        if current is None or (current.done() and loop.time() >= self._fresh_until):
            current = self._measuring = asyncio.create_task(self._measure(now), name="measuring")
        return await asyncio.shield(current)

    async def ready(self) -> list[str]:
        """What keeps this process from answering; empty where nothing does."""
        problems = []
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                lacking = await self._operations.lacking()
                if lacking:
                    problems.append(f"the database lacks {', '.join(lacking)}")
        except (StoreUnavailable, TimeoutError):
            problems.append("the database does not answer")
        if self._live.position is None:
            problems.append("live updates have not begun")
        return problems

    async def _measure(self, now: datetime) -> Measured:
        (recorded, database), (temporal, engine), files = await asyncio.gather(
            self._recorded(now), self._temporal_state(now), self._files_state()
        )
        disk = await asyncio.to_thread(self._disk)
        self._fresh_until = asyncio.get_running_loop().time() + self._fresh_seconds
        return Measured(
            now, (database, engine, files), recorded, temporal, disk, self._live.position, self._live.listeners
        )

    async def _recorded(self, now: datetime) -> tuple[Recorded | None, Engine]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._operations.recorded(self._feed, now), Engine("database", "ok")
        except StoreUnavailable as error:
            return None, _failed("database", error)
        except TimeoutError:
            return None, _silent("database")

    async def _temporal_state(self, now: datetime) -> tuple[TemporalState | None, Engine]:
        if self._temporal is None:
            return None, Engine("temporal", "off", "not configured")
        try:
            return await self._temporal.look(now), Engine("temporal", "ok")
        except EngineError as error:
            return None, _failed("temporal", error)

    async def _files_state(self) -> Engine:
        """Whoever hangs is asked by one thread only, however often somebody wants to know."""
        if self._asking_files is None:
            self._asking_files = asyncio.create_task(self._files.head(ANY_KEY), name="asking the object store")
        done, _ = await asyncio.wait({self._asking_files}, timeout=ANSWER_SECONDS)
        if not done:
            return _silent("object store")
        asked, self._asking_files = self._asking_files, None
        try:
            asked.result()
        except ObjectStoreError as error:
            return _failed("object store", error)
        return Engine("object store", "ok")


def _failed(name: str, error: FootyError) -> Engine:
    return Engine(name, "failed", error.kind, str(error)[:300])


def _silent(name: str) -> Engine:
    return Engine(name, "failed", f"no answer within {ANSWER_SECONDS:g} s")
