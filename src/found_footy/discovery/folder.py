"""Folder source: recordings that people drop into a folder, described by file name and parent folders."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote_from_bytes

from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.sources import newest_first
from found_footy.errors import SourceUnavailable
from found_footy.runtime.clock import utc_now
from found_footy.text import clean_text

SOURCE = "folder"
SCHEME = "folder:"
SUFFIXES = frozenset({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".ts", ".mpg", ".mpeg", ".avi", ".flv"})
MAX_DEPTH = 6
"""Maximum depth of subfolders."""
MAX_FILES = 20_000
MIN_FILE_AGE = timedelta(seconds=1)
"""A file modified more recently may be incomplete."""
MAX_CLOCK_SKEW = timedelta(minutes=1)
"""A modification time less than this in the future is clock skew, so the file counts as new."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _FolderFile:
    path: str
    relative: str
    size: int
    modified_ns: int


@dataclass(slots=True)
class _Scan:
    """One scan of the folder, with its counters."""

    root: str
    entries: int = 0
    unreadable: int = 0
    too_deep: int = 0

    def files(self) -> Iterator[_FolderFile]:
        folders = [(self.root, 0)]
        while folders:
            folder, depth = folders.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        self.entries += 1
                        if self.entries > MAX_FILES:
                            return
                        if entry.name.startswith("."):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            if depth < MAX_DEPTH:
                                folders.append((entry.path, depth + 1))
                            else:
                                self.too_deep += 1
                        elif os.path.splitext(entry.name)[1].lower() in SUFFIXES:
                            yield from self._file(entry)
            except OSError:
                # The caller reports an unreadable root; an unreadable subfolder is only counted.
                if folder == self.root:
                    raise
                self.unreadable += 1

    def _file(self, entry: os.DirEntry[str]) -> Iterator[_FolderFile]:
        try:
            if entry.is_symlink() and not _is_inside(os.path.realpath(entry.path), os.path.realpath(self.root)):
                return
            if not entry.is_file():
                return
            status = entry.stat()
        except FileNotFoundError:
            return  # deleted in the meantime
        except OSError:
            self.unreadable += 1
            return
        yield _FolderFile(entry.path, os.path.relpath(entry.path, self.root), status.st_size, status.st_mtime_ns)


class Folder:
    def __init__(self, path: Path, *, now: Callable[[], datetime] = utc_now) -> None:
        self._path = path
        self._now = now

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        return newest_first(await asyncio.to_thread(self._posts, query), since)

    async def check(self) -> str:
        found = await asyncio.to_thread(self._scan)
        return f"{len(found)} videos in {self._path}"

    async def aclose(self) -> None:
        pass

    def _posts(self, query: SearchQuery) -> list[Post]:
        matching = [file for file in self._scan() if query.matches(_search_text(file.relative))]
        now = self._now()
        return [_post(file, now) for file in matching if _is_complete(file, now)]

    def _scan(self) -> list[_FolderFile]:
        scan = _Scan(os.fspath(self._path))
        try:
            found = list(scan.files())
        except OSError as error:
            raise SourceUnavailable(f"the folder {self._path} cannot be read: {error.strerror}") from error
        skipped = {
            "unreadable": scan.unreadable,
            "too deep": scan.too_deep,
            "too many": int(scan.entries > MAX_FILES),
        }
        if any(skipped.values()):
            reasons = ", ".join(f"{count} {reason}" for reason, count in skipped.items() if count)
            log.warning(
                f"folder: parts of {self._path} were skipped: {reasons}",
                extra={"action": "files_skipped", "source": SOURCE, "count": sum(skipped.values())},
            )
        return found


def _is_inside(path: str, root: str) -> bool:
    return os.path.commonpath((path, root)) == root


def _search_text(relative: str) -> str:
    """Return the search text of a relative path: `Liverpool/Salah_67.mp4` serves as a title."""
    return clean_text(re.sub(r"[/\\._-]+", " ", os.path.splitext(relative)[0]))


def _is_complete(file: _FolderFile, now: datetime) -> bool:
    """Whether the file is no longer being written. A later search finds an incomplete file."""
    age = now - _modified(file)
    if -MAX_CLOCK_SKEW < age < MIN_FILE_AGE or file.size == 0:
        return False
    try:
        current = os.stat(file.path)
    except OSError:
        return False  # deleted in the meantime
    return (current.st_size, current.st_mtime_ns) == (file.size, file.modified_ns)


def _modified(file: _FolderFile) -> datetime:
    return datetime.fromtimestamp(file.modified_ns / 1e9, UTC)


def _post(file: _FolderFile, now: datetime) -> Post:
    """Build a post whose id depends on size and modification time, so a rewritten file is a new post."""
    name = os.fsencode(file.relative)
    fingerprint = hashlib.sha256(b"%d %d %b" % (file.modified_ns, file.size, name)).hexdigest()
    link = SCHEME + quote_from_bytes(name.replace(os.fsencode(os.sep), b"/"))
    return Post(
        source=SOURCE,
        id=fingerprint[:32],
        url=link,
        media_url=link,
        posted_at=min(_modified(file), now),
        text=clean_text(file.relative),
    )
