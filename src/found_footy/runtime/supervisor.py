"""Process supervision: keeps engines and workers running, restarts them with backoff, and stops them in order."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from found_footy.errors import EngineError
from found_footy.runtime.clock import utc_now
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.engine import Engine, Supervised
from found_footy.runtime.process import Command, ManagedProcess, stop_leftovers
from found_footy.runtime.process_table import ProcessIdentity, identify, is_running

PREFIX = "worker-"
GRACE_SECONDS = 20.0
"""A healthy worker finishes within this time; a hanging one never does."""
POLL_SECONDS = 0.1
DRAIN_SIGNAL = signal.SIGUSR1


class LocalWorkers:
    def __init__(self, data_dir: Path, grace_seconds: float = GRACE_SECONDS) -> None:
        self._folder = DataFolder(data_dir)
        self._grace = grace_seconds

    async def restart(self) -> str:
        workers = self._workers()
        if not workers:
            return "no workers are running on this machine"
        _send(signal.SIGTERM, workers)
        hanging = await _wait_for_exit(workers, self._grace)
        _send(signal.SIGKILL, hanging)
        left = await _wait_for_exit(hanging, 5.0)
        if left:
            pids = ", ".join(str(worker.pid) for worker in left)
            raise EngineError(f"cannot stop the workers with pids {pids}")
        killed = f"; unresponsive and killed: {len(hanging)}" if hanging else ""
        return f"workers stopped: {len(workers)}{killed}"

    def _workers(self) -> list[ProcessIdentity]:
        runtime = self._folder.read_runtime()
        pids = [pid for name, pid in runtime.pids.items() if name.startswith(PREFIX)] if runtime else []
        found = [identify(pid) for pid in pids]
        return [each for each in found if each is not None]


def _send(number: signal.Signals, workers: Iterable[ProcessIdentity]) -> None:
    for worker in workers:
        if is_running(worker):
            with suppress(ProcessLookupError):
                os.kill(worker.pid, number)


async def _wait_for_exit(workers: list[ProcessIdentity], seconds: float) -> list[ProcessIdentity]:
    """Poll for the workers to exit, because they are children of another process."""
    left = workers
    for _ in range(max(1, round(seconds / POLL_SECONDS))):
        left = [each for each in left if is_running(each)]
        if not left:
            break
        await asyncio.sleep(POLL_SECONDS)
    return left


# --- Backoff between restarts.


@dataclass
class Backoff:
    """Exponential backoff up to a ceiling, reset after a long enough run."""

    first_seconds: float = 0.5
    max_seconds: float = 30.0
    reset_after_seconds: float = 60.0
    _next: float = 0.0

    def after(self, uptime_seconds: float) -> float:
        """Return the delay after a run of this length."""
        if uptime_seconds >= self.reset_after_seconds or self._next == 0.0:
            self._next = self.first_seconds
        pause = self._next
        self._next = min(pause * 2, self.max_seconds)
        return pause


# --- One supervised child.


logger = logging.getLogger(__name__)


class ChildState(StrEnum):
    """Life cycle of a child."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"
    DRAINING = "draining"
    """It finishes its running tasks and is not restarted."""


class Child:
    """A supervised process with its state and restart task."""

    def __init__(self, unit: Supervised, on_change: Callable[[], None]) -> None:
        self._unit = unit
        self._on_change = on_change
        self._backoff = Backoff()
        self._watch: asyncio.Task[None] | None = None
        self._started_at = 0.0
        self.restarts = 0
        self.state = ChildState.STOPPED
        self.since = utc_now()

    @property
    def name(self) -> str:
        return self._unit.name

    @property
    def pid(self) -> int | None:
        """Pid; None if it is not running."""
        return self._unit.pid

    async def start(self) -> None:
        """Start the process for the first time."""
        self._enter(ChildState.STARTING)
        try:
            await self._unit.start()
        except BaseException:
            self._enter(ChildState.STOPPED)
            raise
        self._started_at = time.monotonic()
        self._enter(ChildState.RUNNING)

    def watch(self) -> None:
        """Restart the process whenever it exits, from now on."""
        self._watch = asyncio.create_task(self._keep_running(), name=f"watch {self.name}")

    async def unwatch(self) -> None:
        """Stop restarting the process."""
        if self._watch is None:
            return
        self._watch.cancel()
        await asyncio.wait([self._watch])
        if not self._watch.cancelled():
            self._watch.result()  # raise an error of the watch task itself

    async def stop(self) -> None:
        """Stop the process permanently."""
        try:
            await self.unwatch()
        finally:
            await self._unit.stop()
            self._enter(ChildState.STOPPED)

    async def drain(self) -> None:
        """Let the process finish its running tasks, and wait without limit until it exits."""
        self._enter(ChildState.DRAINING)
        await self.unwatch()
        if self.pid is not None:
            os.kill(self.pid, DRAIN_SIGNAL)
            await self._unit.wait()
        self._enter(ChildState.STOPPED)

    async def _keep_running(self) -> None:
        while True:
            code = await self._unit.wait()
            uptime = time.monotonic() - self._started_at
            logger.error(
                "%s exited with code %d",
                self.name,
                code,
                extra={
                    "action": "child_died",
                    "child": self.name,
                    "exit_code": code,
                    "lived_seconds": round(uptime, 1),
                },
            )
            self._enter(ChildState.RESTARTING)
            await self._restart(uptime)

    async def _restart(self, uptime: float) -> None:
        while True:
            pause = self._backoff.after(uptime)
            await asyncio.sleep(pause)
            try:
                await self._unit.start()
            except (
                EngineError,
                OSError,
            ) as error:  # OSError: for example a full disk, which may have space again later
                logger.error(
                    "could not restart %s: %s",
                    self.name,
                    error,
                    extra={"action": "child_restart_failed", "child": self.name, "paused_seconds": pause},
                )
                uptime = 0.0
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
        self.since = utc_now()
        self._on_change()


