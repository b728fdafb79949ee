"""Address of a request's client: the peer, or the address that a trusted proxy reports."""

from __future__ import annotations

import ipaddress
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from found_footy.access.models import client_key
from found_footy.errors import StreamFull, TooManyRequests
from found_footy.runtime.addresses import is_loopback
from found_footy.web.requests import host_name

log = logging.getLogger(__name__)

LOCAL_KEY = "found_footy.local"
FORWARDING = frozenset(
    {b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip", b"forwarded", b"via"}
)
"""Most proxies add at least one of these; a browser adds none."""
MAX_HOPS = 20
PROTO = b"x-forwarded-proto"
RETRY_SECONDS = 5

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Visitor:
    address: str | None
    """None if a trusted proxy reports an address that cannot be parsed."""
    is_local: bool = False
    """A program on this machine that connected directly."""
    scheme: str | None = None
    """As a trusted proxy reports it."""


class ProxyTrust:
    """The networks of FOOTY_TRUSTED_PROXIES, whose `X-Forwarded-*` headers count."""

    def __init__(self, networks: Sequence[str] = ()) -> None:
        self._networks = tuple(ipaddress.ip_network(each, strict=False) for each in networks)

    def covers(self, address: str | None) -> bool:
        try:
            parsed = ipaddress.ip_address(address or "")
        except ValueError:
            return False
        if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        return any(parsed in network for network in self._networks)

    def visitor(self, peer: str | None, headers: Headers, http_version: str = "1.1") -> Visitor:
        """Return the rightmost forwarded address that is not a trusted proxy; addresses left of it may be forged."""
        headers = list(headers)
        forwarding = [(name, value) for name, value in headers if name in FORWARDING]
        if not forwarding:
            return Visitor(peer, peer is not None and is_loopback(peer) and _is_direct(headers, http_version))
        if not self.covers(peer):
            return Visitor(peer)
        hops = b",".join(value for name, value in forwarding if name == b"x-forwarded-for").decode("latin-1").split(",")
        schemes = [value.decode("latin-1").rpartition(",")[2].strip() for name, value in forwarding if name == PROTO]
        scheme = next((each for each in schemes[-1:] if each in ("http", "https")), None)
        for hop in reversed(hops[-MAX_HOPS:]):
            address = _parse_address(hop.strip())
            if address is None:
                return Visitor(None if hop.strip() else peer, scheme=scheme)
            if not self.covers(address):
                return Visitor(address, scheme=scheme)
        return Visitor(_parse_address(hops[0].strip()) or peer, scheme=scheme)


def _is_direct(headers: Headers, http_version: str) -> bool:
    """False for what proxies without forwarding headers send: HTTP/1.0 or `Connection: close` (nginx), or the name that
    the visitor asked for (HAProxy).
    """
    by_name = dict(headers)
    host = host_name(by_name[b"host"].decode("latin-1")) if b"host" in by_name else "localhost"
    closes = b"close" in by_name.get(b"connection", b"").lower()
    return http_version != "1.0" and not closes and host is not None and is_loopback(host)


def _parse_address(text: str) -> str | None:
    """Parse an address as proxies write it: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


class VisitorMiddleware:
    """Replaces the peer by the visitor, before anything else reads it."""

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        self._app = app
        self._trust = ProxyTrust(proxies)
        self._warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            peer = scope["client"][0] if scope.get("client") else None
            visitor = self._trust.visitor(peer, scope["headers"], scope["http_version"])
            if visitor.address != peer:
                scope["client"] = (visitor.address, 0) if visitor.address is not None else None
            elif not visitor.is_local and peer is not None and is_loopback(peer):
                self._warn(peer)
            if visitor.scheme is not None:
                scope["scheme"] = visitor.scheme
            scope[LOCAL_KEY] = visitor.is_local
        await self._app(scope, receive, send)

    def _warn(self, peer: str) -> None:
        if not self._warned:
            self._warned = True
            log.warning(
                "requests come through a proxy at %s; set FOOTY_TRUSTED_PROXIES, or all its visitors share one address",
                peer,
                extra={"action": "proxy_not_trusted"},
            )


def is_local(connection: HTTPConnection) -> bool:
    return connection.scope.get(LOCAL_KEY) is True


def visitor_key(connection: HTTPConnection) -> str:
    """Key of limits per address."""
    return client_key(connection.client.host if connection.client else None)


class ConcurrencyLimit:
    """Limits per process: in total, and per address. Programs on this machine count in total only."""

    def __init__(self, limit: int, noun: str, per_address: int | None = None) -> None:
        self.limit = limit
        self.running = 0
        self._noun = noun
        self._per_address = per_address
        self._by_address: Counter[str] = Counter()

    def check(self, address: str | None) -> None:
        """Raises StreamFull or TooManyRequests. `address` is None for a program on this machine."""
        if self.running >= self.limit:
            raise StreamFull(f"too many concurrent {self._noun} (limit {self.limit}); try again later")
        if address is None or self._per_address is None:
            return
        if self._by_address[address] >= self._per_address:
            error = TooManyRequests(f"too many concurrent {self._noun} from this address (limit {self._per_address})")
            vars(error)["headers"] = {"Retry-After": str(RETRY_SECONDS)}
            raise error

    def add(self, address: str | None) -> None:
        self.running += 1
        if address is not None:
            self._by_address[address] += 1

    def remove(self, address: str | None) -> None:
        self.running -= 1
        if address is not None:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    @contextmanager
    def entered(self, address: str | None) -> Iterator[None]:
        self.check(address)
        self.add(address)
        try:
            yield
        finally:
            self.remove(address)


def limited_address(connection: HTTPConnection) -> str | None:
    """Address for a `ConcurrencyLimit`."""
    return None if is_local(connection) else visitor_key(connection)
