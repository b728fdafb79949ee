"""The program that forks: loads everything that decoding needs once, then makes a process for each file.

The worker itself has threads and connections and must never be forked. This one has neither. It reads orders from
its standard input, a socket; with each come two descriptors: where the answer goes, and a line on which it tells the
beginning and the end. When that line is cut, nobody waits any more, and the process is killed. When the socket is
cut, the worker is gone, and so is everything here.
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

from found_footy.adapters.media.child import run

LENGTH = struct.Struct("!I")
STATUS = struct.Struct("!i")
STARTED = 2**31 - 1
"""On the line; everything else is an exit code, negative where a signal ended the process."""
LONGEST_ORDER = 1024 * 1024


class Zygote:
    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._lines: dict[int, socket.socket] = {}
        """By process."""
        self._selector = selectors.DefaultSelector()
        self._selector.register(orders, selectors.EVENT_READ)
        self._ended, wake = os.pipe()
        os.set_blocking(self._ended, False)
        os.set_blocking(wake, False)
        self._selector.register(self._ended, selectors.EVENT_READ)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until the worker is gone."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._orders:
                    if not self._order():
                        self._kill_all()
                        return
                elif key.fd == self._ended:
                    with suppress(BlockingIOError):
                        os.read(self._ended, 4096)
                    self._reap()
                elif self._lines.get(key.data) is key.fileobj:
                    self._kill(key.data)

    def _order(self) -> bool:
        """Takes one order; False where there will be no more."""
        try:
            head, received, _, _ = socket.recv_fds(self._orders, LENGTH.size, 2)
            body = _exactly(self._orders, LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
        except ConnectionError:
            return False
        if len(received) != 2 or not body:
            for each in received:
                os.close(each)
            return False
        result, line = received[0], socket.socket(fileno=received[1])
        self._fork(json.loads(body), result, line)
        os.close(result)
        return True

    def _fork(self, order: dict[str, Any], result: int, line: socket.socket) -> None:
        me = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            line.close()  # the end of a line without a word: it was not even begun
            return
        if pid == 0:
            signal.set_wakeup_fd(-1)
            run(order, result, me)
        with suppress(PermissionError, ProcessLookupError):
            os.setpgid(pid, pid)  # whoever of the two comes first
        line.setblocking(False)
        self._lines[pid] = line
        self._selector.register(line, selectors.EVENT_READ, pid)
        self._tell(pid, STARTED)

    def _reap(self) -> None:
        for pid in list(self._lines):
            gone, status = os.waitpid(pid, os.WNOHANG)
            if not gone:
                continue
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # what it may have started itself
            self._tell(pid, os.waitstatus_to_exitcode(status))
            line = self._lines.pop(pid)
            if line.fileno() >= 0:
                self._selector.unregister(line)
                line.close()

    def _kill(self, pid: int) -> None:
        line = self._lines[pid]
        self._selector.unregister(line)
        line.close()
        _kill_group(pid)

    def _kill_all(self) -> None:
        for pid in self._lines:
            _kill_group(pid)

    def _tell(self, pid: int, status: int) -> None:
        line = self._lines[pid]
        if line.fileno() >= 0:
            with suppress(OSError):  # nobody listens any more
                line.send(STATUS.pack(status))


def _kill_group(pid: int) -> None:
    """By its own number too: its group may not be there yet. It is not reaped, so the number is still its own."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _exactly(source: socket.socket, size: int) -> bytes:
    body = b""
    while size <= LONGEST_ORDER and len(body) < size:
        piece = source.recv(size - len(body))
        if not piece:
            return b""
        body += piece
    return body


def main() -> NoReturn:
    # It ends with its worker, and not with a signal that is meant for the worker's whole group.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for name in sys.argv[1:]:
        import_module(name)
    gc.collect()
    gc.freeze()  # so that the collector of a forked process does not touch, and thereby copy, all of it
    Zygote(socket.socket(fileno=0)).serve()
    os._exit(0)


if __name__ == "__main__":
    main()
