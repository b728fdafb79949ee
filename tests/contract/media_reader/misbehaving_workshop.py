"""What a film may make of the process that works on it and is allowed to write. Each runs in a process of its own."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from found_footy.adapters.media.child import RESULT
from found_footy.adapters.media.operations import Said

Tell = Callable[[float], None]


def tell_often(path: Path, seconds: float, most: int, tell: Tell, times: int) -> Said:
    for number in range(times):
        tell(number / times)
    return {"done": True}, [b"some bytes"]


def answer_raw(path: Path, seconds: float, most: int, tell: Tell, said: str) -> NoReturn:
    os.write(RESULT, bytes.fromhex(said))
    os._exit(0)


def tell_without_end(path: Path, seconds: float, most: int, tell: Tell, said: str) -> NoReturn:
    data = bytes.fromhex(said)
    while True:
        os.write(RESULT, data)


def file_limit(path: Path, seconds: float, most: int) -> Said:
    return {"limit": resource.getrlimit(resource.RLIMIT_FSIZE)}, ()
