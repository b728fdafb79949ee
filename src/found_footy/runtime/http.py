"""The HTTP client for every outbound request: bounded in time, bytes and redirects.

Two kinds of client:

- For configured services (feeds, social sources, our own servers): keep-alive, proxies from the environment, redirects
  to the same host only.
- For untrusted URLs (downloads, webhooks), with an `AddressPolicy`: every hop is resolved once, all its addresses are
  checked, and the connection uses one of exactly these, which prevents DNS rebinding. One request per connection, no
  proxy.

Neither keeps cookies. Failures are raised as HttpError, or as the error that the client's `translate` returns.
"""

from __future__ import annotations

import asyncio
import json as json_module
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore
import httpx

from found_footy.runtime.addresses import MAX_ADDRESSES, AddressPolicy, Resolve, system_resolve
from found_footy.runtime.http_exchanges import record_exchange
from found_footy.runtime.retry import Deadline
from found_footy.runtime.tracing import begin_request, end_request
from found_footy.text import clean_text
from found_footy.version import VERSION

PROJECT_URL = "https://github.com/found-footy/found-footy"
USER_AGENT = f"found-footy/{VERSION} (+{PROJECT_URL})"
"""ESPN has rejected other forms, such as browser strings, since August 2026; Reddit and Wikimedia throttle clients that
do not identify themselves.
"""

MAX_BYTES = 32 * 1024 * 1024
MAX_ERROR_BYTES = 256 * 1024
"""Error response bodies are truncated to this size instead of being rejected."""
MAX_URL_LENGTH = 4096
MAX_SHOWN_LENGTH = 120
PIECE_BYTES = 65_536
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

_BROKEN = (httpx.TransportError, httpcore.NetworkError, httpcore.ProtocolError)
_TIMEOUTS = (httpx.TimeoutException, httpcore.TimeoutException)
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_HOST = re.compile(r"[\w.:-]{1,253}")
"""Host names, including internationalized ones, and IPv4 and IPv6 addresses."""
_URL_IN_TEXT = re.compile(r"(https?://)(?:[^\s/@]*@)?([^\s?#]*)(?:[?#]\S*)?", re.IGNORECASE)

Permit = Callable[[], AbstractAsyncContextManager[None]]
"""Entered around each request; waits until a limit shared by all workers allows it."""


class HttpErrorKind(StrEnum):
    UNREACHABLE = "unreachable"
    """The connection failed or broke."""
    TIMEOUT = "timeout"
    NO_PERMIT = "no_permit"
    """The permit was not granted before the deadline. Nothing was sent."""
    TOO_LARGE = "too_large"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    CORRUPT_BODY = "corrupt_body"
    """Compressed data is damaged or truncated."""
    NOT_JSON = "not_json"
    INVALID_URL = "invalid_url"
    FORBIDDEN_ADDRESS = "forbidden_address"
    FOREIGN_REDIRECT = "foreign_redirect"
    """Redirect to another host, which must not receive the service's credentials. `HttpError.location` is the URL."""
    TOO_MANY_REDIRECTS = "too_many_redirects"


