"""The operations page and its JSON, over HTTP."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from psycopg import sql

from found_footy.access.models import Role
from found_footy.app import open_web
from found_footy.config import Settings
from found_footy.errors import FeedUnavailable, SourceLoggedOut
from found_footy.feeds.models import Quota
from found_footy.fixtures.store import open_store
from found_footy.operations.models import EngineStatus, LibraryStageUse, Measurement
from found_footy.operations.store import OperationsStore
from found_footy.runtime.http_server import HttpServer
from found_footy.web.app import create_app
from tests.conftest import SampleDataCopy
from tests.support.operations import (
    FixedHealth,
    a_check,
    a_dispute,
    a_doubt,
    a_goal,
    a_match,
    a_record,
    cached,
    measured,
    paused,
    recorded,
)
from tests.support.web_access import PAGE, bearer, csrf_in, log_in, make_token
from tests.support.web_world import HOSTILE, NOW, NUNEZ


@asynccontextmanager
async def showing(found: Measurement, settings: Settings, **rules: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A server that has measured this."""
    async with open_web(settings) as services:
        changed = replace(services, health=FixedHealth(found), now=lambda: NOW, rules=replace(services.rules, **rules))
        server = HttpServer(create_app(changed), grace_seconds=1)
        async with server, httpx.AsyncClient(base_url=server.url) as client:
            yield client


# --- of a real database


async def test_database_facts_are_read(small_world: SampleDataCopy) -> None:
    found = await OperationsStore(small_world.store.database).facts(NOW)
    assert [match.fixture_id for match in found.matches] == [7001, 7002, 7005, 7007]
    goals = {goal.event_id: goal for goal in found.goals}
    assert {goal.status for goal in found.goals} == {"validating", "watching", "extracting"}
    assert (goals[NUNEZ].status, goals[NUNEZ].states, goals[NUNEZ].attempts) == ("extracting", {"downloading": 1}, 1)
    assert found.goals_in_work == len(found.goals)
    assert sum(found.goals_by_status.values()) == 10
    assert [(each.source, each.failures) for each in found.sources] == [("bluesky", 0), ("x", 1)]
    assert len(found.hours) == 24
    assert found.hours[-1].losses == {"gone": 1, "too short": 1}
    assert [(feed.feed, feed.error) for feed in found.feeds] == [("api_football", None)]
    assert (found.schema_problems, found.clips) == ((), {"verified": 5, "unverified": 1})


async def test_hours_are_in_utc_in_any_database_time_zone(small_world: SampleDataCopy) -> None:
    database = small_world.store.database
    async with database.connection() as connection:
        row = await (await connection.execute("select current_database() as name")).fetchone()
        assert row is not None
        name = sql.Identifier(row["name"])
        await connection.execute(sql.SQL("alter database {} set timezone to 'Asia/Kolkata'").format(name))
    async with open_store(small_world.settings) as fresh:
        found = await OperationsStore(fresh.database).facts(NOW)
    assert found.hours[-1].at == NOW.replace(minute=0)
    assert found.hours[-1].at.utcoffset() == timedelta(0)
    assert found.hours[-1].losses == {"gone": 1, "too short": 1}


async def test_failures_in_a_row_count_since_the_last_answer(small_world: SampleDataCopy) -> None:
    world = small_world.world
    for attempt in range(2, 5):
        await world.search(NUNEZ, attempt, error=SourceLoggedOut("x: logged out"))
    found = await OperationsStore(small_world.store.database).facts(NOW + timedelta(hours=1))
    (x,) = [source for source in found.sources if source.source == "x"]
    assert (x.answers, x.failures, x.consecutive_failures) == (0, 4, 4)
    assert x.error_kind in ("SourceRateLimited", "SourceLoggedOut")


async def test_a_failing_feed_is_reported_with_its_quota(small_world: SampleDataCopy) -> None:
    await small_world.store.save_feed_state("api_football", Quota(NOW, 100, 40), NOW, None)
    await small_world.store.save_feed_state("api_football", None, NOW, FeedUnavailable("refused"))
    found = await OperationsStore(small_world.store.database).facts(NOW)
    assert found.feed is not None
    assert found.feed.error is not None
    assert "refused" in found.feed.error
    assert found.feed.quota == Quota(NOW, 100, 40)


