"""Between the object store and a file on this machine's disk, for as long as a step needs it."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from found_footy.domain.videos.keys import staging_key
from found_footy.ports import ObjectStore

_CHUNK = 1024 * 1024


@asynccontextmanager
async def staged_file(objects: ObjectStore, event_id: str, md5: str) -> AsyncIterator[Path]:
    with tempfile.TemporaryDirectory(prefix="footy-") as folder:
        path = Path(folder) / f"{md5}.mp4"
        await objects.get(staging_key(event_id, md5), path)
        yield path


def md5_of_file(path: Path) -> str:
    # A name for content, not a protection against anybody.
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
