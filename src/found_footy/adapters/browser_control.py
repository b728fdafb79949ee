"""The browser service from outside: what it says of its browser, and how it is told to start it anew."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx

from found_footy.domain.errors import SourceChanged, SourceUnavailable
from found_footy.http_exchanges import note_exchange

FACTS_SECONDS = 3.0
RECYCLE_SECONDS = 60.0
"""It lets those finish who read a page, and then starts a browser."""
MOST_BYTES = 256 * 1024
LONGEST_REASON = 200


class HttpBrowserControl:
    """Each call has a connection of its own: there are few, and between them the service may be another one."""

    def __init__(self, url: str, *, facts_seconds: float = FACTS_SECONDS, recycle_seconds: float = RECYCLE_SECONDS):
        self._url = url.rstrip("/")
        self._facts_seconds = facts_seconds
        self._recycle_seconds = recycle_seconds

    async def facts(self) -> Mapping[str, Any]:
        """Of a service that is not well, too: it says so with status 503, and tells its facts all the same."""
        health = await self._ask("GET", "/health", self._facts_seconds)
        browser = health.get("browser")
        if not isinstance(browser, dict):
            raise SourceChanged(f"what answers at {self._url} is not `footy browser`")
        return {**browser, "healthy": health.get("healthy") is True, "message": str(health.get("message", ""))[:300]}

    async def check(self) -> str:
        facts = await self.facts()
        if not facts["healthy"]:
            raise SourceUnavailable(f"`footy browser` at {self._url} is not healthy: {facts['message']}")
        return f"{facts.get('processes', '?')} processes, {facts.get('pages', '?')} pages open"

    async def recycle(self, reason: str) -> Mapping[str, Any]:
        words = "".join(letter for letter in reason if letter.isprintable())[:LONGEST_REASON]
        answer = await self._ask("POST", "/recycle", self._recycle_seconds, {"reason": words})
        if error := answer.get("error"):
            said = error.get("message") if isinstance(error, dict) else error
            raise SourceUnavailable(f"the browser was not started anew: {str(said)[:300]}")
        return answer

    async def _ask(
        self, method: str, path: str, seconds: float, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        url = self._url + path
        content = bytearray()
        began, failure = time.monotonic(), ""
        status: int | None = None
        try:
            # The client's own limit is for each piece of the answer; this one is for all of it.
            async with (
                asyncio.timeout(seconds),
                httpx.AsyncClient(timeout=seconds, trust_env=False) as client,
                client.stream(method, url, json=body) as answer,
            ):
                status = answer.status_code
                async for part in answer.aiter_bytes():
                    content += part
                    if len(content) > MOST_BYTES:
                        raise SourceChanged(f"the answer of {url} is larger than {MOST_BYTES} bytes")
        except (httpx.HTTPError, TimeoutError) as error:
            failure = type(error).__name__
            raise SourceUnavailable(f"{url} does not answer ({failure}): does `footy browser` run?") from error
        finally:
            note_exchange(method, url, time.monotonic() - began, status=status, body=bytes(content), error=failure)
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise SourceChanged(f"what answers at {self._url} is not `footy browser`")
        return document
