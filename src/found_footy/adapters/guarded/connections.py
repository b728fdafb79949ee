"""Connections to checked addresses only.

A name is resolved once, all its addresses are checked, and the connection goes to one of exactly these: a second
answer of the name server (DNS rebinding) is never asked for. TLS still proves the name.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore

from found_footy.adapters.guarded.addresses import AddressRule
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import FootyError

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Refuse = Callable[[str], FootyError]
"""What a forbidden address means to whoever wanted to go there: an error with the reason."""

MOST_ADDRESSES = 4
"""Of a name that are tried, one after the other."""


async def system_resolve(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedBackend(httpcore.AsyncNetworkBackend):
    def __init__(self, rule: AddressRule, refuse: Refuse, resolve: Resolve = system_resolve) -> None:
        self._rule = rule
        self._refuse = refuse
        self._resolve = resolve
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._addresses(host, port, timeout)
        if (reason := self._rule.refusal(host, port, addresses)) is not None:
            raise self._refuse(f"{clean_text(host, 100)}: {reason}")
        failure: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for address in addresses[:MOST_ADDRESSES]:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = failure or error
        raise failure or httpcore.ConnectError("the name has no address")

    async def _addresses(self, host: str, port: int, seconds: float | None) -> Sequence[str]:
        try:
            async with asyncio.timeout(seconds) as clock:
                return await self._resolve(host, port)
        except TimeoutError as error:
            if clock.expired():
                raise httpcore.ConnectTimeout("the name was not resolved in time") from None
            raise httpcore.ConnectError(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the name is not known: {error}") from error

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise self._refuse("a link may not lead to a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
