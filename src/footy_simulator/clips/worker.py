"""Render clips in separate processes: `python -m footy_simulator.clips.worker FOLDER`.

Input: one spec per line as JSON. Output: one line of JSON per spec, when its file is ready or has failed. The process
exits when its input ends, so it never outlives its parent.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import FrameType

from av.error import FFmpegError
from pydantic import TypeAdapter

from footy_simulator.clips.encode import PARTIAL_FILES, render
from footy_simulator.clips.models import ClipSpec
from found_footy.errors import EngineError

NICE_LEVEL = 5
"""Niceness, so that rendering yields to the system under test."""
SPECS = TypeAdapter(ClipSpec)


def _stop(signum: int, frame: FrameType | None) -> None:
    # An exception would have to pass through the encoder, which may swallow it.
    for path in PARTIAL_FILES:
        path.unlink(missing_ok=True)
    os._exit(0)


def main(folder: Path) -> None:
    os.nice(NICE_LEVEL)
    signal.signal(signal.SIGTERM, _stop)
    # Ctrl-C is meant for the parent, which then closes our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        spec = SPECS.validate_json(line)
        problem = None
        try:
            render(spec, folder)
        except (OSError, ValueError, FFmpegError) as error:
            problem = f"{type(error).__name__}: {error}"[:500]
        sys.stdout.write(json.dumps({"file": spec.file_name, "problem": problem}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))


# --- The pool: renders files in the order in which they are posted.


logger = logging.getLogger(__name__)

_WORKER = "footy_simulator.clips.worker"
_SPECS = TypeAdapter(ClipSpec)
_STOP_TIMEOUT = 5.0
"""Seconds a process has to stop after its input is closed."""


class RenderPool:
    """Renders files between `start` and `stop`. `clips` are in the order in which they are needed."""

    def __init__(self, folder: Path, clips: Iterable[ClipSpec], processes: int = 1) -> None:
        self._folder = folder.absolute()
        self._known = {clip.file_name: clip for clip in clips if clip.has_file}
        self._waiting: dict[str, ClipSpec] = {}
        self._urgent: deque[str] = deque()
        self._made: dict[str, asyncio.Event] = {}
        self._problems: dict[str, str] = {}
        self._in_work: dict[str, str] = {}
        """Clips being rendered, each with its master."""
        self._count = processes
        self._rendering: list[asyncio.Task[None]] = []
        self._processes: list[Process] = []

    @property
    def process_ids(self) -> list[int]:
        """Ids of the rendering processes; empty if there was nothing to render."""
        return [process.pid for process in self._processes]

    @property
    def total(self) -> int:
        return len(self._known)

    @property
    def missing(self) -> int:
        """Number of files still to render."""
        return len(self._waiting)

    def start(self) -> None:
        self._waiting = {name: clip for name, clip in self._known.items() if not (self._folder / name).exists()}
        self._made = {name: asyncio.Event() for name in self._waiting}
        processes = min(self._count, len(self._waiting))
        self._rendering = [asyncio.create_task(self._render(), name=f"clips-{n}") for n in range(processes)]

    async def stop(self) -> None:
        """Fail every pending request for a file."""
        for task in self._rendering:
            task.cancel()
        if self._rendering:
            await asyncio.wait(self._rendering)
        await asyncio.gather(*(_stop_process(process) for process in self._processes))
        self._give_up("the simulator is stopping")
        for task in self._rendering:
            if not task.cancelled():
                task.result()

    async def path_of(self, name: str) -> Path | None:
        """The file, once it is rendered; None for an unknown clip. Raises EngineError if it cannot be rendered."""
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
            process.stdin.close()  # The process exits when its input ends.
        except OSError as error:
            logger.error(f"could not render clips: {error}", extra={"action": "rendering_stopped"})
            self._give_up(str(error))

    async def _begin(self) -> Process:
        self._folder.mkdir(parents=True, exist_ok=True)
        # Frames of this size gain nothing from threads, which would use the second core too.
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", _WORKER, str(self._folder), stdin=PIPE, stdout=PIPE, env=env
        )
        self._processes.append(process)
        return process

    async def _one(self, process: Process, name: str) -> str | None:
        """Render one clip; returns an error message once nothing can be rendered any more."""
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
            logger.error(f"could not render {name}: {problem}", extra={"action": "rendering_failed"})
        del self._in_work[name]
        self._waiting.pop(name, None)  # may be missing if rendering was given up meanwhile
        self._made[name].set()
        return None

    def _next(self) -> str | None:
        """The next clip: requested ones first, then in the order of posting. One process per master."""
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


async def _stop_process(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        await asyncio.wait_for(_wait_closed(process), _STOP_TIMEOUT)
    except TimeoutError:
        process.kill()
        await _wait_closed(process)


async def _wait_closed(process: Process) -> None:
    """Wait until the process and its pipes are closed, before the event loop is."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    await process.stdout.read()
    await process.wait()
    with suppress(ConnectionError):
        await process.stdin.wait_closed()
