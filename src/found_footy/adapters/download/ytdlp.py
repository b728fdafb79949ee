"""Everything that is neither a direct link nor a plain page: yt-dlp, in a process of its own that can be killed."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from found_footy.adapters.download.limits import DownloadLimits
from found_footy.adapters.download.urls import shown
from found_footy.adapters.download.ytdlp_words import loss_of, short_text
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

log = logging.getLogger(__name__)

CHILD = "found_footy.adapters.download.ytdlp_child"
LONGEST_ANSWER = 65_536


async def fetch_with_ytdlp(url: httpx.URL, to: Path, limits: DownloadLimits) -> None:
    """Puts the video in the place of the given file. The time is bounded by whoever calls."""
    with tempfile.TemporaryDirectory(prefix=".yt-dlp-", dir=to.parent) as name:
        folder = Path(name)
        answer = await _ask(_order(url, folder, limits), folder)
        if answer is None:
            raise DownloadUnavailable(f"{shown(url)}: yt-dlp ended without an answer")
        if "error" in answer:
            if answer.get("refused"):
                raise ClipLost(Loss.FORBIDDEN_ADDRESS, clean_text(str(answer["refused"][0]), 160))
            raise _trouble(str(answer["error"]), shown(url))
        found = folder / os.path.basename(str(answer.get("file")))
        if found.is_symlink() or not found.is_file():
            raise DownloadUnavailable(f"{shown(url)}: yt-dlp left no file")
        if found.stat().st_size > limits.max_bytes:
            raise ClipLost(Loss.TOO_LARGE, f"{shown(url)} is larger than {limits.max_bytes} bytes")
        os.replace(found, to)


def _order(url: httpx.URL, folder: Path, limits: DownloadLimits) -> dict[str, Any]:
    return {
        "url": str(url),
        "folder": str(folder),
        "max_bytes": limits.max_bytes,
        "max_seconds": limits.max_seconds,
        "silence_seconds": limits.timeouts["read"],
        "private_hosts": list(limits.private_hosts),
    }


def _trouble(message: str, where: str) -> ClipLost | DownloadUnavailable:
    loss, text = loss_of(message), f"{where}: {short_text(message)}"
    return DownloadUnavailable(text) if loss is None else ClipLost(loss, text)


async def _ask(order: dict[str, Any], folder: Path) -> dict[str, Any] | None:
    with (folder / "stderr").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            CHILD,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=_environment(folder),
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
    if not isinstance(answer, dict):
        last = (folder / "stderr").read_text("utf-8", "replace")[-2000:].strip().rpartition("\n")[2]
        log.warning(
            "yt-dlp ended without an answer",
            extra={"action": "ytdlp_died", "exit": process.returncode, "said": short_text(last)},
        )
        return None
    return answer


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
    """Nothing of ours: no keys, no proxies, no programs to run, no home with settings or passwords."""
    return {
        "PATH": str(folder / "none"),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "TMPDIR": str(folder),
        "YTDLP_NO_PLUGINS": "1",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
    }
