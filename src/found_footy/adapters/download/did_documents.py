"""Looks up which server holds an AT Protocol account's files. The documents come from strangers."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from urllib.parse import urlencode

from found_footy.adapters.download.limits import Trip
from found_footy.adapters.download.urls import checked_url, shown
from found_footy.adapters.download.web import Web
from found_footy.domain.discovery.atproto import document_url, is_did, pds_endpoint
from found_footy.domain.discovery.clip_hosts import ClipLink
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

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

    async def blob_url(self, link: ClipLink, trip: Trip) -> str:
        """Where the original file of a Bluesky video is."""
        if not is_did(link.did):
            raise ClipLost(Loss.UNSUPPORTED, "the video's author has no DID that can be resolved")
        pds = await self._pds(link, trip)
        return f"{pds}{GET_BLOB}?{urlencode({'did': link.did, 'cid': link.clip_id})}"

    async def _pds(self, link: ClipLink, trip: Trip) -> str:
        since, known = self._cache.get(link.did, (0.0, ""))
        if known and time.monotonic() - since < CACHE_SECONDS:
            return known
        web_did = link.did.startswith("did:web:")
        url = checked_url((link.reach if web_did else str)(document_url(link.did, self._plc_url)))
        async with self._web.get(url, trip) as answer:
            body = await answer.read(MAX_BYTES)
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            raise DownloadUnavailable(f"{shown(url)} did not answer with JSON") from None
        endpoint = pds_endpoint(document, link.did)
        if endpoint is None:
            raise ClipLost(Loss.GONE, f"{shown(url)} names no server that holds the author's files")
        self._cache[link.did] = (time.monotonic(), endpoint)
        while len(self._cache) > MAX_CACHED:
            self._cache.popitem(last=False)
        return endpoint
