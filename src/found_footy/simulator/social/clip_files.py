"""The files behind the posts, rendered by a process of its own in the order in which they are posted.

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

    def __init__(self, folder: Path, clips: Iterable[ClipSpec]) -> None:
        self._folder = folder.absolute()
        self._known = {clip.file_name: clip for clip in clips if clip.has_file}
        self._waiting: dict[str, ClipSpec] = {}
        self._urgent: deque[str] = deque()
        self._made: dict[str, asyncio.Event] = {}
        self._problems: dict[str, str] = {}
        self._rendering: asyncio.Task[None] | None = None
        self._process: Process | None = None

    @property
    def process_id(self) -> int | None:
        """Of the process that renders; None where there was nothing to render."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        self._waiting = {name: clip for name, clip in self._known.items() if not (self._folder / name).exists()}
        self._made = {name: asyncio.Event() for name in self._waiting}
        if self._waiting:
            self._rendering = asyncio.create_task(self._render(), name="clips")

    async def stop(self) -> None:
        """Whoever still waits for a file is told that it will not come."""
        if self._rendering is not None:
            self._rendering.cancel()
            await asyncio.wait({self._rendering})
        if self._process is not None:
            await _end(self._process)
        self._give_up("the simulator is stopping")
        if self._rendering is not None and not self._rendering.cancelled():
            self._rendering.result()

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
            while self._waiting:
                problem = await self._one(process, self._next())
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
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", _WORKER, str(self._folder), stdin=PIPE, stdout=PIPE, env=env
        )
        return self._process

    async def _one(self, process: Process, name: str) -> str | None:
        """Has one clip made; says what is wrong where none can be made any more."""
        assert process.stdin is not None
        assert process.stdout is not None
        spec = self._waiting[name]
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
        del self._waiting[name]
        self._made[name].set()
        return None

    def _next(self) -> str:
        while self._urgent:
            name = self._urgent.popleft()
            if name in self._waiting:
                return name
        return next(iter(self._waiting))

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