class HttpError(Exception):
    """A request without a usable response."""

    def __init__(
        self,
        kind: HttpErrorKind,
        message: str,
        *,
        detail: str = "",
        request_sent: bool = False,
        location: httpx.URL | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.detail = detail or message
        """The message without the URL."""
        self.request_sent = request_sent
        """Whether the server may have received the request."""
        self.location = location

    @property
    def is_transient(self) -> bool:
        """Whether the connection failed, rather than the response being unusable."""
        return self.kind in (HttpErrorKind.UNREACHABLE, HttpErrorKind.TIMEOUT, HttpErrorKind.NO_PERMIT)


Translate = Callable[[HttpError], Exception]


class RedirectScope(StrEnum):
    SAME_HOST = "same_host"
    ANY_ALLOWED = "any_allowed"
    """Any host that the client's address policy allows."""


@dataclass(frozen=True, slots=True)
class Redirects:
    """How many redirects are followed, and to which hosts."""

    maximum: int
    scope: RedirectScope = RedirectScope.SAME_HOST


@dataclass(frozen=True, slots=True)
class HttpLimits:
    seconds: float | None
    """Limit for one request including its body. None if the caller sets the timeout."""
    max_bytes: int = MAX_BYTES
    """Limit for a body, before and after decompression."""
    connect_seconds: float | None = None
    read_seconds: float | None = None
    """Maximum time between two reads."""

    @property
    def timeouts(self) -> httpx.Timeout:
        read = self.seconds if self.read_seconds is None else self.read_seconds
        connect = self.seconds if self.connect_seconds is None else self.connect_seconds
        return httpx.Timeout(connect=connect, read=read, write=read, pool=self.seconds)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    url: httpx.URL
    """After redirects."""
    endpoint: str
    """Host and path as requested, for messages."""
    status: int
    headers: Mapping[str, str]
    """Names are case-insensitive."""
    body: bytes
    translate: Translate | None = None

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def excerpt(self) -> str:
        """The start of the body, for messages."""
        return clean_text(self.body[:120].decode("utf-8", "replace"), 60)

    @property
    def is_html(self) -> bool:
        return self.body[:200].lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml"))

    def json(self) -> Any:
        try:
            return json_module.loads(self.body)
        except (ValueError, RecursionError):
            detail = f"response is not JSON, starting {self.excerpt!r}"
            error = HttpError(HttpErrorKind.NOT_JSON, f"{self.endpoint}: {detail}", detail=detail)
            raise (self.translate(error) if self.translate else error) from None

    def retry_after(self, now: datetime) -> timedelta | None:
        return parse_retry_after(self.headers.get("retry-after", ""), now)


class HttpStream:
    """A response before its body. Raises HttpError; outside the `HttpClient.stream` block it is translated."""

    def __init__(self, response: httpx.Response, endpoint: str) -> None:
        self.url = response.request.url
        self.endpoint = endpoint
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.raw_bytes = 0
        """Received so far, before decompression."""
        self.redirects = 0
        """Number of redirects before this response."""
        self.recorded_body = b""
        self._response = response
        self._pieces = self._decompressed()
        self._head: list[bytes] = []

    @property
    def is_compressed(self) -> bool:
        return self._encoding not in ("", "identity")

    @property
    def length(self) -> int | None:
        """Announced size of the body."""
        text = self.headers.get("content-length", "")
        return int(text) if text.isdecimal() and len(text) < 20 else None

    async def head(self, size: int) -> bytes:
        """Peek at the first `size` bytes or more. They stay in the body."""
        while sum(map(len, self._head)) < size:
            piece = await anext(self._pieces, None)
            if piece is None:
                break
            self._head.append(piece)
        return b"".join(self._head)

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the decompressed body in pieces of bounded size."""
        while self._head:
            yield self._head.pop(0)
        async for piece in self._pieces:
            yield piece

    async def read(self, max_bytes: int) -> bytes:
        """Read at most `max_bytes`; the rest is discarded."""
        pieces, size = [], 0
        async for piece in self.body():
            pieces.append(piece)
            size += len(piece)
            if max(size, self.raw_bytes) >= max_bytes:
                break
        return b"".join(pieces)[:max_bytes]

    async def read_all(self, max_bytes: int) -> bytes:
        """Return the whole body. Raises HttpError if it is larger."""
        pieces, size = [], 0
        if (self.length or 0) > max_bytes:
            raise self._error(HttpErrorKind.TOO_LARGE, f"response is larger than {max_bytes} bytes")
        async for piece in self.body():
            pieces.append(piece)
            size += len(piece)
            if max(size, self.raw_bytes) > max_bytes:
                raise self._error(HttpErrorKind.TOO_LARGE, f"response is larger than {max_bytes} bytes")
        return b"".join(pieces)

    async def text(self, max_bytes: int) -> str:
        return (await self.read(max_bytes)).decode("utf-8", "replace")

    @property
    def _encoding(self) -> str:
        return self.headers.get("content-encoding", "").strip().lower()

    async def _decompressed(self) -> AsyncIterator[bytes]:
        if not self.is_compressed:
            async for data in self._raw():
                yield data
            return
        if self._encoding not in ("gzip", "x-gzip", "deflate"):
            shown = clean_text(self._encoding, 40)
            raise self._error(HttpErrorKind.UNSUPPORTED_ENCODING, f"unsupported content encoding {shown!r}")
        stream = zlib.decompressobj(_GZIP_OR_ZLIB)
        async for data in self._raw():
            for piece in self._inflate(stream, data):
                yield piece
        if self.raw_bytes and not stream.eof:
            raise self._error(HttpErrorKind.CORRUPT_BODY, "compressed response is truncated")

    def _inflate(self, stream: Any, data: bytes) -> Iterator[bytes]:
        # Data after the end of the compressed stream is not part of the response.
        while data and not stream.eof:
            try:
                piece = stream.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                raise self._error(HttpErrorKind.CORRUPT_BODY, f"compressed response is damaged: {error}") from None
            data = stream.unconsumed_tail
            if piece:
                yield piece

    async def _raw(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._response.aiter_raw():
                self.raw_bytes += len(data)
                yield data
        except (*_TIMEOUTS, *_BROKEN) as error:
            raise _connection_error(error, self.endpoint, request_sent=True) from error

    def _error(self, kind: HttpErrorKind, detail: str) -> HttpError:
        return HttpError(kind, f"{self.endpoint}: {detail}", detail=detail, request_sent=True)


@cache
def _tls_context(trust_env: bool) -> ssl.SSLContext:
    """Shared by all clients: reading the certificate authorities takes 70 ms."""
    return httpx.create_ssl_context(trust_env=trust_env)


class HttpClient:
    """`translate` turns every HttpError into the caller's own error class."""

    def __init__(
        self,
        limits: HttpLimits,
        *,
        base_url: str = "",
        headers: Mapping[str, str] | None = None,
        redirects: Redirects | None = None,
        addresses: AddressPolicy | None = None,
        resolve: Resolve = system_resolve,
        permit: Permit | None = None,
        translate: Translate | None = None,
        use_proxy: bool = True,
    ) -> None:
        """Without `redirects`, a redirect is returned like any other response.

        `use_proxy`: whether proxy settings of the environment apply; never with an address policy.
        """
        self._limits = limits
        self._redirects = redirects
        self._permit = permit
        self._translate = translate
        known = {"user-agent": USER_AGENT, "accept": "*/*", "accept-encoding": "gzip"}
        given = {name.lower(): value for name, value in (headers or {}).items()}
        self._client = httpx.AsyncClient(
            base_url=base_url,
            timeout=limits.timeouts,
            headers={**known, **given},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            trust_env=use_proxy and addresses is None,
            transport=None if addresses is None else _GuardedTransport(addresses, resolve),
            verify=_tls_context(use_proxy and addresses is None),
        )

    @property
    def base_url(self) -> httpx.URL:
        return self._client.base_url

    async def get(
        self,
        url: str | httpx.URL,
        params: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        seconds: float | None = None,
        deadline: Deadline | None = None,
    ) -> HttpResponse:
        return await self.request("GET", url, params=params, headers=headers, seconds=seconds, deadline=deadline)

    async def request(
        self,
        method: str,
        url: str | httpx.URL,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float | None = None,
        deadline: Deadline | None = None,
        record_body: bool = True,
    ) -> HttpResponse:
        """`deadline` limits the wait for permits and all redirects; `record_body=False` if the body has credentials."""
        opened = self.stream(
            method, url, params=params, json=json, form=form, headers=headers, seconds=seconds, deadline=deadline
        )
        async with opened as stream:
            if stream.status >= 400:
                body = await stream.read(min(MAX_ERROR_BYTES, self._limits.max_bytes))
            else:
                body = await stream.read_all(self._limits.max_bytes)
            stream.recorded_body = body if record_body else b""
            return HttpResponse(stream.url, stream.endpoint, stream.status, stream.headers, body, self._translate)

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str | httpx.URL,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        content: bytes | None = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        redirects: Redirects | None = None,
        seconds: float | None = None,
        deadline: Deadline | None = None,
        on_response: Callable[[HttpStream], None] | None = None,
    ) -> AsyncIterator[HttpStream]:
        """Yield the response after redirects, before its body. `on_response` is also called for each redirect."""
        redirects = redirects or self._redirects
        try:
            request = self._build(
                method, url, params=params and dict(params), json=json, content=content, data=form, headers=headers
            )
            endpoint = redact_url(request.url)
            for followed in range(1 if redirects is None else redirects.maximum + 1):
                async with self._send(request, endpoint, seconds, deadline) as stream:
                    if on_response is not None:
                        on_response(stream)
                    location = stream.headers.get("location") if stream.status in REDIRECT_STATUSES else None
                    if location is None or redirects is None:
                        stream.redirects = followed
                        yield stream
                        return
                request = self._build(
                    "GET", _next_url(request.url, location, redirects.scope, endpoint), headers=headers
                )
            raise _error(HttpErrorKind.TOO_MANY_REDIRECTS, endpoint, "too many redirects")
        except HttpError as error:
            if self._translate is None:
                raise
            raise self._translate(error) from error.__cause__

    async def aclose(self) -> None:
        await self._client.aclose()

    def _build(self, method: str, url: str | httpx.URL, **parts: Any) -> httpx.Request:
        try:
            return self._client.build_request(method, url, **parts)
        except (httpx.InvalidURL, ValueError, UnicodeError):
            shown = redact_urls(str(url))
            raise HttpError(HttpErrorKind.INVALID_URL, f"invalid URL: {shown}") from None

    @asynccontextmanager
    async def _send(
        self, request: httpx.Request, endpoint: str, seconds: float | None, deadline: Deadline | None
    ) -> AsyncIterator[HttpStream]:
        """Send one request without following redirects, and record it."""
        async with AsyncExitStack() as stack:
            await self._wait_for_permit(stack, endpoint, deadline)
            given = (seconds, self._limits.seconds, None if deadline is None else deadline.left())
            limit = min((each for each in given if each is not None), default=None)
            sent = _Sent()
            request.extensions = {**request.extensions, "trace": sent.trace}
            began, failure = time.monotonic(), ""
            span = begin_request(request.method, request.url.host)
            stream: HttpStream | None = None
            try:
                # httpx limits only the time between two reads; this limits the whole request.
                async with asyncio.timeout(limit) as clock:
                    try:
                        response = await self._client.send(request, stream=True)
                    except (*_TIMEOUTS, *_BROKEN) as error:
                        raise _connection_error(error, endpoint, request_sent=sent.started, seconds=limit) from error
                    try:
                        stream = HttpStream(response, endpoint)
                        yield stream
                    finally:
                        await response.aclose()
            except TimeoutError:
                if not clock.expired():
                    raise
                detail = _no_response(limit)
                failure = detail
                raise _error(HttpErrorKind.TIMEOUT, endpoint, detail, request_sent=sent.started) from None
            except HttpError as error:
                failure = error.detail
                raise
            finally:
                end_request(span, stream.status if stream else None, failure)
                record_exchange(
                    request.method,
                    str(request.url),
                    time.monotonic() - began,
                    status=stream.status if stream else None,
                    headers=stream.headers if stream else None,
                    body=stream.recorded_body if stream else b"",
                    error=failure,
                )

    async def _wait_for_permit(self, stack: AsyncExitStack, endpoint: str, deadline: Deadline | None) -> None:
        if deadline is not None and not deadline.left():
            raise _error(HttpErrorKind.TIMEOUT, endpoint, "no time left before the deadline")
        if self._permit is None:
            return
        try:
            async with asyncio.timeout(None if deadline is None else deadline.left()) as clock:
                await stack.enter_async_context(self._permit())
        except TimeoutError:
            if not clock.expired():
                raise
            raise _error(HttpErrorKind.NO_PERMIT, endpoint, "no permit before the deadline") from None


