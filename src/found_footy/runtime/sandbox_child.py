"""One sandboxed process: isolates, limits and confines itself, runs one function, sends its reply and exits."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from found_footy.errors import FootyError
from found_footy.runtime.addresses import AddressPolicy
from found_footy.runtime.confinement import Confinement, confine, threads_of, unprivileged_uid
from found_footy.text import shorten

LENGTH = struct.Struct("!I")
REPLY_FD = 3
"""The first descriptor after the standard ones."""
OUT_OF_MEMORY = "out of memory"
STDERR_FILE = "stderr"
REPORT_SECONDS = 0.2
"""Minimum time between two progress reports."""
DNS_PORT = 53
MAX_THREADS = 256
"""Limit for a sandboxed process together with all programs that it starts."""
_PR_SET_PDEATHSIG = 1
_NO_MEMORY = ("Insufficient memory", "bad_alloc", os.strerror(errno.ENOMEM), os.strerror(errno.EAGAIN))
"""Out-of-memory messages of OpenCV, C++ and FFmpeg, also for a thread's stack."""

Reply = tuple[dict[str, Any], Sequence[memoryview | bytes]]
"""What a target returns: a JSON object and raw bytes."""


@dataclass(frozen=True, slots=True)
class SandboxContext:
    """The first argument of every target."""

    seconds: float
    """Wall-clock limit of this call."""
    max_reply_bytes: int
    progress: _ProgressSender | None
    guard: SocketGuard

    def report(self, share: float) -> None:
        """Report progress, 0 to 1. May be called as often as convenient."""
        if self.progress is not None:
            self.progress.send(share)


def run(request: Mapping[str, Any], reply: int, parent: int) -> NoReturn:
    """Run the request and exit, without the fork server's clean-up handlers."""
    try:
        _isolate(reply, parent, request["folder"], request["environment"])
        with socket.socket(fileno=REPLY_FD) as answer, _ReportErrors(answer):
            _limit(request)
            network = request["network"]
            guard = SocketGuard(AddressPolicy(network["private_hosts"], network["ports"]) if network else None)
            guard.install()
            confine(_confinement(request), signal.SIGKILL)
            if os.getppid() != parent:  # it may have exited while the death signal was cleared
                os._exit(1)
            # Vendor libraries are imported here, after the limits and the guard are in place.
            module, _, name = str(request["target"]).partition(":")
            target = getattr(import_module(module), name)
            progress = _ProgressSender(answer) if request["progress"] else None
            context = SandboxContext(request["seconds"], request["max_reply_bytes"], progress, guard)
            header, payload = target(context, *request["arguments"])
            _send(answer, header, payload)
        os._exit(0)
    finally:
        os._exit(1)


def _isolate(reply: int, parent: int, folder: str | None, environment: Mapping[str, str]) -> None:
    """Keep only the reply and standard descriptors, die with the fork server, and run in `folder` if there is one."""
    os.setpgid(0, 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    os.dup2(reply, REPLY_FD)
    os.closerange(REPLY_FD + 1, 65_536)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.environ.update(environment)
    if folder is not None:
        errors = os.open(os.path.join(folder, STDERR_FILE), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for standard in (1, 2):
            os.dup2(errors, standard)
        os.close(errors)
        os.chdir(folder)
        os.environ.update(
            dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"), folder)
        )
        tempfile.tempdir = None


def _confinement(request: Mapping[str, Any]) -> Confinement:
    network, folder = request["network"], request["folder"]
    private = {int(each.rpartition(":")[2]) for each in network["private_hosts"]} if network else set()
    python = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path)}
    return Confinement(
        reads=tuple(map(Path, (*python, *request["reads"]))),
        writes=tuple(map(Path, (*request["writes"], *([folder] if folder is not None else [])))),
        programs=tuple(map(Path, request["programs"])),
        ports=frozenset({*network["ports"], *private, DNS_PORT}) if network else None,
    )


