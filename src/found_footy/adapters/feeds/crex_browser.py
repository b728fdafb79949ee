"""Pages through our own browser service: CREX's are empty until a script has run."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from found_footy.domain.errors import (
    BrowserAway,
    FeedBlocked,
    FeedBusy,
    FeedError,
    FeedMalformed,
    FeedRateLimited,
    FeedRejected,
    FeedUnavailable,
    NotFound,
    PageNotOpened,
)

MOST_BYTES = 4 * 1024 * 1024
GRACE_SECONDS = 3.0
"""The service has the same limit, and should be the one to say what took so long."""

_CLASSES: dict[str, type[FeedError | NotFound]] = {
    each.__name__: each
    for each in (
        BrowserAway,
        FeedBlocked,
        FeedBusy,
        FeedMalformed,
        FeedRateLimited,
        FeedRejected,
        FeedUnavailable,
        NotFound,
        PageNotOpened,
    )
}


class PageReader:
    """A client of `footy browser`."""

    def __init__(self, browser_url: str, timeout: float) -> None:
        self._timeout = timeout + GRACE_SECONDS
        self._client = httpx.AsyncClient(base_url=browser_url, timeout=self._timeout, trust_env=False)

    async def read(self, url: str, reader: str, *, until: str | None = None, seconds: float | None = None) -> Any:
        """What the page shows. Raises a FeedError, or NotFound where the site has no such page."""
        params = {"url": url, "reader": reader} | ({"until": until} if until else {})
        most = self._timeout if seconds is None else min(self._timeout, seconds)
        try:
            async with asyncio.timeout(most):
                status, body = await self._get(params)
        except (TimeoutError, httpx.TimeoutException):
            raise FeedUnavailable(f"the browser service did not read the page within {most:.3g} s") from None
        except httpx.HTTPError as error:
            raise BrowserAway(
                f"the browser service does not answer ({type(error).__name__}): does `footy browser` run?"
            ) from error
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BrowserAway(f"the browser service answered HTTP {status} without JSON") from error
        if status == 200 and isinstance(answer, dict) and isinstance(answer.get("data"), dict):
            return answer["data"]
        raise _told(answer, status)

    async def _get(self, params: dict[str, str]) -> tuple[int, bytes]:
        async with self._client.stream("GET", "/page", params=params) as response:
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    raise FeedMalformed("the browser service's answer is too large")
            return response.status_code, body

    async def aclose(self) -> None:
        await self._client.aclose()


def _told(answer: Any, status: int) -> FeedError | NotFound:
    error = answer.get("error") if isinstance(answer, dict) else None
    kind, message = (error.get("class"), error.get("message")) if isinstance(error, dict) else (None, None)
    words = message[:300] if isinstance(message, str) and message.isprintable() else f"HTTP {status}"
    if kind == "BadRequest":
        return FeedRejected(f"the browser service refuses the page: {words}")
    return _CLASSES.get(str(kind), FeedUnavailable)(words)
