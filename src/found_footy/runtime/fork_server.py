"""Process that forks sandboxed processes: loads their libraries once, then forks one process per request.

A worker has threads and connections and must never be forked; this process has neither. It reads requests from its
standard input, a socket. Each request carries two descriptors: the reply socket, and a status socket on which the
server reports the start and the exit status. When the worker closes the status socket, the process is killed. When the
request socket is closed, the worker has exited, and the server kills all its processes and exits.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from found_footy.runtime.sandbox_child import LENGTH, run

STATUS = struct.Struct("!i")
STARTED = 2**31 - 1
"""A status outside the range of exit codes, which are negative if a signal ended the process."""
MAX_REQUEST_BYTES = 1024 * 1024


class ForkServer:
    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._status: dict[int, socket.socket] = {}
        """By process id."""
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ)
        self._child_exited, wake = os.pipe()
        os.set_blocking(self._child_exited, False)
        os.set_blocking(wake, False)
        self._selector.register(self._child_exited, selectors.EVENT_READ)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Serve until the worker has exited."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._requests:
                    if not self._accept():
                        self._kill_all()
                        return
                elif key.fd == self._child_exited:
                    with suppress(BlockingIOError):
                        os.read(self._child_exited, 4096)
                    self._reap()
                elif self._status.get(key.data) is key.fileobj:
                    self._kill(key.data)

    def _accept(self) -> bool:
        """Accept one request. Return False if the socket was closed."""
        try:
            head, received, _, _ = socket.recv_fds(self._requests, LENGTH.size, 2)
            body = _receive(self._requests, LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
        except ConnectionError:
            return False
        if len(received) != 2 or not body:
            for each in received:
                os.close(each)
            return False
        reply, status = received[0], socket.socket(fileno=received[1])
        self._fork(json.loads(body), reply, status)
        os.close(reply)
        return True

    def _fork(self, request: dict[str, Any], reply: int, status: socket.socket) -> None:
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            status.close()  # closed without a status: the process never started
            return
        if pid == 0:
            signal.set_wakeup_fd(-1)
            run(request, reply, parent)
        with suppress(PermissionError, ProcessLookupError):
            os.setpgid(pid, pid)  # the child does the same, to avoid a race
        status.setblocking(False)
        self._status[pid] = status
        self._selector.register(status, selectors.EVENT_READ, pid)
        self._report(pid, STARTED)

    def _reap(self) -> None:
        for pid in list(self._status):
            gone, exit_status = os.waitpid(pid, os.WNOHANG)
            if not gone:
                continue
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # its own children
            self._report(pid, os.waitstatus_to_exitcode(exit_status))
            status = self._status.pop(pid)
            if status.fileno() >= 0:
                self._selector.unregister(status)
                status.close()

    def _kill(self, pid: int) -> None:
        status = self._status[pid]
        self._selector.unregister(status)
        status.close()
        _kill_group(pid)

    def _kill_all(self) -> None:
        for pid in self._status:
            _kill_group(pid)

    def _report(self, pid: int, code: int) -> None:
        status = self._status[pid]
        if status.fileno() >= 0:
            with suppress(OSError):  # the worker stopped waiting
                status.send(STATUS.pack(code))


def _kill_group(pid: int) -> None:
    """Kill the group and the process itself: the group may not exist yet. An unreaped pid cannot be reused."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _receive(source: socket.socket, size: int) -> bytes:
    body = b""
    while size <= MAX_REQUEST_BYTES and len(body) < size:
        piece = source.recv(size - len(body))
        if not piece:
            return b""
        body += piece
    return body


def main() -> NoReturn:
    # The server exits together with its worker and ignores signals to the worker's process group.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for name in sys.argv[1:]:
        import_module(name)
    gc.collect()
    gc.freeze()  # otherwise garbage collection in a forked process would copy all these pages
    ForkServer(socket.socket(fileno=0)).serve()
    os._exit(0)


if __name__ == "__main__":
    main()
