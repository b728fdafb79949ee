"""`/status`: feed health in one response, also while services are unavailable."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.operations.findings import assess
from found_footy.operations.models import EngineStatus, HealthGrade, HealthLimits, Measurement
from found_footy.web.api.health import status_of
from found_footy.web.services import WebRules
from tests.conftest import SampleDataCopy
from tests.support.operations import NOW, a_summary, ago, cached, health, measured, paused, recorded, report
from tests.support.web_access import bearer, make_token
from tests.web.test_operations import showing

RULES = WebRules()
NO_CACHE = (
    EngineStatus("database", "ok"),
    EngineStatus("cache", "failed", "CacheUnavailable", "redis://10.0.0.9:6379 refused"),
)
NO_DATABASE = (EngineStatus("database", "failed", "StoreUnavailable"), EngineStatus("cache", "ok"))
OF_THE_CACHE = {"queue_depth", "active", "stale_matches"}
NOTHING = (EngineStatus("database", "failed"), EngineStatus("cache", "failed"))


async def test_the_status_summary_is_public(small_world: SampleDataCopy) -> None:
    async with showing(measured(), small_world.settings, public_url="https://goals.example") as web:
        answer = await web.get("/status")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    told = answer.json()
    assert (told["grade"], told["since"], told["details"]) == ("healthy", "2026-08-22T13:30:00Z", None)
    assert told["freshness"] == {"median": 12.0, "p95": 25.0, "max": 25.0, "count": 3}
    assert told["queue_depth"] == {"live": 3, "imminent": 2, "completed": 0}
    assert (told["active"], told["paused"], told["stale_matches"]) == (1, 0, 0)
    assert told["failure_ratio"] == pytest.approx(2 / 80)
    assert (told["last_success"], told["generated_at"]) == ("2026-08-22T15:29:51Z", "2026-08-22T15:30:00Z")
    assert told["engines"] == {"database": "ok", "cache": "ok", "temporal": "ok", "object store": "ok"}


@pytest.mark.parametrize(("role", "told"), [(None, False), (Role.EDITOR, False), (Role.OPERATOR, True)])
async def test_status_details_are_for_operators(small_world: SampleDataCopy, role: Role | None, told: bool) -> None:
    headers = bearer(await make_token(small_world.store, role)) if role else {}
    found = measured(cached=cached(records=(paused(),)))
    async with showing(found, small_world.settings, web_host="0.0.0.0") as web:
        details = (await web.get("/status", headers=headers)).json()["details"]
    assert (details is not None) is told
    if told:
        (match,) = details["paused_matches"]
        assert (match["match_id"], match["paused_until"]) == ("espn_407001", "2026-08-22T15:31:20Z")
        assert details["config"]["failing_seconds"] == 120
        (entry,) = details["audit"]
        assert (entry["action"], entry["outcome"], entry["seconds"]) == ("soft_restart", "success", 4.2)
        assert entry["before"]["grade"] == "failing"


@pytest.mark.parametrize(
    ("system", "grade", "unknown"),
    [
        (measured(engines=NO_CACHE, cached=None), "healthy", OF_THE_CACHE),
        (measured(engines=NO_DATABASE, recorded=None, health=None), "healthy", set()),
        (
            measured(engines=NOTHING, recorded=None, health=None, cached=None),
            "unknown",
            {
                "queue_depth",
                "active",
                "stale_matches",
                "freshness",
                "failure_ratio",
                "paused",
                "since",
                "stall_seconds",
            },
        ),
        (measured(health=health(summary=None), cached=cached(summary=None)), "unknown", {"since", "stall_seconds"}),
    ],
    ids=["no cache", "no database", "neither", "no judgement"],
)
def test_unknown_fields_are_null(system: Measurement, grade: str, unknown: set[str]) -> None:
    told = status_of(assess(system, HealthLimits()), RULES, details=True).model_dump()
    assert told["grade"] == grade
    never = {"last_success", "judged_at", "judged_seconds"} if grade == "unknown" else set()
    assert {name for name, value in told.items() if value is None} == unknown | never
    assert told["engines"] == {engine.name: engine.state for engine in system.engines}
    assert (told["details"]["audit"] is None) is (system.health is None)
    assert (told["details"]["paused_matches"] is None) is (system.cached is None)


def test_without_the_cache_freshness_comes_from_the_last_check() -> None:
    told = status_of(report(cached=None), RULES, details=False)
    assert told.freshness is not None
    assert (told.freshness.max, told.freshness.count, told.failure_ratio) == (25, 3, 0.025)


def test_the_later_of_two_checks_applies() -> None:
    failing = a_summary(HealthGrade.FAILING, judged_seconds=1)
    assert status_of(report(cached=cached(summary=failing)), RULES, details=False).grade == "failing"
    old = a_summary(HealthGrade.FAILING, judged_seconds=100)
    assert status_of(report(cached=cached(summary=old)), RULES, details=False).grade == "healthy"


@pytest.mark.parametrize(("judged_seconds", "grade"), [(60, "healthy"), (61, "unknown"), (3600, "unknown")])
def test_an_expired_grade_is_unknown_with_its_age(judged_seconds: float, grade: str) -> None:
    old = a_summary(judged_seconds=judged_seconds)
    told = status_of(report(health=health(summary=old), cached=cached(summary=None)), RULES, details=True)
    assert (told.grade, told.judged_seconds, told.judged_at) == (grade, judged_seconds, old.generated_at)
    assert (told.since is None) is (grade == "unknown")
    assert told.details is not None
    words = f"no health check for {'61 s' if judged_seconds == 61 else '1 h'}; the last grade was healthy"
    assert told.details.reasons == ([words] if grade == "unknown" else [])


async def test_a_dead_watchdog_is_never_healthy(small_world: SampleDataCopy) -> None:
    old = a_summary(judged_seconds=90)
    dead = measured(health=health(summary=old), cached=cached(summary=None))
    async with showing(dead, small_world.settings) as web:
        assert (await web.get("/status")).json()["grade"] == "unknown"
        whole = (await web.get("/health")).json()
        figures = (await web.get("/metrics")).text
        page = (await web.get("/operations")).text
    assert (whole["feeds"], [each["kind"] for each in whole["reasons"]]) == ("unknown", ["no_judgement"])
    assert 'footy_feeds_grade{grade="healthy"} 0.0' in figures
    assert 'footy_feeds_grade{grade="unknown"} 1.0' in figures
    assert "footy_feeds_judged_seconds 90.0" in figures
    assert '<span class="grade" data-grade="unknown">unknown</span>' in page
    assert "no health check for 90 s; the last grade was healthy" in page


def test_stale_matches_are_counted() -> None:
    heard = {7001: ago(seconds=46), 7002: ago(seconds=44), 7003: ago(seconds=900)}
    told = status_of(report(cached=cached(last_updates=heard)), RULES, details=False)
    assert told.stale_matches == 2


async def test_health_includes_the_feeds_grade(small_world: SampleDataCopy) -> None:
    async with showing(measured(), small_world.settings) as web:
        told: dict[str, Any] = (await web.get("/health")).json()
    assert (told["feeds"], told["engines"]["cache"]) == ("healthy", "ok")
    system = measured(recorded=recorded(), health=None, cached=None)
    async with showing(system, small_world.settings) as web:
        assert (await web.get("/health")).json()["feeds"] == "unknown"


async def test_status_of_a_real_system(site: httpx.AsyncClient) -> None:
    told = (await site.get("/status")).json()
    assert told["grade"] == "healthy"
    assert told["engines"]["cache"] == "off"
    assert [entry["id"] for entry in told["details"]["audit"]] == ["outage-1"]
    assert told["generated_at"] == NOW.isoformat().replace("+00:00", "Z")
