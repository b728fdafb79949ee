"""The files behind the posts, rendered by processes of their own in the order in which they are posted.

Whoever asks for one that is not there yet waits for it, and it is made next. The folder is a cache: what an earlier run
has made is not made again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter

from found_footy.domain.errors import EngineError
from found_footy.simulator.clips.spec import ClipSpec

logger = logging.getLogger(__name__)

_WORKER = "found_footy.simulator.clips.worker"
_SPECS = TypeAdapter(ClipSpec)
_PATIENCE = 5.0
"""Seconds that the process has to end politely."""


class ClipFiles:
    """Between `start` and `stop`, files come to be. `clips` are in the order in which they are needed."""

    def __init__(self, folder: Path, clips: Iterable[ClipSpec], processes: int = 1) -> None:
        self._folder = folder.absolute()
        self._known = {clip.file_name: clip for clip in clips if clip.has_file}
        self._waiting: dict[str, ClipSpec] = {}
        self._urgent: deque[str] = deque()
        self._made: dict[str, asyncio.Event] = {}
        self._problems: dict[str, str] = {}
        self._in_work: dict[str, str] = {}
        """Clips that a process is at, each with its master."""
        self._count = processes
        self._rendering: list[asyncio.Task[None]] = []
        self._processes: list[Process] = []

    @property
    def process_ids(self) -> list[int]:
        """Of the processes that render; none where there was nothing to render."""
        return [process.pid for process in self._processes]

    @property
    def total(self) -> int:
        return len(self._known)

    @property
    def missing(self) -> int:
        """Files that are still to be made."""
        return len(self._waiting)

    def start(self) -> None:
        self._waiting = {name: clip for name, clip in self._known.items() if not (self._folder / name).exists()}
        self._made = {name: asyncio.Event() for name in self._waiting}
        processes = min(self._count, len(self._waiting))
        self._rendering = [asyncio.create_task(self._render(), name=f"clips-{n}") for n in range(processes)]

    async def stop(self) -> None:
        """Whoever still waits for a file is told that it will not come."""
        for task in self._rendering:
            task.cancel()
        if self._rendering:
            await asyncio.wait(self._rendering)
        await asyncio.gather(*(_end(process) for process in self._processes))
        self._give_up("the simulator is stopping")
        for task in self._rendering:
            if not task.cancelled():
                task.result()

    async def path_of(self, name: str) -> Path | None:
        """The file, as soon as it is there; None if it is none of the clips. EngineError where it cannot be made."""
        if name not in self._known:
            return None
        if name in self._waiting and name not in self._urgent:
            self._urgent.append(name)
        if name in self._made:
            await self._made[name].wait()
        if name in self._problems:
            raise EngineError(f"{name} could not be rendered: {self._problems[name]}")
        return self._folder / name

    async def _render(self) -> None:
        try:
            process = await self._begin()
            while (name := self._next()) is not None:
                problem = await self._one(process, name)
                if problem is not None:
                    logger.error(problem, extra={"action": "rendering_stopped"})
                    self._give_up(problem)
            assert process.stdin is not None
            process.stdin.close()  # With its input it ends.
        except OSError as error:
            logger.error(f"clips cannot be rendered: {error}", extra={"action": "rendering_stopped"})
            self._give_up(str(error))

    async def _begin(self) -> Process:
        self._folder.mkdir(parents=True, exist_ok=True)
        # Pictures of this size gain nothing by threads, which would take the second core too.
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", _WORKER, str(self._folder), stdin=PIPE, stdout=PIPE, env=env
        )
        self._processes.append(process)
        return process

    async def _one(self, process: Process, name: str) -> str | None:
        """Has one clip made; says what is wrong where none can be made any more."""
        assert process.stdin is not None
        assert process.stdout is not None
        spec = self._waiting[name]
        self._in_work[name] = spec.master.key
        line = b""
        with suppress(ConnectionError):
            process.stdin.write(_SPECS.dump_json(spec) + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        if not line:
            return f"the rendering process ended with code {await process.wait()}"
        if problem := json.loads(line)["problem"]:
            self._problems[name] = problem
            logger.error(f"{name} could not be rendered: {problem}", extra={"action": "rendering_failed"})
        del self._in_work[name]
        self._waiting.pop(name, None)  # it is none of those that wait where rendering was given up meanwhile
        self._made[name].set()
        return None

    def _next(self) -> str | None:
        """What somebody waits for comes first; then the order of posting, but no master is made by two at once."""
        free = [name for name in (*self._urgent, *self._waiting) if name in self._waiting and name not in self._in_work]
        busy = set(self._in_work.values())
        name = next((name for name in free if self._waiting[name].master.key not in busy), next(iter(free), None))
        if name is not None and name in self._urgent:
            self._urgent.remove(name)
        return name

    def _give_up(self, problem: str) -> None:
        for name in self._waiting:
            self._problems[name] = problem
            self._made[name].set()
        self._waiting.clear()


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        await asyncio.wait_for(_buried(process), _PATIENCE)
    except TimeoutError:
        process.kill()
        await _buried(process)


async def _buried(process: Process) -> None:
    """Until the process and its pipes are gone: what is left of them would be closed after the event loop is."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    await process.stdout.read()
    await process.wait()
    with suppress(ConnectionError):
        await process.stdin.wait_closed()
