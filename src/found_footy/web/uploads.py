"""Submission of a source, by URL or by streamed upload. Used by the API and the page."""

from __future__ import annotations

import asyncio
import errno
import tempfile
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from starlette.requests import ClientDisconnect, Request

from found_footy.errors import (
    BadRequest,
    DecoderUnavailable,
    FootyError,
    MediaError,
    ObjectStoreError,
    StreamFull,
    TooManyRequests,
)
from found_footy.library.models import SourceKind, Submission, upload_key
from found_footy.library.submissions import title_from_filename, validate_facts, validate_title, validate_url
from found_footy.media.processor import MediaProcessor
from found_footy.storage.limits import take_token
from found_footy.storage.volumes import MEGABYTE, require_space, temporary_folder
from found_footy.web.services import WebServices
from found_footy.web.visitors import ConcurrencyLimit, limited_address, visitor_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MAX_UPLOADS = 8
"""Concurrent uploads per process: each occupies a local file until it is stored."""
CHUNK_BYTES = 1024 * 1024
IDLE_TIMEOUT_SECONDS = 60.0
"""Seconds without a byte after which an upload is aborted."""

Facts = Mapping[str, str | None]


async def submit_url(services: WebServices, url: str, title: str | None, facts: Facts, by: str) -> int:
    """Submit a URL; return the new source's id. Raises BadRequest with the reason."""
    address, valid_facts = validate_url(url, services.library.address_refusal), validate_facts(facts)
    valid_title = validate_title(title, address.title)
    submission = Submission(SourceKind.URL, valid_title, valid_facts, url=address.url, by=by)
    return await services.library.store.submit(submission, services.now())


async def submit_file(
    request: Request, services: WebServices, name: str, title: str | None, facts: Facts, by: str
) -> int:
    """Submit the request's body as a video; return the new source's id. Raises BadRequest, StreamFull, an
    ObjectStoreError.
    """
    valid_facts, key = validate_facts(facts), upload_key(uuid4().hex)
    valid_title = validate_title(title, title_from_filename(name) or "Untitled video")
    with _uploads(request).entered(limited_address(request)):
        await _store(services, key, request.stream())
    try:
        submission = Submission(SourceKind.FILE, valid_title, valid_facts, upload_key=key, by=by)
        return await services.library.store.submit(submission, services.now())
    except FootyError:
        with suppress(ObjectStoreError):  # otherwise the scrubber finds it
            await services.files.delete([key])
        raise


async def _store(services: WebServices, key: str, chunks: AsyncIterator[bytes]) -> None:
    require_space(temporary_folder(), services.rules.free_space_mb * MEGABYTE)
    with tempfile.TemporaryDirectory(prefix="footy-upload-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "upload")
        try:
            file = await asyncio.to_thread(path.open, "wb")
            with file:
                size = await _write(file, chunks, services.rules.source_mb * 1_000_000)
        except ClientDisconnect:
            raise BadRequest("the upload was interrupted") from None
        except OSError as error:
            reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or "the disk")
            raise ObjectStoreError(f"could not store the upload: {reason}") from error
        if size == 0:
            raise BadRequest("the file is empty")
        await services.files.put(key, path, content_type="application/octet-stream")


async def _write(file: BinaryIO, chunks: AsyncIterator[bytes], max_bytes: int) -> int:
    """Write chunk by chunk: memory use is constant for any size."""
    size, buffer = 0, bytearray()
    iterator = aiter(chunks)
    while True:
        try:
            async with asyncio.timeout(IDLE_TIMEOUT_SECONDS):
                chunk = await anext(iterator, None)
        except TimeoutError:
            raise BadRequest(f"no data received for {IDLE_TIMEOUT_SECONDS:g} s") from None
        if chunk is not None:
            size += len(chunk)
            if size > max_bytes:
                raise BadRequest(f"the file is larger than {max_bytes // 1_000_000} MB")
            buffer += chunk
        if len(buffer) >= CHUNK_BYTES or (chunk is None and buffer):
            await asyncio.to_thread(file.write, bytes(buffer))
            buffer.clear()
        if chunk is None:
            return size


def _uploads(request: Request) -> ConcurrencyLimit:
    limit: ConcurrencyLimit = request.app.state.uploads
    return limit


# --- Search images: bounded size, decoded in the sandbox, rate-limited per client.


MAX_PICTURE_BYTES = 1024 * 1024
"""Same limit as for all requests read into memory. The page shrinks images before sending them."""
MAX_PARALLEL = 8
BURST, INTERVAL = 10, 2_000_000
"""Images that one client may send at once, and microseconds until another one is allowed."""
MAX_CLIENTS = 1000


class PictureReceiver:
    """One instance per process."""

    def __init__(self, now: Callable[[], int] = lambda: time.monotonic_ns() // 1000) -> None:
        self._now = now
        self._full_at: OrderedDict[str, int] = OrderedDict()
        self._limit = ConcurrencyLimit(MAX_PARALLEL, "pictures")

    async def read(self, request: Request, decoder: MediaProcessor) -> NDArray[np.uint8]:
        """Read and decode an image. Raises BadRequest, TooManyRequests and StreamFull."""
        self._admit(visitor_key(request))
        with self._limit.entered(limited_address(request)):
            try:
                return await decoder.decode_image(await read_picture(request))
            except MediaError as error:
                raise BadRequest(f"cannot search by this picture: {error}") from None
            except DecoderUnavailable as error:
                raise StreamFull(str(error)) from None

    def _admit(self, client: str) -> None:
        now = self._now()
        bucket = take_token(self._full_at.get(client, now), now, INTERVAL, BURST)
        self._full_at[client] = bucket.full_at
        self._full_at.move_to_end(client)
        if len(self._full_at) > MAX_CLIENTS:
            self._full_at.popitem(last=False)
        if bucket.wait:
            seconds = max(1, round(bucket.wait / 1e6 + 0.5))
            error = TooManyRequests(f"too many pictures from this address; try again in {seconds} s")
            vars(error)["headers"] = {"Retry-After": str(seconds)}
            raise error


async def read_picture(request: Request) -> bytes:
    """Raw bytes of an image, without a form. Raises BadRequest."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and not kind.startswith("image/") and kind != "application/octet-stream":
        raise BadRequest("send the picture itself as image/jpeg, image/png or similar, not as a form")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_PICTURE_BYTES:
            raise BadRequest(f"the picture is larger than {MAX_PICTURE_BYTES} bytes")
    if not body:
        raise BadRequest("the request contains no picture")
    return bytes(body)


def picture_receiver(request: Request) -> PictureReceiver:
    receiver: PictureReceiver = request.app.state.pictures
    return receiver
