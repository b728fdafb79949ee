"""JSON from a social source: bounded in bytes and seconds, never sent elsewhere, and every failure with its class."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import SourceChanged, SourceLoggedOut, SourceRateLimited, SourceUnavailable
from found_footy.http_exchanges import note_exchange
from found_footy.user_agent import USER_AGENT

MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    where: str
    """Host and path, for messages."""
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        return self.status == 200

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise SourceChanged(f"{self.where} sent something that is not JSON, starting {self.start!r}") from None

    @property
    def start(self) -> str:
        return clean_text(self.body[:120].decode("utf-8", "replace"), 60)

    @property
    def is_page(self) -> bool:
        """A page for people where JSON was expected."""
        return self.body[:200].lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml"))


class SourceHttp:
    """One source's HTTP client."""

    def __init__(self, base_url: str, timeout: float, headers: Mapping[str, str] | None = None) -> None:
        self._client = httpx.AsyncClient(
            base_url=base_url,
            timeout=timeout,
            headers={"user-agent": USER_AGENT, "accept": "application/json", **(headers or {})},
            follow_redirects=False,
        )
        self._timeout = timeout

    async def get(self, path: str, params: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Answer:
        return await self._send(self._client.build_request("GET", path, params=dict(params), headers=headers))

    async def post(
        self,
        path: str,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        form: Mapping[str, str] | None = None,
        secret: bool = False,
    ) -> Answer:
        """`secret`: the answer holds credentials, so its body is not recorded."""
        request = self._client.build_request("POST", path, json=json, data=form, headers=headers)
        return await self._send(request, secret=secret)

    async def _send(self, request: httpx.Request, *, secret: bool = False) -> Answer:
        where = f"{request.url.host}{request.url.path}"
        began, failure = time.monotonic(), f"no answer within {self._timeout:g} s"
        answer: Answer | None = None
        try:
            # httpx bounds each read; a server that drips needs a bound on the whole.
            async with within(self._timeout, where):
                try:
                    answer = await self._read(request, where)
                    return answer
                except httpx.TimeoutException:
                    raise TimeoutError from None
                except httpx.HTTPError as error:
                    failure = f"{type(error).__name__}: {clean_text(str(error), 200)}"
                    raise SourceUnavailable(f"{where}: {failure}") from None
        finally:
            note_exchange(
                request.method,
                str(request.url),
                time.monotonic() - began,
                status=answer.status if answer else None,
                headers=answer.headers if answer else None,
                body=answer.body if answer and not secret else b"",
                error=failure,
            )

    async def _read(self, request: httpx.Request, where: str) -> Answer:
        response = await self._client.send(request, stream=True)
        try:
            chunks, size = [], 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_BYTES:
                    raise SourceChanged(f"{where}: the answer is larger than {MAX_BYTES} bytes")
                chunks.append(chunk)
            return Answer(where, response.status_code, response.headers, b"".join(chunks))
        finally:
            await response.aclose()

    def is_own(self, url: str) -> bool:
        """Whether a URL leads to the server that this client was made for."""
        base, other = self._client.base_url, httpx.URL(url)
        return (base.scheme, base.netloc) == (other.scheme, other.netloc)

    async def aclose(self) -> None:
        await self._client.aclose()


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise SourceUnavailable(f"{what} did not answer within {seconds:g} s") from None


def raise_for_status(answer: Answer, said: str = "") -> None:
    """By the status alone. `said` is the source's own reason, where it gives one."""
    if answer.ok:
        return
    reason = f"{answer.where} answered HTTP {answer.status}" + (f": {clean_text(said, 200)}" if said else "")
    if answer.status in (401, 403):
        raise SourceLoggedOut(reason)
    if answer.status == 429:
        raise SourceRateLimited(reason)
    if answer.status >= 500 or answer.status == 408:
        raise SourceUnavailable(reason)
    raise SourceChanged(reason)
