"""Local copies of masters while stages work on their clips, and temporary folders for stage outputs.

A master may be gigabytes in size and have hundreds of clips, so it is downloaded once. Folders of killed processes are
removed when the next process starts.
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

from found_footy.errors import MediaError
from found_footy.library.models import SourceVideo, master_key
from found_footy.storage.objects.backend import ObjectStore

FOLDER_PREFIX = "footy-library-"
MAX_IDLE = 2
"""Unused masters in the cache."""


class MasterCache:
    """A locked folder of masters; the lock shows other processes that its owner is alive."""

    def __init__(self, objects: ObjectStore, parent: Path | None = None, *, max_idle: int = MAX_IDLE) -> None:
        self._objects = objects
        self._max_idle = max_idle
        parent = parent or Path(tempfile.gettempdir())
        _remove_abandoned(parent)
        self._folder, self._lock = _locked_folder(parent)
        self._users: Counter[Path] = Counter()
        self._downloading: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._idle: dict[Path, None] = {}
        """Unused masters, the least recently used first."""

    @asynccontextmanager
    async def master(self, source: SourceVideo) -> AsyncIterator[Path]:
        """Yield the source's master as a local file."""
        path = self._folder / f"{source.id}-{source.master.md5 if source.master else 'unknown'}.mp4"
        self._users[path] += 1
        self._idle.pop(path, None)
        try:
            async with self._downloading[path]:
                if not path.exists():
                    await self._objects.get(master_key(source.id), path)
            yield path
        finally:
            self._users[path] -= 1
            if not self._users[path]:
                self._idle[path] = None
            for evicted in self._evict():
                await asyncio.to_thread(evicted.unlink, missing_ok=True)

    @contextmanager
    def temporary_folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="work-", dir=self._folder) as name:
            yield Path(name)

    async def aclose(self) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        os.close(self._lock)

    def _evict(self) -> list[Path]:
        """Rename unused masters for deletion, so that a new user downloads its own copy."""
        evicted = []
        while len(self._idle) > self._max_idle:
            path = next(iter(self._idle))
            del self._idle[path], self._users[path], self._downloading[path]
            if path.exists():
                evicted.append(path.rename(path.with_suffix(f".{uuid4().hex}")))
        return evicted


def hide_path(error: MediaError) -> str:
    """Error message without the local file path."""
    return re.sub(rf"\S*/{FOLDER_PREFIX}[^\s:]+", "the file", str(error))


def _locked_folder(parent: Path) -> tuple[Path, int]:
    # Hidden until locked, so that other processes do not remove it as abandoned.
    hidden = Path(tempfile.mkdtemp(prefix=f".{FOLDER_PREFIX}", dir=parent))
    lock = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return hidden.rename(parent / hidden.name.removeprefix(".")), lock


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{FOLDER_PREFIX}*"):
        with suppress(OSError):  # its owner is alive, or another process is removing it
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)
