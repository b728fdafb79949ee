"""The HTTP client: limits, redirects, addresses, errors and what is recorded."""

from __future__ import annotations

import ast
import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

import found_footy
from found_footy.runtime.addresses import AddressPolicy
from found_footy.runtime.http import (
    MAX_ERROR_BYTES,
    USER_AGENT,
    HttpClient,
    HttpError,
    HttpErrorKind,
    HttpLimits,
    Redirects,
    RedirectScope,
    parse_public_url,
    parse_retry_after,
    redact_url,
    redact_urls,
)
from found_footy.runtime.http_exchanges import record_exchanges
from found_footy.runtime.retry import Deadline
from tests.clips.hostile_server import HostileServer, Reply, Request, redirect

Open = Callable[..., HttpClient]
LIMIT = 10_000


@pytest.fixture
async def client() -> AsyncIterator[Open]:
    opened: list[HttpClient] = []

    def open_client(**options: object) -> HttpClient:
        limits = HttpLimits(float(str(options.pop("seconds", 5))), max_bytes=LIMIT)
        opened.append(HttpClient(limits, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_client
    for each in opened:
        await each.aclose()


def compressed(body: bytes, encoding: str = "gzip") -> Reply:
    return Reply(body, headers={"Content-Encoding": encoding})


async def test_a_response_is_returned_whole_with_the_clients_headers(client: Open) -> None:
    async with HostileServer(compressed(gzip.compress(b'{"a": 1}'))) as server:
        response = await client(base_url=server.url, headers={"Accept": "text/x"}).get("/path", {"q": "é"})
    assert (response.status, response.json(), response.ok) == (200, {"a": 1}, True)
    assert response.endpoint == f"{server.host}/path"
    (request,) = server.requests
    assert request.target == "/path?q=%C3%A9"
    sent = {name.lower(): value for name, value in request.headers.items()}
    assert (sent["user-agent"].lower(), sent["accept"]) == (USER_AGENT.lower(), "text/x")


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (Reply(b"x" * (LIMIT + 1)), HttpErrorKind.TOO_LARGE, "larger than 10000 bytes"),
        (Reply(b"x" * (LIMIT + 1), unmeasured=True), HttpErrorKind.TOO_LARGE, "larger than 10000 bytes"),
        (Reply(then=b"x" * 65_536, unmeasured=True), HttpErrorKind.TOO_LARGE, "larger than 10000 bytes"),
        (compressed(gzip.compress(b"x" * 50_000_000)), HttpErrorKind.TOO_LARGE, "larger than 10000 bytes"),
        (compressed(gzip.compress(b"abc" * 100)[:-10]), HttpErrorKind.CORRUPT_BODY, "truncated"),
        (compressed(b"plain text"), HttpErrorKind.CORRUPT_BODY, "damaged"),
        (compressed(b"\x1b\x03", "br"), HttpErrorKind.UNSUPPORTED_ENCODING, "unsupported content encoding 'br'"),
        (Reply(b"short", length=100), HttpErrorKind.UNREACHABLE, "RemoteProtocolError"),
    ],
)
async def test_a_body_that_cannot_be_used_is_an_error(
    client: Open, reply: Reply, kind: HttpErrorKind, message: str
) -> None:
    async with HostileServer(reply) as server:
        with pytest.raises(HttpError, match=message) as raised:
            await client().get(f"{server.url}/?key=secret")
    assert raised.value.kind is kind
    assert raised.value.request_sent
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("encode", [gzip.compress, zlib.compress])
async def test_both_compressions_are_read(client: Open, encode: Callable[[bytes], bytes]) -> None:
    body = b"x" * LIMIT
    async with HostileServer(compressed(encode(body), "deflate" if encode is zlib.compress else "gzip")) as server:
        assert (await client().get(server.url)).body == body


async def test_the_body_of_an_error_is_cut_off_instead_of_rejected(client: Open) -> None:
    async with HostileServer(Reply(status=502, then=b"x" * 65_536, unmeasured=True)) as server:
        response = await client().get(server.url)
    assert (response.status, len(response.body)) == (502, min(MAX_ERROR_BYTES, LIMIT))


async def test_a_response_that_is_not_json_is_an_error(client: Open) -> None:
    for body in (b"<html>", b"", b"[" * 5000, b"\xff\xfe"):
        async with HostileServer(Reply(body)) as server:
            response = await client().get(server.url)
        with pytest.raises(HttpError, match="not JSON") as raised:
            response.json()
        assert raised.value.kind is HttpErrorKind.NOT_JSON


