"""Object store for the whole system: validates arguments and runs the backend's blocking calls on threads."""

from __future__ import annotations

import asyncio
import re
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from found_footy.errors import ObjectMissing, ObjectStoreError, ObjectStoreUnavailable
from found_footy.storage.objects.backend import Backend, StoredObject
from found_footy.storage.objects.failures import file_failure
from found_footy.storage.objects.folder import FolderObjects
from found_footy.storage.objects.keys import check_key, check_prefix, fit_metadata
from found_footy.storage.objects.s3 import S3Access, S3Objects
from found_footy.storage.volumes import require_space

P = ParamSpec("P")
T = TypeVar("T")

READ_BYTES = 16 * 1024 * 1024
"""Limit of one `read`, which is held in memory."""

_THREADS = 8
"""Concurrent calls. The pool is separate, so that an unresponsive store blocks no other threads."""


_CREATION_SECONDS = 30.0


class ThreadedObjectStore:
    """An `ObjectStore` with additional ranged reads.

    A cancelled call returns at once but may still take effect; a put or a get then completes as a whole.
    """

    def __init__(self, backend: Backend, free_space: int = 0) -> None:
        self._backend = backend
        self._free_space = free_space
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="objects")

    async def put(
        self, key: str, path: Path, *, content_type: str = "video/mp4", metadata: Mapping[str, str] | None = None
    ) -> None:
        check_key(key)
        if not re.fullmatch(r"[\w.+-]{1,60}/[\w.+-]{1,60}", content_type, re.ASCII):
            raise ObjectStoreError(f"{content_type[:60]!r} is not a valid content type, such as video/mp4")
        kept = fit_metadata(metadata or {})
        await self._run(self._store_file, key, path, content_type, kept)

    async def get(self, key: str, to: Path) -> None:
        await self._run(self._fetch, check_key(key), to)

    async def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return part of an object, at most READ_BYTES; empty beyond its end. Raises ObjectMissing."""
        if start < 0 or (length is not None and length < 0):
            raise ObjectStoreError(f"read {key[:80]!r}: invalid byte range: start {start}, length {length}")
        wanted = READ_BYTES if length is None else min(length, READ_BYTES)
        if wanted == 0:
            if await self.head(key) is None:
                raise ObjectMissing(f"object {key} not found")
            return b""
        return await self._run(self._backend.read, check_key(key), start, wanted)

    async def copy(self, key: str, to: str) -> None:
        await self._run(self._copy, check_key(key), check_key(to))

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
        """Return a URL that gives anyone read access for `seconds`; None if the store has no URLs."""
        return await self._run(self._backend.signed_url, check_key(key), seconds)

    async def create_bucket(self) -> bool:
        """Create the bucket if it does not exist. Return whether it was created."""
        from found_footy.runtime.http import (  # imported here because only this call needs it
            HttpClient,
            HttpError,
            HttpLimits,
        )

        url = await self._run(self._backend.creation_url)
        if url is None:
            return False
        async with aclosing(HttpClient(HttpLimits(_CREATION_SECONDS))) as client:
            try:
                answer = await client.request("PUT", url, record_body=False)
            except HttpError as error:
                raise ObjectStoreUnavailable(f"create the bucket: {error}") from None
        if answer.status == HTTPStatus.CONFLICT:  # another process created it first
            return False
        if not answer.ok:
            raise ObjectStoreError(f"create the bucket of {self._backend.describe()}: HTTP {answer.status}")
        return True

    async def check(self) -> str:
        """Write, read and delete a small object; return a description of the store."""
        await self._run(self._round_trip)
        return self._backend.describe()

    async def aclose(self) -> None:
        """Wait for pending calls, each of which has a time limit."""
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
            raise ObjectStoreError(f"store {path}: not a file")
        if self._backend.folder is not None:
            require_space(self._backend.folder, self._free_space, found.st_size)
        self._backend.put(key, path, content_type, metadata)

    def _copy(self, key: str, to: str) -> None:
        if self._backend.folder is not None:
            require_space(self._backend.folder, self._free_space)
        self._backend.copy(key, to)

    def _fetch(self, key: str, to: Path) -> None:
        require_space(to.parent, self._free_space)
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

    def _round_trip(self) -> None:
        # A hidden key, which listings omit and callers cannot use.
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
                raise ObjectStoreError(f"{self._backend.describe()}: an object read back differs from the one written")
        finally:
            self._backend.delete([key])


# --- Opening a store by URL.


_PREFIX_BYTES = 200
"""Prefix and key together must fit into S3's limit of 1,024."""


def open_object_store(
    url: str,
    *,
    endpoint: str | None,
    region: str,
    access_key: str | None,
    secret_key: str | None,
    timeout_seconds: float = 30,
    free_space: int = 0,
) -> ThreadedObjectStore:
    """Open `file:///folder`, created if missing, or `s3://bucket/prefix`, without connecting yet.

    Without keys, S3 uses the AWS credentials of the environment or the instance role.
    """
    backend: Backend
    if url.startswith("file://"):
        backend = FolderObjects(folder_of(url))
    elif url.startswith("s3://"):
        bucket, prefix = bucket_of(url)
        if (access_key is None) != (secret_key is None):
            raise ObjectStoreError("Only one of FOOTY_S3_ACCESS_KEY and FOOTY_S3_SECRET_KEY is set: set both or none")
        server = None if endpoint is None else _endpoint(endpoint)
        backend = S3Objects(S3Access(bucket, prefix, server, region, access_key, secret_key, timeout_seconds))
    else:
        raise ObjectStoreError("Invalid object store URL: expected file:///folder or s3://bucket/prefix")
    return ThreadedObjectStore(backend, free_space)


def folder_of(url: str) -> Path:
    """Parse a file URL, in which special characters may be percent-encoded."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc or parts.query or parts.fragment or "\0" in path or not path.strip("/"):
        raise ObjectStoreError("Invalid object store URL: expected file:///folder, with ?, # and % as %3F, %23 and %25")
    return Path(path)


def bucket_of(url: str) -> tuple[str, str]:
    """Return bucket and prefix, unescaped: S3 URLs have no percent-encoding."""
    found = re.fullmatch(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?", url)
    if found is None:
        raise ObjectStoreError(
            "Invalid object store URL: expected s3://bucket/prefix, with a bucket name of a-z, 0-9, . and -"
        )
    prefix = check_prefix(found[2] or "")
    if len(prefix.encode()) > _PREFIX_BYTES:
        raise ObjectStoreError(f"The prefix of the object store's URL is longer than {_PREFIX_BYTES} bytes")
    return found[1], prefix


def _endpoint(url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound or parts.username is not None or parts.query or parts.fragment:
        # The message omits the URL, which may contain a password.
        raise ObjectStoreError("Invalid FOOTY_S3_ENDPOINT: expected https://host:port without user and password")
    return url.rstrip("/")
