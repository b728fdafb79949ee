"""GET a JSON document from a score feed: bounded, retried, and every failure with its class."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from found_footy.domain.errors import (
    FeedError,
    FeedMalformed,
    FeedRateLimited,
    FeedUnauthorized,
    FeedUnavailable,
)

T = TypeVar("T")

MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RetryRule:
    attempts: int = 3
    first_delay: float = 0.5
    """Seconds; the cap of the first random wait, doubled for each further one (full jitter)."""

    def delay(self, attempt: int) -> float:
        # Not for secrets: spreads the retries of many workers.
        return random.uniform(0, self.first_delay * 2**attempt)


async def with_retries(call: Callable[[], Awaitable[T]], rule: RetryRule) -> T:
    for attempt in range(rule.attempts - 1):
        try:
            return await call()
        except FeedError as error:
            # Asking again at once is what a rate limit is about.
            if not error.retryable or isinstance(error, FeedRateLimited):
                raise
        await asyncio.sleep(rule.delay(attempt))
    return await call()


class FeedHttp:
    """One feed's HTTP client. `on_headers` sees the headers of each answer (rate limits)."""

    def __init__(
        self,
        base_url: str,
        timeout: float,
        headers: Mapping[str, str] | None = None,
        on_headers: Callable[[Mapping[str, str]], None] | None = None,
    ) -> None:
        self._client = httpx.AsyncClient(
            base_url=base_url, timeout=timeout, headers=dict(headers or {}), follow_redirects=False
        )
        self._timeout = timeout
        self._on_headers = on_headers

    async def get(self, path: str, params: Mapping[str, str]) -> Any:
        where = f"{self._client.base_url.host}{path}"
        try:
            # httpx bounds each read; a server that drips needs a bound on the whole.
            async with asyncio.timeout(self._timeout):
                status, headers, body = await self._fetch(path, params)
        except (TimeoutError, httpx.TimeoutException):
            raise FeedUnavailable(f"{where} did not answer within {self._timeout:g} s") from None
        except httpx.HTTPError as error:
            raise FeedUnavailable(f"{where}: {type(error).__name__}: {error}") from error
        if self._on_headers is not None:
            self._on_headers(headers)
        _raise_for_status(status, where)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            start = body[:60].decode("utf-8", "replace")
            raise FeedMalformed(f"{where} sent something that is not JSON, starting {start!r}") from error

    async def _fetch(self, path: str, params: Mapping[str, str]) -> tuple[int, httpx.Headers, bytes]:
        async with self._client.stream("GET", path, params=dict(params)) as response:
            chunks, size = [], 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_BYTES:
                    raise FeedMalformed(f"{path}: the answer is larger than {MAX_BYTES} bytes")
                chunks.append(chunk)
            return response.status_code, response.headers, b"".join(chunks)

    async def aclose(self) -> None:
        await self._client.aclose()


def _raise_for_status(status: int, where: str) -> None:
    if status in (401, 403):
        raise FeedUnauthorized(f"{where} answered HTTP {status}")
    if status == 429:
        raise FeedRateLimited(f"{where} answered HTTP 429")
    if status != 200:
        raise FeedUnavailable(f"{where} answered HTTP {status}")