def _limit(request: Mapping[str, Any]) -> None:
    memory = request["memory_mb"] * 1024 * 1024
    if sys.platform == "linux":  # other systems reject or ignore these limits
        if request["limit_address_space"]:
            _set_limit(resource.RLIMIT_AS, _address_space() + memory)
        else:
            _set_limit(resource.RLIMIT_DATA, _address_space() + memory)
    # The soft limit sends SIGXCPU, which identifies the cause; the hard limit sends SIGKILL, which does not.
    _set_limit(resource.RLIMIT_CPU, request["cpu_seconds"], request["cpu_seconds"] + 5)
    _set_limit(resource.RLIMIT_FSIZE, request["file_bytes"])
    _set_limit(resource.RLIMIT_NOFILE, request["open_files"])
    _set_limit(resource.RLIMIT_CORE, 0)
    if request["programs"]:  # without programs it cannot start processes
        # The kernel counts all threads of the user, so the limit is relative to those that run now.
        _set_limit(resource.RLIMIT_NPROC, threads_of(unprivileged_uid()) + MAX_THREADS)


def _set_limit(limit: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, at most the current hard limit."""
    current = resource.getrlimit(limit)[1]
    allowed = [value if current == resource.RLIM_INFINITY else min(value, current) for value in (soft, hard or soft)]
    resource.setrlimit(limit, (allowed[0], allowed[1]))


def _address_space() -> int:
    """Return the bytes that the program itself uses, to which limits are added."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def _send(answer: socket.socket, header: Mapping[str, Any], payload: Sequence[memoryview | bytes] = ()) -> None:
    text = json.dumps({**header, "bytes": sum(len(part) for part in payload)}).encode()
    answer.sendall(LENGTH.pack(len(text)) + text)
    for part in payload:
        answer.sendall(part)


class _ProgressSender:
    def __init__(self, answer: socket.socket) -> None:
        self._answer = answer
        self._next = 0.0

    def send(self, share: float) -> None:
        if (now := time.monotonic()) >= self._next:
            self._next = now + REPORT_SECONDS
            _send(self._answer, {"progress": min(max(float(share), 0.0), 1.0)})


class _ReportErrors:
    """Sends any exception as the reply."""

    def __init__(self, answer: socket.socket) -> None:
        self._answer = answer

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or isinstance(error, BrokenPipeError | ConnectionResetError):
            return True
        _send(self._answer, _describe(error))
        return True


def _describe(error: BaseException) -> dict[str, str]:
    if isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY):
        return {"error": OUT_OF_MEMORY}
    if isinstance(error, FootyError):
        return {"error": error.kind, "text": shorten(str(error))}
    last = "".join(traceback.format_tb(error.__traceback__, -3))
    return {"error": type(error).__name__, "text": shorten(str(error)), "trace": last[-2000:]}


class SocketGuard:
    """Applies the address policy to every connection of this process, for libraries with their own networking.

    Names are checked on resolution, which gives refusals a reason. The address of each connection is checked too, so
    that the policy cannot be bypassed. Without a policy, every connection is refused.
    """

    def __init__(self, policy: AddressPolicy | None) -> None:
        self._policy = policy
        self._private: set[tuple[str, int]] = set()
        """Resolved addresses and ports of allowed private hosts."""
        self._resolve = socket.getaddrinfo
        self._connect = socket.socket.connect
        self._connect_ex = socket.socket.connect_ex
        self.refused: list[str] = []

    def install(self) -> None:
        guard = self

        def connect(sock: socket.socket, address: Any) -> None:
            guard._check(sock.family, address)
            guard._connect(sock, address)

        def connect_ex(sock: socket.socket, address: Any) -> int:
            guard._check(sock.family, address)
            return guard._connect_ex(sock, address)

        socket.getaddrinfo = self._guarded_resolve
        socket.socket.connect = connect  # type: ignore[method-assign, assignment]
        socket.socket.connect_ex = connect_ex  # type: ignore[method-assign, assignment]

    def _guarded_resolve(self, host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        if self._policy is None:
            self._refuse("the network is not allowed", name)
            return []
        found: list[Any] = list(self._resolve(host, port, *args, **kwargs))
        for *_, (address, number, *_rest) in found:
            if self._policy.is_allowed_private(name, number):
                self._private.add((address, number))
            else:
                self._refuse(self._policy.check(name, number, [address]), name)
        return found

    def _check(self, family: int, address: Any) -> None:
        if self._policy is None:
            self._refuse("the network is not allowed", "socket")
            return
        if family not in (socket.AF_INET, socket.AF_INET6):
            self._refuse("only internet sockets are allowed", "socket")
        host, port = str(address[0]), int(address[1])
        if (host, port) not in self._private:
            self._refuse(self._policy.check(host, port, [host]), host)

    def _refuse(self, reason: str | None, host: str) -> None:
        if reason is not None:
            self.refused.append(f"{host}: {reason}")
            raise PermissionError(reason)
