"""A part of a stored file as an answer, piece by piece: nobody's slowness costs more memory than one piece."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from found_footy.domain.errors import ObjectMissing, ObjectStoreError, ObjectStoreUnavailable, StreamFull
from found_footy.web.files.ranges import Span
from found_footy.web.ports import ClipFiles

log = logging.getLogger(__name__)

CHUNK_BYTES = 128 * 1024
MOST_READERS = 500
"""At once, in one process. Each holds a piece here, and as much again on its way out."""


class Readers:
    """Counts those who are being sent a file."""

    def __init__(self, most: int = MOST_READERS) -> None:
        self.most = most
        self.now = 0

    def __enter__(self) -> None:
        if self.now >= self.most:
            raise StreamFull(f"{self.now} readers are being sent files already")
        self.now += 1

    def __exit__(self, *_: object) -> None:
        self.now -= 1


class FileAnswer(Response):
    """Call `open` before it is returned: a file that is missing must not look like an empty one."""

    def __init__(
        self, files: ClipFiles, key: str, span: Span, readers: Readers, status: int, headers: Mapping[str, str]
    ) -> None:
        super().__init__(status_code=status, headers={**headers, "Content-Length": str(span.length)})
        self._files, self._key, self._span, self._readers = files, key, span, readers
        self._first = b""

    async def open(self) -> FileAnswer:
        """Reads the first piece. Raises an ObjectStoreError."""
        self._first = await self._piece(self._span.start)
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_gone(receive))
        try:
            with self._readers:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                await self._send(send, gone)
        finally:
            gone.cancel()

    async def _send(self, send: Send, gone: asyncio.Task[None]) -> None:
        # Sending waits for a slow reader, and returns at once where the reader has left.
        piece, at = self._first, self._span.start
        self._first = b""
        while not gone.done():
            at += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": at < self._span.end})
            if at >= self._span.end:
                return
            piece = b""
            try:
                piece = await self._piece(at)
            except ObjectStoreError as error:
                # Too late for another answer: the reader sees from the length that this one is cut off.
                log.error(str(error), extra={"action": "file_cut_off", "key": self._key, "error": error.kind})
                return

    async def _piece(self, start: int) -> bytes:
        wanted = min(CHUNK_BYTES, self._span.end - start)
        piece = await self._files.read(self._key, start, wanted)
        if len(piece) != wanted:
            raise ObjectStoreUnavailable(f"{self._key} is shorter than it should be")
        return piece


async def open_file(answer: FileAnswer, video_id: str) -> FileAnswer:
    """The record says that there is a file: where there is none, something is wrong here and not with the link."""
    try:
        return await answer.open()
    except ObjectMissing as error:
        log.error(str(error), extra={"action": "file_missing", "video_id": video_id, "error": error.kind})
        raise ObjectStoreError(f"the file of the video {video_id} is missing in the object store") from None


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
