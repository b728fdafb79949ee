"""One forked process for one file: takes its limits upon itself, decodes, says what came of it, and is gone."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from found_footy.adapters.media.messages import ERRORS, LENGTH
from found_footy.domain.errors import FootyError

RESULT = 3
"""The descriptor of the answer, after the usual three."""
OUT_OF_MEMORY = "out of memory"
FILE_BYTES = 1024 * 1024
"""Of a file that it writes, where the order does not allow more."""
FILES = 64
TELL_SECONDS = 0.2
"""Between two words about how far it is."""
_PR_SET_PDEATHSIG = 1
_NO_MEMORY = ("Insufficient memory", "bad_alloc", os.strerror(errno.ENOMEM), os.strerror(errno.EAGAIN))
"""As OpenCV, C++, FFmpeg, and FFmpeg without room for a thread's stack say it."""


def run(order: Mapping[str, Any], result: int, parent: int) -> NoReturn:
    """Never returns: this process ends here, without the clean-up that belongs to the one it was forked from."""
    try:
        _alone(result, parent)
        with socket.socket(fileno=RESULT) as answer, _Reported(answer):
            _limit(order)
            module, _, name = str(order["target"]).partition(":")
            work = getattr(import_module(module), name)
            told = (_teller(answer),) if order.get("progress") else ()
            header, payload = work(Path(order["path"]), order["seconds"], order["most"], *told, *order["arguments"])
            _say(answer, header, payload)
        os._exit(0)
    finally:
        os._exit(1)


def _alone(result: int, parent: int) -> None:
    """Keeps the answer's descriptor and the standard ones; dies with the process that it was forked from."""
    os.setpgid(0, 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    os.dup2(result, RESULT)
    os.closerange(RESULT + 1, 65_536)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _limit(order: Mapping[str, Any]) -> None:
    cpu = int(order["seconds"] * order["processors"]) + 1
    memory = _size_now() + order["memory_mb"] * 1024 * 1024
    if sys.platform == "linux":  # elsewhere it is refused, or does nothing
        _set(resource.RLIMIT_AS, memory)
    # The first gives a signal that tells its reason, the second would be an unexplained kill.
    _set(resource.RLIMIT_CPU, cpu, cpu + 5)
    _set(resource.RLIMIT_FSIZE, order.get("file_bytes", FILE_BYTES))
    _set(resource.RLIMIT_NOFILE, FILES)
    _set(resource.RLIMIT_CORE, 0)


def _set(limit: int, soft: int, hard: int | None = None) -> None:
    """Within what this process is allowed already."""
    most = resource.getrlimit(limit)[1]
    allowed = [value if most == resource.RLIM_INFINITY else min(value, most) for value in (soft, hard or soft)]
    resource.setrlimit(limit, (allowed[0], allowed[1]))


def _size_now() -> int:
    """Bytes of address space that the program itself takes: they are not the file's fault."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def _say(answer: socket.socket, header: Mapping[str, Any], payload: Sequence[memoryview | bytes] = ()) -> None:
    told = json.dumps({**header, "bytes": sum(len(part) for part in payload)}).encode()
    answer.sendall(LENGTH.pack(len(told)) + told)
    for part in payload:
        answer.sendall(part)


def _teller(answer: socket.socket) -> Callable[[float], None]:
    """Says how much is done, 0 to 1, however often it is called not too often."""
    due = 0.0

    def tell(share: float) -> None:
        nonlocal due
        if (now := time.monotonic()) >= due:
            due = now + TELL_SECONDS
            _say(answer, {"progress": min(max(float(share), 0.0), 1.0)})

    return tell


class _Reported:
    """Whatever is raised inside is told to who asked. Nothing is swallowed: the telling is all that is left to do."""

    def __init__(self, answer: socket.socket) -> None:
        self._answer = answer

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or isinstance(error, BrokenPipeError | ConnectionResetError):
            return True
        _say(self._answer, _described(error))
        return True


def _described(error: BaseException) -> dict[str, str]:
    if isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY):
        return {"error": OUT_OF_MEMORY}
    if isinstance(error, FootyError) and error.kind in ERRORS:
        return {"error": error.kind, "text": str(error)[:1000]}
    last = "".join(traceback.format_tb(error.__traceback__, -3))
    return {"error": type(error).__name__, "text": str(error)[:300], "trace": last[-2000:]}
