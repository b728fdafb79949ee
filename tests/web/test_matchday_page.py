"""The matchday over HTTP: content, filters and days."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from psycopg import AsyncConnection

from found_footy.fixtures.models import FixtureStage, Team
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.web_world import (
    HAALAND,
    HOSTILE,
    LIGA,
    NO_CLIP,
    NOW,
    NUNEZ,
    SALAH,
    SEEN,
    WITHDRAWN,
    match,
    served,
    settings_for,
)
from tests.support.web_world_feeds import WICKET_OF_HEAD
from tests.web.match_cards import card, goal_in, order

PEOPLE = {"accept": "text/html"}


async def test_a_day_shows_each_match_with_its_goals(site: httpx.AsyncClient) -> None:
    page = await site.get("/")
    assert page.status_code == 200
    assert "Saturday, 22 August" in page.text
    assert order(page.text) == ["7005", "7007", "7002", "7001", "7004", "7003"]
    liverpool = card(page.text, 7001)
    assert '<p class="clock">67&#39;</p>' in liverpool
    assert "<b>2</b><i>–</i><b>1</b>" in liverpool
    assert liverpool.count("<circle") == 3
    assert 'data-phase="live"' in liverpool


@pytest.mark.parametrize(
    ("event_id", "words"),
    [
        (SALAH, ["3 clips", "verified", "23&#39;", "Mohamed Salah", "<b>1</b>–0"]),
        (HAALAND, ["1 clip", "searching 2/10", "45+2&#39;", "pen.", "1–<b>1</b>"]),
        (NUNEZ, ["checking clips", "searching 1/10", 'class="shot"></span>']),
        (SEEN, ["seen 2/3", "Isaac Romero"]),
        (WITHDRAWN, ["withdrawn", "Robert Lewandowski", 'class="shot"></span>']),
        (NO_CLIP, ["no clip", "Harry Kane"]),
    ],
)
async def test_each_goal_shows_its_status(site: httpx.AsyncClient, event_id: str, words: list[str]) -> None:
    goal = goal_in((await site.get("/day/2026-08-22")).text, event_id)
    assert [word for word in words if word not in goal] == []


async def test_posters_have_a_size_and_link_to_the_clip(site: httpx.AsyncClient) -> None:
    goal = goal_in((await site.get("/")).text, SALAH)
    picture = re.search(r'<a class="shot" href="/v/([0-9a-f]{16})"><img src="/v/\1/poster.jpg\?w=320"[^>]*>', goal)
    assert picture is not None
    assert 'width="320" height="180" loading="lazy"' in picture[0]


async def test_a_fragment_equals_the_card_on_the_page(site: httpx.AsyncClient) -> None:
    page, fragment = await site.get("/"), await site.get("/fragments/match/7001")
    assert fragment.text.strip() == card(page.text, 7001)
    assert fragment.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize(("path", "status"), [
    ("/fragments/match/999", 404), ("/fragments/match/x", 404), ("/fragments/match/-1", 404),
    ("/fragments/match/99999999999999999999", 404), ("/day/2026-13-01", 404), ("/day/2026-02-30", 404),
    ("/day/today", 404), ("/day/0001-01-01", 404), ("/day/9999-12-31", 404), ("/day/2026-8-2", 404),
    ("/day/%D9%A2%D9%A0%D9%A2%D9%A6-08-22", 404), ("/day/%00", 404), ("/?show=nothing", 422),
])  # fmt: skip
async def test_invalid_days_and_matches_are_not_found(site: httpx.AsyncClient, path: str, status: int) -> None:
    answer = await site.get(path, headers=PEOPLE)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("show", "ids"),
    [
        ("all", ["7005", "7007", "7002", "7001", "7004", "7003"]),
        ("live", ["7005", "7007", "7002", "7001"]),
        ("clips", ["7005", "7001"]),
    ],
)
async def test_filters_work_without_scripts(site: httpx.AsyncClient, show: str, ids: list[str]) -> None:
    page = await site.get("/day/2026-08-22", params={"show": show})
    assert order(page.text) == ids
    assert page.text.count('aria-current="true"') == 1


async def test_days_link_to_neighbouring_days_with_matches(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    later = match(8001, LIGA, Team(1, "A"), Team(2, "B"), status="NS", kickoff=NOW + timedelta(days=9))
    await small_world.world.add(later, stage=FixtureStage.STAGING)
    page = (await web.get("/")).text
    assert 'rel="prev" href="/day/2026-08-21"' in page
    assert 'rel="next" href="/day/2026-08-31"' in page
    empty = (await web.get("/day/2026-08-26")).text
    assert "No matches on this day" in empty
    assert order(empty) == []
    assert "/day/2026-08-22" in empty
    assert "/day/2026-08-31" in empty


async def test_without_matches_today_the_nearest_day_is_shown_with_a_notice(small_world: SampleDataCopy) -> None:
    async with (
        served(small_world.settings, now=NOW + timedelta(days=5)) as (server, _),
        httpx.AsyncClient(base_url=server.url) as client,
    ):
        page = (await client.get("/")).text
    assert "No matches today" in page
    assert "Saturday, 22 August" in page


async def test_without_matches_the_page_explains_when_they_are_fetched(
    database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with (
        served(settings_for(database_url, tmp_path_factory.mktemp("empty"))) as (server, _),
        httpx.AsyncClient(base_url=server.url) as client,
    ):
        page = await client.get("/")
    assert page.status_code == 200
    assert "footy ingest" in page.text


async def test_a_match_without_feed_data_is_marked(
    server: tuple[str, WebServices], web: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    async with small_world.store.database.connection() as connection:
        await _polled(connection, 7001, seconds=240)
        await _polled(connection, 7002, seconds=45)
        await connection.execute(
            "update fixtures set error_kind = 'FeedRejected', error_message = 'no <b>such</b> thing' where id = 7002"
        )
    page = (await web.get("/")).text
    assert '<p class="staleness" data-stale>stale · 4 min</p>' in card(page, 7001)
    assert '<p class="staleness" data-stale hidden></p>' in card(page, 7002)
    assert "feed error: no &lt;b&gt;such&lt;/b&gt; thing" in card(page, 7002)
    assert "data-stale" not in card(page, 7003)
    found = (await web.get("/fragments/updates/2026-08-22")).json()
    assert found["now"] == NOW.timestamp()
    assert found["now"] - found["updates"]["7001"] == 240
    assert set(found["updates"]) == {"7001", "7002", "7005", "7007"}
    assert (await web.get("/fragments/updates/2026-13-01")).status_code == 404


async def test_a_cricket_card_shows_runs_overs_and_wickets(site: httpx.AsyncClient) -> None:
    html = card((await site.get("/")).text, 7007)
    assert '<p class="clock">12.3 ov</p>' in html
    assert "<b>187/5 <small>(20 ov)</small></b>" in html
    assert '<b class="bats">95/2 <small>(12.3 ov)<span class="quiet"> batting</span></small></b>' in html
    assert "MCG, Melbourne · India won the toss and chose to bat" in html
    assert "Maxwell run out (Kohli) 12 (9)" in html
    assert 'class="line innings-2"' in html
    head = goal_in(html, WICKET_OF_HEAD)
    assert "<b>2.4 ov</b>" in head
    assert "<small>b Jasprit Bumrah</small>" in head
    assert "<em>1st wicket</em>" in head
    hidden = (await site.get("/fragments/match/7007", headers={"cookie": "spoilers=hidden"})).text
    assert [word for word in ("187", "Head", "toss", "ov</", "wicket") if word in hidden] == []


async def _polled(connection: AsyncConnection[dict[str, object]], fixture_id: int, seconds: int) -> None:
    at = NOW - timedelta(seconds=seconds)
    await connection.execute("update fixtures set last_poll_at = %s where id = %s", [at, fixture_id])


async def test_hostile_names_stay_text(site: httpx.AsyncClient) -> None:
    for path in ("/", "/fragments/match/7005"):
        html = (await site.get(path)).text
        assert HOSTILE not in html
        assert "<script>document" not in html
        assert "<img src=x" not in html
        assert "\u202e" not in html
        assert "&lt;script&gt;" in html


async def test_without_matches_the_page_shows_the_setup(database_url: str, tmp_path: Path) -> None:
    settings = settings_for(database_url, tmp_path, follow=("top5", "Ajax"), sources=("reddit", "bluesky"))
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:
        page = (await web.get("/", headers=PEOPLE)).text
    assert "No matches yet" in page
    assert "5 leagues, 1 team: Premier League" in page
    assert re.search(r'data-state="ok">on</span> reddit', page)
    assert re.search(r'data-state="off">off</span> bluesky <span class="muted">needs FOOTY_BLUESKY_HANDLE', page)
    assert "footy doctor --live" in page
