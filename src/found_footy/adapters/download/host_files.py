"""Reads the file's address from a clip host's answer, by the host's row in the table. Pure."""

from __future__ import annotations

import json
from typing import Any

from found_footy.adapters.download.clip_page import (
    ClipPage,
    data_links,
    declared_videos,
    own_videos,
    played_videos,
)
from found_footy.domain.discovery.clip_hosts import ClipLink, Lookup, says_removed
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

API_LOOKUPS = frozenset({Lookup.SHARE_API, Lookup.STREAMABLE_API})
PAGE_LOOKUPS = frozenset({Lookup.EMBED_DATA_LINK, Lookup.OG_VIDEO, Lookup.PLAYER})

_READY = 2
_UPLOADING = (0, 1)


def files_on_page(link: ClipLink, page: ClipPage) -> list[str]:
    """Addresses of the clip's file, the most likely first. Raises what a page without one means."""
    match link.host.lookup:
        case Lookup.EMBED_DATA_LINK:
            files = data_links(page)
        case Lookup.OG_VIDEO:
            files = declared_videos(page, link.url)
        case _:
            files = own_videos(page, link.url).links
    files += [file for file in link.known_files if file not in files]
    if files:
        return files
    if link.host.processing and link.host.processing in page.text.lower():
        raise DownloadUnavailable(f"{link.host.name}: the clip {link.clip_id} is still being processed")
    if played_videos(page) and not says_removed(page.text):
        raise ClipLost(Loss.NOT_A_VIDEO, f"{link.host.name}: none of the page's videos is marked as {link.clip_id}")
    raise ClipLost(Loss.GONE, f"{link.host.name}: the page of {link.clip_id} names no video any more")


def files_in_json(link: ClipLink, body: bytes) -> list[str]:
    """The same for hosts with an API."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise DownloadUnavailable(f"{link.host.name}: the answer about {link.clip_id} is not JSON") from None
    if link.host.lookup is Lookup.SHARE_API:
        return [_share_url(link, document)]
    return _streamable_urls(link, document)


def _share_url(link: ClipLink, document: Any) -> str:
    if document == []:
        raise ClipLost(Loss.GONE, f"{link.host.name}: the clip {link.clip_id} has been purged")
    first = document[0] if isinstance(document, list) else document
    url = first.get("external_url") if isinstance(first, dict) else None
    if not isinstance(url, str) or not url:
        raise _changed(link)
    return url


def _streamable_urls(link: ClipLink, document: Any) -> list[str]:
    if not isinstance(document, dict):
        raise _changed(link)
    status = document.get("status")
    if status in _UPLOADING:
        raise DownloadUnavailable(f"{link.host.name}: the clip {link.clip_id} is still being processed")
    if status != _READY:
        raise ClipLost(Loss.GONE, f"{link.host.name}: the clip {link.clip_id} is not available")
    files = document.get("files")
    named = [files.get(name) for name in ("mp4", "mp4-mobile")] if isinstance(files, dict) else []
    offered = [each.get("url") for each in named if isinstance(each, dict)]
    urls = [url for url in offered if isinstance(url, str) and url]
    if not urls:
        raise _changed(link)
    return urls


def _changed(link: ClipLink) -> ClipLost:
    return ClipLost(Loss.UNSUPPORTED, f"{link.host.name}: the answer about {link.clip_id} has an unknown form")
