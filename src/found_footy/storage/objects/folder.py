"""Objects as files in a folder. Symbolic links are never followed, so no key leads out of the folder."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import obstore
from obstore.store import LocalStore

from found_footy.errors import ObjectMissing, ObjectStoreError, ObjectStoreUnavailable
from found_footy.storage.objects.backend import PAGE_KEYS, PART_BYTES, StoredObject
from found_footy.storage.objects.failures import ObstoreFailure, file_failure, is_missing, is_range_after_end
from found_footy.storage.objects.keys import is_key


def plain_path(root: Path, key: str) -> Path:
    """Return the path for a key. Raises ObjectStoreError if it contains a link; the root itself may be one."""
    path = root
    for name in key.split("/"):
        path = path / name
        if path.is_symlink():
            raise ObjectStoreError(f"{path} is a symbolic link; remove it, because objects must be regular files")
    return path


# --- Sidecar files with metadata and content type.


@dataclass(frozen=True, slots=True)
class Sidecar:
    content_type: str
    metadata: Mapping[str, str]

    def document(self, key: str) -> bytes:
        """Serialize as JSON. Includes the key for people, because the file name is a hash."""
        document = {"key": key, "content_type": self.content_type, "metadata": dict(self.metadata)}
        return json.dumps(document, ensure_ascii=False, indent=1).encode()


class Sidecars:
    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return plain_path(self._root, f".metadata/{name[:2]}/{name}.json")

    @contextmanager
    def exclusive_lock(self, key: str) -> Iterator[None]:
        """Hold an exclusive lock on an object and its sidecar."""
        folder = self.path(key).parent
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, fcntl.LOCK_EX):
            yield

    @contextmanager
    def shared_lock(self, key: str) -> Iterator[None]:
        """Hold a shared lock for a consistent read of an object and its sidecar. Creates no folder."""
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
            # The file was added to the folder by hand.
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


# --- Objects.


_STAGING = ".staging"
"""Objects that are being written, or whose process died while writing them."""

_STAGING_SECONDS = 86_400.0
"""Age at which staged files count as abandoned."""


class FolderObjects:
    def __init__(self, folder: Path) -> None:
        with _translate_failures(f"open the folder {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            self._root = folder.resolve(strict=True)
            self._store = LocalStore(self._root, automatic_cleanup=True)
            self._sidecars = Sidecars(self._root)
            _sweep(plain_path(self._root, _STAGING))

    @property
    def folder(self) -> Path:
        return self._root

    def put(self, key: str, path: Path, content_type: str, metadata: Mapping[str, str]) -> None:
        with _translate_failures(f"put {key}"), self._staging() as staged:
            obstore.put(self._store, f"{staged}/data", path, chunk_size=PART_BYTES)
            self._install(staged, key, Sidecar(content_type, metadata))

    def chunks(self, key: str) -> Iterator[bytes]:
        self._require(key)
        with _translate_failures(f"get {key}", missing=key):
            for chunk in obstore.get(self._store, key).stream(min_chunk_size=PART_BYTES):
                yield bytes(chunk)

    def read(self, key: str, start: int, length: int) -> bytes:
        self._require(key)
        with _translate_failures(f"get {key}", missing=key):
            try:
                return bytes(obstore.get(self._store, key, options={"range": (start, start + length)}).bytes())
            except ObstoreFailure as failure:
                if is_range_after_end(failure):
                    return b""
                raise

    def copy(self, key: str, to: str) -> None:
        source = self._require(key)
        with _translate_failures(f"copy {key}"), self._staging() as staged:
            with _translate_failures(f"copy {key}", missing=key), self._sidecars.shared_lock(key):
                # Copy the bytes: a hard link would be faster, but not every file system supports them.
                obstore.put(self._store, f"{staged}/data", source, chunk_size=PART_BYTES)
                sidecar = self._sidecars.load(key)
            self._install(staged, to, sidecar)

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            with _translate_failures(f"delete {key}"):
                if self._stat(key) is None and not self._sidecars.path(key).exists():
                    continue
                with self._sidecars.exclusive_lock(key):
                    if self._stat(key) is not None:
                        obstore.delete(self._store, key)
                    self._sidecars.path(key).unlink(missing_ok=True)

    def pages(self, prefix: str) -> Iterator[Sequence[StoredObject]]:
        with _translate_failures(f"list {prefix}/"):
            self._require_root()
            page: list[StoredObject] = []
            for path, found in _files_below(plain_path(self._root, prefix) if prefix else self._root):
                key = path.relative_to(self._root).as_posix()
                if is_key(key):
                    page.append(_stored(key, found))
                if len(page) == PAGE_KEYS:
                    yield page
                    page = []
            yield page

    def head(self, key: str) -> StoredObject | None:
        with _translate_failures(f"look up {key}"):
            found = self._stat(key)
            return None if found is None else _stored(key, found)

    def metadata(self, key: str) -> Mapping[str, str]:
        with _translate_failures(f"look up {key}"), self._sidecars.shared_lock(key):
            self._require(key)
            return self._sidecars.load(key).metadata

    def signed_url(self, key: str, seconds: float) -> str | None:
        return None

    def creation_url(self) -> None:
        """The folder is created by the first put."""

    def describe(self) -> str:
        return f"folder {self._root}, writable"

    def _stat(self, key: str) -> os.stat_result | None:
        try:
            found = plain_path(self._root, key).lstat()
        except (FileNotFoundError, NotADirectoryError):
            self._require_root()
            return None
        return found if stat.S_ISREG(found.st_mode) else None

    def _require(self, key: str) -> Path:
        with _translate_failures(f"look up {key}"):
            if self._stat(key) is None:
                raise ObjectMissing(f"object {key} not found in the folder {self._root}")
            return plain_path(self._root, key)

    def _require_root(self) -> None:
        """Raise ObjectStoreUnavailable if the root does not exist, for example because its disk is not mounted."""
        if not self._root.is_dir():
            raise ObjectStoreUnavailable(f"The folder {self._root} does not exist; is its disk mounted?")

    @contextmanager
    def _staging(self) -> Iterator[str]:
        """Yield the key of a hidden folder for staging an object."""
        self._require_root()
        staged = f"{_STAGING}/{uuid4().hex}"
        folder = plain_path(self._root, staged)
        folder.mkdir(parents=True)
        try:
            yield staged
        finally:
            # A later sweep removes the rest.
            shutil.rmtree(folder, ignore_errors=True)

    def _object_path(self, key: str) -> Path:
        """Return the path of an object. In a file system, an object and a folder cannot have the same name."""
        place = plain_path(self._root, key)
        if place.is_dir():
            raise ObjectStoreError(f"put {key}: a folder of that name contains objects")
        taken = next((parent for parent in place.parents if parent.is_file()), None)
        if taken is not None:
            raise ObjectStoreError(f"put {key}: {taken} is an object, not a folder")
        return place

    def _install(self, staged: str, key: str, sidecar: Sidecar) -> None:
        """Move both files into place. The object exists only once the second one has moved."""
        data, document = self._root / staged / "data", self._root / staged / "sidecar"
        document.write_bytes(sidecar.document(key))
        _sync(data)
        _sync(document)
        with self._sidecars.exclusive_lock(key):
            place = self._object_path(key)
            _retry_in_race(lambda: _make_folder(place.parent))
            document.replace(self._sidecars.path(key))
            _retry_in_race(lambda: _move(data, place))
        for folder in (self._sidecars.path(key).parent, place.parent):
            with suppress(FileNotFoundError):
                _sync(folder)


def _stored(key: str, found: os.stat_result) -> StoredObject:
    return StoredObject(key, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))


def _files_below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield regular files, except hidden ones and links. Memory use depends on the number of pending folders only."""
    waiting = [folder]
    while waiting:
        try:
            entries = sorted(waiting.pop().iterdir())
        except (FileNotFoundError, NotADirectoryError):
            # Missing, or deleted meanwhile.
            continue
        for path in entries:
            with suppress(FileNotFoundError):
                found = path.lstat()
                if path.name.startswith("."):
                    continue
                if stat.S_ISDIR(found.st_mode):
                    waiting.append(path)
                elif stat.S_ISREG(found.st_mode):
                    yield path, found


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def _move(data: Path, place: Path) -> None:
    _make_folder(place.parent)
    data.replace(place)


def _retry_in_race(call: Callable[[], None]) -> None:
    """Retry, because deleting the last file of a folder also deletes the folder, even one that was just created."""
    for _ in range(50):
        with suppress(FileExistsError, FileNotFoundError):
            return call()
    return call()


def _sync(path: Path) -> None:
    """Flush to disk, so that an object survives a power cut after the database refers to it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep(staging: Path) -> None:
    if not staging.is_dir():
        return
    for folder in staging.iterdir():
        with suppress(FileNotFoundError):
            if folder.lstat().st_mtime < time.time() - _STAGING_SECONDS:
                # Another process may be sweeping the same folder.
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _translate_failures(operation: str, missing: str | None = None) -> Iterator[None]:
    """Translate failures. `missing` is the key to report as ObjectMissing if the file is not found."""
    try:
        yield
    except ObstoreFailure as failure:
        if missing is not None and is_missing(failure):
            raise ObjectMissing(f"{operation}: object {missing} not found") from failure
        raise file_failure(failure, operation) from failure
