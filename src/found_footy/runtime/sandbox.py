"""Runs one function in a forked process, confined in time, memory, files, network, user and system calls.

For untrusted files, and for libraries that cannot be cancelled or have their own networking. The process gets none of
our keys, proxies or programs, and is killed with all its children as soon as the caller stops waiting. Its
reply is untrusted: nothing is unpickled, and every size is checked before memory is allocated.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from found_footy.runtime.addresses import PORTS
from found_footy.runtime.fork_server import STARTED, STATUS
from found_footy.runtime.sandbox_child import LENGTH, OUT_OF_MEMORY, STDERR_FILE
from found_footy.text import MAX_ERROR_TEXT, clean_text

log = logging.getLogger(__name__)

FORK_SERVER = "found_footy.runtime.fork_server"
START_SECONDS = 60.0
"""Allows for loading the libraries on a busy machine."""
MAX_ATTEMPTS = 3
"""For calls during which the fork server dies, which the input does not cause."""
CLOSE_SECONDS = 5.0
SIZE_CHECK_SECONDS = 0.25
MAX_HEADER_BYTES = 65_536
MAX_REPLY_BYTES = 256 * 1024 * 1024
"""About 30 frames of 1080p, or 9 of 2160p."""
STDERR_TAIL_BYTES = 2000

_PASSED_ON = ("LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR")

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class NetworkAccess:
    """Public addresses on these ports, and private `host:port` pairs that the operator allowed."""

    private_hosts: tuple[str, ...] = ()
    ports: frozenset[int] = PORTS


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    seconds: float
    """Wall-clock time since the start of the process."""
    memory_mb: int
    """In addition to what the program itself uses."""
    file_bytes: int = 1024 * 1024
    """Maximum size of each file that it writes."""
    total_bytes: int | None = None
    """Maximum size of all folders that it may write to; None for no limit."""
    reads: tuple[Path, ...] = ()
    """Files and folders that it may read, besides Python and the libraries."""
    writes: tuple[Path, ...] = ()
    """Existing files and folders that it may also write, besides `folder`."""
    programs: tuple[Path, ...] = ()
    """Programs that it may start. If empty, it cannot start processes."""
    open_files: int = 64
    processors: int = field(default_factory=lambda: os.cpu_count() or 1)
    """CPU time is limited to `seconds` on each of them."""
    limit_address_space: bool = True
    """False limits allocated memory instead: JavaScript engines reserve far more address space than they use."""
    folder: Path | None = None
    """Working directory, HOME and TMPDIR of the process; its output goes to a file there."""
    network: NetworkAccess | None = None
    """None refuses every connection."""
    environment: Mapping[str, str] = field(default_factory=dict)


class SandboxEnd(StrEnum):
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out of memory"
    TOO_MANY_BYTES = "too many bytes"
    CPU_TIME = "CPU time"
    KILLED = "killed"
    CRASHED = "crashed"
    EXITED = "exited"
    INVALID_REPLY = "invalid reply"
    RAISED = "raised"
    UNAVAILABLE = "unavailable"
    """No process could be started. The input is not the cause; a retry may succeed."""


class SandboxError(Exception):
    """The function did not return. `end` is the reason; adapters translate this into their own errors."""

    def __init__(self, end: SandboxEnd, detail: str, raised: str = "") -> None:
        self.end = end
        self.detail = detail
        self.raised = raised
        """Name of the exception, if the function raised one."""
        super().__init__(f"{end}: {detail}")


@dataclass(frozen=True, slots=True)
class SandboxReply:
    header: dict[str, Any]
    payload: bytearray


class _ForkServerDied(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Call:
    """A request in progress. Closing it kills its process."""

    reply: socket.socket
    status: socket.socket

    def close(self) -> None:
        self.reply.close()
        self.status.close()


class Sandbox:
    """Starts its fork server on first use. `preload` names modules that every process needs."""

    def __init__(self, preload: Sequence[str] = (), *, max_processes: int | None = None) -> None:
        self._preload = tuple(preload)
        self._slots = asyncio.Semaphore(max_processes or os.cpu_count() or 1)
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def run(
        self, target: str, arguments: Sequence[Any], limits: SandboxLimits, progress: Progress | None = None
    ) -> SandboxReply:
        """Call `target` ("module:function") with a SandboxContext and the arguments. Raises SandboxError."""
        request = _request(target, arguments, limits, progress is not None)
        async with self._slots:
            for _ in range(MAX_ATTEMPTS):
                try:
                    return await self._run_once(request, limits, progress)
                except _ForkServerDied:
                    log.warning("The fork server died", extra={"action": "fork_server_died"})
        raise SandboxError(SandboxEnd.UNAVAILABLE, f"the fork server died {MAX_ATTEMPTS} times")

    async def aclose(self) -> None:
        """Close the request socket, whereupon the fork server kills its processes and exits."""
        self._closed = True
        process, self._process = self._process, None
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        if process is None:
            return
        try:
            await asyncio.to_thread(process.wait, CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    async def _run_once(self, request: bytes, limits: SandboxLimits, progress: Progress | None) -> SandboxReply:
        call = self._submit(request)
        try:
            await _wait_until_started(call)
            async with asyncio.timeout(limits.seconds) as clock:
                return await _enforce_total_bytes(_receive_reply(call, progress), limits)
        except TimeoutError:
            if not clock.expired():
                raise
            raise SandboxError(SandboxEnd.TIMEOUT, f"not finished within {limits.seconds:g} s") from None
        finally:
            call.close()

    def _submit(self, request: bytes) -> _Call:
        if self._closed:  # a concurrent call must not start the fork server again
            raise SandboxError(SandboxEnd.UNAVAILABLE, "the sandbox is closed")
        for _ in range(2):
            if self._process is None or self._process.poll() is not None:
                self._start()
            if (call := self._send(request)) is not None:
                return call
            self._stop()
        raise SandboxError(SandboxEnd.UNAVAILABLE, "the fork server does not accept requests")

    def _send(self, request: bytes) -> _Call | None:
        assert self._requests is not None
        reply, their_reply = socket.socketpair()
        status, their_status = socket.socketpair()
        call = _Call(reply, status)
        try:
            reply.setblocking(False)
            status.setblocking(False)
            with their_reply, their_status:
                message = LENGTH.pack(len(request)) + request
                sent = socket.send_fds(self._requests, [message], [their_reply.fileno(), their_status.fileno()])
            if sent == len(message):
                return call
        except (BlockingIOError, ConnectionError):
            pass  # the fork server is dead or stuck
        call.close()
        return None

    def _start(self) -> None:
        self._stop()
        self._requests, theirs = socket.socketpair()
        self._requests.setblocking(False)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", FORK_SERVER, *self._preload],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=_environment(),
                    start_new_session=True,  # no signals from a terminal or for the worker's group
                )
            except OSError as error:
                detail = f"the fork server could not be started: {error.strerror}"
                raise SandboxError(SandboxEnd.UNAVAILABLE, detail) from error

    def _stop(self) -> None:
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def stderr_tail(folder: Path) -> str:
    """Return the last line that the process printed in this folder."""
    try:
        text = (folder / STDERR_FILE).read_bytes()[-STDERR_TAIL_BYTES:].decode("utf-8", "replace")
    except OSError:
        return ""
    return text.strip().rpartition("\n")[2]


def _request(target: str, arguments: Sequence[Any], limits: SandboxLimits, progress: bool) -> bytes:
    network = limits.network
    request = {
        "target": target,
        "arguments": list(arguments),
        "seconds": limits.seconds,
        "cpu_seconds": int(limits.seconds * limits.processors) + 1,
        "memory_mb": limits.memory_mb,
        "limit_address_space": limits.limit_address_space,
        "file_bytes": limits.file_bytes,
        "open_files": limits.open_files,
        "reads": [str(each) for each in limits.reads],
        "writes": [str(each) for each in limits.writes],
        "programs": [str(each) for each in limits.programs],
        "max_reply_bytes": MAX_REPLY_BYTES,
        "folder": str(limits.folder) if limits.folder is not None else None,
        "network": {"private_hosts": list(network.private_hosts), "ports": sorted(network.ports)} if network else None,
        "environment": dict(limits.environment),
        "progress": progress,
    }
    return json.dumps(request, allow_nan=False).encode()


async def _wait_until_started(call: _Call) -> None:
    try:
        async with asyncio.timeout(START_SECONDS):
            status = await _receive_status(call)
    except TimeoutError:
        raise SandboxError(SandboxEnd.UNAVAILABLE, f"no process started within {START_SECONDS:g} s") from None
    if status != STARTED:
        raise _ForkServerDied


async def _enforce_total_bytes(receiving: Coroutine[Any, Any, SandboxReply], limits: SandboxLimits) -> SandboxReply:
    """Raises SandboxError as soon as the folders are larger than allowed: the kernel limits each file only."""
    folders = [each for each in (limits.folder, *limits.writes) if each is not None and each.is_dir()]
    if limits.total_bytes is None or not folders:
        return await receiving
    task = asyncio.create_task(receiving)
    try:
        while not (await asyncio.wait({task}, timeout=SIZE_CHECK_SECONDS))[0]:
            if await asyncio.to_thread(_disk_usage, folders) > limits.total_bytes:
                detail = f"more than {limits.total_bytes} bytes were written"
                raise SandboxError(SandboxEnd.TOO_MANY_BYTES, detail)
        return task.result()
    finally:
        task.cancel()
        await asyncio.wait({task})


def _disk_usage(folders: Sequence[Path]) -> int:
    """Return the disk usage of the folders, without holes in sparse files."""
    size = 0
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                with suppress(OSError):  # deleted meanwhile
                    size += os.lstat(os.path.join(path, name)).st_blocks * 512
    return size


async def _receive_reply(call: _Call, progress: Progress | None) -> SandboxReply:
    try:
        reply = await _read_reply(call.reply, progress)
    except (EOFError, ConnectionError):
        status = await _receive_status(call)
        if status is None:
            raise _ForkServerDied from None
        raise exit_error(status) from None
    except ValueError as error:
        raise SandboxError(SandboxEnd.INVALID_REPLY, str(error)) from None
    if (raised := _raised(reply.header)) is not None:
        raise raised
    return reply


def exit_error(status: int) -> SandboxError:
    """Return the error for a process that exited without a reply."""
    if status == -signal.SIGXCPU:
        return SandboxError(SandboxEnd.CPU_TIME, "CPU time exceeded")
    if status == -signal.SIGKILL:
        return SandboxError(SandboxEnd.KILLED, "killed")
    if status < 0:
        return SandboxError(SandboxEnd.CRASHED, _signal_name(-status))
    return SandboxError(SandboxEnd.EXITED, f"exit code {status}")


def _raised(header: Mapping[str, Any]) -> SandboxError | None:
    if "error" not in header:
        return None
    if header["error"] == OUT_OF_MEMORY:
        return SandboxError(SandboxEnd.OUT_OF_MEMORY, OUT_OF_MEMORY)
    name, text = clean_text(str(header["error"]), 60), clean_text(str(header.get("text", "")), MAX_ERROR_TEXT)
    if "trace" in header:
        log.error(
            "%s in the sandbox: %s", name, text, extra={"action": "sandbox_raised", "trace": str(header["trace"])}
        )
    return SandboxError(SandboxEnd.RAISED, text, name)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def _receive_status(call: _Call) -> int | None:
    """Return the exit status, or None if the fork server closed the socket."""
    try:
        return int(STATUS.unpack(await _receive(call.status, STATUS.size))[0])
    except (EOFError, ConnectionError):
        return None


async def _read_reply(source: socket.socket, progress: Progress | None) -> SandboxReply:
    """Progress reports come before the reply. Raises ValueError, EOFError or ConnectionError."""
    while True:
        length = LENGTH.unpack(await _receive(source, LENGTH.size))[0]
        if length > MAX_HEADER_BYTES:
            raise ValueError(f"header of {length} bytes")
        header = parse_header(bytes(await _receive(source, length)))
        if progress is None or (share := parse_progress(header)) is None:
            return SandboxReply(header, await _receive(source, header["bytes"]))
        progress(share)
        await asyncio.sleep(0)  # a flood of reports must not starve the event loop


def parse_header(data: bytes) -> dict[str, Any]:
    """Raises ValueError."""
    header = json.loads(data)
    if not isinstance(header, dict) or not isinstance(size := header.get("bytes"), int):
        raise ValueError("the header is not an object with a number of bytes")
    if not 0 <= size <= MAX_REPLY_BYTES:
        raise ValueError(f"payload of {size} bytes")
    return header


def parse_progress(header: Mapping[str, Any]) -> float | None:
    """Return the completed share of the work, 0 to 1; None if this is the reply. Raises ValueError."""
    share = header.get("progress")
    if share is None:
        return None
    if not isinstance(share, float) or not 0 <= share <= 1 or header["bytes"]:
        raise ValueError("invalid progress report")
    return share


async def _receive(source: socket.socket, size: int) -> bytearray:
    loop = asyncio.get_running_loop()
    data = bytearray(size)
    view, received = memoryview(data), 0
    while received < size:
        count = await loop.sock_recv_into(source, view[received:])
        if not count:
            raise EOFError
        received += count
    return data


def _environment() -> dict[str, str]:
    """Return an environment without our keys, without a PATH, and with one thread per process."""
    return {
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        "PATH": "/nonexistent",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }
