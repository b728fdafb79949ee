"""AT Protocol identities: finds the server (PDS) that holds an account's data from its DID document."""

from __future__ import annotations

import json
import re
import time
from collections import OrderedDict
from typing import Any
from urllib.parse import urlencode, urlsplit

from found_footy.clips.download_http import DownloadProgress, Web, parse_or_reject
from found_footy.clips.hosts import ClipLink
from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from found_footy.runtime.http import redact_url

_DID = re.compile(r"did:plc:[a-z2-7]{24}|did:web:[A-Za-z0-9.-]{1,253}", re.ASCII)
_PDS = "#atproto_pds"
_MAX_SERVICES = 20
_MAX_URL_LENGTH = 300


def is_did(text: str) -> bool:
    return _DID.fullmatch(text) is not None


def document_url(did: str, plc_url: str) -> str:
    """Return the URL of a DID document."""
    if did.startswith("did:web:"):
        return f"https://{did.removeprefix('did:web:')}/.well-known/did.json"
    return f"{plc_url.rstrip('/')}/{did}"


def pds_endpoint(document: Any, did: str = "") -> str | None:
    """Return the base URL of the account's PDS without a trailing slash, or None if the document names none.

    With `did`, the document must describe that account.
    """
    if not isinstance(document, dict) or (did and document.get("id") != did):
        return None
    services = document.get("service")
    for service in services[:_MAX_SERVICES] if isinstance(services, list) else ():
        if not isinstance(service, dict) or not str(service.get("id", "")).endswith(_PDS):
            continue
        endpoint = service.get("serviceEndpoint")
        if isinstance(endpoint, str) and len(endpoint) <= _MAX_URL_LENGTH and _is_base_url(endpoint):
            return endpoint.rstrip("/")
    return None


def _is_base_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    if parts.query or parts.fragment or "@" in parts.netloc or not text.isascii() or not text.isprintable():
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


# --- DID lookup. Documents are untrusted input.


MAX_BYTES = 65_536
MAX_CACHED = 2_000
CACHE_SECONDS = 3600.0
GET_BLOB = "/xrpc/com.atproto.sync.getBlob"


class DidDocuments:
    """Resolves DIDs to PDS addresses, with a bounded cache."""

    def __init__(self, web: Web, plc_url: str) -> None:
        self._web = web
        self._plc_url = plc_url
        self._cache: OrderedDict[str, tuple[float, str]] = OrderedDict()

    async def blob_url(self, link: ClipLink, progress: DownloadProgress) -> str:
        """URL of the original file of a Bluesky video."""
        if not is_did(link.did):
            raise CandidateRejected(RejectionReason.UNSUPPORTED, "the DID of the video's author cannot be resolved")
        pds = await self._pds(link, progress)
        return f"{pds}{GET_BLOB}?{urlencode({'did': link.did, 'cid': link.clip_id})}"

    async def _pds(self, link: ClipLink, progress: DownloadProgress) -> str:
        cached_at, cached = self._cache.get(link.did, (0.0, ""))
        if cached and time.monotonic() - cached_at < CACHE_SECONDS:
            return cached
        address = document_url(link.did, self._plc_url)
        if link.did.startswith("did:web:"):
            address = link.gateway_url(address)
        url = parse_or_reject(address)
        async with self._web.get(url, progress) as response:
            body = await response.read(MAX_BYTES)
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            raise DownloadUnavailable(f"{redact_url(url)} did not return JSON") from None
        endpoint = pds_endpoint(document, link.did)
        if endpoint is None:
            raise CandidateRejected(RejectionReason.GONE, f"{redact_url(url)} does not name the author's PDS")
        self._cache[link.did] = (time.monotonic(), endpoint)
        while len(self._cache) > MAX_CACHED:
            self._cache.popitem(last=False)
        return endpoint
