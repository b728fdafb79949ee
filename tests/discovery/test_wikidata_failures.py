"""Every way in which Wikidata can fail: each is told, and none is taken for a team without names."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)

from found_footy.discovery import wikidata as http
from found_footy.discovery import wikidata as wikidata_module
from found_footy.discovery.wikidata import MAX_ROWS, build_sparql
from found_footy.errors import WikidataError
from tests.discovery.conftest import Open
from tests.discovery.serving import serving
from tests.discovery.wikidata_server import Stub, bindings, found, row

GOOD_SEARCH = found("Q1")
GOOD_ROWS = [row("Q1", "label", "AFC Ajax"), row("Q1", "alias", "Ajax")]


def status(code: int, **headers: str) -> Response:
    return PlainTextResponse("no", status_code=code, headers={name.replace("_", "-"): v for name, v in headers.items()})


async def _endless(request: Request) -> AsyncIterator[bytes]:
    while not await request.is_disconnected():
        yield b" " * 65536


async def _drip(request: Request) -> AsyncIterator[bytes]:
    while not await request.is_disconnected():
        yield b" "
        await asyncio.sleep(0.02)


BROKEN: dict[str, tuple[Any, str]] = {
    "html": (HTMLResponse("<html><h1>Wikimedia Error</h1></html>"), "not JSON, starting '<html>"),
    "truncated": (Response(b'{"search": [{"id": "Q1"', media_type="application/json"), "not JSON"),
    "empty": (Response(b""), "not JSON"),
    "deeply nested": (Response(b"[" * 200_000), "not JSON"),
    "not text": (Response(b"\xff\xfe\x00" * 40), "not JSON"),
    "a list": (JSONResponse([]), "no list of"),
    "a number": (JSONResponse(7), "no list of"),
    "nothing": (JSONResponse(None), "no list of"),
    "wrong types": (JSONResponse({"search": {"id": "Q1"}, "results": {"bindings": "none"}}), "no list of"),
    "results that are a list": (JSONResponse({"search": None, "results": []}), "no list of"),
    "rate limited": (status(429, retry_after="120"), "HTTP 429; next request at "),
    "rate limited until": (status(429, retry_after="Wed, 21 Oct 2099 07:28:00 GMT"), "next request at "),
    "rate limited without a word": (status(429), "HTTP 429"),
    "forbidden": (status(403), "HTTP 403"),
    "down": (status(500), "HTTP 500"),
    "away": (status(503, retry_after="1"), "HTTP 503"),
    "moved": (RedirectResponse("http://127.0.0.1:1/elsewhere"), "HTTP 307"),
    "endless": (lambda request: StreamingResponse(_endless(request)), "larger than"),
    "endless refusal": (lambda request: StreamingResponse(_endless(request), status_code=502), "HTTP 502"),
}


@pytest.mark.parametrize(("answer", "words"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("place", ["search", "query"])
async def test_an_unusable_response_raises_an_error(wikidata: Open, place: str, answer: Any, words: str) -> None:
    stub = Stub(answer) if place == "search" else Stub(GOOD_SEARCH, answer)
    async with serving(stub.routes) as url:
        with pytest.raises(WikidataError) as raised:
            await wikidata(url).team_names("Ajax")
    assert words in str(raised.value)
    assert raised.value.retryable
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("place", ["search", "query"])
async def test_a_server_that_drips_is_not_waited_for(
    wikidata: Open, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        wikidata_module, "LOOKUP_TIMEOUT_FACTOR", 1000
    )  # on a busy machine the bound of the whole look-up comes first

    def drip(request: Request) -> Response:
        return StreamingResponse(_drip(request))

    stub = Stub(drip) if place == "search" else Stub(GOOD_SEARCH, drip)
    async with serving(stub.routes) as url:
        with pytest.raises(WikidataError, match=r"within 0\.3 s"):
            await wikidata(url, timeout=0.3).team_names("Ajax")


async def test_the_total_lookup_time_is_bounded(wikidata: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wikidata_module, "LOOKUP_TIMEOUT_FACTOR", 0)
    async with serving(Stub(GOOD_SEARCH, bindings(GOOD_ROWS)).routes) as url:
        with pytest.raises(WikidataError, match="took longer than 0 s"):
            await wikidata(url).team_names("Ajax")


async def test_an_answer_of_the_largest_size_is_still_read(wikidata: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps({"search": []}).encode()
    async with serving(Stub(Response(body)).routes) as url:
        monkeypatch.setattr(http, "MAX_BYTES", len(body))
        assert await wikidata(url).team_names("Ajax") == []
        monkeypatch.setattr(http, "MAX_BYTES", len(body) - 1)
        with pytest.raises(WikidataError, match="larger than"):
            await wikidata(url).team_names("Ajax")


async def test_an_unreachable_host_raises_an_error(wikidata: Open) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(WikidataError, match="ConnectError"):
            await wikidata(f"http://127.0.0.1:{taken.getsockname()[1]}").team_names("Ajax")


async def test_a_connection_that_breaks_in_the_middle(wikidata: Open) -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"search": [')
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(half, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(WikidataError, match="RemoteProtocolError"):
            await wikidata(f"http://127.0.0.1:{port}").team_names("Ajax")


async def test_an_error_inside_an_http_200_is_not_an_empty_result(wikidata: Open) -> None:
    for error in ({"code": "maxlag", "info": "Waiting"}, "strange", None):
        async with serving(Stub(JSONResponse({"error": error, "servedby": "mw1"})).routes) as url:
            with pytest.raises(WikidataError, match="refused the search"):
                await wikidata(url).team_names("Ajax")


async def test_too_many_rows_are_an_error(wikidata: Open) -> None:
    rows = [row("Q1", "alias", f"Ajax {number}") for number in range(10_000)]
    async with serving(Stub(GOOD_SEARCH, bindings(rows)).routes) as url:
        with pytest.raises(WikidataError, match="10000 rows"):
            await wikidata(url).team_names("Ajax")
    assert f"LIMIT {MAX_ROWS}" in build_sparql(["Q1"])


INJECTIONS = [
    "Q1 } SELECT * { ?s ?p ?o",
    "Q1\n",
    "q1",
    "Q0",
    "Q01",
    "Q",
    "P31",
    "L1",
    "Q12345678901",
    "Q١",
    "",
    None,
    7,
    ["Q1"],
    {"id": "Q1"},
]


async def test_ids_that_are_none_never_reach_the_query(wikidata: Open) -> None:
    stub = Stub(found(*INJECTIONS, "Q1", *[f"Q{number}" for number in range(2, 500)]), bindings(GOOD_ROWS))
    async with serving(stub.routes) as url:
        names = await wikidata(url).team_names("Ajax")
    assert [name.text for name in names] == ["AFC Ajax", "Ajax"]
    (query,) = stub.queries()
    ids = query.split("VALUES ?item {")[1].split("}")[0].split()
    assert ids == [f"wd:Q{number}" for number in range(1, 21)]


@pytest.mark.parametrize("item", [text for text in INJECTIONS if isinstance(text, str)])
def test_a_query_is_never_built_of_anything_but_ids(item: str) -> None:
    with pytest.raises(ValueError, match="invalid Wikidata ids"):
        build_sparql(["Q1", item])


async def test_only_the_team_name_is_searched_for(wikidata: Open) -> None:
    name = 'Ajax" } INSERT DATA { wd:Q1 wdt:P31 wd:Q2'
    stub = Stub(GOOD_SEARCH)
    async with serving(stub.routes) as url:
        assert await wikidata(url).team_names(name) == []
    assert any(request.query_params.get("search") == name for request in stub.asked)
    assert "INSERT" not in "".join(stub.queries())


async def test_invalid_rows_are_skipped_and_the_others_kept(wikidata: Open) -> None:
    strange: list[Any] = [
        None,
        7,
        "row",
        [],
        {},
        {"item": None, "what": None, "value": None},
        {"item": {"value": 7}, "what": {"value": []}, "value": "x"},
        {"item": {"value": "http://www.wikidata.org/entity/Q1"}},
        {"item": {"value": "http://www.wikidata.org/entity/Q1"}, "what": {"value": "alias"}, "value": {"value": 7}},
        {"item": {"value": "http://example.org/entity/Q1"}, "what": {"value": "alias"}, "value": {"value": "Foreign"}},
        row("Q1 }", "alias", "Injected"),
        row("Q1", "alias", "No language", ""),
        row("Q1", "alias", "Strange language", "en\nx"),
        row("Q1", "alias", "x" * 100_000),
        row("Q1", "alias", "\u202e\u0000"),
        row("Q1", "unheard of", "Unheard"),
        row("Q1", "sitelinks", "many"),
        row("Q1", "sitelinks", "9" * 5000),
        row("Q1", "language", "x" * 5000),
        row("Q1", "alias", "Aj\u202eax \u0007Amster\u200bdam\n"),
    ]
    async with serving(Stub(GOOD_SEARCH, bindings([*strange, *GOOD_ROWS])).routes) as url:
        names = await wikidata(url).team_names("Ajax")
    assert [name.text for name in names] == ["Ajax Amsterdam", "AFC Ajax", "Ajax"]


# --- Retry-After. The Wikidata Query Service answers 429 with the seconds to wait, and bans clients that ask on for a
# day [Wikidata Query Service/User Manual#Query limits; lists.wikimedia.org wikidata-tech, 2 Nov 2019]. Limits for
# all Wikimedia APIs since spring 2026 [mediawiki.org Wikimedia_APIs/Rate_limits].


@pytest.mark.parametrize(
    ("code", "headers", "seconds"),
    [
        (429, {"retry_after": "120"}, 120),
        (429, {}, 60),
        (429, {"retry_after": "999999"}, 3600),
        (503, {"retry_after": "30"}, 30),
        (503, {}, None),
        (403, {"retry_after": "30"}, None),
    ],
)
async def test_nothing_is_sent_before_that_time(code: int, headers: dict[str, str], seconds: float | None) -> None:
    now = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
    stub = Stub(status(code, **headers))
    async with serving(stub.routes) as url:
        client = http.KnowledgeHttp(timeout=5, user_agent="test", now=lambda: now)
        for _ in range(3):
            with pytest.raises(WikidataError) as raised:
                await client.get(f"{url}/w/api.php", {})
        assert raised.value.retry_after == seconds
        assert len(stub.asked) == (3 if seconds is None else 1)
        if seconds is not None:
            now += timedelta(seconds=seconds)
            with pytest.raises(WikidataError, match=str(code)):
                await client.get(f"{url}/w/api.php", {})
            assert len(stub.asked) == 2
        await client.aclose()
