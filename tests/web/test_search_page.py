"""The search page: empty results, hidden matches, hostile input."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import httpx
import pytest

from found_footy.fixtures.documents import GoalFixture, GoalListItem
from found_footy.web.api.models import GoalResults
from found_footy.web.pages.search import search_form
from found_footy.web.pages.search_results import HiddenResult, results_view

PAGE = {"accept": "text/html"}
SECRETS = ("Salah", "Haaland", "23'", "poster", "/g/7001", "2–1", "1–0", "verified", "clip", "goal", "7001_")


async def test_the_search_page_works_without_scripts_and_as_a_fragment(site: httpx.AsyncClient) -> None:
    page = await site.get("/search", params={"q": "nunez"}, headers=PAGE)
    assert page.status_code == 200
    assert 'data-key="/"' in page.text
    assert "Darwin Núñez" in page.text
    assert "1 goal" in page.text
    alone = await site.get("/search/results", params={"q": "nunez"}, headers=PAGE)
    assert "Darwin Núñez" in alone.text
    assert "<html" not in alone.text
    assert page.headers["cache-control"] == alone.headers["cache-control"] == "private, no-cache"


async def test_results_have_posters_links_and_states(site: httpx.AsyncClient) -> None:
    goals = (await site.get("/search", headers=PAGE)).text
    assert "Latest goals" in goals
    assert 'href="/g/7001_40_306_Goal_1"' in goals
    picture = re.search(r'<img src="/v/[0-9a-f]{16}/poster.jpg\?w=320"[^>]*>', goals)
    assert picture is not None
    assert all(part in picture[0] for part in ('loading="lazy"', 'width="', 'height="'))
    assert "3 clips" in goals
    assert "Lewandowski" not in goals
    matches = (await site.get("/search?kind=fixtures&q=koln", headers=PAGE)).text
    assert 'href="/day/2026-08-22#match-7003"' in matches
    assert "Harry Kane" in matches
    clips = (await site.get("/search?kind=clips&q=salah", headers=PAGE)).text
    assert clips.count(">Play<") == 3
    assert "not verified" in clips


async def test_an_empty_search_result_suggests_alternatives(site: httpx.AsyncClient) -> None:
    page = (await site.get("/search?q=zzz&minute=9&verified=yes", headers=PAGE)).text
    assert "No goals found" in page
    assert "Search matches" in page
    assert 'href="/search?q=zzz"' in page


async def test_a_hidden_result_shows_only_the_teams(web: httpx.AsyncClient) -> None:
    web.cookies.set("spoilers", "hidden")
    for query in ("q=salah", "q=salah&kind=fixtures", "q=salah&kind=clips", "q=liv"):
        for path in ("search", "search/results"):
            page = (await web.get(f"/{path}?{query}", headers=PAGE)).text
            shown = page[page.index("data-count") :].partition("</main>")[0]
            assert shown.count("shows the result") == 1, query
            assert "Liverpool" in shown
            assert 'name="open" value="7001"' in shown
            for secret in SECRETS:
                assert secret not in re.sub(r'name="back" value="[^"]*"', "", shown), (query, secret)
    web.cookies.set("opened", "7001")
    assert "Mohamed Salah" in (await web.get("/search?q=salah", headers=PAGE)).text


async def test_hostile_player_names_stay_text(site: httpx.AsyncClient) -> None:
    for query in ("q=onerror", "q=onerror&kind=fixtures", "q=onerror&kind=clips", 'q="><script>alert(1)</script>'):
        page = (await site.get(f"/search?{query}", headers=PAGE)).text
        assert "<script>document" not in page
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "\u202e" not in page


async def test_invalid_fields_are_reported(site: httpx.AsyncClient) -> None:
    for query in ["q=%00", "q=%ff", "from=9999-99-99", "from=0001-01-01", "minute=abc", "kind=x", "verified=maybe"]:
        assert (await site.get(f"/search?{query}", headers=PAGE)).status_code == 200, query
    assert (await site.get("/search?cursor=made-up", headers=PAGE)).status_code == 400
    assert "Invalid minute" in (await site.get("/search?minute=45%2B", headers=PAGE)).text


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        ({}, 0),
        ({"minute": "23"}, 0),
        ({"minute": "23'"}, 0),
        ({"minute": "45+2"}, 0),
        ({"minute": "45+"}, 1),
        ({"minute": "1234"}, 1),
        ({"from": "2026-08-22"}, 0),
        ({"from": "22.8.2026"}, 1),
        ({"from": "2026-08-22", "to": "2026-08-21"}, 1),
        ({"to": "9999-12-31"}, 1),
    ],
)
def test_an_incomplete_filter_is_reported(given: dict[str, str], problems: int) -> None:
    assert len(search_form(given).problems) == problems


def test_the_search_url_contains_the_form() -> None:
    form = search_form({"q": " nuñ ez ", "kind": "goals", "minute": "", "other": "x"})
    assert form.address() == "/search?q=nu%C3%B1+ez"
    assert form.address(cursor="abc") == "/search?q=nu%C3%B1+ez&cursor=abc"
    assert search_form({"kind": "clips"}).address() == "/search?kind=clips"
    assert search_form({}).is_empty
    assert not search_form({"clips": "yes"}).is_empty


def test_a_hidden_match_is_listed_once() -> None:
    kickoff = datetime(2026, 8, 22, 14, tzinfo=UTC)
    fixture = GoalFixture.model_construct(id=1, home="A", away="B", league="L", date=kickoff)
    goal = GoalListItem.model_construct(fixture=fixture)
    found = GoalResults(kind="goals", items=[goal, goal], next=None)
    shown = results_view(found, lambda fixture: fixture == 1)
    assert shown == [HiddenResult(1, "A", "B", "L", "2026-08-22T14:00:00+00:00")]
