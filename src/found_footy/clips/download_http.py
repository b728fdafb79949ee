"""HTTP side of downloads: content sniffing, limits, status codes and requests. The first bytes of a response take
precedence over its Content-Type, because many servers send `octet-stream`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum

import httpx

from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from found_footy.runtime import http
from found_footy.runtime.addresses import AddressPolicy, Resolve, system_resolve
from found_footy.runtime.http import (
    HttpClient,
    HttpError,
    HttpErrorKind,
    HttpLimits,
    HttpStream,
    Redirects,
    RedirectScope,
    redact_url,
)

SNIFF_BYTES = 512

_MP4_BOXES = frozenset({b"ftyp", b"moov", b"mdat", b"wide", b"skip", b"free", b"styp"})
_MAGIC_NUMBERS = (b"\x1aE\xdf\xa3", b"OggS", b"0&\xb2u", b"\x00\x00\x01\xba", b"FLV")
_HTML = (b"<!doctype", b"<html", b"<head", b"<body", b"<script", b"<!--", b"<meta", b"<?xml", b"<title", b"<div")
_UNSPECIFIC_TYPES = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/mp4", "application/x-mp4"}
)
_PLAYLISTS = frozenset(
    {"application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl", "video/mpegurl"}
    | {"application/dash+xml"}
)


class Content(StrEnum):
    VIDEO = "video"
    PAGE = "page"
    PLAYLIST = "playlist"
    OTHER = "other"


def sniff_content(content_type: str, head: bytes) -> Content:
    kind = content_type.partition(";")[0].strip().lower()
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:16].lower()
    if not head:
        return Content.OTHER
    if _is_video(head):
        return Content.VIDEO
    if kind in _PLAYLISTS or text.startswith((b"#extm3u", b"<mpd")):
        return Content.PLAYLIST
    if kind in ("text/html", "application/xhtml+xml") or text.startswith(_HTML):
        return Content.PAGE
    # The decoder decides whether the content really is a video.
    return Content.VIDEO if kind.startswith("video/") or kind in _UNSPECIFIC_TYPES else Content.OTHER


def _is_video(head: bytes) -> bool:
    return (
        head[4:8] in _MP4_BOXES
        or head.startswith(_MAGIC_NUMBERS)
        or (head[:4] == b"RIFF" and head[8:12] == b"AVI ")
        or (head[:1] == b"G" and head[188:189] == b"G")
    )


# --- Limits and progress of one download.


CONNECT_SECONDS = 10.0
READ_TIMEOUT_SECONDS = 20.0
"""Seconds without data after which a connection counts as broken."""


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    max_bytes: int
    max_seconds: float
    """For the whole download, including redirects and retries."""
    max_redirects: int
    private_hosts: Collection[str] = ()
    """host:port pairs allowed at private addresses, such as a simulator."""
    impersonate: bool = False
    """Whether yt-dlp may use curl-cffi, whose connections bypass the address guard. See `ytdlp_process.py`."""


@dataclass(slots=True)
class DownloadProgress:
    """State of a running download."""

    redirects_left: int
    answered: bool = False
    """Whether any server has responded. If so, a timeout means "too slow" instead of "unreachable"."""
    on_progress: Callable[[float], None] | None = None
    """Progress callback; receives the downloaded share, 0 to 1."""
    max_duration_seconds: float | None = None
    """Maximum duration of the video, checked if the page states one."""
    title: str = ""
    """Title stated by the page."""

    def report(self, received: int, total: int | None) -> None:
        if self.on_progress is not None and total:
            self.on_progress(min(1.0, received / total))


# --- HTTP status codes and the rejections they mean.


_GEO_BLOCKED = re.compile(
    r"geo.?(?:block|restrict|fenc)|(?:your|this) (?:country|region|location|territory)|unavailable for legal reasons",
    re.IGNORECASE,
)

_RETRYABLE_STATUSES = frozenset({408, 421, 425, 429})


def rejection_for_status(status: int, url: str, body: str = "") -> CandidateRejected | DownloadUnavailable | None:
    """Return the error for a status, or None for success. `body` is searched for geo-blocking messages."""
    message = f"{url} returned HTTP {status}"
    if status in (200, 206):
        return None
    if status in (404, 410):
        return CandidateRejected(RejectionReason.GONE, message)
    if status == 451 or (status == 403 and _GEO_BLOCKED.search(body)):
        return CandidateRejected(RejectionReason.GEO_BLOCKED, message)
    if status in (401, 403):
        return CandidateRejected(RejectionReason.PRIVATE, message)
    if status >= 500 or status in _RETRYABLE_STATUSES:
        return DownloadUnavailable(message)
    return CandidateRejected(RejectionReason.UNREACHABLE, message)


# --- Requests to untrusted servers. Transient HttpErrors propagate, so that a download can be resumed.


MAX_ERROR_BYTES = 65_536

_REASONS = {
    HttpErrorKind.FORBIDDEN_ADDRESS: RejectionReason.FORBIDDEN_ADDRESS,
    HttpErrorKind.INVALID_URL: RejectionReason.UNSUPPORTED,
    HttpErrorKind.UNSUPPORTED_ENCODING: RejectionReason.UNSUPPORTED,
    HttpErrorKind.CORRUPT_BODY: RejectionReason.BROKEN,
    HttpErrorKind.TOO_MANY_REDIRECTS: RejectionReason.UNREACHABLE,
}


def parse_or_reject(text: str, base: httpx.URL | None = None) -> httpx.URL:
    """Parse a public http(s) URL; raises CandidateRejected. The address is checked later, when connecting."""
    try:
        return http.parse_public_url(text, base)
    except HttpError as error:
        raise _rejection(error) from None


class Web:
    """HTTP client for downloads: follows redirects to any allowed address."""

    def __init__(self, limits: DownloadLimits, resolve: Resolve = system_resolve) -> None:
        self._client = HttpClient(
            HttpLimits(
                None,
                connect_seconds=min(CONNECT_SECONDS, limits.max_seconds),
                read_seconds=min(READ_TIMEOUT_SECONDS, limits.max_seconds),
            ),
            headers={"accept-encoding": "identity"},
            addresses=AddressPolicy(limits.private_hosts),
            resolve=resolve,
        )

    @asynccontextmanager
    async def get(
        self,
        url: httpx.URL,
        progress: DownloadProgress,
        headers: Mapping[str, str] | None = None,
        *,
        raise_for_status: bool = True,
    ) -> AsyncIterator[HttpStream]:
        """Yield the response after redirects. If `raise_for_status`, an error status is raised."""

        def on_response(_: HttpStream) -> None:
            progress.answered = True

        redirects = Redirects(progress.redirects_left, RedirectScope.ANY_ALLOWED)
        try:
            async with self._client.stream(
                "GET", url, headers=headers, redirects=redirects, on_response=on_response
            ) as response:
                progress.redirects_left -= response.redirects
                if raise_for_status:
                    await _raise_for_status(response)
                yield response
        except HttpError as error:
            if error.kind is HttpErrorKind.TOO_MANY_REDIRECTS:
                progress.redirects_left = 0
            if error.is_transient:
                raise
            raise _rejection(error) from None

    async def aclose(self) -> None:
        await self._client.aclose()


def _rejection(error: HttpError) -> CandidateRejected:
    return CandidateRejected(_REASONS.get(error.kind, RejectionReason.UNREACHABLE), str(error))


async def _raise_for_status(response: HttpStream) -> None:
    if rejection_for_status(response.status, "") is None:
        return
    body = await response.text(MAX_ERROR_BYTES) if response.status == 403 else ""
    if (error := rejection_for_status(response.status, redact_url(response.url), body)) is not None:
        raise error
