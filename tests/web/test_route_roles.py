"""Required role of each route, with open and with token access.

A route that is missing in the table fails the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import BaseRoute, Mount, Route

from found_footy.access.models import Role, csrf_token
from found_footy.app import open_web
from found_footy.runtime.http_server import HttpServer
from found_footy.web.app import create_app
from tests.conftest import SampleDataCopy
from tests.support.web_access import bearer, log_in, make_token
from tests.support.web_world import NOW, SALAH

ANYBODY = None
READER, EDITOR, OPERATOR = Role.READER, Role.EDITOR, Role.OPERATOR

TABLE: dict[str, tuple[Role | None, Role | None]] = {
    # what it needs where reading is open, and where it needs a token
    "GET /": (ANYBODY, READER),
    "GET /day/{day}": (ANYBODY, READER),
    "GET /fragments/match/{fixture_id}": (ANYBODY, READER),
    "GET /fragments/updates/{day}": (ANYBODY, READER),
    "GET /g/{event_id}": (ANYBODY, READER),
    "GET /g/{event_id}/fragment": (ANYBODY, READER),
    "GET /search": (ANYBODY, READER),
    "GET /search/results": (ANYBODY, READER),
    "POST /search/picture": (ANYBODY, READER),
    "GET /operations": (ANYBODY, READER),
    "GET /operations/fragment": (ANYBODY, READER),
    "POST /operations/feeds/{feed_id}": (OPERATOR, OPERATOR),
    "POST /operations/library": (OPERATOR, OPERATOR),
    "POST /operations/pairings": (OPERATOR, OPERATOR),
    "POST /operations/recycle": (OPERATOR, OPERATOR),
    "GET /operations/match/{fixture_id}": (ANYBODY, READER),
    "GET /operations/match/{fixture_id}/fragment": (ANYBODY, READER),
    "GET /docs": (ANYBODY, READER),
    "GET /follow": (ANYBODY, READER),
    "POST /follow": (OPERATOR, OPERATOR),
    "GET /subscriptions": (OPERATOR, OPERATOR),
    "POST /subscriptions": (OPERATOR, OPERATOR),
    "POST /subscriptions/{subscription_id}": (OPERATOR, OPERATOR),
    "POST /deliveries/{delivery_id}": (OPERATOR, OPERATOR),
    "GET /takedowns": (OPERATOR, OPERATOR),
    "POST /takedowns": (OPERATOR, OPERATOR),
    "GET /admin/takedowns": (OPERATOR, OPERATOR),
    "POST /admin/takedowns": (OPERATOR, OPERATOR),
    "GET /admin/takedowns/{takedown_id}": (OPERATOR, OPERATOR),
    "POST /admin/takedowns/{takedown_id}/lift": (OPERATOR, OPERATOR),
    "GET /login": (ANYBODY, ANYBODY),
    "POST /login": (ANYBODY, ANYBODY),
    "POST /logout": (ANYBODY, ANYBODY),
    "POST /preferences": (ANYBODY, ANYBODY),
    "GET /static": (ANYBODY, ANYBODY),
    "GET /v/{video_id}": (ANYBODY, READER),
    "GET /v/{video_id}/poster.jpg": (ANYBODY, READER),
    "GET /v/{video_id}/proof.jpg": (ANYBODY, READER),
    "GET /feeds/all.atom": (ANYBODY, READER),
    "GET /feeds/team/{team_id}.atom": (ANYBODY, READER),
    "GET /feeds/competition/{league_id}.atom": (ANYBODY, READER),
    "GET /health": (ANYBODY, READER),
    "GET /health/live": (ANYBODY, ANYBODY),
    "GET /health/ready": (ANYBODY, ANYBODY),
    "GET /metrics": (ANYBODY, READER),
    "GET /status": (ANYBODY, READER),
    "POST /admin/recycle": (OPERATOR, OPERATOR),
    "GET /admin/feeds": (OPERATOR, OPERATOR),
    "GET /admin/feeds/{feed_id}": (OPERATOR, OPERATOR),
    "PUT /admin/feeds/{feed_id}": (OPERATOR, OPERATOR),
    "POST /admin/pairings": (OPERATOR, OPERATOR),
    "GET /api/v1/openapi.json": (ANYBODY, READER),
    "GET /api/v1/dates": (ANYBODY, READER),
    "GET /api/v1/fixtures": (ANYBODY, READER),
    "GET /api/v1/fixtures/{fixture_id}": (ANYBODY, READER),
    "GET /api/v1/fixtures/{fixture_id}/snapshot": (ANYBODY, READER),
    "GET /api/v1/fixtures/{fixture_id}/feeds": (ANYBODY, READER),
    "GET /api/v1/events": (ANYBODY, READER),
    "GET /api/v1/events/{event_id}": (ANYBODY, READER),
    "GET /api/v1/videos": (ANYBODY, READER),
    "GET /api/v1/videos/{video_id}": (ANYBODY, READER),
    "GET /api/v1/search": (ANYBODY, READER),
    "GET /api/v1/losses": (ANYBODY, READER),
    "GET /api/v1/stream": (ANYBODY, READER),
    "GET /api/v1/operations": (ANYBODY, READER),
    "POST /api/v1/library/retry": (EDITOR, EDITOR),
    "GET /api/v1/follow": (ANYBODY, READER),
    "POST /api/v1/follow": (OPERATOR, OPERATOR),
    "DELETE /api/v1/follow": (OPERATOR, OPERATOR),
    "POST /api/v1/follow/reset": (OPERATOR, OPERATOR),
    "GET /api/v1/subscriptions": (OPERATOR, OPERATOR),
    "POST /api/v1/subscriptions": (OPERATOR, OPERATOR),
    "GET /api/v1/subscriptions/{subscription_id}": (OPERATOR, OPERATOR),
    "PATCH /api/v1/subscriptions/{subscription_id}": (OPERATOR, OPERATOR),
    "DELETE /api/v1/subscriptions/{subscription_id}": (OPERATOR, OPERATOR),
    "POST /api/v1/subscriptions/{subscription_id}/test": (OPERATOR, OPERATOR),
    "GET /api/v1/subscriptions/{subscription_id}/deliveries": (OPERATOR, OPERATOR),
    "POST /api/v1/deliveries/{delivery_id}/retry": (OPERATOR, OPERATOR),
    "GET /review": (EDITOR, EDITOR),
    "GET /api/v1/review/queue": (EDITOR, EDITOR),
    "GET /api/v1/review/clips/{clip_id}": (EDITOR, EDITOR),
    "GET /api/v1/review/actions": (EDITOR, EDITOR),
    "POST /api/v1/review/actions": (EDITOR, EDITOR),
    "POST /api/v1/review/undo": (EDITOR, EDITOR),
    "POST /api/v1/review/release": (EDITOR, EDITOR),
    "POST /api/v1/review/verdicts": (EDITOR, EDITOR),
    "GET /library": (ANYBODY, READER),
    "GET /library/fragment": (ANYBODY, READER),
    "POST /library": (EDITOR, EDITOR),
    "GET /library/sources/{source_id}": (ANYBODY, READER),
    "GET /library/sources/{source_id}/fragment": (ANYBODY, READER),
    "POST /library/sources/{source_id}": (EDITOR, EDITOR),
    "GET /library/clips/{clip_id}": (ANYBODY, READER),
    "GET /library/clips/{clip_id}/fragment": (ANYBODY, READER),
    "POST /library/clips/{clip_id}": (EDITOR, EDITOR),
    "GET /s/{source_id}.mp4": (ANYBODY, READER),
    "GET /c/{clip_id}.mp4": (ANYBODY, READER),
    "GET /c/{clip_id}.webp": (ANYBODY, READER),
    "GET /c/{clip_id}-{number}.jpg": (ANYBODY, READER),
    "GET /api/v1/sources": (ANYBODY, READER),
    "POST /api/v1/sources": (EDITOR, EDITOR),
    "GET /api/v1/sources/{source_id}": (ANYBODY, READER),
    "POST /api/v1/sources/{source_id}/retry": (EDITOR, EDITOR),
    "DELETE /api/v1/sources/{source_id}": (EDITOR, EDITOR),
    "GET /api/v1/library/search": (ANYBODY, READER),
    "POST /api/v1/library/search": (ANYBODY, READER),
    "GET /api/v1/clips": (ANYBODY, READER),
    "GET /api/v1/clips/{clip_id}": (ANYBODY, READER),
    "POST /api/v1/clips/{clip_id}/retry": (EDITOR, EDITOR),
    "GET /nowhere": (ANYBODY, READER),
    "POST /nowhere": (EDITOR, EDITOR),
    "DELETE /api/v1/nowhere": (EDITOR, EDITOR),
}
"""The last three are of no route: what somebody forgets is closed."""

PARTS = {
    "{day}": "2026-08-22",
    "{fixture_id}": "7001",
    "{event_id}": SALAH,
    "{video_id}": "0000000000000000",
    "{team_id}": "40",
    "{league_id}": "39",
    "{subscription_id}": "999999",
    "{feed_id}": "api_football",
    "{delivery_id}": "999999",
    "{takedown_id}": "999999",
    "{clip_id}": "999999",
    "{source_id}": "999999",
    "{number}": "0",
    "/static": "/static/footy.css",
}


def team_names(route: BaseRoute) -> Iterator[str]:
    if isinstance(route, Mount):
        yield f"GET {route.path}"
    elif isinstance(route, Route):
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield f"{method} {route.path}"


def routes_of(app: FastAPI) -> set[str]:
    return {name for route in app.routes for name in team_names(route)}


def address(path: str) -> str:
    for part, value in PARTS.items():
        path = path.replace(part, value) if part != path else value
    assert "{" not in path, f"PARTS lacks an example for {path}"
    return path


def expected(role: Role | None, needs: Role | None) -> int | None:
    """401, 403, or anything else."""
    if needs is None or (role is not None and role >= needs):
        return None
    return 401 if role is None else 403


async def status_of(web: httpx.AsyncClient, name: str, headers: dict[str, str]) -> int:
    """Some answers have no end; the beginning is enough."""
    method, _, path = name.partition(" ")
    async with web.stream(method, address(path), headers=headers) as answer:
        return answer.status_code


@pytest.mark.parametrize("closed", [False, True], ids=["open", "token"])
async def test_each_route_requires_the_role_in_the_table(small_world: SampleDataCopy, closed: bool) -> None:
    store = small_world.store
    visitors: dict[str, tuple[Role | None, dict[str, str]]] = {"nobody": (None, {})}
    for role in Role:
        visitors[str(role)] = role, bearer(await make_token(store, role))
    revoked = bearer(await make_token(store, OPERATOR, revoked=True))
    expired = bearer(await make_token(store, OPERATOR, holds=timedelta(0)))
    settings = small_world.settings.model_copy(update={"read_access": "token" if closed else "open"})
    wrong = []
    async with open_web(settings) as services:
        app = create_app(replace(services, now=lambda: NOW))
        assert {name for name in TABLE if "nowhere" not in name} == routes_of(app)
        server = HttpServer(app, grace_seconds=1)
        async with server, httpx.AsyncClient(base_url=server.url, timeout=30) as web:
            for name, needs in TABLE.items():
                for who, (role, headers) in visitors.items():
                    status = await status_of(web, name, headers)
                    wanted = expected(role, needs[closed])
                    if (wanted or status) != status or (wanted is None and status in (401, 403)):
                        wrong.append((name, who, status, wanted))
                for who, headers in (("revoked", revoked), ("expired", expired)) if not closed else ():
                    status = await status_of(web, name, headers)
                    if not _never_asks(name) and status != 401:
                        wrong.append((name, who, status, 401))
            services.live.close()
    assert wrong == []


def _never_asks(name: str) -> bool:
    """Where nobody looks at a token."""
    return name in ("GET /static", "GET /health/live", "GET /health/ready")


CHANGES = [name for name, (needs, _) in TABLE.items() if needs is not None and not name.startswith("GET ")]


async def test_every_change_needs_the_csrf_token(small_world: SampleDataCopy) -> None:
    token = await make_token(small_world.store, OPERATOR)
    async with open_web(small_world.settings) as services:
        server = HttpServer(create_app(replace(services, now=lambda: NOW)), grace_seconds=1)
        async with server, httpx.AsyncClient(base_url=server.url) as web:
            await log_in(web, token)
            mark = csrf_token(bytes.fromhex(web.cookies["footy_session"]))
            for name in CHANGES:
                if "nowhere" in name:
                    continue
                assert await status_of(web, name, {}) == 403, name
                assert await status_of(web, name, {"x-csrf-token": "0" * 64}) == 403, name
                assert await status_of(web, name, {"x-csrf-token": mark}) not in (401, 403), name
                elsewhere = {"x-csrf-token": mark, "origin": "https://evil.example"}
                assert await status_of(web, name, elsewhere) == 403, name