class _Sent:
    """Whether any part of a request has been sent."""

    def __init__(self) -> None:
        self.started = False

    async def trace(self, name: str, info: dict[str, Any]) -> None:
        if name.endswith("send_request_headers.started"):
            self.started = True


# --- URLs


def parse_public_url(text: str, base: httpx.URL | None = None) -> httpx.URL:
    """Parse an untrusted URL. Raises HttpError. Addresses are checked when connecting."""
    try:
        url = base.join(text) if base is not None and len(text) <= MAX_URL_LENGTH else httpx.URL(text[:MAX_URL_LENGTH])
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise HttpError(HttpErrorKind.INVALID_URL, f"invalid URL: {redact_urls(text)}") from None
    if len(text) > MAX_URL_LENGTH:
        raise _error(HttpErrorKind.INVALID_URL, redact_url(url), f"URL is longer than {MAX_URL_LENGTH} characters")
    if url.scheme not in ("http", "https") or not url.host:
        scheme = clean_text(url.scheme, 20)
        raise HttpError(HttpErrorKind.INVALID_URL, f"unsupported URL scheme {scheme!r}" if scheme else "incomplete URL")
    if not _HOST.fullmatch(url.host):
        raise _error(HttpErrorKind.INVALID_URL, redact_url(url), "invalid host name")
    if url.userinfo:
        raise _error(HttpErrorKind.FORBIDDEN_ADDRESS, redact_url(url), "URL contains credentials")
    return url


