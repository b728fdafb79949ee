"""Classification of HTTP responses before their JSON is parsed, and the client of the score feeds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from found_footy.errors import (
    FeedBlocked,
    FeedBusy,
    FeedError,
    FeedMalformed,
    FeedNotFound,
    FeedQueryRejected,
    FeedRateLimited,
    FeedRejected,
    FeedTimeWrong,
    FeedUnauthorized,
    FeedUnavailable,
    NotFound,
)
from found_footy.runtime.http import (
    MAX_BYTES,
    HttpClient,
    HttpError,
    HttpErrorKind,
    HttpLimits,
    HttpResponse,
    Redirects,
)
from found_footy.runtime.retry import Deadline

CLOCK_TOLERANCE = timedelta(minutes=10)
"""Maximum difference between the feed's clock and the local one, or age of a cached response."""
MAX_SCANNED_BYTES = 200_000
"""Bytes of a page that are searched for BLOCK_PAGE_PATTERN."""

BLOCK_PAGE_PATTERN = re.compile(
    rb"captcha|are you (?:a )?human|(?:are|re) (?:you )?not a robot|are you a robot|verify (?:that )?you are human"
    rb"|unusual traffic|automated requests|cf-chl|challenge-platform|just a moment\.\.\.|enable javascript and cookies"
    rb"|before you continue|cookie consent|consent to (?:the use of )?cookies|your privacy choices|_incapsula_resource",
    re.IGNORECASE,
)
"""Phrases of pages that require a human visitor."""
BLOCK_STATUSES = frozenset({403, 405, 429, 503})


def parse_response(status: int, headers: Mapping[str, str], body: bytes, server: str, now: datetime | None) -> Any:
    """Return the JSON of a response. Raises the FeedError that describes the failure."""
    if is_block_page(status, headers, body):
        raise FeedBlocked(f"{server}: HTTP {status} with a captcha or consent page instead of data")
    _raise_for_status(status, headers, body, server, now)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        start = body[:60].decode("utf-8", "replace")
        kind = "a page" if _is_page(headers, body) else "invalid JSON"
        raise FeedMalformed(f"{server} returned {kind}, starting {start!r}") from error


def parse_page(status: int, headers: Mapping[str, str], body: bytes, server: str, now: datetime | None) -> str:
    """Return the text of a page. A valid page may mention captchas, so only error responses are searched for them."""
    if status != 200 and is_block_page(status, headers, body):
        raise FeedBlocked(f"{server}: HTTP {status} with a captcha or consent page instead of data")
    if status == 404:
        raise NotFound(f"{server} returned HTTP 404")
    _raise_for_status(status, headers, body, server, now)
    return body.decode("utf-8", "replace")


def _raise_for_status(status: int, headers: Mapping[str, str], body: bytes, server: str, now: datetime | None) -> None:
    if status in (401, 403):
        raise FeedUnauthorized(f"{server} returned HTTP {status}")
    if status == 400:
        raise FeedQueryRejected(f"{server} returned HTTP 400: {_reason(body)}")
    if status == 429:
        raise FeedRateLimited(f"{server} returned HTTP 429")
    if status == 404:
        raise FeedNotFound(f"{server} returned HTTP 404")
    if status != 200:
        raise FeedUnavailable(f"{server} returned HTTP {status}")
    sent_at = response_time(headers)
    if now is not None and sent_at is not None and abs(now - sent_at) > CLOCK_TOLERANCE:
        raise FeedTimeWrong(
            f"{server} dates its response {sent_at:%Y-%m-%d %H:%M} UTC; the local time is {now:%Y-%m-%d %H:%M}"
        )


