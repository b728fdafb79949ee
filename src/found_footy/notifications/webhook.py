"""Webhooks: signed POST requests to a subscriber's server, at a checked address and without following redirects.

The receiver verifies `Footy-Signature: t=…,v1=…`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import socket
from collections.abc import Callable, Collection
from datetime import datetime

import httpx

from found_footy.errors import BadRequest
from found_footy.notifications.models import DeliveryOutcome, OutgoingMessage, SendResult, outcome_of_status
from found_footy.runtime.addresses import AddressPolicy, Resolve, system_resolve
from found_footy.runtime.http import (
    HttpClient,
    HttpError,
    HttpErrorKind,
    HttpLimits,
    HttpStream,
    parse_public_url,
    parse_retry_after,
)
from found_footy.text import clean_text

MAX_RESPONSE_BYTES = 4096
"""Bytes read from a response; only its status counts."""
MAX_EXCERPT_LENGTH = 120
DEFAULT_PORTS = {"http": 80, "https": 443}


def new_secret() -> str:
    return f"footy_{secrets.token_urlsafe(32)}"


def sign(secret: str, at: int, body: bytes) -> str:
    """Sign a body. `at` is in seconds since 1970 and part of the signed content, which prevents replays."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


class WebhookSender:
    def __init__(
        self,
        *,
        seconds: float,
        private_hosts: Collection[str] = (),
        now: Callable[[], datetime],
        resolve: Resolve = system_resolve,
    ) -> None:
        self._now = now
        self._addresses = AddressPolicy(private_hosts)
        self._client = HttpClient(HttpLimits(seconds), addresses=self._addresses, resolve=resolve)

    async def send(self, message: OutgoingMessage) -> DeliveryOutcome:
        url = _url(message.target)
        if url is None:
            return DeliveryOutcome(SendResult.REFUSED, "invalid target URL")
        body = message.body.encode()
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": message.key,
            "Footy-Topic": message.topic,
            "Footy-Signature": sign(message.secret or "", int(self._now().timestamp()), body),
        }
        try:
            async with self._client.stream("POST", url, content=body, headers=headers) as response:
                reason = await _reason(response) if response.status >= 400 else ""
                wait = parse_retry_after(response.headers.get("retry-after", ""), self._now())
                return outcome_of_status(response.status, reason, wait.total_seconds() if wait else None)
        except HttpError as error:
            if error.kind is HttpErrorKind.FORBIDDEN_ADDRESS:
                return DeliveryOutcome(SendResult.REFUSED, f"forbidden address: {error}")
            # Leave out the path, which may be a secret.
            reason = f"{clean_text(url.host, 100)}: {error.detail}"
            return DeliveryOutcome(SendResult.RETRY, reason, possibly_delivered=error.request_sent)

    async def check(self, target: str) -> None:
        url = _url(target)
        if url is None:
            raise BadRequest("invalid target URL")
        port = url.port or DEFAULT_PORTS[url.scheme]
        # Names are resolved when a message is sent: their addresses may change.
        literal = [url.host] if _is_address(url.host) else []
        if (reason := self._addresses.check(url.host, port, literal)) is not None:
            raise BadRequest(f"cannot deliver to {clean_text(url.host, 100)}: {reason}")

    async def aclose(self) -> None:
        await self._client.aclose()


def _url(target: str) -> httpx.URL | None:
    try:
        return parse_public_url(target)
    except HttpError:
        return None


def _is_address(host: str) -> bool:
    """Whether the host is an IP address in any notation, such as 127.1 or 0x7f000001."""
    try:
        socket.inet_aton(host)
    except (OSError, UnicodeError):
        return ":" in host
    return True


async def _reason(response: HttpStream) -> str:
    """Start of an error response, if it is text."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("text/plain", "application/json", "application/problem+json"):
        return ""
    return clean_text(await response.text(MAX_RESPONSE_BYTES), MAX_EXCERPT_LENGTH)
