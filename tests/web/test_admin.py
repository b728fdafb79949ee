"""Operator actions over HTTP with a real cache: switch feeds, decide pairings, restart parts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from found_footy.access.models import Role
from found_footy.app import open_web
from found_footy.config import Settings
from found_footy.errors import NotFound
from found_footy.feeds.store import ListingStore
from found_footy.operations.models import Recovery, RecoveryAction
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.redis import RedisCache
from found_footy.web.app import create_app
from tests.conftest import SampleDataCopy
from tests.support.operations import a_recovery
from tests.support.web_access import PAGE, bearer, csrf_in, log_in, make_token
from tests.support.web_world import NOW, served

SOURCES = """
sources:
  - {domain_id: api_football, adapter: api_football, precedence_weight: 100}
  - {domain_id: espn, adapter: espn, precedence_weight: 80, enabled: false}
"""


@dataclass
class RecordedRecovery:
    """Stands in for what starts processes anew."""

    asked: list[tuple[RecoveryAction, str]] = field(default_factory=list)

    async def recover(self, action: RecoveryAction, trigger: str) -> Recovery:
        if action is RecoveryAction.BROWSER_RECYCLE:
            raise NotFound("nothing to restart here: no browser")
        self.asked.append((action, trigger))
        return a_recovery(action=RecoveryAction.MANUAL_TRIGGER, trigger=trigger)


@dataclass(frozen=True)
class OperatorSite:
    web: httpx.AsyncClient
    operator: dict[str, str]
    recoverer: RecordedRecovery
    token: str


@pytest.fixture
async def desk(small_world: SampleDataCopy, valkey_server: str, tmp_path: Path) -> AsyncIterator[OperatorSite]:
    settings = with_cache(small_world.settings, valkey_server, tmp_path)
    await forget(valkey_server)
    token = await make_token(small_world.store, Role.OPERATOR)
    async with open_web(settings) as services:
        recoverer = RecordedRecovery()
        changed = replace(services, now=lambda: NOW, scores=replace(services.scores, recovery=recoverer))
        server = HttpServer(create_app(changed), grace_seconds=1)
        async with server, httpx.AsyncClient(base_url=server.url) as client:
            yield OperatorSite(client, bearer(token), recoverer, token)
            services.live.close()
    await forget(valkey_server)


def with_cache(settings: Settings, url: str, folder: Path) -> Settings:
    file = folder / "sources.yaml"
    file.write_text(SOURCES, encoding="utf-8")
    given = {"redis_url": SecretStr(url), "feeds_file": file, "feed": None}
    return settings.model_copy(update=given)


async def forget(url: str) -> None:
    cache = RedisCache(url)
    await cache.run("DEL", cache.key("domain_config", "espn"), cache.key("domain_config", "api_football"))
    await cache.aclose()


async def test_a_feed_is_switched_without_a_restart(desk: OperatorSite) -> None:
    listed = (await desk.web.get("/admin/feeds", headers=desk.operator)).json()["items"]
    assert [(feed["feed"], feed["on"], feed["state"]) for feed in listed] == [
        ("api_football", True, "auto"),
        ("espn", False, "auto"),
    ]
    on = await desk.web.put("/admin/feeds/espn", json={"state": "on"}, headers=desk.operator)
    assert (on.status_code, on.json()["on"], on.json()["state"], on.json()["enabled"]) == (200, True, "on", False)
    assert (await desk.web.get("/admin/feeds/espn", headers=desk.operator)).json() == on.json()
    auto = await desk.web.put("/admin/feeds/espn", json={"state": "auto"}, headers=desk.operator)
    assert (auto.json()["on"], auto.json()["state"]) == (False, "auto")


async def test_an_unreadable_feeds_file_does_not_break_pages(
    small_world: SampleDataCopy, valkey_server: str, tmp_path: Path
) -> None:
    settings = with_cache(small_world.settings, valkey_server, tmp_path)
    (tmp_path / "sources.yaml").write_text("sources: [{]", encoding="utf-8")
    token = bearer(await make_token(small_world.store, Role.OPERATOR))
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:
        assert (await web.get("/operations", headers=PAGE)).status_code == 200
        assert (await web.get("/api/v1/operations")).json()["declared"] is None
        assert (await web.get("/admin/feeds", headers=token)).json()["error"]["class"] == "SettingsError"
        (tmp_path / "sources.yaml").write_text(SOURCES, encoding="utf-8")
        assert len((await web.get("/admin/feeds", headers=token)).json()["items"]) == 2


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/admin/feeds/nobody", {"state": "on"}, 404),
        ("/admin/feeds/ESPN..", {"state": "on"}, 422),
        ("/admin/feeds/espn", {"state": "maybe"}, 422),
        ("/admin/feeds/espn", {"state": "on", "more": 1}, 422),
        ("/admin/feeds/espn", [], 422),
    ],
)
async def test_invalid_feed_switches_are_rejected(desk: OperatorSite, path: str, body: object, status: int) -> None:
    assert (await desk.web.put(path, json=body, headers=desk.operator)).status_code == status


async def test_a_pairing_is_decided_once(desk: OperatorSite, small_world: SampleDataCopy) -> None:
    wish = {"feed": "espn", "feed_id": 4017002, "fixture_id": 7002, "same": True}
    assert (await desk.web.post("/admin/pairings", json=wish, headers=desk.operator)).status_code == 204
    assert await ListingStore(small_world.store.database).doubtful() == []
    listed = (await desk.web.get("/api/v1/fixtures/7002/feeds")).json()["feeds"]
    assert [(feed["feed"], feed["founding"]) for feed in listed] == [("api_football", True), ("espn", False)]
    again = await desk.web.post("/admin/pairings", json={**wish, "feed_id": 1}, headers=desk.operator)
    assert again.status_code == 404


@pytest.mark.parametrize("change", [{"feed_id": -1}, {"feed_id": 2**63}, {"same": "perhaps"}, {"feed": ""}])
async def test_invalid_pairings_are_rejected(desk: OperatorSite, change: dict[str, object]) -> None:
    wish = {"feed": "espn", "feed_id": 4017002, "fixture_id": 7002, "same": True, **change}
    assert (await desk.web.post("/admin/pairings", json=wish, headers=desk.operator)).status_code == 422


async def test_recycling_runs_and_is_audited(desk: OperatorSite) -> None:
    done = await desk.web.post("/admin/recycle", json={"what": "poller"}, headers=desk.operator)
    assert (done.status_code, done.json()["action"]) == (202, "manual_trigger")
    assert desk.recoverer.asked == [(RecoveryAction.SOFT_RESTART, "requested by somebody")]
    none = await desk.web.post("/admin/recycle", json={"what": "browser"}, headers=desk.operator)
    assert (none.status_code, none.json()["error"]["class"]) == (404, "NotFound")
    wrong = await desk.web.post("/admin/recycle", json={"what": "everything"}, headers=desk.operator)
    assert wrong.status_code == 422


async def test_the_operations_page_offers_the_same_actions(desk: OperatorSite, small_world: SampleDataCopy) -> None:
    plain = (await desk.web.get("/operations", headers=PAGE)).text
    assert "Unconfirmed pairings" in plain
    assert 'action="/operations/' not in plain
    await log_in(desk.web, desk.token, "/operations")
    page = (await desk.web.get("/operations", headers=PAGE)).text
    mark = {"csrf": csrf_in(page)}
    switched = await desk.web.post("/operations/feeds/espn", data={"state": "on", **mark}, headers=PAGE)
    assert (switched.status_code, switched.headers["location"]) == (303, "/operations?done=switched#feeds")
    page = (await desk.web.get("/operations?done=switched", headers=PAGE)).text
    assert "Switched. Takes effect at the next poll." in page
    doubt = {"feed": "espn", "feed_id": "4017002", "fixture_id": "7002", "same": "no", **mark}
    assert (await desk.web.post("/operations/pairings", data=doubt, headers=PAGE)).status_code == 303
    await desk.web.post("/operations/recycle", data={"what": "poller", **mark}, headers=PAGE)
    assert len(desk.recoverer.asked) == 1


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/operations/feeds/espn", {"state": "both"}),
        ("/operations/pairings", {"feed": "espn", "feed_id": "x", "fixture_id": "7002", "same": "yes"}),
        ("/operations/pairings", {"feed": "espn", "feed_id": "9" * 30, "fixture_id": "7002", "same": "yes"}),
        ("/operations/pairings", {"feed": "espn", "feed_id": "1", "fixture_id": "7002"}),
        ("/operations/recycle", {"what": "the world"}),
    ],
)
async def test_invalid_operator_forms_are_rejected(desk: OperatorSite, path: str, form: dict[str, str]) -> None:
    answer = await desk.web.post(path, data=form, headers=desk.operator)
    assert (answer.status_code, answer.json()["error"]["class"]) == (400, "BadRequest")
