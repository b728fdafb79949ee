"""The object store that everybody uses: checks what it is given, and keeps the backend's blocking calls on threads."""

from __future__ import annotations

import asyncio
import re
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar
from uuid import uuid4

from found_footy.adapters.storage.objects.backend import Backend
from found_footy.adapters.storage.objects.failures import file_failure
from found_footy.adapters.storage.objects.keys import check_key, check_prefix
from found_footy.adapters.storage.objects.metadata import tidy
from found_footy.domain.errors import ObjectMissing, ObjectStoreError
from found_footy.ports import StoredObject

P = ParamSpec("P")
T = TypeVar("T")

READ_BYTES = 16 * 1024 * 1024
"""The most that one `read` gives: it is held in memory."""

_THREADS = 8
"""Calls at once. Threads of its own, so that a store that does not answer keeps nobody else waiting for one."""


class ThreadedObjectStore:
    """An `ObjectStore`, with ranged reads beyond the port.

    A call that is cancelled is not waited for, and may still have its effect: a put or a get then happens as a whole.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="objects")

    async def put(
        self, key: str, path: Path, *, content_type: str = "video/mp4", metadata: Mapping[str, str] | None = None
    ) -> None:
        check_key(key)
        if not re.fullmatch(r"[\w.+-]{1,60}/[\w.+-]{1,60}", content_type, re.ASCII):
            raise ObjectStoreError(f"{content_type[:60]!r} is no content type such as video/mp4")
        kept = tidy(metadata or {})
        await self._run(self._store_file, key, path, content_type, kept)

    async def get(self, key: str, to: Path) -> None:
        await self._run(self._fetch, check_key(key), to)

    async def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """A part of an object, at most READ_BYTES of it; nothing beyond its end. Raises ObjectMissing."""
        if start < 0 or (length is not None and length < 0):
            raise ObjectStoreError(f"read {key[:80]!r}: {start} and {length} are no range of bytes")
        wanted = READ_BYTES if length is None else min(length, READ_BYTES)
        if wanted == 0:
            if await self.head(key) is None:
                raise ObjectMissing(f"There is no object {key}")
            return b""
        return await self._run(self._backend.read, check_key(key), start, wanted)

    async def copy(self, key: str, to: str) -> None:
        await self._run(self._backend.copy, check_key(key), check_key(to))

    async def delete(self, keys: Sequence[str]) -> None:
        await self._run(self._backend.delete, [*dict.fromkeys(check_key(key) for key in keys)])

    async def list(self, prefix: str = "") -> AsyncIterator[StoredObject]:
        pages = self._backend.pages(check_prefix(prefix))
        while (page := await self._run(next, pages, None)) is not None:
            for stored in page:
                yield stored

    async def head(self, key: str) -> StoredObject | None:
        return await self._run(self._backend.head, check_key(key))

    async def metadata(self, key: str) -> Mapping[str, str]:
        return await self._run(self._backend.metadata, check_key(key))

    async def signed_url(self, key: str, seconds: float) -> str | None:
        """An address under which anybody can read the object for so long; None where the store has no addresses."""
        return await self._run(self._backend.signed_url, check_key(key), seconds)

    async def check(self) -> str:
        """Writes, reads and deletes a tiny object; returns where that was."""
        await self._run(self._try_out)
        return self._backend.describe()

    async def aclose(self) -> None:
        """Waits for the calls under way, each of which is bounded."""
        await asyncio.to_thread(self._threads.shutdown)

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: call(*args, **kwargs))

    def _store_file(self, key: str, path: Path, content_type: str, metadata: Mapping[str, str]) -> None:
        try:
            found = path.stat()
        except OSError as error:
            raise file_failure(error, f"store {path}") from error
        if not stat.S_ISREG(found.st_mode):
            raise ObjectStoreError(f"store {path}: it is no file")
        self._backend.put(key, path, content_type, metadata)

    def _fetch(self, key: str, to: Path) -> None:
        part = to.with_name(f".{uuid4().hex}.part")
        try:
            with part.open("wb") as file:
                for chunk in self._backend.chunks(key):
                    file.write(chunk)
            part.replace(to)
        except OSError as error:
            raise file_failure(error, f"write {to}") from error
        finally:
            with suppress(FileNotFoundError, NotADirectoryError):
                part.unlink()

    def _try_out(self) -> None:
        # Hidden from listings, and no key that anybody else could use.
        key, content = f".check/{uuid4().hex}", uuid4().bytes
        try:
            with tempfile.TemporaryDirectory(prefix="footy-check-") as folder:
                path = Path(folder, "object")
                path.write_bytes(content)
                self._backend.put(key, path, "application/octet-stream", {})
        except OSError as error:
            raise file_failure(error, "write a temporary file") from error
        try:
            if b"".join(self._backend.chunks(key)) != content:
                raise ObjectStoreError(f"{self._backend.describe()}: an object was not read back as it was written")
        finally:
            self._backend.delete([key])
