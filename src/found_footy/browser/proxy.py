"""Egress proxy on loopback for untrusted pages, which rejects private addresses.

A rule inside the browser would miss redirects, WebSockets and workers. The proxy sees every connection: it resolves a
name once, checks all its addresses, and connects to exactly these.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from urllib.parse import urlsplit

from found_footy.runtime.addresses import MAX_ADDRESSES, AddressPolicy, Resolve, system_resolve

log = logging.getLogger(__name__)

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0
CONNECT_SECONDS = 10.0
CHUNK_BYTES = 64 * 1024
MAX_BYTES_PER_DIRECTION = 64 * 1024 * 1024
"""Maximum bytes per direction of a connection."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Refused(Exception):
    pass


class EgressProxy:
    """Proxy server; accepts connections between `start` and `stop`."""

    def __init__(self, rule: AddressPolicy, resolve: Resolve = system_resolve) -> None:
        self._rule = rule
        self._resolve = resolve
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.refused = 0

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_HEAD_BYTES)

    async def stop(self) -> None:
        """Stop the server. Safe to call if it was not started."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            log.debug("a connection of a page ended: %s", type(error).__name__)
        except asyncio.CancelledError:
            # The service is stopping; asyncio's server would log the cancellation.
            pass
        finally:
            self._open.discard(task)
            await _close(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        try:
            host, port, forwarded_head = _parse_request_head(head)
            upstream = await self._connect(host, port)
        except (_Refused, ValueError) as refusal:
            self.refused += 1
            log.info("refused a request of a page: %s", refusal, extra={"action": "page_request_rejected"})
            await _send_error(writer, "403 Forbidden")
            return
        except (OSError, TimeoutError):
            await _send_error(writer, "502 Bad Gateway")
            return
        try:
            if forwarded_head is None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream[1].write(forwarded_head)
            await _relay((reader, writer), upstream)
        finally:
            await _close(upstream[1])

    async def _connect(self, host: str, port: int) -> Streams:
        async with asyncio.timeout(CONNECT_SECONDS):
            try:
                addresses = await self._resolve(host, port)
            except UnicodeError as error:
                raise _Refused(f"{host[:100]!r} is not a host name") from error
            if (reason := self._rule.check(host, port, addresses)) is not None:
                raise _Refused(f"{host[:100]}:{port}: {reason}")
            failure: OSError | None = None
            for address in addresses[:MAX_ADDRESSES]:
                try:
                    return await asyncio.open_connection(address, port, limit=CHUNK_BYTES)
                except OSError as error:
                    failure = failure or error
        raise failure or OSError("the name has no address")


def _parse_request_head(head: bytes) -> tuple[str, int, bytes | None]:
    """Return host, port, and the request head to forward, or None for a tunnel."""
    line, _, rest = head.partition(b"\r\n")
    method, target, version = line.decode("latin-1").split(" ")
    if method == "CONNECT":
        parts = urlsplit(f"//{target}")
        if parts.hostname is None or parts.port is None:
            raise ValueError("a tunnel without a target")
        return parts.hostname, parts.port, None
    parts = urlsplit(target)
    if parts.scheme != "http" or parts.hostname is None:
        raise ValueError("not a web address")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # One request per connection: a second one might be for another host.
    headers = [each for each in rest.split(b"\r\n") if not each.lower().startswith((b"connection:", b"proxy-"))]
    request_head = f"{method} {path} {version}\r\nConnection: close\r\n".encode("latin-1")
    return parts.hostname, parts.port or 80, request_head + b"\r\n".join(headers)


async def _send_error(writer: asyncio.StreamWriter, status: str) -> None:
    """Send an error with a short body, because Chromium does not show a page for an empty one."""
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(status)}\r\nConnection: close\r\n\r\n"
    )
    writer.write((head + status).encode("ascii"))
    await writer.drain()


async def _relay(client: Streams, upstream: Streams) -> None:
    to_upstream = asyncio.create_task(_pipe(client[0], upstream[1]))
    to_client = asyncio.create_task(_pipe(upstream[0], client[1]))
    try:
        # Once one side has finished, the connection is useless.
        await asyncio.wait({to_upstream, to_client}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (to_upstream, to_client):
            task.cancel()
        await asyncio.wait({to_upstream, to_client})


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    transferred = 0
    with suppress(OSError):
        while transferred < MAX_BYTES_PER_DIRECTION and (chunk := await reader.read(CHUNK_BYTES)):
            transferred += len(chunk)
            writer.write(chunk)
            await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(1):
            await writer.wait_closed()
