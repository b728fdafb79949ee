"""GET a JSON document from a server of knowledge: bounded, and every failure a KnowledgeError that says what it was."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import KnowledgeError
from found_footy.http_exchanges import note_exchange

MAX_BYTES = 4 * 1024 * 1024


class KnowledgeHttp:
    def __init__(self, *, timeout: float, user_agent: str) -> None:
        headers = {"User-Agent": user_agent, "Accept": "application/sparql-results+json, application/json"}
        self._client = httpx.AsyncClient(timeout=timeout, headers=headers, follow_redirects=False)
        self._timeout = timeout

    async def get(self, url: str, params: Mapping[str, str]) -> Any:
        where = f"{httpx.URL(url).host}{httpx.URL(url).path}"
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
            raise KnowledgeError(f"{where} answered HTTP {status}{_when_again(headers)}")
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            start = clean_text(body[:60].decode("utf-8", "replace"))
            raise KnowledgeError(f"{where} sent something that is not JSON, starting {start!r}") from error

    async def _fetch(self, url: str, params: Mapping[str, str], where: str) -> tuple[int, httpx.Headers, bytes]:
        async with self._client.stream("GET", url, params=dict(params)) as response:
            if response.status_code != 200:
                # What a refusal says beside its status is of no use, so it is not waited for.
                return response.status_code, response.headers, b""
            chunks, size = [], 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_BYTES:
                    raise KnowledgeError(f"{where}: the answer is larger than {MAX_BYTES} bytes")
                chunks.append(chunk)
            return response.status_code, response.headers, b"".join(chunks)

    async def aclose(self) -> None:
        await self._client.aclose()


def _when_again(headers: Mapping[str, str]) -> str:
    """The server's wish, for the person who reads the message; whoever retries decides on their own."""
    wish = clean_text(headers.get("retry-after", ""), 40)
    return f"; it asks to be left alone for {wish}{' s' if wish.isdigit() else ''}" if wish else ""
