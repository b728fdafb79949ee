"""Objects in a bucket of Amazon S3 or a compatible server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.store import S3Store

from found_footy.errors import ObjectMissing, ObjectStoreUnavailable
from found_footy.storage.objects.backend import PAGE_KEYS, PART_BYTES, StoredObject
from found_footy.storage.objects.failures import (
    ObstoreFailure,
    S3Details,
    is_bucket_missing,
    is_key_missing,
    is_range_after_end,
    s3_failure,
    s3_status,
)
from found_footy.storage.objects.keys import from_headers, is_key, to_headers

if TYPE_CHECKING:
    from obstore import GetOptions, GetResult, ObjectMeta
    from obstore.store import ClientConfig, RetryConfig, S3Config, S3Credential

_CONCURRENT_UPLOADS = 2
"""Concurrent part uploads per file. With more, all parts time out on a slow connection."""

_RETRIES: RetryConfig = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=5),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
}
"""Covers a brief failure. Callers have their own retries and should detect an outage soon."""

_CONNECT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class S3Access:
    bucket: str
    prefix: str
    endpoint: str | None
    region: str
    access_key: str | None
    secret_key: str | None = field(repr=False)
    timeout_seconds: float

    @property
    def server(self) -> str:
        return self.endpoint or f"Amazon S3 ({self.region})"


class S3Objects:
    folder = None

    def __init__(self, access: S3Access) -> None:
        self._access = access
        secrets = tuple(secret for secret in (access.secret_key, access.access_key) if secret)
        self._details = S3Details(access.bucket, access.server, secrets)
        self._store = _open(access)
        self._bucket_exists = False

    def put(self, key: str, path: Path, content_type: str, metadata: Mapping[str, str]) -> None:
        attributes = {"Content-Type": content_type, **to_headers(metadata)}
        with self._translate_failures(f"put {key}"):
            obstore.put(
                self._store,
                key,
                path,
                attributes=attributes,
                chunk_size=PART_BYTES,
                max_concurrency=_CONCURRENT_UPLOADS,
            )

    def chunks(self, key: str) -> Iterator[bytes]:
        first = self._get(key, {"range": (0, PART_BYTES)})
        if first is None:
            return
        meta, data = first
        yield data
        for start in range(len(data), meta["size"], PART_BYTES):
            part = self._get(key, {"range": (start, start + PART_BYTES), "if_match": meta["e_tag"]})
            expected = min(PART_BYTES, meta["size"] - start)
            if part is None or len(part[1]) != expected:
                raise ObjectStoreUnavailable(
                    f"get {key}: {self._details.server} closed the connection before the end of the object"
                )
            yield part[1]

    def read(self, key: str, start: int, length: int) -> bytes:
        found = self._get(key, {"range": (start, start + length)})
        return b"" if found is None else found[1]

    def copy(self, key: str, to: str) -> None:
        with self._translate_failures(f"copy {key}", missing=key):
            obstore.copy(self._store, key, to)

    def delete(self, keys: Sequence[str]) -> None:
        for start in range(0, len(keys), PAGE_KEYS):
            with self._translate_failures(f"delete {len(keys)} objects"):
                obstore.delete(self._store, keys[start : start + PAGE_KEYS])

    def pages(self, prefix: str) -> Iterator[Sequence[StoredObject]]:
        with self._translate_failures(f"list {prefix}/"):
            for page in obstore.list(self._store, prefix or None, chunk_size=PAGE_KEYS):
                yield [_stored(meta) for meta in page if is_key(meta["path"])]

    def head(self, key: str) -> StoredObject | None:
        try:
            return _stored(self._head(key).meta)
        except ObjectMissing:
            return None

    def metadata(self, key: str) -> Mapping[str, str]:
        return from_headers(self._head(key).attributes)

    def signed_url(self, key: str, seconds: float) -> str | None:
        try:
            return obstore.sign(self._store, "GET", key, timedelta(seconds=seconds))
        except ObstoreFailure as failure:
            raise s3_failure(failure, f"sign {key}", self._details) from None

    def creation_url(self) -> str | None:
        try:
            next(iter(obstore.list(self._store, chunk_size=1)), None)
        except ObstoreFailure as failure:
            # Buckets at Amazon need more settings than a name, so operators create them.
            if self._access.endpoint is None or not is_bucket_missing(failure):
                raise s3_failure(failure, "list the bucket", self._details) from None
            whole = _open(replace(self._access, prefix=""))
            return obstore.sign(whole, "PUT", "", timedelta(seconds=self._access.timeout_seconds))
        return None

    def describe(self) -> str:
        return f"s3://{self._access.bucket}/{self._access.prefix}".removesuffix("/") + f" at {self._details.server}"

    def _head(self, key: str) -> GetResult:
        with self._translate_failures(f"look up {key}", missing=key):
            return obstore.get(self._store, key, options={"head": True})

    def _get(self, key: str, options: GetOptions) -> tuple[ObjectMeta, bytes] | None:
        """Return a range and the metadata of its object; None if the object ends before the range."""
        with self._translate_failures(f"get {key}", missing=key):
            try:
                found = obstore.get(self._store, key, options=options)
                return found.meta, bytes(found.bytes())
            except ObstoreFailure as failure:
                if is_range_after_end(failure):
                    return None
                raise

    @contextmanager
    def _translate_failures(self, operation: str, missing: str | None = None) -> Iterator[None]:
        """Translate failures. `missing` is the key that a 404 refers to; without it, a 404 refers to the bucket."""
        try:
            yield
        except ObstoreFailure as failure:
            if missing is None or s3_status(failure) != 404 or is_bucket_missing(failure):
                raise s3_failure(failure, operation, self._details) from None
            if not is_key_missing(failure):
                self._require_bucket(operation)
            raise ObjectMissing(f"{operation}: object {missing} not found in {self.describe()}") from None
        self._bucket_exists = True

    def _require_bucket(self, operation: str) -> None:
        """Distinguish a missing bucket from a missing object: a HEAD request returns a bare 404 for both."""
        if self._bucket_exists:
            return
        with self._translate_failures(operation):
            next(iter(obstore.list(self._store, chunk_size=1)), None)


def _stored(meta: ObjectMeta) -> StoredObject:
    return StoredObject(meta["path"], meta["size"], meta["last_modified"])


def _open(access: S3Access) -> S3Store:
    # The endpoint is set twice, because an environment variable would override the first.
    config: S3Config = {"region": access.region}
    if access.endpoint is not None:
        config |= {"endpoint": access.endpoint, "aws_endpoint_url_s3": access.endpoint}
    options: ClientConfig = {
        "allow_http": (access.endpoint or "").startswith("http://"),
        "connect_timeout": timedelta(seconds=min(_CONNECT_SECONDS, access.timeout_seconds)),
        "timeout": timedelta(seconds=access.timeout_seconds),
    }
    prefix = access.prefix or None
    if access.access_key is None or access.secret_key is None:
        # Use the AWS credential chain: environment, instance role.
        return S3Store(access.bucket, prefix=prefix, config=config, client_options=options, retry_config=_RETRIES)
    given: S3Credential = {
        "access_key_id": access.access_key,
        "secret_access_key": access.secret_key,
        "token": None,
        "expires_at": None,
    }
    # A credential provider, because static keys in the config would be combined with a session token from the
    # environment.
    config["skip_signature"] = False
    return S3Store(
        access.bucket,
        prefix=prefix,
        config=config,
        client_options=options,
        retry_config=_RETRIES,
        credential_provider=lambda: given,
    )
