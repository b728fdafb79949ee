"""From a URL to an object store."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from found_footy.adapters.storage.objects.backend import Backend
from found_footy.adapters.storage.objects.folder import FolderObjects
from found_footy.adapters.storage.objects.keys import check_prefix
from found_footy.adapters.storage.objects.s3 import S3Access, S3Objects
from found_footy.adapters.storage.objects.store import ThreadedObjectStore
from found_footy.domain.errors import ObjectStoreError

_PREFIX_BYTES = 200
"""Together with a key it must fit into S3's 1,024."""


def open_object_store(
    url: str,
    *,
    endpoint: str | None,
    region: str,
    access_key: str | None,
    secret_key: str | None,
    timeout_seconds: float = 30,
) -> ThreadedObjectStore:
    """Of `file:///folder`, which is made when missing, or of `s3://bucket/prefix`, which nobody is asked about yet.

    Without keys, S3 gets Amazon's own: those of the environment or of the machine's role.
    """
    backend: Backend
    if url.startswith("file://"):
        backend = FolderObjects(folder_of(url))
    elif url.startswith("s3://"):
        bucket, prefix = bucket_of(url)
        if (access_key is None) != (secret_key is None):
            raise ObjectStoreError("Of FOOTY_S3_ACCESS_KEY and FOOTY_S3_SECRET_KEY only one is set; set both or none")
        server = None if endpoint is None else _endpoint(endpoint)
        backend = S3Objects(S3Access(bucket, prefix, server, region, access_key, secret_key, timeout_seconds))
    else:
        raise ObjectStoreError("The object store's URL is neither file:///folder nor s3://bucket/prefix")
    return ThreadedObjectStore(backend)


def folder_of(url: str) -> Path:
    """As browsers read it: special characters may be written as %xx."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc or parts.query or parts.fragment or "\0" in path or not path.strip("/"):
        raise ObjectStoreError("The object store's URL is no file:///folder; write ?, # and % as %3F, %23 and %25")
    return Path(path)


def bucket_of(url: str) -> tuple[str, str]:
    """Bucket and prefix, as they are: S3's URLs have no escapes."""
    found = re.fullmatch(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?", url)
    if found is None:
        raise ObjectStoreError("The object store's URL is no s3://bucket/prefix, with the bucket in a-z, 0-9, . and -")
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
        # Not quoted: it may carry a password.
        raise ObjectStoreError("FOOTY_S3_ENDPOINT is no URL such as https://host:port, without user and password")
    return url.rstrip("/")
