"""Keeps the engines and the workers running, and stops them in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Self

from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import DataFolder
from found_footy.ops.engines.child import Child, ChildState
from found_footy.ops.engines.engine import Engine
from found_footy.ops.engines.process import stop_leftovers
from found_footy.ops.engines.worker import WorkerProcess, WorkerSpec

logger = logging.getLogger(__name__)

__all__ = ["ChildState", "ChildStatus", "Supervisor"]


@dataclass(frozen=True, slots=True)
class ChildStatus:
    """One line of the status."""

    name: str
    pid: int | None
    state: ChildState
    restarts: int
    since: datetime
    """When it entered this state."""


class Supervisor:
    """Engines in parallel, then whatever the caller does with them, then workers.

        with folder.lock():
            async with Supervisor(folder, [postgres, temporal]) as supervisor:
                await supervisor.start_engines()
                ...  # migrations, schedules
                await supervisor.start_workers(specs)
                ...

    Engines are stopped in the reverse of the order in which they are given, after all workers. `environment` names
    servers that run elsewhere: it is published together with that of our own engines.
    """

    def __init__(
        self, folder: DataFolder, engines: Sequence[Engine], environment: Mapping[str, str] | None = None
    ) -> None:
        self._folder = folder
        self._given_environment = dict(environment or {})
        self._engines = [(engine, Child(engine, self._publish)) for engine in engines]
        self._workers: dict[str, Child] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._stopping: asyncio.Task[None] | None = None
        self._engines_are_up = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def environment(self) -> dict[str, str]:
        """The settings by which workers and other processes find the engines; complete once they are up."""
        own = [engine.environment() for engine, _ in self._engines]
        return {**self._given_environment, **{name: value for part in own for name, value in part.items()}}

    async def start_engines(self) -> None:
        """Start all engines side by side. If one fails the others are stopped, and its error is raised."""
        if self._engines_are_up or self._workers:
            raise EngineError("The engines are started once, and before any worker.")
        try:
            await self._run_start(stop_leftovers(self._folder))
            await self._run_start(*(child.start() for _, child in self._engines))
        except BaseException:
            await self.stop()
            raise
        self._engines_are_up = True
        self._publish()
        for _, child in self._engines:
            child.watch()

    async def start_workers(self, specs: Iterable[WorkerSpec]) -> None:
        """Start workers; may be called again for more. A worker that dies is restarted, with growing pauses."""
        children = [Child(WorkerProcess(spec, self._folder), self._publish) for spec in specs]
        taken = list(self._workers)
        for child in children:
            if child.name in taken:
                raise EngineError(f"There is a worker named {child.name} already.")
            taken.append(child.name)
        self._workers.update({child.name: child for child in children})
        try:
            await self._run_start(*(child.start() for child in children))
        except BaseException:
            await self.stop_workers(child.name for child in children)
            raise
        for child in children:
            child.watch()

    async def stop_workers(self, names: Iterable[str] | None = None) -> None:
        """Stop the named workers, or all: each may finish what it has begun."""
        chosen = list(self._workers) if names is None else list(names)
        leaving = [self._workers[name] for name in chosen if name in self._workers]
        await asyncio.gather(*(child.stop() for child in leaving))
        for child in leaving:
            self._workers.pop(child.name, None)

    async def stop(self) -> None:
        """Stop the workers, then the engines. May be called at any time, and more than once.

        A caller who is cancelled here is cancelled only after everything has stopped.
        """
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop_everything())
        cancelled: asyncio.CancelledError | None = None
        while not self._stopping.done():
            try:
                await asyncio.wait([self._stopping])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        self._stopping.result()

    def status(self) -> list[ChildStatus]:
        """What runs at this moment: engines first, then workers."""
        children = [*(child for _, child in self._engines), *self._workers.values()]
        return [ChildStatus(child.name, child.pid, child.state, child.restarts, child.since) for child in children]

    async def _run_start(self, *starts: Coroutine[None, None, None]) -> None:
        """Run starts side by side, in tasks that `stop` can cancel; when one fails the others are cancelled."""
        tasks = [asyncio.create_task(start) for start in starts]
        self._starting.update(tasks)
        for task in tasks:
            task.add_done_callback(self._starting.discard)
        try:
            if self._stopping is None and tasks:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):  # the failure itself; the cancellations it caused are not of this kind
                raise outcome
        if self._stopping is not None:
            raise EngineError("The start was broken off, because a stop was asked for.")

    async def _stop_everything(self) -> None:
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        # The stack unwinds from the last entry to the first, and goes on when one of them fails.
        async with AsyncExitStack() as stack:
            stack.callback(self._folder.clear_runtime)
            for _, child in self._engines:
                stack.push_async_callback(child.stop)
            stack.push_async_callback(self.stop_workers)
            # Before anything goes down, nothing may be brought up again.
            for child in [*(child for _, child in self._engines), *self._workers.values()]:
                stack.push_async_callback(child.unwatch)
        logger.info("everything has stopped", extra={"action": "supervisor_stopped"})

    def _publish(self) -> None:
        """Keep the runtime file true: pids change when a child is restarted."""
        if not self._engines_are_up or self._stopping is not None:
            return
        pids = {line.name: line.pid for line in self.status() if line.pid is not None}
        ports = {name: port for engine, _ in self._engines for name, port in engine.ports().items()}
        try:
            self._folder.write_runtime(self.environment, pids, ports)
        except OSError as error:  # a full disk must not end the watch over the children
            logger.error(
                "the runtime file could not be written: %s",
                error.strerror,
                extra={"action": "runtime_not_written"},
            )