def redact_url(url: httpx.URL) -> str:
    """Host and path, for messages. The query may contain secrets."""
    host = f"{url.host}:{url.port}" if url.port else url.host
    return clean_text(f"{host}{url.path}", MAX_SHOWN_LENGTH)


def redact_urls(text: str, max_length: int = MAX_SHOWN_LENGTH) -> str:
    """Remove queries and credentials of URLs from a text."""
    return clean_text(_URL_IN_TEXT.sub(r"\1\2", text[: max_length * 10]), max_length)


def parse_retry_after(text: str, now: datetime) -> timedelta | None:
    """Return the header's seconds or date as a delay from now, None if it is neither."""
    value = text.strip()
    if value.isascii() and value.isdecimal() and len(value) < 9:
        return timedelta(seconds=int(value))
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(timedelta(0), until - now)


def _next_url(here: httpx.URL, location: str, scope: RedirectScope, endpoint: str) -> httpx.URL:
    url = parse_public_url(location, here)
    if scope is RedirectScope.SAME_HOST and not _is_same_host(here, url):
        detail = f"redirect to {url.scheme}://{clean_text(url.netloc.decode('ascii', 'replace'), 100)}"
        raise HttpError(HttpErrorKind.FOREIGN_REDIRECT, f"{endpoint}: {detail}", detail=detail, location=url)
    return url


