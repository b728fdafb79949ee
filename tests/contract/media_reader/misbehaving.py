"""What a file may make of the process that decodes it. Each runs in a forked process of its own."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from pathlib import Path
from typing import Any, NoReturn

import cv2
import numpy as np

from found_footy.adapters.media.child import RESULT
from found_footy.adapters.media.operations import Said

NOTHING: Said = ({}, ())


def fine(path: Path, seconds: float, most: int, *told: Any) -> Said:
    return {"told": told}, [b"some bytes"]


def abort(path: Path, seconds: float, most: int) -> NoReturn:
    os.abort()


def crash(path: Path, seconds: float, most: int) -> Said:
    ctypes.string_at(0)
    return NOTHING


def killed(path: Path, seconds: float, most: int) -> Said:
    os.kill(os.getpid(), signal.SIGKILL)
    return NOTHING


def use_up_processor(path: Path, seconds: float, most: int) -> Said:
    resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
    return loop(path, seconds, most)


def leave(path: Path, seconds: float, most: int) -> NoReturn:
    os._exit(3)


def take_memory(path: Path, seconds: float, most: int) -> Said:
    kept = []
    while True:
        kept.append(bytearray(64 * 1024 * 1024))


def take_memory_in_numpy(path: Path, seconds: float, most: int) -> Said:
    return {"shape": np.ones((100_000, 100_000)).shape}, ()


def take_memory_in_opencv(path: Path, seconds: float, most: int) -> Said:
    small = np.zeros((16, 16, 3), np.uint8)
    return {"shape": cv2.resize(small, (60_000, 30_000)).shape}, ()


def loop(path: Path, seconds: float, most: int) -> Said:
    while True:
        pass


def sleep(path: Path, seconds: float, most: int) -> Said:
    """Leaves its number, so that a test can look whether it is still there."""
    path.with_suffix(".new").write_text(str(os.getpid()))
    path.with_suffix(".new").rename(path)
    time.sleep(600)
    return NOTHING


def sleep_the_first_time(path: Path, seconds: float, most: int) -> Said:
    return ({"again": True}, ()) if path.exists() else sleep(path, seconds, most)


def fork(path: Path, seconds: float, most: int) -> Said:
    pid = os.fork()
    if not pid:
        time.sleep(600)
    return {"pid": pid}, ()


def fail(path: Path, seconds: float, most: int) -> Said:
    raise LookupError("what \x1b[31m\u202e is this")


def count_those_at_once(path: Path, seconds: float, most: int) -> Said:
    mine = path / str(os.getpid())
    mine.touch()
    time.sleep(0.02)
    count = len(list(path.iterdir()))
    mine.unlink()
    return {"count": count}, ()


def write_a_large_file(path: Path, seconds: float, most: int) -> Said:
    path.write_bytes(bytes(50_000_000))
    return NOTHING


def tell_all(path: Path, seconds: float, most: int) -> Said:
    names = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_NOFILE")
    return {
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in names},
        "environment": dict(os.environ),
        "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }, ()


def answer_raw(path: Path, seconds: float, most: int, said: str) -> Said:
    """Says exactly these bytes, as one does who has taken over the process."""
    os.write(RESULT, bytes.fromhex(said))
    os._exit(0)
