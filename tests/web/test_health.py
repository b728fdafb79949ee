"""Liveness, readiness, health, and the measurement behind them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

import httpx
import pytest
from pydantic import SecretStr

from found_footy.access.models import Role
from found_footy.errors import (
    CacheUnavailable,
    EngineError,
    ObjectStoreUnavailable,
    SettingsError,
    SourceChanged,
    StoreUnavailable,
)
from found_footy.operations.models import (
    CacheFacts,
    DatabaseFacts,
    Disk,
    FeedDeclaration,
    HealthSample,
    HealthSummary,
    Recovery,
    TemporalState,
)
from found_footy.operations.probe import SystemProbe
from found_footy.operations.store import OperationsStore
from found_footy.version import current_build
from tests.conftest import SampleDataCopy
from tests.support.operations import NOW, cached, declared, health, measured, recorded, temporal
from tests.support.web_access import PAGE, bearer, log_in, make_token
from tests.support.web_world import served
from tests.web.test_operations import showing

# --- over HTTP


async def test_a_running_server_is_live_and_ready(site: httpx.AsyncClient) -> None:
    assert (await site.get("/health/live")).json() == {"live": True}
    for _ in range(100):  # live updates begin in a moment of their own
        ready = await site.get("/health/ready")
        if ready.status_code == 200:
            break
        assert ready.json() == {"ready": False, "problems": ["live updates have not started"]}
        await asyncio.sleep(0.05)
    assert (ready.status_code, ready.json()) == (200, {"ready": True, "problems": []})
    assert ready.headers["cache-control"] == "no-store"


async def test_health_and_the_operations_page_have_the_same_grade(small_world: SampleDataCopy) -> None:
    for system, status, grade in [
        (measured(), 200, "ok"),
        (measured(disk=Disk(9, 100)), 200, "degraded"),
        (measured(disk=Disk(2, 100)), 503, "failed"),
    ]:
        async with showing(system, small_world.settings) as web:
            answer = await web.get("/health", headers=PAGE)
        assert (answer.status_code, answer.json()["grade"]) == (status, grade)
        assert answer.json()["engines"] == {
            "database": "ok",
            "cache": "ok",
            "temporal": "ok",
            "object store": "ok",
        }


async def test_health_and_the_operations_page_show_version_and_commit(site: httpx.AsyncClient) -> None:
    build = current_build()
    health = (await site.get("/health")).json()
    assert (health["version"], health["commit"]) == (build.version, build.commit)
    assert f"version {build}" in (await site.get("/operations", headers=PAGE)).text


async def test_only_operators_see_the_reasons(small_world: SampleDataCopy) -> None:
    operator = await make_token(small_world.store, Role.OPERATOR)
    editor = await make_token(small_world.store, Role.EDITOR)
    async with showing(measured(disk=Disk(9, 100)), small_world.settings, web_host="0.0.0.0") as web:
        plain = {"grade": "degraded", "live": True, "ready": True, "feeds": "healthy"}
        plain |= {"version": current_build().version, "commit": current_build().commit}
        plain |= {"engines": None, "reasons": None}
        assert (await web.get("/health")).json() == plain
        assert (await web.get("/health", headers=bearer(editor))).json() == plain
        (reason,) = (await web.get("/health", headers=bearer(operator))).json()["reasons"]
    assert (reason["kind"], "Free space" in reason["advice"]) == ("disk", True)


async def test_without_a_database_the_server_is_live_but_not_ready(
    small_world: SampleDataCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("operations.probe.ENGINE_TIMEOUT", "web.auth.SESSION_TIMEOUT_SECONDS"):
        monkeypatch.setattr(f"found_footy.{name}", 0.3)
    nowhere = {"database_url": SecretStr("postgresql://nobody@127.0.0.1:9/none")}
    token = await make_token(small_world.store, Role.OPERATOR)
    async with served(small_world.settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:
        cookie = (await log_in(web, token)).cookies["footy_session"]
    settings = small_world.settings.model_copy(update=nowhere)
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url, timeout=30) as web:
        assert (await web.get("/health/live")).status_code == 200
        ready = await web.get("/health/ready")
        assert (ready.status_code, ready.json()["problems"][0]) == (503, "the database does not respond")
        health = await web.get("/health")
        assert (health.status_code, health.json()["engines"]["database"]) == (503, "failed")
        page = await web.get("/operations", headers=PAGE | {"cookie": f"footy_session={cookie}"})
        assert (page.status_code, "PostgreSQL is unreachable" in page.text) == (200, True)
        assert 'footy_engine_up{engine="database"} 0.0' in (await web.get("/metrics")).text


# --- measuring


@dataclass
class Asked:
    """Everything that `SystemProbe` asks, with answers to choose."""

    fails: dict[str, Exception] = field(default_factory=dict)
    hangs: set[str] = field(default_factory=set)
    times: dict[str, int] = field(default_factory=dict)
    position: int | None = 900
    clients: int = 3

    async def _answer(self, name: str) -> None:
        self.times[name] = self.times.get(name, 0) + 1
        if name in self.hangs:
            await asyncio.Event().wait()
        if name in self.fails:
            raise self.fails[name]

    async def missing_migrations(self) -> tuple[str, ...]:
        await self._answer("database")
        return ()

    # --- database

    async def facts(self, now: datetime) -> DatabaseFacts:
        await self._answer("database")
        return recorded()

    async def summary(self) -> HealthSummary | None:
        await self._answer("health")
        return health().summary

    async def recoveries(self, limit: int) -> Sequence[Recovery]:
        return health().recoveries

    async def samples(self, since: datetime) -> Sequence[HealthSample]:
        return []

    # --- Temporal and object store

    async def read(self, now: datetime) -> TemporalState:
        await self._answer("temporal")
        return temporal()

    async def head(self, key: str) -> None:
        await self._answer("object store")


@dataclass
class AskedCache:
    asked: Asked

    async def facts(self) -> CacheFacts:
        await self.asked._answer("cache")
        return cached()


@dataclass
class AskedBrowser:
    asked: Asked

    async def facts(self) -> dict[str, int]:
        await self.asked._answer("browser")
        return {"processes": 9}


@dataclass
class AskedFeeds:
    asked: Asked

    async def declared(self) -> tuple[FeedDeclaration, ...]:
        await self.asked._answer("feeds")
        return declared()


def probe_of(asked: Asked, fresh_seconds: float = 60) -> SystemProbe:
    parts: Any = {"cache": AskedCache(asked), "browser": AskedBrowser(asked), "declared": AskedFeeds(asked)}
    engines: Any = {"temporal": asked, "objects": asked, "live": asked}
    return SystemProbe(cast(OperationsStore, asked), **parts, **engines, cached_seconds=fresh_seconds)


@pytest.fixture
async def quick(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.setattr("found_footy.operations.probe.ENGINE_TIMEOUT", 0.05)
    yield
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        if task.get_name() == "check of the object store":
            task.cancel()


async def test_responding_engines_are_ok() -> None:
    found = await probe_of(Asked()).measure(NOW)
    assert [(engine.name, engine.state) for engine in found.engines] == [
        ("database", "ok"),
        ("cache", "ok"),
        ("temporal", "ok"),
        ("object store", "ok"),
        ("browser", "ok"),
    ]
    assert found.health == replace(health(), spans=())
    assert (found.cached, found.declared) == (cached(), declared())
    assert (found.outbox_read, found.listeners) == (900, 3)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("database", StoreUnavailable("refused")),
        ("temporal", EngineError("refused")),
        ("object store", ObjectStoreUnavailable("refused")),
        ("cache", CacheUnavailable("refused")),
        ("browser", SourceChanged("refused")),
    ],
)
async def test_failures_are_part_of_the_measurement(name: str, error: Exception) -> None:
    found = await probe_of(Asked(fails={name: error})).measure(NOW)
    states = {engine.name: (engine.state, engine.detail) for engine in found.engines}
    assert states.pop(name) == ("failed", "refused")
    assert set(states.values()) == {("ok", "")}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["database", "object store", "cache", "browser"])
async def test_a_hanging_engine_does_not_block_the_measurement(name: str) -> None:
    found = await probe_of(Asked(hangs={name})).measure(NOW)
    (engine,) = [engine for engine in found.engines if engine.name == name]
    assert (engine.state, engine.summary) == ("failed", "no response within 0.05 s")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("asked", [Asked(hangs={"feeds", "health"}), Asked(fails={"feeds": SettingsError("wrong")})])
async def test_without_a_feeds_file_declared_feeds_are_unknown(asked: Asked) -> None:
    found = await probe_of(asked).measure(NOW)
    assert found.declared is None
    assert found.cached is not None


async def test_unused_engines_are_off() -> None:
    asked = Asked()
    store: Any = asked
    found = await SystemProbe(store).measure(NOW)
    states = {engine.name: engine.state for engine in found.engines}
    assert (states["cache"], "browser" in states) == ("off", False)
    assert (found.cached, found.declared) == (None, None)


@pytest.mark.usefixtures("quick")
async def test_a_hanging_object_store_gets_one_request() -> None:
    asked = Asked(hangs={"object store"})
    watch = probe_of(asked, fresh_seconds=0)
    for _ in range(3):
        await watch.measure(NOW)
    assert {name: asked.times[name] for name in ("database", "temporal", "object store")} == {
        "database": 3,
        "temporal": 3,
        "object store": 1,
    }


async def test_concurrent_requests_share_one_measurement() -> None:
    asked = Asked()
    watch = probe_of(asked)
    await asyncio.gather(*(watch.measure(NOW) for _ in range(50)))
    await watch.measure(NOW)
    assert set(asked.times.values()) == {1}
    assert len(asked.times) == 7


async def test_the_server_is_not_ready_before_the_outbox_is_read() -> None:
    assert await probe_of(Asked(position=None)).readiness() == ["live updates have not started"]
