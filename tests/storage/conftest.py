from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import obstore
import pytest
from obstore.store import LocalStore, S3Store

from found_footy.storage.objects.store import ThreadedObjectStore, open_object_store
from tests.conftest import SharedEngines
from tests.support.seaweed import SeaweedServer


@pytest.fixture(scope="session")
def seaweed(shared_engines: SharedEngines) -> SeaweedServer:
    """The S3 server that all test processes share; a test that stops a server starts its own."""
    return SeaweedServer.from_json(shared_engines.address("seaweed"))


def open_folder(folder: Path) -> ThreadedObjectStore:
    return open_object_store(folder.as_uri(), endpoint=None, region="", access_key=None, secret_key=None)


def open_s3(
    server: SeaweedServer,
    prefix: str,
    *,
    bucket: str | None = None,
    endpoint: str | None = None,
    access_key: str | None = None,
    secret_key: str | None = None,
    timeout_seconds: float = 30,
) -> ThreadedObjectStore:
    """As the server wants it, but for what is given."""
    return open_object_store(
        f"s3://{bucket or server.bucket}/{prefix}",
        endpoint=endpoint or server.endpoint,
        region=server.region,
        access_key=access_key or server.access_key,
        secret_key=secret_key or server.secret_key,
        timeout_seconds=timeout_seconds,
    )


@pytest.fixture(params=["folder", "s3"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def prefix() -> str:
    """Of the test's own, in the bucket."""
    return f"tests/{uuid4()}"


@pytest.fixture
async def objects(
    kind: str, prefix: str, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[ThreadedObjectStore]:
    """An empty store."""
    in_folder = kind == "folder"
    store = open_folder(tmp_path / "store") if in_folder else open_s3(request.getfixturevalue("seaweed"), prefix)
    yield store
    await store.aclose()


@pytest.fixture
def fill(kind: str, prefix: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Sequence[str]], None]:
    """Many empty objects in that store, past the adapter and therefore soon."""

    folder = tmp_path / "store"
    raw: S3Store | LocalStore = (
        LocalStore(folder, mkdir=True) if kind == "folder" else request.getfixturevalue("seaweed").raw()
    )

    def make(keys: Sequence[str]) -> None:
        names = keys if kind == "folder" else [f"{prefix}/{key}" for key in keys]
        with ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda name: obstore.put(raw, name, b""), names))

    return make


@pytest.fixture
async def folder_objects(tmp_path: Path) -> AsyncIterator[ThreadedObjectStore]:
    store = open_folder(tmp_path / "store")
    yield store
    await store.aclose()


@pytest.fixture
async def s3_objects(seaweed: SeaweedServer, prefix: str) -> AsyncIterator[ThreadedObjectStore]:
    store = open_s3(seaweed, prefix)
    yield store
    await store.aclose()


@pytest.fixture
def file_of(tmp_path: Path) -> Callable[[bytes], Path]:
    """A new file with this content."""
    folder = tmp_path / "files"

    def make(content: bytes) -> Path:
        folder.mkdir(exist_ok=True)
        path = folder / uuid4().hex
        path.write_bytes(content)
        return path

    return make
