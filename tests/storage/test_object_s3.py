"""What is special about an S3 server: it refuses, fails, goes away and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import obstore
import pytest

from found_footy.errors import ObjectMissing, ObjectStoreError, ObjectStoreUnavailable
from found_footy.storage.objects.backend import PART_BYTES
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.feeds.raw_server import RawServer, Reply
from tests.storage.conftest import open_s3
from tests.storage.cutting_proxy import CuttingProxy
from tests.support.seaweed import SeaweedServer

FileOf = Callable[[bytes], Path]


async def keys_in(objects: ThreadedObjectStore, prefix: str = "") -> list[str]:
    return sorted([stored.key async for stored in objects.list(prefix)])


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def all_calls(objects: ThreadedObjectStore, path: Path, to: Path) -> list[Awaitable[object]]:
    return [
        objects.put("a", path),
        objects.get("a", to),
        objects.read("a"),
        objects.copy("a", "b"),
        objects.delete(["a"]),
        objects.head("a"),
        objects.metadata("a"),
        keys_in(objects),
        objects.check(),
    ]


async def test_the_check_names_bucket_and_server(seaweed: SeaweedServer) -> None:
    objects = open_s3(seaweed, "")
    assert await objects.check() == f"s3://footy at {seaweed.endpoint}"
    await objects.aclose()


async def test_content_type_and_metadata_are_what_other_programs_expect(
    s3_objects: ThreadedObjectStore, seaweed: SeaweedServer, prefix: str, file_of: FileOf
) -> None:
    await s3_objects.put("a.webm", file_of(b"1"), content_type="video/webm", metadata={"home_team": "Bayern München"})
    await s3_objects.copy("a.webm", "b.webm")
    raw = seaweed.raw()
    for key in ("a.webm", "b.webm"):
        attributes = obstore.get(raw, f"{prefix}/{key}", options={"head": True}).attributes
        assert attributes == {"Content-Type": "video/webm", "home-team": "Bayern%20M%C3%BCnchen"}


@pytest.mark.parametrize("wrong", [{"secret_key": "wrong-secret"}, {"access_key": "wrong-key"}])
async def test_rejected_credentials_have_a_hint(
    seaweed: SeaweedServer, file_of: FileOf, tmp_path: Path, wrong: dict[str, str]
) -> None:
    objects = open_s3(seaweed, "", **wrong)  # type: ignore[arg-type]
    for call in all_calls(objects, file_of(b"1"), tmp_path / "back"):
        with pytest.raises(ObjectStoreError, match="check FOOTY_S3_ACCESS_KEY and FOOTY_S3_SECRET_KEY") as caught:
            await call
        assert not caught.value.retryable
        for secret in (seaweed.access_key, seaweed.secret_key, *wrong.values()):
            assert secret not in str(caught.value)
            assert secret not in repr(caught.value.__cause__)
    await objects.aclose()


async def test_a_missing_bucket_is_not_a_missing_object(
    seaweed: SeaweedServer, file_of: FileOf, tmp_path: Path
) -> None:
    objects = open_s3(seaweed, "", bucket="nobody-made-it")
    for call in all_calls(objects, file_of(b"1"), tmp_path / "back"):
        with pytest.raises(ObjectStoreError, match="bucket nobody-made-it not found") as caught:
            await call
        assert not caught.value.retryable
        assert not isinstance(caught.value, ObjectMissing)
    await objects.aclose()


async def test_two_prefixes_of_a_bucket_do_not_see_each_other(
    seaweed: SeaweedServer, prefix: str, file_of: FileOf
) -> None:
    one, two, both = open_s3(seaweed, f"{prefix}/one"), open_s3(seaweed, f"{prefix}/two/"), open_s3(seaweed, prefix)
    await one.put("a", file_of(b"1"))
    await two.put("a", file_of(b"2"))
    await one.delete(["b"])
    assert await keys_in(one) == await keys_in(two) == ["a"]
    assert await keys_in(both) == ["one/a", "two/a"]
    assert await two.read("a") == b"2"
    for objects in (one, two, both):
        await objects.aclose()


async def test_an_unreachable_server_is_retryable(tmp_path: Path, file_of: FileOf) -> None:
    """A server of its own, because it is killed."""
    server = SeaweedServer(tmp_path / "seaweed")
    await asyncio.to_thread(server.start)
    try:
        objects = open_s3(server, "")
        await objects.put("a", file_of(b"kept"), metadata={"home": "Beşiktaş"})
        await asyncio.to_thread(server.kill)
        for call in all_calls(objects, file_of(b"1"), tmp_path / "back"):
            with pytest.raises(ObjectStoreUnavailable, match="cannot be reached") as caught:
                await call
            assert caught.value.retryable
            assert server.secret_key not in str(caught.value)
        assert not (tmp_path / "back").exists()
        await asyncio.to_thread(server.start)
        assert await objects.read("a") == b"kept"
        assert await objects.metadata("a") == {"home": "Beşiktaş"}
        assert await keys_in(objects) == ["a"]
        await objects.aclose()
    finally:
        await asyncio.to_thread(server.kill)


@pytest.mark.parametrize("status", [503, 429])
async def test_an_error_of_the_servers_own_can_be_retried(seaweed: SeaweedServer, tmp_path: Path, status: int) -> None:
    async with RawServer(Reply(b"<Error><Code>SlowDown</Code></Error>", status)) as server:
        objects = open_s3(seaweed, "", endpoint=server.url)
        for call in (objects.get("a", tmp_path / "back"), objects.head("a"), keys_in(objects)):
            with pytest.raises(ObjectStoreUnavailable, match=f"HTTP {status}"):
                await call
        await objects.aclose()
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    "reply", [Reply(held=True), Reply(b"", drips=True), Reply(b"part", missing=1000)], ids=["held", "drips", "cut off"]
)
async def test_a_stalled_server_times_out(seaweed: SeaweedServer, tmp_path: Path, reply: Reply) -> None:
    async with RawServer(reply) as server:
        objects = open_s3(seaweed, "", endpoint=server.url, timeout_seconds=0.1)
        for call in (objects.get("a", tmp_path / "back"), objects.read("a"), keys_in(objects)):
            with pytest.raises(ObjectStoreUnavailable):
                await call
        await objects.aclose()
    assert files_in(tmp_path) == []


async def test_a_hiccup_is_not_even_noticed(seaweed: SeaweedServer) -> None:
    listing = b'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></ListBucketResult>'
    async with RawServer.in_turn([Reply(status=503), Reply(status=500), Reply(listing)]) as server:
        objects = open_s3(seaweed, "", endpoint=server.url)
        assert await keys_in(objects) == []
        assert len(server.requests) == 3
        await objects.aclose()


@pytest.mark.parametrize("body", [b"<html>Welcome!</html>", b"", b"{", b"\xff\xfe"])
async def test_another_server_than_s3_fails_the_check(seaweed: SeaweedServer, body: bytes) -> None:
    async with RawServer(Reply(body)) as server:
        objects = open_s3(seaweed, "", endpoint=server.url)
        with pytest.raises(ObjectStoreError):
            await objects.check()
        await objects.aclose()


async def test_amazon_environment_variables_do_not_affect_the_settings(
    seaweed: SeaweedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of another")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    objects = open_s3(seaweed, "")
    assert "s3://footy at" in await objects.check()
    await objects.aclose()


async def test_an_upload_that_is_cut_off_leaves_everything_as_it_was(
    seaweed: SeaweedServer, prefix: str, file_of: FileOf
) -> None:
    direct = open_s3(seaweed, prefix)
    await direct.put("old", file_of(b"old"), metadata={"is": "old"})
    large = file_of(b"x" * (4 * PART_BYTES))
    for key in ("old", "new"):
        async with CuttingProxy(seaweed.endpoint, after_bytes=2 * PART_BYTES) as proxy:
            cut = open_s3(seaweed, prefix, endpoint=proxy.url)
            with pytest.raises(ObjectStoreUnavailable):
                await cut.put(key, large)
            await cut.aclose()
    assert await keys_in(direct) == ["old"]
    assert await direct.read("old") == b"old"
    assert await direct.metadata("old") == {"is": "old"}
    await direct.aclose()


async def test_an_object_that_is_replaced_while_it_is_read_is_not_mixed(
    s3_objects: ThreadedObjectStore, file_of: FileOf
) -> None:
    await s3_objects.put("a", file_of(b"1" * (2 * PART_BYTES)))
    chunks = s3_objects._backend.chunks("a")
    assert next(chunks) == b"1" * PART_BYTES
    await s3_objects.put("a", file_of(b"2" * (2 * PART_BYTES)))
    with pytest.raises(ObjectStoreUnavailable, match="replaced meanwhile"):
        next(chunks)
