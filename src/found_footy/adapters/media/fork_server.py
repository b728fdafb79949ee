"""The worker's side of the program that forks: starts it, starts it again when it died, and gives it orders."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from found_footy.adapters.media.zygote import LENGTH
from found_footy.domain.errors import DecoderUnavailable

PROGRAM = "found_footy.adapters.media.zygote"
END_SECONDS = 5.0
_KEPT = ("LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Call:
    """One order on its way. Closing it kills whoever still works on it."""

    result: socket.socket
    line: socket.socket

    def close(self) -> None:
        self.result.close()
        self.line.close()


class ForkServer:
    """Not before the first order is anything started."""

    def __init__(self, preload: Sequence[str]) -> None:
        self._preload = tuple(preload)
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def submit(self, order: Mapping[str, Any]) -> Call:
        """Raises DecoderUnavailable where nobody takes the order."""
        if self._closed:  # whoever was at work when it closed must not bring it up again
            raise DecoderUnavailable("no more files are decoded here")
        text = json.dumps(order, allow_nan=False).encode()
        for _ in range(2):
            if self._process is None or self._process.poll() is not None:
                self._start()
            if (call := self._sent(text)) is not None:
                return call
            self._stop()
        raise DecoderUnavailable("the process that decodes files takes no orders")

    def _sent(self, text: bytes) -> Call | None:
        assert self._orders is not None
        result, theirs = socket.socketpair()
        line, their_line = socket.socketpair()
        call = Call(result, line)
        try:
            result.setblocking(False)
            line.setblocking(False)
            with theirs, their_line:
                message = LENGTH.pack(len(text)) + text
                sent = socket.send_fds(self._orders, [message], [theirs.fileno(), their_line.fileno()])
            if sent == len(message):
                return call
        except (BlockingIOError, ConnectionError):
            pass  # it is dead, or stuck
        call.close()
        return None

    def _start(self) -> None:
        self._stop()
        self._orders, theirs = socket.socketpair()
        self._orders.setblocking(False)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", PROGRAM, *self._preload],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=_environment(),
                    # Signals from a terminal, or for the worker's group, do not reach it.
                    start_new_session=True,
                )
            except OSError as error:
                said = f"the process that decodes files cannot be started: {error.strerror}"
                raise DecoderUnavailable(said) from error

    def _stop(self) -> None:
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    async def aclose(self) -> None:
        """Lets it end by itself, with all that it has forked."""
        self._closed = True
        process, self._process = self._process, None
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        if process is None:
            return
        try:
            await asyncio.to_thread(process.wait, END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    """None of our keys: who takes over a decoder finds nothing here. And one thread for each process."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }
