"""Signed addresses: anybody may read the one object for a while, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from found_footy.config import Settings
from found_footy.errors import ObjectStoreError
from found_footy.storage.objects.store import ThreadedObjectStore, open_object_store
from tests.support.seaweed import SeaweedServer

KEY = "1380101/1380101_40_306_Goal_1/0cc175b9c0f1b6a831c399e269772661.mp4"

FileOf = Callable[[bytes], Path]


async def test_a_folder_has_no_addresses(folder_objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await folder_objects.put(KEY, file_of(b"film"))
    assert await folder_objects.signed_url(KEY, 60) is None


async def test_who_has_the_address_needs_no_key(s3_objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await s3_objects.put(KEY, file_of(b"a film"))
    url = await s3_objects.signed_url(KEY, 60)
    assert url is not None
    async with httpx.AsyncClient() as client:
        answer = await client.get(url)
        assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, b"a film", "video/mp4")
        part = await client.get(url, headers={"range": "bytes=2-3"})
        assert (part.status_code, part.content) == (206, b"fi")


async def test_an_address_is_good_for_one_object_and_for_reading(
    s3_objects: ThreadedObjectStore, seaweed: SeaweedServer, file_of: FileOf
) -> None:
    await s3_objects.put(KEY, file_of(b"a film"))
    await s3_objects.put("other", file_of(b"another"))
    url = await s3_objects.signed_url(KEY, 60)
    assert url is not None
    assert seaweed.secret_key not in url
    async with httpx.AsyncClient() as client:
        assert (await client.get(url.replace(KEY, "other"))).status_code == 403
        assert (await client.put(url, content=b"mine")).status_code == 403
        assert (await client.get(url.partition("?")[0])).status_code == 403
    assert await s3_objects.read(KEY) == b"a film"


async def test_a_url_can_be_signed_for_a_missing_object(s3_objects: ThreadedObjectStore) -> None:
    url = await s3_objects.signed_url(KEY, 60)
    assert url is not None
    async with httpx.AsyncClient() as client:
        assert (await client.get(url)).status_code == 404


async def test_a_key_that_is_none_has_no_address(objects: ThreadedObjectStore) -> None:
    with pytest.raises(ObjectStoreError, match="is not a valid object key"):
        await objects.signed_url("../secrets", 60)


@pytest.mark.parametrize("endpoint", [None, "https://minio.example:9443", "http://127.0.0.1:9000/sub/"])
async def test_pages_allow_exactly_the_site_that_addresses_lead_to(endpoint: str | None) -> None:
    settings = Settings().model_copy(
        update={"object_store_url": "s3://footy/clips", "s3_endpoint": endpoint, "s3_region": "eu-west-1"}
    )
    store = open_object_store(
        "s3://footy/clips", endpoint=endpoint, region="eu-west-1", access_key="made-up", secret_key="made-up"
    )
    parts = urlsplit(await store.signed_url(KEY, 60) or "")
    assert settings.media_origin == f"{parts.scheme}://{parts.netloc}"
    await store.aclose()
