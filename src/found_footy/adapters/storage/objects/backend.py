"""What a folder and an S3 server have to offer; everything else is done once, for both, in store.py.

The calls block. That is on purpose: obstore's asynchronous calls come back on threads of their own, and where one comes
back while the interpreter ends, the process aborts. Blocking calls on threads of ours are waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from found_footy.ports import StoredObject

PART_BYTES = 5 * 1024 * 1024
"""Large objects go in parts of this size, the least that S3 allows: each part has a timeout of its own."""

PAGE_KEYS = 1000
"""S3's bound on one page of a listing and on one request for deletion."""


class Backend(Protocol):
    """Keys are checked and metadata is tidy. All methods raise an ObjectStoreError."""

    def put(self, key: str, path: Path, content_type: str, metadata: Mapping[str, str]) -> None: ...

    def chunks(self, key: str) -> Iterator[bytes]:
        """The object from its start to its end, all of one version. Raises ObjectMissing."""

    def read(self, key: str, start: int, length: int) -> bytes:
        """Fewer bytes where the object ends before. Raises ObjectMissing."""

    def copy(self, key: str, to: str) -> None: ...

    def delete(self, keys: Sequence[str]) -> None: ...

    def pages(self, prefix: str) -> Iterator[Sequence[StoredObject]]: ...

    def head(self, key: str) -> StoredObject | None: ...

    def metadata(self, key: str) -> Mapping[str, str]: ...

    def signed_url(self, key: str, seconds: float) -> str | None:
        """An address under which anybody can read the object for so long, whether it exists or not."""

    def describe(self) -> str:
        """For people, once it is known to work."""
