"""POST to a subscriber's server: signed, to a checked address, without following it anywhere else.

httpcore itself and not httpx's client: no cookies, no proxies of the environment and no redirects behind our back.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

import httpcore
import httpx

from found_footy.adapters.guarded.addresses import AddressRule
from found_footy.adapters.guarded.connections import GuardedBackend, Resolve, system_resolve
from found_footy.domain.announcing.outcomes import Outcome, Result, outcome_of
from found_footy.domain.announcing.signing import signature
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import BadRequest, DeliveryRefused
from found_footy.ports_announcing import Parcel

ANSWER_BYTES = 4096
"""More of an answer is not read: only its status counts."""
LONGEST_SAID = 120
USER_AGENT = "FoundFooty/1.0 (webhook)"
DEFAULT_PORTS = {"http": 80, "https": 443}

_HOST = re.compile(r"[\w.:-]{1,253}")
"""Names, also of other scripts, and addresses of both kinds."""


class Webhooks:
    def __init__(
        self,
        *,
        seconds: float,
        private_hosts: Collection[str] = (),
        now: Callable[[], datetime],
        resolve: Resolve = system_resolve,
    ) -> None:
        self._seconds = seconds
        self._now = now
        self._rule = AddressRule(private_hosts)
        # A connection serves one request: what a stranger's server left in it reaches nobody else.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=None,
            max_keepalive_connections=0,
            network_backend=GuardedBackend(self._rule, DeliveryRefused, resolve),
        )

    async def send(self, parcel: Parcel) -> Outcome:
        url = _url(parcel.target)
        if url is None:
            return Outcome(Result.REFUSED, "the target is no address of a web server")
        sending = _Sending()
        try:
            async with asyncio.timeout(self._seconds):
                return await self._post(url, parcel, sending)
        except TimeoutError:
            return sending.failed(url, f"no answer within {self._seconds:g} s")
        except DeliveryRefused as error:
            return Outcome(Result.REFUSED, f"forbidden address: {error}")
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            return sending.failed(url, type(error).__name__)

    async def check(self, target: str) -> None:
        url = _url(target)
        if url is None:
            raise BadRequest("the target is no address of a web server")
        port = url.port or DEFAULT_PORTS[url.scheme]
        # Names are looked up when something is sent: what they lead to today says nothing of tomorrow.
        literal = [url.host] if _is_number(url.host) else []
        if (reason := self._rule.refusal(url.host, port, literal)) is not None:
            raise BadRequest(f"no message may be sent to {clean_text(url.host, 100)}: {reason}")

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def _post(self, url: httpx.URL, parcel: Parcel, sending: _Sending) -> Outcome:
        body = parcel.body.encode()
        headers = {
            "Host": url.netloc.decode("ascii"),
            "User-Agent": USER_AGENT,
            "Accept": "*/*",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Idempotency-Key": parcel.key,
            "Footy-Topic": parcel.topic,
            "Footy-Signature": signature(parcel.secret or "", int(self._now().timestamp()), body),
        }
        async with self._pool.stream(
            "POST",
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=list(headers.items()),
            content=body,
            extensions={"trace": sending.trace, "timeout": dict.fromkeys(("connect", "read", "write"), self._seconds)},
        ) as response:
            answered = httpx.Headers(response.headers)
            said = "" if response.status < 400 else await _said(response, answered.get("content-type", ""))
            return outcome_of(response.status, said, _seconds(answered.get("retry-after", "")))


class _Sending:
    """Whether anything of the message has left the house."""

    def __init__(self) -> None:
        self.begun = False

    async def trace(self, name: str, info: dict[str, Any]) -> None:
        if name.endswith("send_request_headers.started"):
            self.begun = True

    def failed(self, url: httpx.URL, why: str) -> Outcome:
        return Outcome(Result.LATER, f"{clean_text(url.host, 100)}: {why}", maybe_told=self.begun)


def _url(target: str) -> httpx.URL | None:
    try:
        url = httpx.URL(target)
    except (httpx.InvalidURL, ValueError):
        return None
    fits = url.scheme in DEFAULT_PORTS and _HOST.fullmatch(url.host) and not url.userinfo
    return url if fits else None


def _is_number(host: str) -> bool:
    """An address, in whichever notation: 127.1 and 0x7f000001 are some, too."""
    try:
        socket.inet_aton(host)
    except (OSError, UnicodeError):
        return ":" in host
    return True


async def _said(response: httpcore.Response, kind: str) -> str:
    """The beginning of a refusal, where it is meant to be read."""
    if kind.partition(";")[0].strip().lower() not in ("text/plain", "application/json", "application/problem+json"):
        return ""
    said = b""
    async for piece in response.aiter_stream():
        said += piece
        if len(said) >= ANSWER_BYTES:
            break
    return clean_text(said[:ANSWER_BYTES].decode("utf-8", "replace"), LONGEST_SAID)


def _seconds(retry_after: str) -> float | None:
    return float(retry_after) if retry_after.isascii() and retry_after.isdecimal() and len(retry_after) < 8 else None
