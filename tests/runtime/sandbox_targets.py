"""What a hostile file may make a sandboxed process do. Each function runs in a process of its own."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import cv2
import numpy as np

from found_footy.runtime.sandbox_child import REPLY_FD, Reply, SandboxContext

NOTHING: Reply = ({}, ())


def fine(context: SandboxContext, path: str, *arguments: Any) -> Reply:
    return {"arguments": arguments}, [b"some bytes"]


def abort(context: SandboxContext, path: str) -> NoReturn:
    os.abort()


def crash(context: SandboxContext, path: str) -> Reply:
    ctypes.string_at(0)
    return NOTHING


def killed(context: SandboxContext, path: str) -> Reply:
    os.kill(os.getpid(), signal.SIGKILL)
    return NOTHING


def use_up_processor(context: SandboxContext, path: str) -> Reply:
    resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
    return loop(context, path)


def leave(context: SandboxContext, path: str) -> NoReturn:
    os._exit(3)


def take_memory(context: SandboxContext, path: str) -> Reply:
    kept = []
    while True:
        kept.append(bytearray(64 * 1024 * 1024))


def take_memory_in_numpy(context: SandboxContext, path: str) -> Reply:
    return {"shape": np.ones((100_000, 100_000)).shape}, ()


def take_memory_in_opencv(context: SandboxContext, path: str) -> Reply:
    small = np.zeros((16, 16, 3), np.uint8)
    return {"shape": cv2.resize(small, (60_000, 30_000)).shape}, ()


def loop(context: SandboxContext, path: str) -> Reply:
    while True:
        pass


def sleep(context: SandboxContext, path: str) -> Reply:
    """Writes its process id, so that a test can see whether it still runs."""
    Path(path).with_suffix(".new").write_text(str(os.getpid()))
    Path(path).with_suffix(".new").rename(path)
    time.sleep(600)
    return NOTHING


def sleep_the_first_time(context: SandboxContext, path: str) -> Reply:
    return ({"again": True}, ()) if Path(path).exists() else sleep(context, path)


def fork(context: SandboxContext, path: str) -> Reply:
    pid = os.fork()
    if not pid:
        time.sleep(600)
    return {"pid": pid}, ()


def fail(context: SandboxContext, path: str) -> Reply:
    raise LookupError("what \x1b[31m\u202e is this")


def count_concurrent(context: SandboxContext, path: str) -> Reply:
    mine = Path(path, str(os.getpid()))
    mine.touch()
    time.sleep(0.02)
    count = len(list(Path(path).iterdir()))
    mine.unlink()
    return {"count": count}, ()


def write_a_large_file(context: SandboxContext, path: str) -> Reply:
    Path(path).write_bytes(bytes(50_000_000))
    return NOTHING


def describe(context: SandboxContext, path: str) -> Reply:
    names = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_NOFILE")
    return {
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in names},
        "environment": dict(os.environ),
        "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }, ()


def send_raw(context: SandboxContext, path: str, data: str) -> Reply:
    """Sends exactly these bytes, like an attacker who controls the process."""
    os.write(REPLY_FD, bytes.fromhex(data))
    os._exit(0)


def report_often(context: SandboxContext, path: str, times: int) -> Reply:
    for number in range(times):
        context.report(number / times)
    return {"done": True}, [b"some bytes"]


def report_without_end(context: SandboxContext, path: str, data: str) -> NoReturn:
    while True:
        os.write(REPLY_FD, bytes.fromhex(data))


def connect(context: SandboxContext, host: str, port: int) -> Reply:
    try:
        socket.create_connection((host, port), 5).close()
    except PermissionError as error:
        return {"refused": str(error), "noted": context.guard.refused}, ()
    return {"refused": None}, ()


def print_and_leave(context: SandboxContext, text: str) -> NoReturn:
    os.write(2, text.encode())
    os._exit(3)


# --- what a compromised decoder would try


def attempt(context: SandboxContext, path: str, names: list[str], *arguments: Any) -> Reply:
    """The error of each attempt, None where it succeeded."""
    return {name: _outcome(_ATTEMPTS[name], *arguments) for name in names}, ()


def _outcome(action: Callable[..., Any], *arguments: Any) -> str | None:
    try:
        action(*arguments)
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def _call(number: int, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _open_socket(*_: Any) -> None:
    # The C library, because the guard in Python is no obstacle to native code.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.socket(2, 1, 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _fork(*_: Any) -> None:
    if os.fork() == 0:
        os._exit(0)


_ATTEMPTS: dict[str, Callable[..., Any]] = {
    "read a file elsewhere": lambda secret, parent: Path(secret).read_bytes(),
    "write a file elsewhere": lambda secret, parent: Path(secret).with_name("new").write_bytes(b"x"),
    "read the parent's environment": lambda secret, parent: Path(f"/proc/{parent}/environ").read_bytes(),
    "read the parent's memory": lambda secret, parent: open(f"/proc/{parent}/mem", "rb").close(),
    "read the parent's command line": lambda secret, parent: Path(f"/proc/{parent}/cmdline").read_bytes(),
    "kill the parent": lambda secret, parent: os.kill(parent, 0),
    "open a socket": _open_socket,
    "start a process": _fork,
    "start a program": lambda secret, parent: os.execv("/bin/true", ["true"]),
    "trace the parent": lambda secret, parent: _call(101 if os.uname().machine == "x86_64" else 117, 16, parent, 0, 0),
    "make a namespace": lambda secret, parent: _call(272 if os.uname().machine == "x86_64" else 97, 0x1000_0000),
}
"""By what they attempt; arguments: a file outside, and the process id of the worker."""


def privileges(context: SandboxContext, path: str) -> Reply:
    status = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    return {
        "user": os.getresuid(),
        "groups": os.getgroups(),
        "new_privileges": status["NoNewPrivs"] == "0",
        "capabilities": int(status["CapEff"], 16),
        "filters": int(status["Seccomp_filters"]),
    }, ()


def run_a_program(context: SandboxContext, path: str, *command: str) -> Reply:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {"code": done.returncode, "said": done.stdout + done.stderr}, ()


def use_threads(context: SandboxContext, path: str) -> Reply:
    with ThreadPoolExecutor(4) as pool:
        return {"sum": sum(pool.map(abs, range(10)))}, ()


def write_many_files(context: SandboxContext, path: str) -> NoReturn:
    number = 0
    while True:
        Path(path, str(number)).write_bytes(bytes(100_000))
        number += 1
