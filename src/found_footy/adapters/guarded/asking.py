"""A question to a process of its own, for code that cannot be cancelled or does its own networking.

The child reads one line of JSON and writes one. It gets nothing of ours: no keys, no proxies, no programs to run, no
home with settings or passwords. Whoever stops waiting ends it, with everything that it may have started.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LONGEST_ANSWER = 65_536


@dataclass(frozen=True, slots=True)
class Said:
    answer: dict[str, Any] | None
    """None where it ended without one."""
    exit_code: int | None
    last_words: str
    """The last line of what it wrote elsewhere."""


async def ask(module: str, order: Mapping[str, Any], folder: Path, extra: Mapping[str, str] | None = None) -> Said:
    """`folder` is where the child works; nothing else is its own. The time is bounded by whoever calls."""
    with (folder / "stderr").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=_environment(folder) | dict(extra or {}),
            cwd=folder,
            start_new_session=True,
        )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        # Its standard input stays open: when it closes, the child knows that nobody waits any more.
        process.stdin.write(json.dumps(order).encode() + b"\n")
        said = await _read(process.stdout)
    except ConnectionError:
        said = b""
    finally:
        await _end(process)
    try:
        answer = json.loads(said)
    except ValueError:
        answer = None
    last = (folder / "stderr").read_text("utf-8", "replace")[-2000:].strip().rpartition("\n")[2]
    return Said(answer if isinstance(answer, dict) else None, process.returncode, last)


async def _read(pipe: asyncio.StreamReader) -> bytes:
    said = b""
    while len(said) < LONGEST_ANSWER and (piece := await pipe.read(LONGEST_ANSWER)):
        said += piece
    return said


async def _end(process: asyncio.subprocess.Process) -> None:
    """With everything that it may have started: it leads a session of its own."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(ProcessLookupError, PermissionError):  # it has ended already
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": str(folder / "none"),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
    }
