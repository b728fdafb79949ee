"""Bluesky's login, its limits, and what it is asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from footy_simulator.bluesky import bluesky_routes, holds_all
from found_footy.discovery.bluesky import Bluesky, search_terms
from found_footy.discovery.query import SearchQuery
from found_footy.errors import SourceChanged, SourceLoggedOut, SourceRateLimited, SourceUnavailable
from found_footy.runtime.http_exchanges import record_exchanges
from tests.discovery.serving import serving
from tests.discovery.shared import RawServer, Reply, Request, json_reply
from tests.discovery.social_answers import SESSION, answer, answering, entry
from tests.discovery.source_sites import HANDLE, NOW, PASSWORD, QUERY, SINCE
from tests.support.clocks import DatetimeClock

CREATE, REFRESH = "createSession", "refreshSession"


def bluesky(url: str, now: Callable[[], datetime] = lambda: NOW, password: str = PASSWORD) -> Bluesky:
    return Bluesky(url, HANDLE, password, timeout=5, now=now)


def methods(server: RawServer) -> list[str]:
    return [request.path.rsplit(".")[-1] for request in server.requests]


# --- what is asked


@pytest.mark.parametrize(
    ("players", "teams", "expected"),
    [
        (("Wirtz",), ("Liverpool", "LFC"), ["Wirtz"]),
        (("Florian Wirtz", "Wirtz"), ("Liverpool",), ['"Florian Wirtz"', "Wirtz"]),
        ((), ("LFC", "Man City"), ["LFC", '"Man City"']),
        ((), (), []),
        (tuple("abcdefghijkl"), ("LFC",), list("abcdefgh")),
    ],
)
def test_each_name_is_a_separate_query(players: tuple[str, ...], teams: tuple[str, ...], expected: list[str]) -> None:
    assert search_terms(SearchQuery(players, teams)) == expected


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("salah", True),
        ("Salah Liverpool", True),
        ('"scores for Liverpool"', True),
        ('"Liverpool scores"', False),
        ("Salah Everton", False),
        ("Núñez Nunez", True),
        ("(Salah OR Wirtz) (Liverpool OR LFC)", False),
        ("Salah OR Liverpool", False),
    ],
)
def test_the_simulated_search_requires_all_words(query: str, found: bool) -> None:
    assert holds_all("Salah scores for Liverpool, assist Núñez", query) is found


async def test_a_search_sends_its_start_and_sorts_by_latest() -> None:
    async with answering("bluesky", answer("bluesky", [])) as server:
        source = bluesky(server.url)
        await source.search(SearchQuery(("Wirtz",), ("LFC",)), SINCE)
        await source.aclose()
    asked = server.requests[-1]
    assert asked.params == {"q": "Wirtz", "sort": "latest", "limit": "100", "since": "2026-08-22T14:57:00.000Z"}
    assert asked.headers["authorization"] == "bearer an.access.token"
    assert "found-footy" in asked.headers["user-agent"]


# --- the login


async def test_one_login_serves_many_searches() -> None:
    async with answering("bluesky", answer("bluesky", [])) as server:
        source = bluesky(server.url)
        for _ in range(3):
            await source.search(QUERY, SINCE)
        await source.aclose()
    assert methods(server).count(CREATE) == 1


async def test_the_tokens_of_a_login_are_never_recorded() -> None:
    async with answering("bluesky", answer("bluesky", [])) as server:
        source = bluesky(server.url)
        with record_exchanges() as exchanges:
            await source.search(QUERY, SINCE)
        await source.aclose()
    assert any(CREATE in each.url for each in exchanges)
    assert not any(SESSION["accessJwt"].encode() in each.body for each in exchanges)


async def test_an_expired_login_is_renewed_once_for_all_waiters() -> None:
    valid = "second.token"

    def respond(request: Request) -> Reply:
        if CREATE in request.path:
            return json_reply(SESSION)
        if REFRESH in request.path:
            assert request.headers["authorization"] == "bearer a.refresh.token"
            return json_reply({**SESSION, "accessJwt": valid})
        if request.headers["authorization"] != f"bearer {valid}":
            return json_reply({"error": "ExpiredToken", "message": "Token has expired"}, 400)
        return json_reply(answer("bluesky", [entry("bluesky")]))

    async with RawServer(respond) as server:
        source = bluesky(server.url)
        assert len(await source.search(QUERY, SINCE)) == 1
        assert await source.check() == f"logged in as {HANDLE}"
        await source.aclose()
    assert methods(server).count(CREATE) == 1
    assert methods(server).count(REFRESH) == 1


async def test_where_the_renewal_is_refused_the_password_decides() -> None:
    tokens = iter(["first.token", "second.token"])

    def respond(request: Request) -> Reply:
        if CREATE in request.path:
            return json_reply({**SESSION, "accessJwt": next(tokens)})
        if REFRESH in request.path:
            return json_reply({"error": "ExpiredToken"}, 400)
        fresh = request.headers["authorization"] == "bearer second.token"
        return json_reply(answer("bluesky", [])) if fresh else json_reply({"error": "InvalidToken"}, 401)

    async with RawServer(respond) as server:
        source = bluesky(server.url)
        assert list(await source.search(SearchQuery(("Salah",), ()), SINCE)) == []
        await source.aclose()
    assert methods(server) == [CREATE, "searchPosts", REFRESH, CREATE, "searchPosts"]


async def test_a_login_that_ends_at_once_again_is_not_renewed_for_ever() -> None:
    async with answering("bluesky", json_reply({"error": "ExpiredToken"}, 400)) as server:
        source = bluesky(server.url)
        with pytest.raises(SourceLoggedOut):
            await source.search(SearchQuery(("Salah",), ()), SINCE)
        await source.aclose()
    assert methods(server).count("searchPosts") == 2


async def test_a_wrong_password_is_hidden_and_not_retried_for_five_minutes() -> None:
    refusal = {"error": "AuthenticationRequired", "message": f"wrong: {PASSWORD}-wrong"}
    clock = DatetimeClock(NOW)
    async with RawServer(json_reply(refusal, 401)) as server:
        source = bluesky(server.url, clock, password=f"{PASSWORD}-wrong")
        for _ in range(3):
            with pytest.raises(SourceLoggedOut, match=HANDLE) as raised:
                await source.search(QUERY, SINCE)
            assert PASSWORD not in f"{raised.value!r} {raised.value.__cause__!r} {raised.value.__context__!r}"
        assert methods(server) == [CREATE]
        clock.now += timedelta(minutes=5, seconds=1)
        with pytest.raises(SourceLoggedOut, match="FOOTY_BLUESKY_PASSWORD"):
            await source.check()
        await source.aclose()
    assert methods(server) == [CREATE, CREATE]


async def test_the_simulated_bluesky_refuses_a_wrong_password() -> None:
    async with serving(lambda url: bluesky_routes(lambda platform: [], lambda: url, HANDLE, "another")) as url:
        source = bluesky(url)
        with pytest.raises(SourceLoggedOut):
            await source.check()
        await source.aclose()


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (json_reply({}), SourceChanged),
        (json_reply({**SESSION, "accessJwt": "two\nlines"}), SourceChanged),
        (json_reply({**SESSION, "refreshJwt": 5}), SourceChanged),
        (Reply(b"<html>maintenance</html>", 503), SourceUnavailable),
        (json_reply({"error": "RateLimitExceeded"}, 429), SourceRateLimited),
    ],
)
async def test_a_login_that_fails_otherwise_has_its_class(reply: Reply, kind: type[Exception]) -> None:
    async with RawServer(reply) as server:
        source = bluesky(server.url)
        with pytest.raises(kind):
            await source.search(QUERY, SINCE)
        await source.aclose()


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"ratelimit-reset": str(int(NOW.timestamp()) + 120)}, 120),
        (429, {"ratelimit-reset": "99999999999"}, 300),
        (429, {"ratelimit-reset": "-1"}, 0),
        (429, {}, 0),
        (200, {"ratelimit-remaining": "0", "ratelimit-reset": str(int(NOW.timestamp()) + 60)}, 60),
    ],
)
async def test_no_request_is_sent_while_the_limit_is_exhausted(
    status: int, headers: dict[str, str], seconds: int
) -> None:
    clock, query = DatetimeClock(NOW), SearchQuery(("Salah",), ())
    async with answering("bluesky", json_reply(answer("bluesky", []), status, headers)) as server:
        source = bluesky(server.url, clock)
        if status == 200:
            await source.search(query, SINCE)
        else:
            with pytest.raises(SourceRateLimited):
                await source.search(query, SINCE)
        for after, asked in ((seconds - 1, 2), (seconds, 3)):
            if after >= 0:
                clock.now = NOW + timedelta(seconds=after)
                if asked == 2 or status == 429:
                    with pytest.raises(SourceRateLimited):
                        await source.search(query, SINCE)
                else:
                    await source.search(query, SINCE)
                assert len(server.requests) == asked
        await source.aclose()


async def test_a_failing_login_is_tried_once_per_search() -> None:
    async with RawServer(Reply(status=503)) as server:
        source = bluesky(server.url)
        with pytest.raises(SourceUnavailable):
            await source.search(QUERY, SINCE)
        await source.aclose()
    assert len(QUERY.players) > 1
    assert methods(server) == [CREATE]


# --- the PDS. bsky.social is an entryway: the login's `didDoc` names the server that is asked from then on
# [docs.bsky.app "PDS Entryway"; bluesky-social/cookbook#52].


def _session_at(endpoint: str) -> dict[str, object]:
    service = {"id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": endpoint}
    return {**SESSION, "didDoc": {"id": "did:plc:x", "service": [service]}}


async def test_a_search_uses_the_pds_of_the_login() -> None:
    def respond(request: Request) -> Reply:
        if "Session" in request.path:
            return json_reply(_session_at(f"{server.url}/pds/"))
        return json_reply(answer("bluesky", [entry("bluesky")]))

    async with RawServer(respond) as server:
        source = bluesky(server.url)
        assert len(await source.search(QUERY, SINCE)) == 1
        await source.aclose()
    assert server.requests[0].path == "/xrpc/com.atproto.server.createSession"
    assert {request.path for request in server.requests[1:]} == {"/pds/xrpc/app.bsky.feed.searchPosts"}


@pytest.mark.parametrize("endpoint", ["http://192.0.2.7", "ftp://192.0.2.7", ""])
async def test_a_token_is_never_sent_without_tls_to_another_server(endpoint: str) -> None:
    def respond(request: Request) -> Reply:
        found = answer("bluesky", [entry("bluesky")])
        return json_reply(_session_at(endpoint)) if "Session" in request.path else json_reply(found)

    async with RawServer(respond) as server:
        source = bluesky(server.url)
        assert len(await source.search(QUERY, SINCE)) == 1
        await source.aclose()
