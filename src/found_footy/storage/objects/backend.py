"""Interfaces of the object store and its backends; `store.py` has the code that both backends share.

Backend calls block on purpose. obstore's asynchronous calls return on its own threads, and the process aborts if one
returns during interpreter shutdown. Blocking calls run on our threads, which shutdown waits for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

PART_BYTES = 5 * 1024 * 1024
"""Part size of multipart transfers, the minimum that S3 allows. Each part has its own timeout."""

PAGE_KEYS = 1000
"""S3's limit for one page of a listing and for one delete request."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    key: str
    size: int
    modified: datetime


class ObjectStore(Protocol):
    """Files by key, such as `1380101/1380101_40_306_Goal_1/0cc175b9….mp4`. All methods raise ObjectStoreError."""

    async def put(
        self, key: str, path: Path, *, content_type: str = "video/mp4", metadata: Mapping[str, str] | None = None
    ) -> None:
        """Store a file atomically, replacing any existing object. Metadata values may be any text."""

    async def get(self, key: str, to: Path) -> None:
        """Raises ObjectMissing."""

    async def copy(self, key: str, to: str) -> None:
        """Copy an object and its metadata on the server, replacing any existing object. Raises ObjectMissing."""

    async def delete(self, keys: Sequence[str]) -> None:
        """Idempotent: missing keys are ignored."""

    def list(self, prefix: str = "") -> AsyncIterator[StoredObject]:
        """Yield all objects below a prefix such as `staging/`, across pages."""

    async def head(self, key: str) -> StoredObject | None: ...

    async def metadata(self, key: str) -> Mapping[str, str]:
        """Return the metadata as stored. Raises ObjectMissing."""

    async def check(self) -> str: ...

    async def aclose(self) -> None: ...


class Backend(Protocol):
    """Storage behind `ThreadedObjectStore`, which validates keys and metadata. All methods raise ObjectStoreError."""

    @property
    def folder(self) -> Path | None:
        """Folder with the objects; None if they are on another machine."""

    def put(self, key: str, path: Path, content_type: str, metadata: Mapping[str, str]) -> None: ...

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield the whole object, all chunks from one version. Raises ObjectMissing."""

    def read(self, key: str, start: int, length: int) -> bytes:
        """Return up to `length` bytes, fewer at the end of the object. Raises ObjectMissing."""

    def copy(self, key: str, to: str) -> None: ...

    def delete(self, keys: Sequence[str]) -> None: ...

    def pages(self, prefix: str) -> Iterator[Sequence[StoredObject]]: ...

    def head(self, key: str) -> StoredObject | None: ...

    def metadata(self, key: str) -> Mapping[str, str]: ...

    def signed_url(self, key: str, seconds: float) -> str | None:
        """Return a URL that gives anyone read access for `seconds`, whether the object exists or not."""

    def creation_url(self) -> str | None:
        """Return a signed URL that creates the bucket by an empty PUT; None if nothing needs to be created."""

    def describe(self) -> str:
        """Describe the store for people, after a successful check."""
