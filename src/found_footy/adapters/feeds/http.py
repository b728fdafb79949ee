"""GET a JSON document or a page from a score feed, bounded in time and bytes, with a class for every failure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx

from found_footy.adapters.feeds.refusals import judge, judge_page, leads_to_people
from found_footy.adapters.feeds.retrying import Deadline
from found_footy.adapters.feeds.unpacking import ACCEPTED, unpacked
from found_footy.domain.errors import FeedBlocked, FeedBusy, FeedRejected, FeedUnavailable
from found_footy.http_exchanges import note_exchange
from found_footy.user_agent import USER_AGENT

MAX_REDIRECTS = 3

Turn = Callable[[], AbstractAsyncContextManager[None]]
"""Entered around each request; waits until the limits over all workers allow it."""


def at_once() -> AbstractAsyncContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: httpx.Headers
    body: bytes
    sent_to: httpx.Request | None


class FeedHttp:
    """One feed's HTTP client. `on_headers` sees the headers of each answer (rate limits)."""

    def __init__(
        self,
        base_url: str,
        timeout: float,
        headers: Mapping[str, str] | None = None,
        on_headers: Callable[[Mapping[str, str]], None] | None = None,
        *,
        turn: Turn = at_once,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        known = {"accept": "application/json", "accept-encoding": ACCEPTED, "user-agent": USER_AGENT}
        self._client = httpx.AsyncClient(
            base_url=base_url, timeout=timeout, headers={**known, **(headers or {})}, follow_redirects=False
        )
        self._timeout = timeout
        self._on_headers = on_headers
        self._turn = turn
        self._now = now

    async def get(self, path: str, params: Mapping[str, str], deadline: Deadline | None = None) -> Any:
        """The JSON of the answer."""
        answer, where, _ = await self._follow(path, params, deadline or Deadline())
        return judge(answer.status, answer.headers, answer.body, where, self._now and self._now())

    async def page(self, path: str, deadline: Deadline | None = None) -> tuple[str, str]:
        """The path that the address led to, and the text of the page there. Raises NotFound where there is none."""
        answer, where, url = await self._follow(path, {}, deadline or Deadline())
        return url.path, judge_page(answer.status, answer.headers, answer.body, where, self._now and self._now())

    async def _follow(self, path: str, params: Mapping[str, str], deadline: Deadline) -> tuple[_Answer, str, httpx.URL]:
        where = f"{self._client.base_url.host}{path}"
        request = self._client.build_request("GET", path, params=dict(params))
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._ask(request, where, deadline)
            if self._on_headers is not None:
                self._on_headers(answer.headers)
            if answer.sent_to is None:
                return answer, where, request.url
            _refuse_stranger(request.url, answer.sent_to.url, where)
            request = answer.sent_to
        raise FeedUnavailable(f"{where} sends from one address to the next, more than {MAX_REDIRECTS} times")

    async def _ask(self, request: httpx.Request, where: str, deadline: Deadline) -> _Answer:
        if not deadline.left():
            raise FeedUnavailable(f"{where}: no time is left in this poll")
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(deadline.left()):
                    await stack.enter_async_context(self._turn())
            except TimeoutError:
                raise FeedBusy(f"{where}: no turn came in time") from None
            seconds = min(self._timeout, deadline.left())
            began, failure = time.monotonic(), ""
            answer: _Answer | None = None
            try:
                # httpx bounds each read; a server that drips needs a bound on the whole.
                async with asyncio.timeout(seconds):
                    answer = await self._fetch(request, where)
                    return answer
            except (TimeoutError, httpx.TimeoutException):
                failure = f"no answer within {seconds:.3g} s"
                raise FeedUnavailable(f"{where} did not answer within {seconds:.3g} s") from None
            except httpx.HTTPError as error:
                failure = f"{type(error).__name__}: {error}"
                raise FeedUnavailable(f"{where}: {failure}") from error
            finally:
                note_exchange(
                    request.method,
                    str(request.url),
                    time.monotonic() - began,
                    status=answer.status if answer else None,
                    headers=answer.headers if answer else None,
                    body=answer.body if answer else b"",
                    error=failure,
                )

    async def _fetch(self, request: httpx.Request, where: str) -> _Answer:
        response = await self._client.send(request, stream=True)
        try:
            body = b""
            if response.next_request is None:
                body = await unpacked(response.aiter_raw(), response.headers.get("content-encoding", ""), where)
            return _Answer(response.status_code, response.headers, body, response.next_request)
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        await self._client.aclose()


def _refuse_stranger(here: httpx.URL, there: httpx.URL, where: str) -> None:
    """A redirect to another host would take the key there."""
    same = (there.scheme, there.host, there.port) == (here.scheme, here.host, here.port)
    upgraded = (here.scheme, there.scheme) == ("http", "https") and there.host == here.host and here.port == there.port
    if same or upgraded:
        return
    if leads_to_people(str(there)):
        raise FeedBlocked(f"{where} sends us to a page for people at {there.host}")
    raise FeedRejected(f"{where} sends us to {there.scheme}://{there.netloc.decode()}, which is not the feed")
