"""API documents equal those of the store and match the schema."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx
from pydantic import BaseModel, TypeAdapter

from found_footy.access.models import Role
from found_footy.fixtures.documents import (
    FixtureDocument,
    FixtureSummary,
    GoalDocument,
    GoalListItem,
    MatchDate,
    RejectionReport,
    VideoDocument,
    VideoSummary,
)
from found_footy.fixtures.models import MatchMinute
from found_footy.web.api.models import Page, SearchResponse
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.web_access import bearer, make_token
from tests.support.web_world import (
    CITY,
    HAALAND,
    HOSTILE_GOAL,
    LIVERPOOL,
    NO_CLIP,
    NOW,
    NUNEZ,
    PREMIER,
    SALAH,
    SEEN,
    WITHDRAWN,
    match,
    served,
)
from tests.support.web_world_feeds import WICKET_OF_HEAD

GOALS = (WICKET_OF_HEAD, SALAH, HAALAND, NUNEZ, WITHDRAWN, NO_CLIP, HOSTILE_GOAL, SEEN)
LEFT_OUT = {
    "_monitor_workflows",
    "_search_workflows",
    "_download_workflows",
    "_searches",
    "_search_sources",
    "_discovered_videos",
}


async def test_api_documents_equal_the_store(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    for goal in GOALS:
        answer = (await web.get(f"/api/v1/events/{goal}")).json()
        stored = json.loads(json.dumps(await small_world.store.event(goal)))
        if goal == WITHDRAWN:
            assert stored.pop("_proofs") != {}
            assert answer.pop("_proofs") == {}
        assert same(answer) == same(stored)
    for fixture in range(7001, 7008):
        answer = (await web.get(f"/api/v1/fixtures/{fixture}")).json()
        assert same(without_age(answer)) == same(json.loads(json.dumps(await small_world.store.fixture(fixture))))


def same(value: Any) -> Any:
    """Parse times, whose fractions PostgreSQL and Python format differently, and leave out the long hashes."""
    if isinstance(value, dict):
        return {name: same(each) for name, each in value.items() if name != "perceptual_hash"}
    if isinstance(value, list):
        return [same(each) for each in value]
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return datetime.fromisoformat(value)
    return value


def without_age(match: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in match.items() if name not in ("heard_at", "age_seconds", "stale")}


async def test_live_matches_have_the_age_of_their_data(
    server: tuple[str, WebServices], small_world: SampleDataCopy, web: httpx.AsyncClient
) -> None:
    told = {each["_id"]: each for each in (await web.get("/api/v1/fixtures")).json()["items"]}
    ages = {number: (each["stale"], each["age_seconds"]) for number, each in told.items()}
    assert ages[7003] == (False, None)  # over
    assert ages[7004] == (False, None)  # to come
    assert told[7001]["heard_at"] == told[7001]["last_poll_at"] == "2026-08-22T14:00:03+00:00"
    assert ages[7001] == (True, 5397.0)
    await small_world.world.poll(replace(CLASSIC, minute=MatchMinute(70)), at=NOW - timedelta(seconds=1001 + 44))
    fresh = (await web.get("/api/v1/fixtures/7001")).json()
    assert (fresh["stale"], fresh["age_seconds"]) == (False, 44.0)
    found = (await web.get("/api/v1/search?kind=fixtures&q=liverpool")).json()["items"]
    assert [each["stale"] for each in found] == [False]


async def test_lists_omit_searches_posts_and_workflows(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    listed = (await web.get("/api/v1/fixtures")).json()["items"]
    assert [each["_id"] for each in listed] == [7006, 7001, 7002, 7003, 7005, 7007, 7004]
    for each in listed:
        stored = json.loads(json.dumps(await small_world.store.fixture(each["_id"])))
        stored["events"] = [{k: v for k, v in e.items() if k not in LEFT_OUT} for e in stored["events"]]
        assert same(without_age(each)) == same(stored)
    for each in (await web.get("/api/v1/events")).json()["items"]:
        stored = json.loads(json.dumps(await small_world.store.event(each["_event_id"])))
        assert same(each) == same({k: v for k, v in stored.items() if k not in LEFT_OUT | {"_proofs"}})


CLASSIC = match(7001, PREMIER, LIVERPOOL, CITY)

SHAPES: list[tuple[str, Any]] = [
    ("dates", Page[MatchDate]),
    ("fixtures", Page[FixtureSummary]),
    *((f"fixtures/{number}", FixtureDocument) for number in range(7001, 7008)),
    ("events", Page[GoalListItem]),
    *((f"events/{goal}", GoalDocument) for goal in GOALS),
    ("videos", Page[VideoSummary]),
    ("search?q=l", SearchResponse),
    ("search?q=l&kind=fixtures", SearchResponse),
    ("search?q=l&kind=clips", SearchResponse),
    ("losses", RejectionReport),
    ("losses?until=2026-08-23", RejectionReport),
]


async def test_responses_match_the_schema(site: httpx.AsyncClient) -> None:
    videos = (await site.get("/api/v1/videos")).json()["items"]
    merged = [copy["id"] for video in videos for copy in video["copies"]]
    assert merged
    more = [(f"videos/{each}", VideoDocument) for each in [*(video["id"] for video in videos), *merged]]
    for path, shape in [*SHAPES, *more]:
        answer = await site.get(f"/api/v1/{path}")
        assert answer.status_code == 200, path
        assert answer.headers["content-type"] == "application/json"
        understood = TypeAdapter(shape).validate_json(answer.content, strict=False)
        assert names(answer.json(), understood) == set(), path


def names(given: Any, understood: Any, place: str = "") -> set[str]:
    """Fields of an answer that its model does not know."""
    if isinstance(understood, BaseModel):
        fields = {field.alias or name: name for name, field in type(understood).model_fields.items()}
        unknown = {f"{place}.{name}" for name in given if name not in fields}
        pairs = [(name, given[name], getattr(understood, field)) for name, field in fields.items() if name in given]
        return unknown.union(*(names(value, known, f"{place}.{name}") for name, value, known in pairs))
    if isinstance(understood, list):
        return set().union(*(names(a, b, f"{place}[]") for a, b in zip(given, understood, strict=True)))
    if isinstance(understood, dict) and understood and isinstance(next(iter(understood.values())), BaseModel):
        return set().union(*(names(given[key], value, f"{place}[{key}]") for key, value in understood.items()))
    return set()


async def test_unchanged_responses_return_304(
    web: httpx.AsyncClient, server: tuple[str, WebServices], small_world: SampleDataCopy
) -> None:
    for path in ("/api/v1/fixtures?date=2026-08-22", f"/api/v1/events/{NUNEZ}", "/api/v1/losses"):
        first = await web.get(path, headers={"accept-encoding": "identity"})
        tag = first.headers["etag"]
        assert first.headers["cache-control"] == "no-cache"
        again = await web.get(path, headers={"if-none-match": tag, "accept-encoding": "identity"})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    await small_world.world.search(NUNEZ, 2)
    path = f"/api/v1/events/{NUNEZ}"
    changed = await web.get(path, headers={"if-none-match": tag, "accept-encoding": "identity"})
    assert changed.status_code == 200
    assert [each["attempt"] for each in changed.json()["_searches"]] == [1, 2]


async def test_large_responses_are_gzipped_if_accepted(site: httpx.AsyncClient) -> None:
    path = "/api/v1/fixtures"
    plain = await site.get(path, headers={"accept-encoding": "identity"})
    packed = await site.get(path, headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(plain.content) / 4
    assert packed.json() == plain.json()
    assert packed.headers["etag"] != plain.headers["etag"]
    assert "accept-encoding" in packed.headers["vary"].lower()
    small = await site.get("/api/v1/dates", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in small.headers


async def test_with_token_access_responses_are_private(small_world: SampleDataCopy) -> None:
    settings = small_world.settings.model_copy(update={"read_access": "token"})
    headers = bearer(await make_token(small_world.store, Role.READER))
    async with served(settings) as (running, _), httpx.AsyncClient(base_url=running.url) as client:
        for path in ("dates", "fixtures", "events", f"events/{SALAH}", "videos", "search", "losses"):
            assert (await client.get(f"/api/v1/{path}")).status_code == 401
            answer = await client.get(f"/api/v1/{path}", headers=headers)
            assert (answer.status_code, answer.headers["cache-control"]) == (200, "private, no-cache")
