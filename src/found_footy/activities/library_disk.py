"""The library's place on this machine's disk: masters that are being worked on, and folders for what is made of them.

A master may have gigabytes and hundreds of clips, so it is fetched once and kept while its clips are worked on. What a
killed process has left behind is removed by the next one that starts.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from found_footy.activities.clip_files import PREFIX
from found_footy.domain.clips.keys import master_key
from found_footy.domain.clips.values import Source
from found_footy.domain.errors import MediaError
from found_footy.ports import ObjectStore

NAME = f"{PREFIX}library-"
KEPT = 2
"""Masters that stay although nobody is at them."""


class LibraryDisk:
    """A folder with a lock of its own, by which others see that its process lives."""

    def __init__(self, objects: ObjectStore, parent: Path | None = None, *, kept: int = KEPT) -> None:
        self._objects = objects
        self._kept = kept
        place = parent or Path(tempfile.gettempdir())
        _sweep(place)
        self._folder, self._lock = _claimed(place)
        self._users: Counter[Path] = Counter()
        self._fetching: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._idle: dict[Path, None] = {}
        """Those that nobody is at, the one that was left first being the first."""

    @asynccontextmanager
    async def master(self, source: Source) -> AsyncIterator[Path]:
        """The source's master as a local file, for as long as the block lasts."""
        path = self._folder / f"{source.id}-{source.master.md5 if source.master else 'unknown'}.mp4"
        self._users[path] += 1
        self._idle.pop(path, None)
        try:
            async with self._fetching[path]:
                if not path.exists():
                    await self._objects.get(master_key(source.id), path)
            yield path
        finally:
            self._users[path] -= 1
            if not self._users[path]:
                self._idle[path] = None
            for gone in self._make_room():
                await asyncio.to_thread(gone.unlink, missing_ok=True)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="work-", dir=self._folder) as name:
            yield Path(name)

    async def aclose(self) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        os.close(self._lock)

    def _make_room(self) -> list[Path]:
        """Files under other names, so that whoever comes now fetches theirs anew; they take a while to delete."""
        gone = []
        while len(self._idle) > self._kept:
            path = next(iter(self._idle))
            del self._idle[path], self._users[path], self._fetching[path]
            if path.exists():
                gone.append(path.rename(path.with_suffix(f".{uuid4().hex}")))
        return gone


def said(error: MediaError) -> str:
    """Its words, without the place where the file lay on this machine."""
    return re.sub(rf"\S*/{NAME}[^\s:]+", "the file", str(error))


def _claimed(place: Path) -> tuple[Path, int]:
    # Hidden until it is locked, so that nobody takes it for abandoned.
    hidden = Path(tempfile.mkdtemp(prefix=f".{NAME}", dir=place))
    lock = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return hidden.rename(place / hidden.name.removeprefix(".")), lock


def _sweep(place: Path) -> None:
    for folder in place.glob(f"{NAME}*"):
        with suppress(OSError):  # somebody else's, or swept by another one at this moment
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)