def is_block_page(status: int, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether the response is a captcha, challenge or consent page. Valid JSON never is."""
    if headers.get("cf-mitigated"):
        return True
    return (status in BLOCK_STATUSES or _is_page(headers, body)) and bool(
        BLOCK_PAGE_PATTERN.search(body[:MAX_SCANNED_BYTES])
    )


def is_challenge_url(address: str) -> bool:
    """Return whether a redirect leads to a captcha, challenge or consent page."""
    return bool(re.search(r"captcha|challenge|consent|validate\.perfdrive", address, re.IGNORECASE))


def response_time(headers: Mapping[str, str]) -> datetime | None:
    """Return the time of the response on the feed's clock."""
    text = headers.get("date", "")
    try:
        sent_at = parsedate_to_datetime(text[:60])
    except (ValueError, TypeError, OverflowError):
        return None
    return (sent_at.replace(tzinfo=UTC) if sent_at.tzinfo is None else sent_at).astimezone(UTC)


def _reason(body: bytes) -> str:
    """Return the vendor's error message, if the body is JSON with one."""
    try:
        message = json.loads(body)["message"]
    except (ValueError, RecursionError, KeyError, TypeError):
        message = body[:120].decode("utf-8", "replace")
    return ascii(message)[1:-1][:200] if isinstance(message, str) and message.strip() else "no reason given"


def _is_page(headers: Mapping[str, str], body: bytes) -> bool:
    start = body[:100].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") or headers.get("content-type", "").strip().lower().startswith("text/html")


# --- HTTP client of a score feed, bounded in time and bytes, with a class for every failure.


MAX_REDIRECTS = 3

_INVALID_RESPONSES = frozenset(
    {HttpErrorKind.TOO_LARGE, HttpErrorKind.UNSUPPORTED_ENCODING, HttpErrorKind.CORRUPT_BODY, HttpErrorKind.NOT_JSON}
)

Permit = Callable[[], AbstractAsyncContextManager[None]]
"""Entered around each request; waits for the rate limits shared by all workers."""


def unlimited() -> AbstractAsyncContextManager[None]:
    return nullcontext()


class FeedClient:
    """HTTP client of one feed. `on_headers` receives the headers of each response, for rate limits."""

    def __init__(
        self,
        base_url: str,
        timeout: float,
        headers: Mapping[str, str] | None = None,
        on_headers: Callable[[Mapping[str, str]], None] | None = None,
        *,
        permit: Permit = unlimited,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._client = HttpClient(
            HttpLimits(timeout, max_bytes=MAX_BYTES),
            base_url=base_url,
            headers={"accept": "application/json", **(headers or {})},
            redirects=Redirects(MAX_REDIRECTS),
            permit=permit,
            translate=_translate,
        )
        self._on_headers = on_headers
        self._now = now

    async def get(self, path: str, params: Mapping[str, str], deadline: Deadline | None = None) -> Any:
        """Return the JSON of the response."""
        response = await self._request(path, params, deadline)
        return parse_response(
            response.status, response.headers, response.body, response.endpoint, self._now and self._now()
        )

    async def page(self, path: str, deadline: Deadline | None = None) -> tuple[str, str]:
        """Return the path after redirects and the text of the page. Raises NotFound if there is none."""
        response = await self._request(path, {}, deadline)
        text = parse_page(
            response.status, response.headers, response.body, response.endpoint, self._now and self._now()
        )
        return response.url.path, text

    async def _request(self, path: str, params: Mapping[str, str], deadline: Deadline | None) -> HttpResponse:
        response = await self._client.get(path, params, deadline=deadline or Deadline())
        if self._on_headers is not None:
            self._on_headers(response.headers)
        return response

    async def aclose(self) -> None:
        await self._client.aclose()


def _translate(error: HttpError) -> FeedError:
    if error.kind is HttpErrorKind.NO_PERMIT:
        return FeedBusy(str(error))
    if error.kind is HttpErrorKind.FOREIGN_REDIRECT:
        is_block = is_challenge_url(str(error.location))
        return (FeedBlocked if is_block else FeedRejected)(f"{error}, which is not a host of the feed")
    if error.kind in (HttpErrorKind.INVALID_URL, HttpErrorKind.FORBIDDEN_ADDRESS):
        return FeedRejected(f"redirect refused: {error}")
    return (FeedMalformed if error.kind in _INVALID_RESPONSES else FeedUnavailable)(str(error))