@pytest.mark.parametrize("reply", [Reply(silent=True), Reply(then=b"x", pause=0.02, unmeasured=True)])
async def test_the_whole_request_has_a_time_limit(client: Open, reply: Reply) -> None:
    async with HostileServer(reply) as server:
        with pytest.raises(HttpError, match=r"no response within 1\.5 s") as raised:
            await client(seconds=1.5).get(server.url)
    assert raised.value.kind is HttpErrorKind.TIMEOUT


async def test_a_callers_own_timeout_stays_the_callers(client: Open) -> None:
    async def give_up_after_the_request(server: HostileServer) -> None:
        async with asyncio.timeout(None) as timeout, asyncio.TaskGroup() as tasks:
            tasks.create_task(client().get(server.url))
            while not server.requests:
                await asyncio.sleep(0.01)
            timeout.reschedule(asyncio.get_running_loop().time())

    async with HostileServer(Reply(silent=True)) as server:
        with pytest.raises(TimeoutError):
            await give_up_after_the_request(server)


async def test_nothing_is_sent_to_a_server_that_is_away(client: Open) -> None:
    async with HostileServer(Reply()) as server:
        pass
    with pytest.raises(HttpError, match="ConnectError") as raised:
        await client().get(server.url)
    assert (raised.value.kind, raised.value.request_sent) == (HttpErrorKind.UNREACHABLE, False)
    assert raised.value.is_transient


# --- Redirects


async def test_a_redirect_is_returned_unless_redirects_are_followed(client: Open) -> None:
    async with HostileServer(redirect("/there")) as server:
        assert (await client().get(server.url)).status == 302
    assert len(server.requests) == 1


async def test_redirects_to_the_same_host_are_followed(client: Open) -> None:
    async with HostileServer({"/": redirect("/there"), "/there": Reply(b"{}")}) as server:
        response = await client(redirects=Redirects(1)).get(f"{server.url}/", headers={"x-key": "secret"})
    assert (response.status, response.url.path) == (200, "/there")
    assert all("secret" in request.headers.values() for request in server.requests)


async def test_a_redirect_to_another_host_is_refused_because_it_would_take_the_key_there(client: Open) -> None:
    async with HostileServer(Reply()) as other, HostileServer(redirect(f"{other.url}/in?a=b")) as server:
        with pytest.raises(HttpError, match=f"redirect to {other.url}") as raised:
            await client(redirects=Redirects(3)).get(server.url)
    assert raised.value.kind is HttpErrorKind.FOREIGN_REDIRECT
    assert raised.value.location is not None
    assert raised.value.location.path == "/in"
    assert other.requests == []


async def test_the_number_of_redirects_is_limited(client: Open) -> None:
    async with HostileServer(redirect("/again")) as server:
        with pytest.raises(HttpError, match="too many redirects") as raised:
            await client(redirects=Redirects(3)).get(server.url)
    assert raised.value.kind is HttpErrorKind.TOO_MANY_REDIRECTS
    assert len(server.requests) == 4


async def test_each_hop_is_checked_by_the_address_policy(client: Open) -> None:
    async with HostileServer(Reply()) as inside, HostileServer(redirect(inside.url)) as server:
        guarded = client(addresses=AddressPolicy([server.host]), redirects=Redirects(3, RedirectScope.ANY_ALLOWED))
        with pytest.raises(HttpError, match=r"not allowed|not public") as raised:
            await guarded.get(server.url)
    assert raised.value.kind is HttpErrorKind.FORBIDDEN_ADDRESS
    assert inside.requests == []


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1"])
async def test_a_name_with_one_private_address_is_forbidden(client: Open, address: str) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34", address]

    with pytest.raises(HttpError, match=r"clips\.example: address is not public") as raised:
        await client(addresses=AddressPolicy(), resolve=resolve).get("http://clips.example/a")
    assert (raised.value.kind, raised.value.request_sent) == (HttpErrorKind.FORBIDDEN_ADDRESS, False)


# --- Permits and deadlines


async def test_each_request_waits_for_a_permit_redirects_included(client: Open) -> None:
    taken = 0

    @asynccontextmanager
    async def permit() -> AsyncIterator[None]:
        nonlocal taken
        taken += 1
        yield

    async with HostileServer({"/": redirect("/there"), "/there": Reply()}) as server:
        await client(redirects=Redirects(1), permit=permit).get(f"{server.url}/")
    assert taken == 2