async def test_the_operations_page_shows_a_populated_system(site: httpx.AsyncClient) -> None:
    page = await site.get("/operations", headers=PAGE)
    assert page.status_code == 200
    assert "problems" in page.text
    assert "4 of 4 live matches are not polled" in page.text
    assert "1 uncertain match pairing" in page.text
    assert "not configured" in page.text
    assert HOSTILE not in page.text
    assert "\u202e" not in page.text
    fragment = await site.get("/operations/fragment", headers=PAGE)
    assert fragment.text.lstrip().startswith('<section class="verdict" data-grade="failed"')
    assert "<html" not in fragment.text


# --- of what was measured


async def test_page_and_json_agree(small_world: SampleDataCopy) -> None:
    async with showing(measured(), small_world.settings) as web:
        document = (await web.get("/api/v1/operations")).json()
    assert (document["grade"], document["verdict"], document["findings"]) == ("ok", "No problems", [])
    assert document["temporal"]["queues"][0] == {
        "kind": "workflow",
        "workers": [{"identity": "4711@desk", "seen_at": "2026-08-22T15:29:40Z"}],
        "backlog": 0,
        "backlog_age": 0.0,
    }
    assert document["poll_limit_seconds"] == 90
    assert [goal["status"] for goal in document["recorded"]["goals"]] == ["watching", "validating", "extracting"]


async def test_unavailable_engines_are_shown(small_world: SampleDataCopy) -> None:
    engines = (
        EngineStatus("database", "failed", "StoreUnavailable", "postgresql://db.internal/footy: refused"),
        EngineStatus("temporal", "failed", "EngineError", "no response within 2 s"),
        EngineStatus("object store", "ok"),
    )
    away = measured(engines=engines, recorded=None, temporal=None)
    async with showing(away, small_world.settings) as web:
        page = await web.get("/operations", headers=PAGE)
        document = (await web.get("/api/v1/operations")).json()
    assert page.status_code == 200
    assert "PostgreSQL is unreachable" in page.text
    assert "Temporal is unreachable" in page.text
    assert (document["recorded"], document["temporal"], document["grade"]) == (None, None, "failed")


@pytest.mark.parametrize(
    ("rules", "role", "told"),
    [
        ({}, None, True),  # only this machine can ask
        ({"public_url": "https://goals.example"}, None, False),
        ({"web_host": "0.0.0.0"}, None, False),
        ({"web_host": "0.0.0.0"}, Role.EDITOR, False),
        ({"web_host": "0.0.0.0"}, Role.OPERATOR, True),
    ],
)
async def test_host_names_are_shown_to_operators_only(
    small_world: SampleDataCopy, rules: dict[str, Any], role: Role | None, told: bool
) -> None:
    headers = bearer(await make_token(small_world.store, role)) if role else {}
    found = measured(engines=(EngineStatus("temporal", "failed", "EngineError", "tcp 10.0.0.7"),))
    async with showing(found, small_world.settings, **rules) as web:
        for path in ("/operations", "/operations/fragment", "/api/v1/operations"):
            answer = await web.get(path, headers=PAGE | headers)
            assert ("4711@desk" in answer.text) is told
            assert ("10.0.0.7" in answer.text) is told


async def test_hidden_results_stay_hidden(small_world: SampleDataCopy) -> None:
    found = measured(recorded=recorded(goals=(a_goal(unanswered=4),), goals_in_work=1))
    async with showing(found, small_world.settings) as web:
        for path in ("/operations", "/operations/fragment"):
            hidden = await web.get(path, headers=PAGE | {"cookie": "spoilers=hidden"})
            assert "Salah" not in hidden.text
            assert "7001_40" not in hidden.text
            assert "Goals of matches with hidden scores are not listed" in hidden.text
            assert "<dt>Goals in progress</dt><dd>0</dd>" in hidden.text
            opened = await web.get(path, headers=PAGE | {"cookie": "spoilers=hidden; opened=7001"})
            assert "Salah" in opened.text


async def test_hostile_text_is_escaped_on_the_operations_page(small_world: SampleDataCopy) -> None:
    match = a_match(home=HOSTILE, away="\u202ex", error_kind="FeedSchemaError", error_message=HOSTILE * 100)
    goal = a_goal(player=HOSTILE, home=HOSTILE, states={HOSTILE: 3}, unanswered=5)
    found = measured(recorded=recorded(matches=(match,), goals=(goal,)))
    async with showing(found, small_world.settings) as web:
        page = (await web.get("/operations", headers=PAGE)).text
    assert "<script>document" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page
    assert len(page) < 60_000


async def test_the_operations_page_complies_with_the_csp(small_world: SampleDataCopy) -> None:
    async with showing(measured(), small_world.settings) as web:
        page = (await web.get("/operations", headers=PAGE)).text
    assert " style=" not in page
    assert " onclick=" not in page
    assert page.count("<script") == page.count('<script type="module" src=')


