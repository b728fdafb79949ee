"""Handing in a source: an address, or a film as it comes over the line. For the API and the page alike."""

from __future__ import annotations

import asyncio
import errno
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from starlette.requests import ClientDisconnect, Request

from found_footy.domain.clips.keys import upload_key
from found_footy.domain.clips.submitting import checked_facts, checked_title, checked_url, title_of_file
from found_footy.domain.clips.values import SourceKind
from found_footy.domain.errors import BadRequest, FootyError, ObjectStoreError, StreamFull
from found_footy.ports_library import Submission
from found_footy.web.services import Services

MOST_AT_ONCE = 8
"""Films that one process takes in at a time: each has a file on the disk until it is stored."""
PIECE_BYTES = 1024 * 1024
SILENCE_SECONDS = 60.0
"""After so long without a byte, whoever sends is taken to be gone."""

Facts = Mapping[str, str | None]


async def submit_url(services: Services, url: str, title: str | None, facts: Facts, by: str) -> int:
    """The new source's number. Raises BadRequest, with what is wrong."""
    address, told = checked_url(url, services.library.address_refusal), checked_facts(facts)
    called = checked_title(title, address.name)
    what = Submission(SourceKind.URL, called, told, url=address.url, by=by)
    return await services.library.store.submit(what, services.now())


async def submit_film(request: Request, services: Services, name: str, title: str | None, facts: Facts, by: str) -> int:
    """The same of the film that the request brings. Raises BadRequest, StreamFull, an ObjectStoreError."""
    told, key = checked_facts(facts), upload_key(uuid4().hex)
    called = checked_title(title, title_of_file(name) or "A film without a name")
    with _uploads(request):
        await _store(services, key, request.stream())
    try:
        what = Submission(SourceKind.FILE, called, told, upload_key=key, by=by)
        return await services.library.store.submit(what, services.now())
    except FootyError:
        with suppress(ObjectStoreError):  # the scrubber finds it, too
            await services.files.delete([key])
        raise


async def _store(services: Services, key: str, pieces: AsyncIterator[bytes]) -> None:
    with tempfile.TemporaryDirectory(prefix="footy-upload-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "film")
        try:
            file = await asyncio.to_thread(path.open, "wb")
            with file:
                size = await _write(file, pieces, services.rules.source_mb * 1_000_000)
        except ClientDisconnect:
            raise BadRequest("the film was cut off on its way here") from None
        except OSError as error:
            reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or "the disk")
            raise ObjectStoreError(f"the film could not be written down: {reason}") from error
        if size == 0:
            raise BadRequest("the film is empty")
        await services.files.put(key, path, content_type="application/octet-stream")


async def _write(file: BinaryIO, pieces: AsyncIterator[bytes], most: int) -> int:
    """Piece by piece: however large it is, little of it is in memory."""
    size, waiting = 0, bytearray()
    coming = aiter(pieces)
    while True:
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                piece = await anext(coming, None)
        except TimeoutError:
            raise BadRequest(f"nothing more of the film came for {SILENCE_SECONDS:g} s") from None
        if piece is not None:
            size += len(piece)
            if size > most:
                raise BadRequest(f"a source has at most {most // 1_000_000} MB")
            waiting += piece
        if len(waiting) >= PIECE_BYTES or (piece is None and waiting):
            await asyncio.to_thread(file.write, bytes(waiting))
            waiting.clear()
        if piece is None:
            return size


class _Uploads:
    """Counts those who are sending a film."""

    def __init__(self) -> None:
        self.now = 0

    def __enter__(self) -> None:
        if self.now >= MOST_AT_ONCE:
            raise StreamFull(f"{self.now} films are being taken in already; try again when one of them is here")
        self.now += 1

    def __exit__(self, *_: object) -> None:
        self.now -= 1


def _uploads(request: Request) -> _Uploads:
    """One count for each application."""
    state = request.app.state
    if not hasattr(state, "uploads"):
        state.uploads = _Uploads()
    uploads: _Uploads = state.uploads
    return uploads
