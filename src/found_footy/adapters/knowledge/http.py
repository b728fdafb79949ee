"""GET a JSON document from Wikidata: bounded, every failure a KnowledgeError, and Retry-After is obeyed.

After a 429, or a 503 with Retry-After, nothing is sent until that time: Wikimedia bans clients that ask on.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import KnowledgeError
from found_footy.http_exchanges import note_exchange

MAX_BYTES = 4 * 1024 * 1024
DEFAULT_PAUSE = timedelta(minutes=1)
"""After a 429 that names no time, as the Wikidata Query Service asks for."""
MAX_PAUSE = timedelta(hours=1)


class KnowledgeHttp:
    def __init__(
        self, *, timeout: float, user_agent: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        headers = {"User-Agent": user_agent, "Accept": "application/sparql-results+json, application/json"}
        self._client = httpx.AsyncClient(timeout=timeout, headers=headers, follow_redirects=False)
        self._timeout = timeout
        self._now = now
        self._not_before: dict[str, datetime] = {}
        """By host, until when it must not be asked."""

    async def get(self, url: str, params: Mapping[str, str]) -> Any:
        where = f"{httpx.URL(url).host}{httpx.URL(url).path}"
        self._check_pause(httpx.URL(url).host)
        began, failure = time.monotonic(), ""
        status: int | None = None
        headers: Mapping[str, str] | None = None
        body = b""
        try:
            # httpx bounds each read; a server that drips needs a bound on the whole.
            async with asyncio.timeout(self._timeout):
                status, headers, body = await self._fetch(url, params, where)
        except (TimeoutError, httpx.TimeoutException):
            failure = f"no answer within {self._timeout:g} s"
            raise KnowledgeError(f"{where} did not answer within {self._timeout:g} s") from None
        except httpx.HTTPError as error:
            failure = f"{type(error).__name__}: {error}"
            raise KnowledgeError(f"{where}: {failure}") from error
        finally:
            asked = str(httpx.URL(url, params=dict(params)))
            took = time.monotonic() - began
            note_exchange("GET", asked, took, status=status, headers=headers, body=body, error=failure)
        if status != 200:
            paused = self._note_pause(httpx.URL(url).host, status, headers or {})
            until = self._not_before.get(httpx.URL(url).host)
            wait = (until - self._now()).total_seconds() if paused and until else None
            raise KnowledgeError(f"{where} answered HTTP {status}{paused}", retry_after=wait)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            start = clean_text(body[:60].decode("utf-8", "replace"))
            raise KnowledgeError(f"{where} sent something that is not JSON, starting {start!r}") from error

    async def _fetch(self, url: str, params: Mapping[str, str], where: str) -> tuple[int, httpx.Headers, bytes]:
        async with self._client.stream("GET", url, params=dict(params)) as response:
            if response.status_code != 200:
                # The body of a refusal is not needed.
                return response.status_code, response.headers, b""
            chunks, size = [], 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_BYTES:
                    raise KnowledgeError(f"{where}: the answer is larger than {MAX_BYTES} bytes")
                chunks.append(chunk)
            return response.status_code, response.headers, b"".join(chunks)

    def _check_pause(self, host: str) -> None:
        until = self._not_before.get(host)
        if until is not None and (left := until - self._now()) > timedelta(0):
            raise KnowledgeError(
                f"{host} asked to be left alone until {until:%H:%M:%S} UTC; nothing was sent",
                retry_after=left.total_seconds(),
            )

    def _note_pause(self, host: str, status: int | None, headers: Mapping[str, str]) -> str:
        pause = retry_after(headers.get("retry-after", ""), self._now())
        if status == 429:
            pause = pause or DEFAULT_PAUSE
        if pause is None or status not in (429, 503):
            return ""
        until = self._now() + min(pause, MAX_PAUSE)
        self._not_before[host] = until
        return f"; not asked again before {until:%H:%M:%S} UTC"

    async def aclose(self) -> None:
        await self._client.aclose()


def retry_after(text: str, now: datetime) -> timedelta | None:
    """The header's seconds or date as a time from now; None where it has neither."""
    plain = text.strip()
    if plain.isdecimal() and len(plain) < 9:
        return timedelta(seconds=int(plain))
    try:
        until = parsedate_to_datetime(plain)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(timedelta(0), until - now)
