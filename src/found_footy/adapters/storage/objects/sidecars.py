"""What a folder cannot keep with a file: its metadata and its content type, in files of their own.

They lie in `.metadata/`, named by the key's hash, because keys such as `a` and `a.json/b` would get into each other's
way. An object is then two files; a lock on one of 256 folders lets nobody see the one without the other. It is the
system's own lock, which ends with the process that holds it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from found_footy.adapters.storage.objects.plain_paths import plain_path
from found_footy.domain.errors import ObjectStoreError


@dataclass(frozen=True, slots=True)
class Sidecar:
    content_type: str
    metadata: Mapping[str, str]

    def document(self, key: str) -> bytes:
        """The key is there for people, who cannot read hashes."""
        document = {"key": key, "content_type": self.content_type, "metadata": dict(self.metadata)}
        return json.dumps(document, ensure_ascii=False, indent=1).encode()


class Sidecars:
    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return plain_path(self._root, f".metadata/{name[:2]}/{name}.json")

    @contextmanager
    def alone_with(self, key: str) -> Iterator[None]:
        """For whoever changes an object."""
        folder = self.path(key).parent
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, fcntl.LOCK_EX):
            yield

    @contextmanager
    def steady(self, key: str) -> Iterator[None]:
        """For whoever reads an object and its sidecar: nobody changes them meanwhile. Makes nothing itself."""
        folder = self.path(key).parent
        if not folder.is_dir():
            yield
            return
        with _locked(folder, fcntl.LOCK_SH):
            yield

    def load(self, key: str) -> Sidecar:
        path = self.path(key)
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            # Somebody put the file into the folder by hand.
            return Sidecar("application/octet-stream", {})
        try:
            document = json.loads(text)
            metadata = {str(name): str(value) for name, value in document["metadata"].items()}
            return Sidecar(str(document["content_type"]), metadata)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ObjectStoreError(f"The metadata of {key} in {path} is damaged; store the object again") from error


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, kind)
        yield
    finally:
        os.close(descriptor)
