"""Runs one function on one file in a forked process with limits, and says which limit it was that ended it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from found_footy.adapters.media.child import OUT_OF_MEMORY
from found_footy.adapters.media.fork_server import Call, ForkServer
from found_footy.adapters.media.messages import (
    LENGTH,
    LONGEST_HEADER,
    LONGEST_PAYLOAD,
    error_of,
    parse_header,
    progress_of,
)
from found_footy.adapters.media.zygote import STARTED, STATUS
from found_footy.domain.errors import DecoderUnavailable, MediaBroken, MediaError, MediaTooLarge

log = logging.getLogger(__name__)

START_SECONDS = 60.0
"""For loading the libraries, on a machine that is busy."""
TRIES = 3
"""Where the process that forks died meanwhile: that is not the file's fault."""

Answer = tuple[dict[str, Any], bytearray]
Progress = Callable[[float], None]


class _ServerDied(Exception):
    pass


class LimitedProcess:
    """`seconds` are for each call, and `memory_mb` beyond what the program itself takes."""

    def __init__(self, server: ForkServer, memory_mb: int, seconds: float, *, at_once: int | None = None) -> None:
        self._server = server
        self._memory_mb = memory_mb
        self._seconds = seconds
        self._processors = os.cpu_count() or 1
        self._places = asyncio.Semaphore(at_once or self._processors)

    async def run(
        self,
        target: str,
        path: Path,
        *arguments: Any,
        file_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """`target` is `module:function`. Raises what it raised, or a MediaError that says how its process ended.

        `file_bytes` is for one that writes a file, and how large. Where there is a `progress`, the function gets
        one to call before its other arguments.
        """
        order: dict[str, Any] = {
            "target": target,
            "path": str(path),
            "arguments": arguments,
            "seconds": self._seconds,
            "memory_mb": self._memory_mb,
            "processors": self._processors,
            "most": LONGEST_PAYLOAD,
            "progress": progress is not None,
        }
        if file_bytes is not None:
            order["file_bytes"] = file_bytes
        async with self._places:
            for _ in range(TRIES):
                try:
                    return await self._once(order, path, progress)
                except _ServerDied:
                    log.warning("the process that forks decoders died", extra={"action": "fork_server_died"})
        raise DecoderUnavailable(f"the process that decodes files died {TRIES} times")

    async def _once(self, order: dict[str, Any], path: Path, progress: Progress | None) -> Answer:
        call = self._server.submit(order)
        try:
            await self._started(call)
            async with asyncio.timeout(self._seconds) as clock:
                return await self._answer(call, path, progress)
        except TimeoutError:
            if not clock.expired():
                raise
            raise MediaTooLarge(f"{path}: not decoded within {self._seconds:g} s") from None
        finally:
            call.close()

    async def _started(self, call: Call) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                status = await _status(call)
        except TimeoutError:
            raise DecoderUnavailable(f"no process for decoding a file began within {START_SECONDS:g} s") from None
        if status != STARTED:
            raise _ServerDied

    async def _answer(self, call: Call, path: Path, progress: Progress | None) -> Answer:
        try:
            header, payload = await _received(call.result, progress)
        except (EOFError, ConnectionError):
            raise self._ending(await _status(call), path) from None
        except ValueError as error:
            raise MediaBroken(f"{path}: the process that decodes it answers nonsense: {error}") from None
        if header.get("error") == OUT_OF_MEMORY:
            raise MediaTooLarge(f"{path}: decoding it needs more than {self._memory_mb} MB of memory")
        if (raised := error_of(header)) is not None:
            if "trace" in header:
                log.error(str(raised), extra={"action": "decoding_failed", "trace": str(header["trace"])})
            raise raised
        return header, payload

    def _ending(self, status: int | None, path: Path) -> Exception:
        if status is None:
            return _ServerDied()
        return ending(status, f"{path}", self._memory_mb, self._seconds)


def ending(status: int, path: str, memory_mb: int, seconds: float) -> MediaError:
    """What the end of a process without an answer says about the file that it was reading."""
    if status == -signal.SIGXCPU:
        return MediaTooLarge(f"{path}: decoding it takes more processor time than {seconds:g} s allow")
    if status == -signal.SIGKILL:
        return MediaTooLarge(f"{path}: decoding it was killed, most likely for want of memory ({memory_mb} MB allowed)")
    if status < 0:
        return MediaBroken(f"{path}: decoding it crashed with {_signal_name(-status)}")
    return MediaBroken(f"{path}: decoding it ended without an answer (exit code {status})")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def _status(call: Call) -> int | None:
    """The next word on the line; None where it was cut."""
    try:
        return int(STATUS.unpack(await _exactly(call.line, STATUS.size))[0])
    except (EOFError, ConnectionError):
        return None


async def _received(source: socket.socket, progress: Progress | None) -> Answer:
    """The answer; what comes before it tells how far the work is."""
    while True:
        length = LENGTH.unpack(await _exactly(source, LENGTH.size))[0]
        if length > LONGEST_HEADER:
            raise ValueError(f"a header of {length} bytes")
        header = parse_header(bytes(await _exactly(source, length)))
        if progress is None or (share := progress_of(header)) is None:
            return header, await _exactly(source, header["bytes"])
        progress(share)
        await asyncio.sleep(0)  # who has taken over that process may tell without end, and shall stop nobody else


async def _exactly(source: socket.socket, size: int) -> bytearray:
    loop = asyncio.get_running_loop()
    data = bytearray(size)
    view, have = memoryview(data), 0
    while have < size:
        got = await loop.sock_recv_into(source, view[have:])
        if not got:
            raise EOFError
        have += got
    return data