# --- Worker processes.


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """Command of a worker. `env` is merged into our own environment and may contain passwords."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    grace_seconds: float = 20.0
    """Time to finish its work after SIGTERM."""


class WorkerProcess:
    """A worker process. It counts as started once it is spawned, before it is ready."""

    def __init__(self, spec: WorkerSpec, folder: DataFolder) -> None:
        self.name = spec.name
        self._spec = spec
        self._process = ManagedProcess(spec.name, folder, ((signal.SIGTERM, spec.grace_seconds),))

    @property
    def pid(self) -> int | None:
        """Pid; None if it is not running."""
        return self._process.pid

    async def start(self) -> None:
        """Spawn the process."""
        program = shutil.which(self._spec.argv[0])
        if program is None:
            raise EngineError(f"The executable {self._spec.argv[0]} of {self.name} was not found.")
        self._process.start(Command([program, *self._spec.argv[1:]], {**os.environ, **self._spec.env}, cwd=Path.cwd()))
        logger.info(
            "%s started", self.name, extra={"action": "worker_started", "child": self.name, "pid": self._process.pid}
        )

    async def wait(self) -> int:
        """Wait for the process to exit and return its exit code."""
        return await self._process.wait()

    async def stop(self) -> None:
        """Ask the process to finish, and kill it after the grace period."""
        await self._process.stop()


# --- The supervisor.


@dataclass(frozen=True, slots=True)
class ChildStatus:
    """One line of the status output."""

    name: str
    pid: int | None
    state: ChildState
    restarts: int
    since: datetime
    """Time of the last change of state."""


class Supervisor:
    """Starts engines concurrently, then workers; the caller prepares the engines in between.

        with folder.lock():
            async with Supervisor(folder, [postgres, temporal]) as supervisor:
                await supervisor.start_engines()
                ...  # migrations, schedules
                await supervisor.start_workers(specs)
                ...

    Engines are stopped after all workers, in reverse order. `environment` has the addresses of external servers; it is
    published together with that of our own engines.
    """

    def __init__(
        self, folder: DataFolder, engines: Sequence[Engine], environment: Mapping[str, str] | None = None
    ) -> None:
        self._folder = folder
        self._external_environment = dict(environment or {})
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
        """Settings of the engines for workers and other processes. Complete once the engines have started."""
        own = [engine.environment() for engine, _ in self._engines]
        return {**self._external_environment, **{name: value for part in own for name, value in part.items()}}

    async def start_engines(self) -> None:
        """Start all engines concurrently. If one fails, the others are stopped and its error is raised."""
        if self._engines_are_up or self._workers:
            raise EngineError("Start the engines once, before any worker.")
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
        """Start workers; can be called again for more. A worker that exits is restarted with backoff."""
        children = [Child(WorkerProcess(spec, self._folder), self._publish) for spec in specs]
        taken = list(self._workers)
        for child in children:
            if child.name in taken:
                raise EngineError(f"A worker named {child.name} already exists.")
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
        """Stop the named workers, or all. Each may finish its current work."""
        chosen = list(self._workers) if names is None else list(names)
        leaving = [self._workers[name] for name in chosen if name in self._workers]
        await asyncio.gather(*(child.stop() for child in leaving))
        for child in leaving:
            self._workers.pop(child.name, None)

    async def drain_worker(self, name: str) -> None:
        """Let a worker finish its running tasks, without a time limit. `stop` ends the wait."""
        child = self._workers[name]
        await child.drain()
        self._workers.pop(name, None)
        self._publish()
        logger.info("%s has drained", name, extra={"action": "worker_drained", "child": name})

    async def stop(self) -> None:
        """Stop the workers, then the engines. May be called at any time and more than once.

        If the caller is cancelled, the cancellation takes effect after everything has stopped.
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
        """Return the current status: engines first, then workers."""
        children = [*(child for _, child in self._engines), *self._workers.values()]
        return [ChildStatus(child.name, child.pid, child.state, child.restarts, child.since) for child in children]

    async def _run_start(self, *starts: Coroutine[None, None, None]) -> None:
        """Run starts concurrently in tasks that `stop` can cancel; if one fails, the others are cancelled."""
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
            if isinstance(outcome, Exception):  # the failure itself: CancelledError is not an Exception
                raise outcome
        if self._stopping is not None:
            raise EngineError("The start was cancelled because a stop was requested.")

    async def _stop_everything(self) -> None:
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        # The stack unwinds in reverse order and continues if one callback fails.
        async with AsyncExitStack() as stack:
            stack.callback(self._folder.clear_runtime)
            for _, child in self._engines:
                stack.push_async_callback(child.stop)
            stack.push_async_callback(self.stop_workers)
            # Stop all restarts before stopping any process.
            for child in [*(child for _, child in self._engines), *self._workers.values()]:
                stack.push_async_callback(child.unwatch)
        logger.info("stopped", extra={"action": "supervisor_stopped"})

    def _publish(self) -> None:
        """Update the runtime file, because pids change with restarts."""
        if not self._engines_are_up or self._stopping is not None:
            return
        pids = {line.name: line.pid for line in self.status() if line.pid is not None}
        ports = {name: port for engine, _ in self._engines for name, port in engine.ports().items()}
        try:
            self._folder.write_runtime(self.environment, pids, ports)
        except OSError as error:  # a full disk must not end supervision
            logger.error(
                "could not write the runtime file: %s",
                error.strerror,
                extra={"action": "runtime_not_written"},
            )