async def test_nothing_is_sent_without_a_permit_before_the_deadline(client: Open) -> None:
    @asynccontextmanager
    async def never() -> AsyncIterator[None]:
        await asyncio.Event().wait()
        yield

    async with HostileServer(Reply()) as server:
        with pytest.raises(HttpError, match="no permit") as raised:
            await client(permit=never).get(server.url, deadline=Deadline(0.05))
        assert raised.value.kind is HttpErrorKind.NO_PERMIT
        with pytest.raises(HttpError, match="no time left"):
            await client().get(server.url, deadline=Deadline(0))
    assert server.requests == []


# --- Errors, cookies, recording


class Translated(Exception):
    pass


async def test_every_error_passes_through_the_clients_translation(client: Open) -> None:
    def translate(error: HttpError) -> Exception:
        return Translated(f"{error.kind}: {error}")

    async with HostileServer(Reply(b"<html>")) as server:
        with pytest.raises(Translated, match="not_json"):
            (await client(translate=translate).get(server.url)).json()
    with pytest.raises(Translated, match="unreachable"):
        await client(translate=translate).get(server.url)
    with pytest.raises(Translated, match="invalid_url"):
        await client(translate=translate).get("http://a\0b/")


async def test_cookies_are_not_kept(client: Open) -> None:
    async with HostileServer(Reply(headers={"Set-Cookie": "session=1; Path=/"})) as server:
        used = client()
        await used.get(server.url)
        await used.get(server.url)
    assert not any("cookie" in {name.lower() for name in request.headers} for request in server.requests)


async def test_each_exchange_is_recorded_without_secrets(client: Open) -> None:
    def answers(request: Request) -> Reply:
        return redirect("/there") if request.path == "/" else Reply(b"token=abc")

    async with HostileServer(answers) as server:
        with record_exchanges() as exchanges:
            used = client(redirects=Redirects(1))
            await used.get(f"{server.url}/?key=secret")
            await used.request("POST", f"{server.url}/login", json={}, record_body=False)
    assert [(each.method, each.status, each.body) for each in exchanges] == [
        ("GET", 302, b""),
        ("GET", 200, b"token=abc"),
        ("POST", 200, b""),
    ]
    with record_exchanges() as exchanges, pytest.raises(HttpError):
        await client().get(server.url)
    assert (exchanges[0].status, exchanges[0].error.startswith("ConnectError")) == (None, True)


# --- URLs


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("ftp://example.org/a", HttpErrorKind.INVALID_URL),
        ("http://", HttpErrorKind.INVALID_URL),
        ("/path", HttpErrorKind.INVALID_URL),
        ("http://[", HttpErrorKind.INVALID_URL),
        ("http://a b/", HttpErrorKind.INVALID_URL),
        ("http://example.org/" + "x" * 5000, HttpErrorKind.INVALID_URL),
        ("http://user:password@example.org/", HttpErrorKind.FORBIDDEN_ADDRESS),
    ],
)
def test_an_untrusted_url_is_checked(url: str, kind: HttpErrorKind) -> None:
    with pytest.raises(HttpError) as raised:
        parse_public_url(url)
    assert raised.value.kind is kind
    assert "password" not in str(raised.value)


def test_urls_are_shown_without_queries_and_credentials() -> None:
    assert redact_url(httpx.URL("https://user:p@example.org:8080/a?key=1")) == "example.org:8080/a"
    assert redact_urls("see http://user:p@example.org/a?key=1 there") == "see http://example.org/a there"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 5 ", 5),
        ("Sat, 22 Aug 2026 15:02:00 GMT", 120),
        ("Sat, 22 Aug 2026 14:00:00 GMT", 0),
        ("soon", None),
        ("", None),
        ("-1", None),
        ("9" * 30, None),
    ],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(text: str, seconds: float | None) -> None:
    found = parse_retry_after(text, datetime(2026, 8, 22, 15, 0, tzinfo=UTC))
    assert found == (None if seconds is None else timedelta(seconds=seconds))


# --- One client


CONSTRUCTORS = {"AsyncClient", "Client", "AsyncHTTPTransport", "AsyncConnectionPool", "ConnectionPool", "urlopen"}
REQUEST_FUNCTIONS = {"get", "post", "put", "patch", "delete", "head", "options", "request", "stream"}


def makes_http_requests(source: str) -> bool:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            library, name = node.value.id, node.attr
            if library in ("httpx", "httpcore") and name in CONSTRUCTORS | REQUEST_FUNCTIONS:
                return True
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if any(name in ("aiohttp", "requests", "urllib.request", "urllib3", "http.client") for name in names):
            return True
    return False


def test_one_module_constructs_http_clients() -> None:
    root = Path(found_footy.__file__).parent
    found = [
        str(path.relative_to(root)) for path in sorted(root.rglob("*.py")) if makes_http_requests(path.read_text())
    ]
    assert found == ["runtime/http.py"]
