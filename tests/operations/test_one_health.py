"""One health model: in every situation, all surfaces show the same grades, and none claims health without evidence."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.core import Metric

from found_footy.cli.health import health_line, health_view
from found_footy.operations.feed_health import missing_answers
from found_footy.operations.findings import assess, feeds_grade
from found_footy.operations.health import health_document
from found_footy.operations.models import EngineStatus, FeedDeclaration, FeedUse, HealthGrade, HealthLimits, Measurement
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache
from found_footy.web.api.health import status_of
from found_footy.web.metrics import families
from found_footy.web.services import WebRules
from tests.conftest import SampleDataCopy
from tests.support.cli import clean_environment, run_cli
from tests.support.operations import (
    NOW,
    a_match,
    a_summary,
    ago,
    cached,
    health,
    measured,
    recorded,
    temporal,
)
from tests.support.terminal import plain_text
from tests.support.watchdog import WatchdogSystem
from tests.web.test_operations import showing

REFUSED = "FeedBlocked: HTTP 403"


def use(feed: str, answered_hours: float | None, error: str | None = None, asked_hours: float = 0) -> FeedUse:
    answered = None if answered_hours is None else ago(hours=answered_hours)
    return FeedUse(feed, ago(hours=asked_hours), answered, error, None)


def with_state(grade: HealthGrade | None, checked_seconds: float = 6, **more: Any) -> Measurement:
    """A system whose watchdog saved this grade."""
    summary = a_summary(grade, checked_seconds) if grade else None
    return measured(**{"health": health(summary=summary), "cached": cached(summary=summary), **more})


def idle(*feeds: FeedUse, **more: Any) -> Measurement:
    """Nothing in play, so the watchdog sees no stale match."""
    return with_state(HealthGrade.HEALTHY, recorded=recorded(matches=(), goals=(), feeds=feeds), **more)


def off(measured: Measurement) -> Measurement:
    return replace(measured, declared=tuple(replace(each, on=False) for each in measured.declared or ()))


ANSWERING = (use("api_football", 0.1), use("espn", 0.1))
SILENT = (use("api_football", 5, REFUSED), use("espn", 5, REFUSED))
OLD_MATCHES = recorded(matches=(a_match(polled_seconds=130),), goals=())
NO_DATABASE = (EngineStatus("database", "failed", "StoreUnavailable"), EngineStatus("cache", "ok"))
NO_WORKER = replace(temporal(), queues=tuple(replace(queue, workers=()) for queue in temporal().queues))


@dataclass(frozen=True)
class Expected:
    system: str
    feeds: str
    exit_code: int
    stale: int = 0


SITUATIONS = {
    "nothing in play, feeds answer": (idle(*ANSWERING), Expected("ok", "healthy", 0)),
    "nothing in play, no feed answers": (idle(*SILENT), Expected("failed", "failing", 6)),
    "no feed has ever answered": (idle(use("espn", None, REFUSED)), Expected("failed", "failing", 6)),
    "no feed was ever requested": (idle(), Expected("failed", "unknown", 6)),
    "no feed has answered for two days": (idle(use("espn", 49, asked_hours=49)), Expected("failed", "failing", 6)),
    "all feeds are disabled": (off(idle(*ANSWERING)), Expected("failed", "failing", 6)),
    "one of two feeds fails, matches are fresh": (
        with_state(HealthGrade.HEALTHY, recorded=recorded(feeds=(ANSWERING[0], SILENT[1]))),
        Expected("degraded", "healthy", 0),
    ),
    "all matches are old, before the recovery": (
        with_state(HealthGrade.FAILING, recorded=OLD_MATCHES, cached=cached(last_updates={})),
        Expected("failed", "failing", 6, stale=1),
    ),
    "responses arrive, but are not saved": (
        with_state(HealthGrade.FAILING, recorded=OLD_MATCHES, cached=cached(last_updates={7001: ago(seconds=5)})),
        Expected("failed", "failing", 6, stale=1),
    ),
    "a recovery is in progress": (
        with_state(HealthGrade.RECOVERING, recorded=recorded(goals=())),
        Expected("degraded", "recovering", 6),
    ),
    "the watchdog is silent": (with_state(HealthGrade.HEALTHY, 61), Expected("degraded", "unknown", 6)),
    "the watchdog never ran": (with_state(None), Expected("degraded", "unknown", 6)),
    "the database is down": (
        measured(engines=NO_DATABASE, recorded=None, health=None),
        Expected("failed", "healthy", 4),
    ),
    "no worker polls the task queue": (
        with_state(HealthGrade.HEALTHY, temporal=NO_WORKER),
        Expected("failed", "healthy", 6),
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_all_surfaces_show_the_same_grades(name: str) -> None:
    found, expected = SITUATIONS[name]
    report = assess(found, HealthLimits())
    assert (str(report.grade), report.feeds_grade) == (expected.system, expected.feeds)
    assert exit_code(report.database_answers, report.is_working) == expected.exit_code

    document, line, view = health_document(report), health_line(report), plain_text(health_view(report))
    assert (document["system"], document["grade"]) == (expected.system, expected.feeds)
    assert document["good"] is report.is_working
    assert len(document["stale"]) == expected.stale
    assert f"system {expected.system}" in line
    assert f"{expected.feeds};" in line
    assert f"system {expected.system.upper()} feeds {expected.feeds.upper()}" in view
    assert ("HEALTHY" in view) is (expected.feeds == "healthy")
    assert all(finding.what in view for finding in report.findings)

    status = status_of(report, WebRules(), details=True)
    assert (status.grade, status.stale_matches) == (expected.feeds, expected.stale)
    assert (status.freshness is not None and status.freshness.max >= 45) is (expected.stale > 0)
    figures = {family.name: family for family in families(report)}
    assert graded(figures.get("footy_feeds_grade")) in (expected.feeds, None)
    ages = {sample.labels.get("le"): sample.value for sample in figures["scraper_freshness_seconds"].samples}
    assert ages["+Inf"] - ages["30"] == expected.stale


def exit_code(database_answers: bool, is_working: bool) -> int:
    return 0 if database_answers and is_working else 6 if database_answers else 4


def graded(family: Metric | None) -> str | None:
    """The grade whose figure is 1; None before the first check, when there is no figure."""
    if family is None:
        return None
    (grade,) = [sample.labels["grade"] for sample in family.samples if sample.value == 1]
    return grade


async def test_the_pages_show_the_same_grades(small_world: SampleDataCopy) -> None:
    for found, expected in SITUATIONS.values():
        async with showing(found, small_world.settings) as web:
            health_answer, status = await web.get("/health"), (await web.get("/status")).json()
            operations = (await web.get("/api/v1/operations")).json()
            page = (await web.get("/operations")).text
            figures = (await web.get("/metrics")).text
        assert health_answer.status_code == (503 if expected.system == "failed" else 200)
        assert (health_answer.json()["grade"], health_answer.json()["feeds"]) == (expected.system, expected.feeds)
        assert (status["grade"], operations["grade"]) == (expected.feeds, expected.system)
        assert operations["feeds"]["grade"] == expected.feeds
        assert f'data-grade="{expected.system}"' in page
        assert f'<span class="grade" data-grade="{expected.feeds}">' in page
        assert status["stale_matches"] == expected.stale
        if found.judged_seconds is not None:
            assert f'footy_feeds_grade{{grade="{expected.feeds}"}} 1.0' in figures


# --- The feeds' grade needs evidence


@pytest.mark.parametrize(
    ("feeds", "following", "reason"),
    [
        ([], False, "no feed has responded yet; no request was sent so far"),
        ([], True, "no feed has responded yet; no request was sent so far"),
        ([use("espn", None, "A: a")], False, "no feed has responded yet; last error: espn: A: a"),
        ([use("espn", None, "A: a")], True, "no feed has responded yet; last error: espn: A: a"),
        (
            [use("espn", None, "A: a", 1), use("crex", None, "B: b")],
            False,
            "no feed has responded yet; last error: crex: B: b",
        ),
        ([use("espn", 2, "A: a")], False, "no feed responds; last error: espn: A: a"),
        ([use("espn", 2, "A: a")], True, ""),  # the ages of the matches show it
        ([use("espn", 2, "A: a"), use("crex", 0)], False, ""),
        ([use("espn", 0)], False, ""),
        ([use("espn", 26)], False, ""),
        ([use("espn", 26.1)], False, "no feed has responded for 1 d"),
        ([use("espn", 26.1)], True, ""),
    ],
)
def test_why_nothing_is_known_of_the_matches(feeds: list[FeedUse], following: bool, reason: str) -> None:
    assert missing_answers(feeds, NOW, following=following) == reason


@pytest.mark.parametrize(
    ("saved", "feeds", "shown"),
    [
        (None, ANSWERING, "unknown"),
        (HealthGrade.HEALTHY, ANSWERING, "healthy"),
        (HealthGrade.HEALTHY, SILENT, "failing"),
        (HealthGrade.DEGRADED, ANSWERING, "degraded"),
        (HealthGrade.DEGRADED, SILENT, "failing"),
        (HealthGrade.FAILING, SILENT, "failing"),
        (HealthGrade.RECOVERING, SILENT, "recovering"),
    ],
)
def test_no_grade_claims_health_without_an_answer(
    saved: HealthGrade | None, feeds: tuple[FeedUse, ...], shown: str
) -> None:
    found = with_state(saved, recorded=recorded(matches=(), goals=(), feeds=feeds))
    assert feeds_grade(found, HealthLimits()) == shown


# --- On real engines


class OnlyEspn:
    async def declared(self) -> list[FeedDeclaration]:
        return [FeedDeclaration("espn", "espn", 100, enabled=True, on=True)]


@pytest.mark.parametrize(("error", "grade", "code"), [(REFUSED, "failing", 6), (None, "healthy", 0)])
async def test_the_command_agrees_on_real_engines(
    database_url: str, valkey_server: str, tmp_path: Path, error: str | None, grade: str, code: int
) -> None:
    redis_url = valkey_server
    now = datetime.now(UTC)
    database, cache = Database(database_url), RedisCache(redis_url)
    await cache.run("FLUSHDB")
    await database.open()
    watched = WatchdogSystem(database, database_url, cache, declared=OnlyEspn())
    async with database.connection() as connection:
        await connection.execute(
            "insert into feed_states (feed, asked_at, answered_at, error) values ('espn', %s, %s, %s)",
            [now, now - timedelta(hours=5) if error else now, error],
        )
    watched.now = now
    transition = await watched.watchdog.round()
    assert transition is not None
    await watched.leading.release()
    await database.close()
    await cache.aclose()
    settings = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "FOOTY_FEED": "espn"}
    environment = clean_environment(tmp_path / "data") | settings
    ended = await asyncio.to_thread(run_cli, "health", "--json", env=environment, cwd=tmp_path)
    document = json.loads(ended.out)
    assert (ended.code, document["grade"], document["good"]) == (code, grade, code == 0), ended.out
    assert document["summary"]["grade"] == transition.state.grade == grade