def _is_same_host(here: httpx.URL, there: httpx.URL) -> bool:
    same = (there.scheme, there.host, there.port) == (here.scheme, here.host, here.port)
    upgraded = (here.scheme, there.scheme) == ("http", "https") and there.host == here.host and here.port == there.port
    return same or upgraded


# --- Errors


def _error(kind: HttpErrorKind, endpoint: str, detail: str, *, request_sent: bool = False) -> HttpError:
    return HttpError(kind, f"{endpoint}: {detail}", detail=detail, request_sent=request_sent)


def _connection_error(
    error: Exception, endpoint: str, *, request_sent: bool, seconds: float | None = None
) -> HttpError:
    if isinstance(error, _TIMEOUTS):
        return _error(HttpErrorKind.TIMEOUT, endpoint, _no_response(seconds), request_sent=request_sent)
    words = redact_urls(str(error), 200)
    detail = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return _error(HttpErrorKind.UNREACHABLE, endpoint, detail, request_sent=request_sent)


def _no_response(seconds: float | None) -> str:
    return "no response in time" if seconds is None else f"no response within {seconds:.3g} s"


# --- Connections for untrusted URLs


class _GuardedTransport(httpx.AsyncBaseTransport):
    """Uses a connection for one request only, so that an untrusted server cannot leave data in it for the next."""

    def __init__(self, policy: AddressPolicy, resolve: Resolve) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_tls_context(False),
            max_connections=None,
            max_keepalive_connections=0,
            network_backend=_GuardedBackend(policy, resolve),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        response = await self._pool.handle_async_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_GuardedBody(response))

    async def aclose(self) -> None:
        await self._pool.aclose()


class _GuardedBody(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._response.aiter_stream():
            yield data

    async def aclose(self) -> None:
        await self._response.aclose()


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Resolves a name once, checks all its addresses, and connects to one of them. TLS still verifies the name."""

    def __init__(self, policy: AddressPolicy, resolve: Resolve) -> None:
        self._policy = policy
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
        if (reason := self._policy.check(host, port, addresses)) is not None:
            raise _error(HttpErrorKind.FORBIDDEN_ADDRESS, clean_text(host, 100), reason)
        failure: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for address in addresses[:MAX_ADDRESSES]:
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
            raise httpcore.ConnectError(f"unknown host name: {error}") from error

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise HttpError(HttpErrorKind.FORBIDDEN_ADDRESS, "connections to local sockets are not allowed")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
