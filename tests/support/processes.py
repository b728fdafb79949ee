"""Processes that tests start: `footy` with a data folder of its own, and workers that are killed and replaced.

All of them stop when the process that runs pytest ends, however it ends.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from found_footy.runtime import launch
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.storage.postgres import Database
from tests.support.cli import FOOTY, CliResult, clean_environment, run_cli

START_SECONDS = 180.0
COMMAND_SECONDS = 180.0
STOP_SECONDS = 120.0
_PR_SET_PDEATHSIG = 1


def stopped_with_parent(command: Sequence[str | Path]) -> list[str]:
    """Wrap a command so that the kernel kills it when this process ends."""
    shim = (sys.executable, "-I", "-S", launch.__file__, str(int(signal.SIGKILL)), str(os.getpid()), "-1", "-1", "--")
    return [*shim, *map(str, command)]


async def wait_until(condition: Callable[[], Awaitable[bool]], seconds: float = 150.0) -> None:
    """Wait for a condition that costs a query or a request."""
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.3)


class Installation:
    """A data folder with its settings, and `footy` commands that use them."""

    def __init__(self, folder: Path, settings: Mapping[str, str], working_folder: Path | None = None) -> None:
        self.data = DataFolder(folder)
        self.environment = {**clean_environment(folder), **settings}
        self._working_folder = working_folder or folder
        self._started: list[FootyUp] = []

    async def start(self, *arguments: str, **streams: Any) -> asyncio.subprocess.Process:
        piped = dict.fromkeys(("stdout", "stderr"), asyncio.subprocess.PIPE)
        return await asyncio.create_subprocess_exec(
            *stopped_with_parent([FOOTY, *arguments]),
            env=self.environment,
            cwd=self._working_folder,
            start_new_session=True,
            **({"stdin": asyncio.subprocess.DEVNULL} | piped | streams),
        )

    async def run(self, *arguments: str) -> CliResult:
        """Run a command in a process of its own."""
        process = await self.start(*arguments)
        out, err = await asyncio.wait_for(process.communicate(), COMMAND_SECONDS)
        return CliResult(process.returncode or 0, out.decode(), err.decode())

    async def call(self, *arguments: str) -> CliResult:
        """Run a command in this process, which saves the import of everything."""
        return await asyncio.to_thread(run_cli, *arguments, env=self.environment, cwd=self._working_folder)

    async def json(self, *arguments: str) -> Any:
        result = await self.call(*arguments, "--json")
        assert result.code == 0, result.err + result.out
        return json.loads(result.out)

    async def passing_diagnosis(self) -> list[dict[str, Any]]:
        """Return the findings of `footy doctor --live`; a slow machine may fail its time limits for a while."""
        results: list[CliResult] = []

        async def passes() -> bool:
            results.append(await self.call("doctor", "--live", "--json"))
            return results[-1].code == 0

        try:
            await wait_until(passes)
        except TimeoutError:
            raise AssertionError(results[-1].out + results[-1].err) from None
        return json.loads(results[-1].out)  # type: ignore[no-any-return]

    async def up(self) -> FootyUp:
        """Start `footy up`; return once it reports that it is ready."""
        process = await self.start("up", stdout=asyncio.subprocess.DEVNULL)
        assert process.stderr is not None
        lines = []
        while line := await asyncio.wait_for(process.stderr.readline(), START_SECONDS):
            lines.append(line.decode())
            # Other lines are messages of a start that failed.
            if line.startswith(b"{") and json.loads(line)["action"] == "ready":
                self._started.append(FootyUp(process))
                return self._started[-1]
        raise AssertionError("".join(lines))

    def pid(self, name: str) -> int | None:
        runtime = self.data.read_runtime()
        return runtime.pids.get(name) if runtime else None

    @asynccontextmanager
    async def database(self) -> AsyncIterator[Database]:
        """A connection to the running database."""
        runtime = self.data.read_runtime()
        assert runtime is not None
        assert runtime.database_url is not None
        database = Database(runtime.database_url)
        await database.open()
        try:
            yield database
        finally:
            await database.close()

    async def destroy(self) -> None:
        """Kill what still runs, and delete what PostgreSQL keeps outside of the data folder."""
        for up in self._started:
            await up.kill()
        await self.until_no_process_is_left()
        with self.data.lock():
            await EmbeddedPostgres(self.data).destroy()

    def processes(self) -> dict[int, str]:
        """Command lines of all processes that were started for this data folder, by pid."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    if f"FOOTY_DATA_DIR={self.data.path}".encode() in (entry / "environ").read_bytes():
                        found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return found

    async def until_no_process_is_left(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while left := self.processes():
            assert time.monotonic() < deadline, left
            await asyncio.sleep(0.1)


class FootyUp:
    """A running `footy up`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        self.pid = process.pid
        self._process = process
        self._log = asyncio.create_task(process.stderr.read())

    async def stop(self) -> int:
        """As Ctrl-C or systemd does. Returns the exit code."""
        self._process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        await self._log
        return code

    async def kill(self) -> None:
        """Kill the whole process group, if it still runs. Engines run in groups of their own."""
        if self._process.returncode is None:
            os.killpg(self.pid, signal.SIGKILL)
        await self._process.wait()
        await self._log


class WorkerProcesses:
    """Runs `main(*arguments)` in several processes and replaces those that end, as the supervisor does.

    They are forked from a process that has imported `main`'s module, so that a new one starts in a moment.
    """

    def __init__(
        self, main: Callable[..., None], *arguments: Any, log: Path, count: int = 2, restart: bool = True
    ) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tests.chaos.killed_library_worker", main.__module__])
        self._target = (main, log, *arguments)
        self._count = count
        self._restart = restart
        self._processes: list[ForkServerProcess] = []
        self._supervision: asyncio.Task[None] | None = None

    @property
    def pids(self) -> set[int]:
        """Pids of the processes that run."""
        return {process.pid for process in self._processes if process.pid and process.is_alive()}

    def kill(self) -> None:
        for process in self._processes:
            process.kill()

    async def __aenter__(self) -> WorkerProcesses:
        self._start_missing()
        if self._restart:
            self._supervision = asyncio.create_task(self._supervise())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._supervision is not None:
            self._supervision.cancel()
            await asyncio.gather(self._supervision, return_exceptions=True)
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            await asyncio.to_thread(process.join, 30)
            process.kill()
            await asyncio.to_thread(process.join)
            process.close()

    async def _supervise(self) -> None:
        while True:
            for process in [each for each in self._processes if not each.is_alive()]:
                self._processes.remove(process)
                process.close()
            self._start_missing()
            await asyncio.sleep(0.1)

    def _start_missing(self) -> None:
        while len(self._processes) < self._count:
            process = self._context.Process(target=_run_in_child, args=self._target)
            process.start()
            self._processes.append(process)


def _run_in_child(main: Callable[..., None], log: Path, *arguments: Any) -> None:
    if sys.platform == "linux":
        # The fork server ends with the process that runs pytest.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    main(*arguments)
