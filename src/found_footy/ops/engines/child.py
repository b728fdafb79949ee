"""One child of the supervisor: its state, and the watch that brings it back."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum

from found_footy.domain.errors import EngineError
from found_footy.ops.engines.engine import Supervised
from found_footy.ops.engines.restarts import Backoff

logger = logging.getLogger(__name__)


class ChildState(StrEnum):
    """Where a child is in its life."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"


class Child:
    """Something supervised, together with what the supervisor knows of it."""

    def __init__(self, unit: Supervised, on_change: Callable[[], None]) -> None:
        self._unit = unit
        self._on_change = on_change
        self._backoff = Backoff()
        self._watch: asyncio.Task[None] | None = None
        self._started_at = 0.0
        self.restarts = 0
        self.state = ChildState.STOPPED
        self.since = datetime.now(UTC)

    @property
    def name(self) -> str:
        """Its name."""
        return self._unit.name

    @property
    def pid(self) -> int | None:
        """Its pid while it runs."""
        return self._unit.pid

    async def start(self) -> None:
        """Start it for the first time."""
        self._enter(ChildState.STARTING)
        try:
            await self._unit.start()
        except BaseException:
            self._enter(ChildState.STOPPED)
            raise
        self._started_at = time.monotonic()
        self._enter(ChildState.RUNNING)

    def watch(self) -> None:
        """From now on, bring it back whenever it dies."""
        self._watch = asyncio.create_task(self._keep_running(), name=f"watch {self.name}")

    async def unwatch(self) -> None:
        """From now on, let it be."""
        if self._watch is None:
            return
        self._watch.cancel()
        await asyncio.wait([self._watch])
        if not self._watch.cancelled():
            self._watch.result()  # a fault of the watch itself is not hidden

    async def stop(self) -> None:
        """Stop it for good."""
        try:
            await self.unwatch()
        finally:
            await self._unit.stop()
            self._enter(ChildState.STOPPED)

    async def _keep_running(self) -> None:
        while True:
            code = await self._unit.wait()
            lived = time.monotonic() - self._started_at
            logger.error(
                "%s ended with exit code %d",
                self.name,
                code,
                extra={"action": "child_died", "child": self.name, "exit_code": code, "lived_seconds": round(lived, 1)},
            )
            self._enter(ChildState.RESTARTING)
            await self._bring_back(lived)

    async def _bring_back(self, lived: float) -> None:
        while True:
            pause = self._backoff.after(lived)
            await asyncio.sleep(pause)
            try:
                await self._unit.start()
            except (EngineError, OSError) as error:  # OSError: a full disk, say, that may have room again later
                logger.error(
                    "%s could not be restarted: %s",
                    self.name,
                    error,
                    extra={"action": "child_restart_failed", "child": self.name, "paused_seconds": pause},
                )
                lived = 0.0
                continue
            self.restarts += 1
            self._started_at = time.monotonic()
            self._enter(ChildState.RUNNING)
            logger.warning(
                "%s was restarted",
                self.name,
                extra={
                    "action": "child_restarted",
                    "child": self.name,
                    "pid": self.pid,
                    "restarts": self.restarts,
                    "paused_seconds": pause,
                },
            )
            return

    def _enter(self, state: ChildState) -> None:
        self.state = state
        self.since = datetime.now(UTC)
        self._on_change()
