"""Tokens and logins of programs and browsers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import httpx
import pytest

from found_footy.access.models import Role, csrf_token, parse_token
from found_footy.access.store import SQL as ACCESS_SQL
from found_footy.access.store import TokenStore
from tests.conftest import SampleDataCopy
from tests.support.web_access import PAGE, bearer, csrf_in, log_in, make_token
from tests.support.web_world import NOW, served

CLOSED = "/api/v1/openapi.json"
"""Something that only reads, and that reading rules hold for."""


@asynccontextmanager
async def closed(copy: SampleDataCopy, **more: object) -> AsyncIterator[httpx.AsyncClient]:
    settings = copy.settings.model_copy(update={"read_access": "token", **more})
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url) as client:
        yield client


# --- tokens


async def test_reading_needs_a_token_if_configured(small_world: SampleDataCopy) -> None:
    reader = await make_token(small_world.store, Role.READER)
    async with closed(small_world) as web:
        refused = await web.get(CLOSED)
        assert (refused.status_code, refused.json()["error"]["class"]) == (401, "NotLoggedIn")
        assert refused.headers["www-authenticate"] == "Bearer"
        assert (await web.get(CLOSED, headers=bearer(reader))).status_code == 200


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("nonsense", "unknown token"),
        ("footy_abcd1234_" + "0" * 64, "unknown token"),
        ("x" * 20_000, "unknown token"),
    ],
)
async def test_an_invalid_token_is_rejected_even_if_none_is_needed(
    web: httpx.AsyncClient, sent: str, said: str
) -> None:
    answer = await web.get(CLOSED, headers=[(b"authorization", b"Bearer " + sent.encode("latin-1"))])
    assert (answer.status_code, said in answer.json()["error"]["message"]) == (401, True)


@pytest.mark.parametrize(
    ("more", "said"), [({"revoked": True}, "was revoked"), ({"holds": timedelta(0)}, "has expired")]
)
async def test_the_owner_of_a_token_learns_why_it_is_invalid(
    small_world: SampleDataCopy, web: httpx.AsyncClient, more: dict[str, bool], said: str
) -> None:
    token = await make_token(small_world.store, Role.OPERATOR, **more)  # type: ignore[arg-type]
    assert said in (await web.get(CLOSED, headers=bearer(token))).json()["error"]["message"]
    guessed = token[:-1] + ("0" if token[-1] != "0" else "1")
    assert "unknown token" in (await web.get(CLOSED, headers=bearer(guessed))).json()["error"]["message"]


async def test_other_authorization_schemes_are_ignored(web: httpx.AsyncClient) -> None:
    assert (await web.get(CLOSED, headers={"authorization": "Basic YTpi"})).status_code == 200


async def test_the_last_use_of_a_token_is_stored(small_world: SampleDataCopy, web: httpx.AsyncClient) -> None:
    token = await make_token(small_world.store, Role.READER)
    parsed = parse_token(token)
    assert parsed is not None
    access = TokenStore(small_world.store.database)
    await web.get(CLOSED, headers=bearer(token))
    found = await access.token(parsed[0])
    assert found is not None
    assert found.last_used_at == NOW


async def test_revoking_a_token_ends_its_sessions_at_once(small_world: SampleDataCopy) -> None:
    token = await make_token(small_world.store, Role.READER)
    parsed = parse_token(token)
    assert parsed is not None
    async with closed(small_world) as web:
        await log_in(web, token)
        assert (await web.get(CLOSED)).status_code == 200
        await TokenStore(small_world.store.database).revoke(parsed[0], NOW)
        assert (await web.get(CLOSED)).status_code == 401
        assert (await web.get(CLOSED, headers=bearer(token))).status_code == 401


# --- wrong tokens


async def written_failures(copy: SampleDataCopy) -> int:
    (row,) = await copy.store.database.fetch("select count(*) as number from login_failures where client = '127.0.0.1'")
    return int(row["number"])


async def test_too_many_invalid_tokens_are_refused_with_a_delay(small_world: SampleDataCopy) -> None:
    async with closed(small_world, login_failures=3) as web:
        for _ in range(2):
            assert (await web.post("/login", data={"token": "wrong"}, headers=PAGE)).status_code == 401
        third = await web.post("/login", data={"token": "wrong"}, headers=PAGE)
        assert third.status_code == 429
        assert 0 < int(third.headers["retry-after"]) <= 900
        assert "footy_session" not in web.cookies


async def test_invalid_api_tokens_count_and_valid_ones_keep_working(small_world: SampleDataCopy) -> None:
    right = await make_token(small_world.store, Role.READER)
    async with closed(small_world, login_failures=3) as web:
        answers = [(await web.get(CLOSED, headers=bearer("wrong"))).status_code for _ in range(5)]
        assert answers == [401, 401, 429, 429, 429]
        assert (await web.get(CLOSED, headers=bearer(right))).status_code == 200
    assert await written_failures(small_world) == 3, "no more is written than is counted"


async def test_login_failures_expire_after_15_minutes(small_world: SampleDataCopy) -> None:
    access = TokenStore(small_world.store.database)
    early = NOW - timedelta(minutes=16)
    for _ in range(10):
        await access.note_failure("127.0.0.1", early, 10)
    assert await access.note_failure("127.0.0.1", NOW, 10) == (1, NOW)
    assert await written_failures(small_world) == 1, "the old ones are gone"


# --- logins


async def test_login_redirects_back_and_sets_an_http_only_cookie(
    small_world: SampleDataCopy, web: httpx.AsyncClient
) -> None:
    token = await make_token(small_world.store, Role.EDITOR, name="Dina & Co <b>")
    answer = await log_in(web, token, back="/g/x?t=3")
    assert answer.headers["location"] == "/g/x?t=3"
    cookie = answer.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=lax", "Path=/", f"Max-Age={12 * 3600}"):
        assert part in cookie
    assert "Secure" not in cookie
    assert token not in cookie


@pytest.mark.parametrize(
    ("more", "headers"),
    [
        ({"public_url": "https://goals.example"}, {}),
        ({"trusted_proxies": ("127.0.0.1",)}, {"x-forwarded-proto": "https"}),
    ],
)
async def test_the_session_cookie_is_secure_with_https(
    small_world: SampleDataCopy, more: dict[str, object], headers: dict[str, str]
) -> None:
    token = await make_token(small_world.store, Role.READER)
    async with closed(small_world, **more) as web:
        answer = await web.post("/login", data={"token": token}, headers=PAGE | headers)
    assert "Secure" in answer.headers["set-cookie"]


async def test_login_always_creates_a_new_session(small_world: SampleDataCopy) -> None:
    token = await make_token(small_world.store, Role.READER)
    planted = "ab" * 32
    async with closed(small_world) as web:
        answer = await web.post("/login", data={"token": token}, headers=PAGE | {"cookie": f"footy_session={planted}"})
        fresh = answer.cookies["footy_session"]
        assert fresh != planted
        assert (await web.get(CLOSED, headers={"cookie": f"footy_session={planted}"})).status_code == 401
        again = await web.post("/login", data={"token": token}, headers=PAGE)
        assert again.cookies["footy_session"] != fresh
        assert (await web.get(CLOSED, headers={"cookie": f"footy_session={fresh}"})).status_code == 401, "it is over"


async def test_a_session_expires(small_world: SampleDataCopy) -> None:
    token = await make_token(small_world.store, Role.READER)
    settings = small_world.settings.model_copy(update={"read_access": "token"})
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:
        cookie = {"cookie": f"footy_session={(await log_in(web, token)).cookies['footy_session']}"}
    for hours, status in [(11.9, 200), (12, 401)]:
        later = served(settings, NOW + timedelta(hours=hours))
        async with later as (server, _), httpx.AsyncClient(base_url=server.url) as web:
            assert (await web.get(CLOSED, headers=cookie)).status_code == status


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "x",
        "zz" * 32,
        "ab" * 500,
        "'; drop table sessions; --",
        '"' * 64,
        "%00" * 64,
        "ab" * 32 + "; footy_session=",
    ],
)
async def test_an_invalid_session_cookie_is_anonymous(web: httpx.AsyncClient, cookie: str) -> None:
    headers = {"cookie": f"footy_session={cookie}"}
    assert (await web.get(CLOSED, headers=headers)).status_code == 200
    assert (await web.post("/api/v1/anything", headers=headers)).status_code == 401


async def test_pages_redirect_to_login_and_the_api_returns_401(small_world: SampleDataCopy) -> None:
    async with closed(small_world) as web:
        page = await web.get("/day/2026-08-22?x=1&y=2", headers=PAGE)
        assert page.status_code == 303
        assert page.headers["location"] == "/login?back=%2Fday%2F2026-08-22%3Fx%3D1%26y%3D2"
        shown = await web.get(page.headers["location"], headers=PAGE)
        assert (shown.status_code, 'value="/day/2026-08-22?x=1&amp;y=2"' in shown.text) == (200, True)
        assert shown.headers["cache-control"] == "no-store"
        assert (await web.get("/api/v1/dates", headers=PAGE)).status_code == 401


async def test_the_login_page_shows_the_error_but_not_the_token(web: httpx.AsyncClient) -> None:
    answer = await web.post("/login", data={"token": '"><script>', "back": "//evil.example"}, headers=PAGE)
    assert answer.status_code == 401
    assert "Unknown token." in answer.text
    assert "evil.example" not in answer.text
    assert '"><script>' not in answer.text


async def test_login_never_redirects_to_itself(small_world: SampleDataCopy, web: httpx.AsyncClient) -> None:
    answer = await log_in(web, await make_token(small_world.store, Role.READER), back="/login?back=/login")
    assert answer.headers["location"] == "/"


# --- forms


async def test_logout_needs_the_csrf_token(small_world: SampleDataCopy, web: httpx.AsyncClient) -> None:
    await log_in(web, await make_token(small_world.store, Role.EDITOR, name="Dina <b>"))
    for data in ({"x": ""}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "ü"}):
        refused = await web.post("/logout", data=data, headers=PAGE)
        assert refused.status_code == 403, data
    page = (await web.get("/login", headers=PAGE)).text
    assert "Dina &lt;b&gt;" in page
    mark = csrf_in(page)
    assert mark == csrf_token(bytes.fromhex(web.cookies["footy_session"]))
    done = await web.post("/logout", data={"csrf": mark}, headers=PAGE)
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert 'footy_session=""; HttpOnly; Max-Age=0' in done.headers["set-cookie"]
    rows = await small_world.store.database.fetch(ACCESS_SQL["token_of_session"], hash=b"", now=NOW)
    assert rows == []


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}])
@pytest.mark.parametrize("path", ["/login", "/logout", "/preferences"])
async def test_cross_origin_forms_are_refused(web: httpx.AsyncClient, path: str, headers: dict[str, str]) -> None:
    answer = await web.post(path, data={"token": "x"}, headers=headers)
    assert (answer.status_code, answer.json()["error"]["class"]) == (403, "NotAllowed")


async def test_authenticated_responses_are_not_shared_by_caches(small_world: SampleDataCopy) -> None:
    token = await make_token(small_world.store, Role.READER)
    async with closed(small_world) as web:
        answer = await web.get("/static/footy.css", headers=bearer(token))
        assert "public" not in answer.headers.get("cache-control", "")
