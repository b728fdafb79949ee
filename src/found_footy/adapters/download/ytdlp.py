"""Playlists, and sites that only yt-dlp understands: yt-dlp in a process of its own that can be killed."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from found_footy.adapters.download.limits import DownloadLimits, Trip
from found_footy.adapters.download.urls import shown
from found_footy.adapters.download.ytdlp_state import js_runtimes
from found_footy.adapters.download.ytdlp_words import loss_of, short_text
from found_footy.adapters.guarded.asking import ask
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

log = logging.getLogger(__name__)

CHILD = "found_footy.adapters.download.ytdlp_child"
PROGRESS = "progress"
"""The file in which the child notes how much is here, 0 to 1."""
LOOK_SECONDS = 1.0


async def fetch_playlist(url: httpx.URL, to: Path, limits: DownloadLimits, trip: Trip) -> None:
    """Replaces the given file by the video of an HLS or DASH playlist. The caller bounds the time."""
    await _fetch(url, to, limits, trip, generic=True, impersonate=False)


async def fetch_with_ytdlp(
    url: httpx.URL, to: Path, limits: DownloadLimits, trip: Trip, *, generic: bool = True
) -> None:
    """Replaces the given file by the video. The caller bounds the time.

    Without `generic`, only extractors made for the site are used.
    """
    if not limits.impersonate:
        await _fetch(url, to, limits, trip, generic=generic, impersonate=False)
        return
    try:
        # Connections made by curl-cffi are not guarded, so they go only to sites that yt-dlp knows by name.
        await _fetch(url, to, limits, trip, generic=False, impersonate=True)
    except ClipLost as error:
        if error.loss != Loss.UNSUPPORTED:
            raise
        await _fetch(url, to, limits, trip, generic=generic, impersonate=False)


async def _fetch(
    url: httpx.URL, to: Path, limits: DownloadLimits, trip: Trip, *, generic: bool, impersonate: bool
) -> None:
    with tempfile.TemporaryDirectory(prefix=".yt-dlp-", dir=to.parent) as name:
        folder = Path(name)
        looking = asyncio.create_task(_look_at(folder / PROGRESS, trip))
        try:
            answer = await _ask(_order(url, folder, limits, trip, generic, impersonate), folder)
        finally:
            looking.cancel()
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
        trip.title = clean_text(str(answer.get("title") or ""), 200)
        os.replace(found, to)


async def _look_at(path: Path, trip: Trip) -> None:
    while trip.told is not None:
        await asyncio.sleep(LOOK_SECONDS)
        with suppress(OSError, ValueError):  # not written yet
            trip.told(min(1.0, max(0.0, float(await asyncio.to_thread(path.read_text, "ascii")))))


def _order(
    url: httpx.URL, folder: Path, limits: DownloadLimits, trip: Trip, generic: bool, impersonate: bool
) -> dict[str, Any]:
    return {
        "url": str(url),
        "folder": str(folder),
        "max_bytes": limits.max_bytes,
        "max_seconds": limits.max_seconds,
        "silence_seconds": limits.timeouts["read"],
        "private_hosts": list(limits.private_hosts),
        "longest_seconds": trip.longest_seconds,
        "generic": generic,
        "impersonate": impersonate,
        "js_runtimes": {runtime.name: {"path": runtime.path} for runtime in js_runtimes()},
        "progress": PROGRESS if trip.told is not None else None,
    }


def _trouble(message: str, where: str) -> ClipLost | DownloadUnavailable:
    loss, text = loss_of(message), f"{where}: {short_text(message)}"
    return DownloadUnavailable(text) if loss is None else ClipLost(loss, text)


async def _ask(order: dict[str, Any], folder: Path) -> dict[str, Any] | None:
    said = await ask(CHILD, order, folder, {"YTDLP_NO_PLUGINS": "1"})
    if said.answer is None:
        log.warning(
            "yt-dlp ended without an answer",
            extra={"action": "ytdlp_died", "exit": said.exit_code, "said": short_text(said.last_words)},
        )
    return said.answer
