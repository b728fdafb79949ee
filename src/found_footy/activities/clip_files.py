"""Between the object store and a file on this machine's disk, for as long as a step needs it."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from found_footy.domain.errors import MediaError
from found_footy.domain.videos.keys import staging_key
from found_footy.ports import ObjectStore

PREFIX = "footy-"
_CHUNK = 1024 * 1024


@contextmanager
def folder_for_a_clip() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        yield Path(folder)


@asynccontextmanager
async def staged_file(objects: ObjectStore, event_id: str, md5: str) -> AsyncIterator[Path]:
    with folder_for_a_clip() as folder:
        path = folder / f"{md5}.mp4"
        await objects.get(staging_key(event_id, md5), path)
        yield path


def said_of_file(error: MediaError) -> str:
    """Its words, without the place where the file lay for a moment on this machine."""
    return re.sub(rf"\S*/{PREFIX}[^/\s]+/[^/\s:]+", "the file", str(error))


def md5_of_file(path: Path) -> str:
    # A name for content, not a protection against anybody.
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
