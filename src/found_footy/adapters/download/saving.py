"""A video's bytes into a file, going on where a broken connection left off."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import httpx

from found_footy.adapters.download.limits import Trip
from found_footy.adapters.download.urls import shown
from found_footy.adapters.download.web import BROKEN, Answer, Web
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

RESUMES = 4
"""How often a broken download is gone on with."""
PAUSE_SECONDS = 0.1
"""Before the first of them, doubled for each further one."""

_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(?:\d{1,18}|\*)")


@dataclass(frozen=True, slots=True)
class PartFile:
    path: Path
    file: BinaryIO


@contextmanager
def aside(to: Path) -> Iterator[PartFile]:
    """A file beside the wanted one that takes its name when all went well, and is gone otherwise."""
    path = to.with_name(f".{to.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with path.open("xb") as file:
            yield PartFile(path, file)
        os.replace(path, to)
    finally:
        path.unlink(missing_ok=True)


class Saving:
    """One video on its way into a file."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._have = 0
        self._url = httpx.URL()
        self._mark = ""
        """By which the server knows the version that we have a part of; without one, a part is worth nothing."""

    async def save(self, answer: Answer, trip: Trip) -> bool:
        """Takes an answer's body; False where the connection broke before its end."""
        self._url = answer.url
        if answer.status == 206 and not self._continues(answer):
            self._mark = ""
            return False
        if answer.status != 206:
            self._begin(answer)
        whole = None if answer.packed or answer.length is None else self._have + answer.length
        if self._have + (answer.length or 0) > self._max_bytes:
            raise self._too_large(answer)
        try:
            async for piece in answer.body():
                self._have += len(piece)
                if max(self._have, answer.raw_bytes) > self._max_bytes:
                    raise self._too_large(answer)
                self._file.write(piece)
                trip.tell(self._have, whole)
        except BROKEN:
            return False
        return True

    async def resume(self, web: Web, trip: Trip) -> None:
        """Asks for the rest, again and again; the time is bounded by whoever calls."""
        for attempt in range(RESUMES):
            await asyncio.sleep(PAUSE_SECONDS * 2**attempt)
            wanted = {"Range": f"bytes={self._have}-", "If-Range": self._mark} if self._mark and self._have else {}
            try:
                async with web.get(self._url, trip, wanted, judged=False) as answer:
                    if answer.status in (200, 206) and await self.save(answer, trip):
                        return
                    if answer.status == 416:
                        self._mark = ""
            except BROKEN:
                continue
        raise DownloadUnavailable(f"{shown(self._url)}: the connection broke {RESUMES + 1} times")

    def _begin(self, answer: Answer) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._have = 0
        tag = answer.headers.get("etag", "")
        mark = tag if tag and not tag.startswith("W/") else answer.headers.get("last-modified", "")
        usable = mark.isascii() and mark.isprintable() and len(mark) <= 200 and not answer.packed
        self._mark = mark if usable else ""

    def _continues(self, answer: Answer) -> bool:
        found = _RANGE.fullmatch(answer.headers.get("content-range", ""))
        return bool(self._mark and found and int(found[1]) == self._have and not answer.packed)

    def _too_large(self, answer: Answer) -> ClipLost:
        return ClipLost(Loss.TOO_LARGE, f"{shown(answer.url)} is larger than {self._max_bytes} bytes")
