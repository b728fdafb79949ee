"""From a URL to a store: what is taken, and what is refused before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from found_footy.errors import ObjectStoreError
from found_footy.storage.objects.store import bucket_of, folder_of, open_object_store


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("file:///var/footy", "/var/footy"),
        ("file:///var/footy/", "/var/footy"),
        ("file:///var/b%20c/%C3%BC", "/var/b c/ü"),
        ("file:///var/b c/ü", "/var/b c/ü"),
    ],
)
def test_a_folder_is_read_from_its_url(url: str, folder: str) -> None:
    assert folder_of(url) == Path(folder)


@pytest.mark.parametrize(
    "url", ["file://", "file:///", "file://host/a", "file://a", "file:///a?b", "file:///a#b", "file:///a%00b"]
)
def test_a_url_without_a_folder_is_rejected(url: str) -> None:
    with pytest.raises(ObjectStoreError, match="file:///folder"):
        folder_of(url)


@pytest.mark.parametrize(
    ("url", "bucket", "prefix"),
    [
        ("s3://footy", "footy", ""),
        ("s3://footy/", "footy", ""),
        ("s3://my.footy-1/a/b", "my.footy-1", "a/b"),
        ("s3://footy/a/b/", "footy", "a/b"),
        ("s3://footy/a%20b", "footy", "a%20b"),
    ],
)
def test_bucket_and_prefix_are_read_from_the_url(url: str, bucket: str, prefix: str) -> None:
    assert bucket_of(url) == (bucket, prefix)


@pytest.mark.parametrize(
    "url", ["s3://", "s3:///a", "s3://A", "s3://a_b/c", "s3://footy/../a", "s3://footy//a", "s3://footy/" + "a/" * 150]
)
def test_a_url_without_a_bucket_is_rejected(url: str) -> None:
    with pytest.raises(ObjectStoreError):
        bucket_of(url)


@pytest.mark.parametrize("url", ["", "/var/footy", "gs://footy", "http://user:hidden@host/footy", "FILE:///a"])
def test_another_kind_of_store_is_refused(url: str) -> None:
    with pytest.raises(ObjectStoreError, match="Invalid object store URL") as caught:
        open_object_store(url, endpoint=None, region="us-east-1", access_key=None, secret_key=None)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "host:9000",
        "ftp://host",
        "http://",
        "http://user:hidden@host",
        "http://host:99999",
        "http://host/?hidden",
        "http://[hidden",
    ],
)
def test_an_invalid_endpoint_is_rejected(endpoint: str) -> None:
    with pytest.raises(ObjectStoreError, match="FOOTY_S3_ENDPOINT") as caught:
        open_object_store("s3://footy", endpoint=endpoint, region="us-east-1", access_key="a", secret_key="b")
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(("access_key", "secret_key"), [("a", None), (None, "hidden")])
def test_half_of_the_credentials_is_refused(access_key: str | None, secret_key: str | None) -> None:
    with pytest.raises(ObjectStoreError, match="set both or none") as caught:
        open_object_store("s3://footy", endpoint=None, region="us-east-1", access_key=access_key, secret_key=secret_key)
    assert "hidden" not in str(caught.value)