async def test_database_facts_of_feeds_are_read(small_world: SampleDataCopy) -> None:
    await small_world.store.save_feed_state("espn", None, NOW, FeedUnavailable("refused"))
    await small_world.store.save_feed_state("api_football", Quota(NOW, 100, 40), NOW, None)
    found = await OperationsStore(small_world.store.database).facts(NOW)
    assert [(feed.feed, feed.error is None) for feed in found.feeds] == [("api_football", True), ("espn", False)]
    classic = next(match for match in found.matches if match.fixture_id == 7001)
    assert [(each.feed, each.founding) for each in classic.listings] == [("api_football", True), ("espn", False)]
    (dispute,) = found.disputes
    assert (dispute.fixture_id, dispute.field, dispute.chosen, dispute.polls) == (7001, "score", "api_football", 1)
    (doubt,) = found.doubts
    assert (doubt.feed_id, doubt.our_home, doubt.reasons[0]) == (4017002, "Barcelona", "the away side is the same")
    later = await OperationsStore(small_world.store.database).facts(NOW + timedelta(days=2))
    assert (later.disputes, later.doubts) == ((), ())


async def test_the_operations_page_shows_the_feeds(small_world: SampleDataCopy) -> None:
    found = measured(
        recorded=recorded(disputes=(a_dispute(),), doubts=(a_doubt(home=HOSTILE, reasons=(HOSTILE,)),)),
        cached=cached(records=(a_record(), paused(title=HOSTILE, error=HOSTILE))),
    )
    async with showing(found, small_world.settings) as web:
        page = (await web.get("/operations", headers=PAGE)).text
        hidden = (await web.get("/operations", headers=PAGE | {"cookie": "spoilers=hidden"})).text
        told = (await web.get("/api/v1/operations")).json()
    for words in ("Feed health", "healthy", "Unconfirmed pairings", "Conflicts", "Paused", "Recoveries"):
        assert words in page
    assert "api_football: <b>2–1</b>" in page
    assert "2–1" not in hidden
    assert "<script>document" not in page
    assert " style=" not in page
    assert told["feeds"]["grade"] == "healthy"
    assert [feed["feed"] for feed in told["declared"]] == ["api_football", "espn", "crex"]
    assert len(told["health"]) == 114
    assert told["recorded"]["feed"]["feed"] in ("api_football", "espn")


async def test_live_checks_are_shown_with_state_and_advice(small_world: SampleDataCopy) -> None:
    checks = (a_check(ok=False), a_check())
    async with showing(measured(recorded=recorded(checks=checks)), small_world.settings) as web:
        page = " ".join((await web.get("/operations/fragment", headers=PAGE)).text.split())
        answer = (await web.get("/api/v1/operations")).json()
    assert "failing for 1 d, last worked 2 d ago" in page
    assert "working for 1 d" in page
    assert "SourceLoggedOut: refused" in page
    assert "<code>footy doctor --live</code>." in page
    assert [(each["name"], each["ok"]) for each in answer["recorded"]["checks"]] == [
        ("source reddit", False),
        ("feed espn", True),
    ]


async def test_library_stages_are_shown_with_backlog_failures_and_durations(small_world: SampleDataCopy) -> None:
    stages = (
        LibraryStageUse("scenes", 2, 1, 0, parked=0, done=4, failed=0, seconds=36.0),
        LibraryStageUse("sprites", 0, 0, 3, parked=5, done=0, failed=9, seconds=0.0),
    )
    async with showing(measured(recorded=recorded(library=stages)), small_world.settings) as web:
        page = (await web.get("/operations/fragment", headers=PAGE)).text
        assert "Retry 5 failed items" not in page  # operators only
        await log_in(web, await make_token(small_world.store, Role.OPERATOR), "/operations")
        page = (await web.get("/operations/fragment", headers=PAGE)).text
        done = await web.post("/operations/library", data={"csrf": csrf_in(page)}, headers=PAGE)
    cells = [
        re.sub(r"<[^>]+>", " ", row).split()
        for row in re.findall(r"<tr><td>(?:scenes|sprites).*?</tr>", page, re.DOTALL)
    ]
    assert cells == [["scenes", "2", "1", "0", "0", "9", "s"], ["sprites", "0", "0", "3", "5", "–"]]
    assert "Retry 5 failed items" in page
    assert (done.status_code, done.headers["location"]) == (303, "/operations?done=retried#library")
