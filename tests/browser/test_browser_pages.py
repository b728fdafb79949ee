"""Pages of feeds: read when their script has run, and each way in which one lets us down has its class."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from footy_simulator.crex import CrexMode
from found_footy.browser.page_reader import PageSigns, PageState, is_allowed, parse_result, parse_signs
from found_footy.browser.routes import InvalidBrowserRequest, parse_page_request
from found_footy.runtime.http_server import HttpServer
from tests.browser.simulated import Searched, SimulatedX, chromium_of, kill, match_page

LIST = "/fixtures/match-list"
browser = pytest.mark.asyncio(loop_scope="package")


@browser
async def test_a_match_is_read_with_all_its_innings(search: Searched, x: SimulatedX) -> None:
    answer = await search.page(match_page(x))
    data = answer.json()["data"]
    assert answer.status_code == 200
    assert [(each["team"], each["score"], each["overs"]) for each in data["innings"]] == [
        ("HBL", "160-1", "(20.0)"),
        ("VKT", "33-1", "(4.2)"),
    ]
    assert data["innings"][0]["falls"] == [{"name": "Arun Patel", "score": "14-1", "over": "2.3"}]
    assert data["innings"][0]["batting"][0]["decision"] == "c & b Tom Hale"
    assert data["names"]["p_6BS_name"] == "Arun Patel"
    assert (data["box"], data["event"]["competitors"]) == ("4", ["Harbour Lions", "Valley Kites"])


@browser
async def test_the_list_is_read(search: Searched, x: SimulatedX) -> None:
    data = (await search.page(x.url + LIST, "crex_list", until="2020-01-01")).json()["data"]
    assert [card["teams"] for card in data["cards"]] == [["HBL", "VKT"]]
    assert data["cards"][0]["live"] is True
    assert data["events"][0]["venue"] == "Harbour Oval"


@browser
@pytest.mark.parametrize(
    ("mode", "status", "kind", "words"),
    [
        (CrexMode.CAPTCHA, 403, "FeedBlocked", "Just a moment"),
        (CrexMode.CONSENT, 403, "FeedBlocked", "Before you continue"),
        (CrexMode.ELSEWHERE, 403, "FeedBlocked", "consent.example"),
        (CrexMode.RATE_LIMITED, 429, "FeedRateLimited", "HTTP 429"),
        (CrexMode.DOWN, 503, "FeedUnavailable", "HTTP 503"),
        (CrexMode.REDIRECT_LOOP, 503, "PageLoadFailed", "redirect loop"),
        (CrexMode.BROKEN, 503, "FeedUnavailable", "requests failed"),
        (CrexMode.HUGE, 502, "FeedMalformed", "larger than"),
        (CrexMode.TRUNCATED, 502, "FeedMalformed", "unknown layout"),
        (CrexMode.BLANK, 502, "FeedMalformed", "unknown layout"),
        (CrexMode.MISSING, 404, "NotFound", "HTTP 404"),
    ],
)
async def test_a_page_without_a_scorecard_has_its_own_error(
    search: Searched, x: SimulatedX, mode: CrexMode, status: int, kind: str, words: str
) -> None:
    x.crex.mode = mode
    search.patience(quiet_seconds=0.5)
    answer = await search.page(match_page(x))
    error = answer.json()["error"]
    assert (answer.status_code, error["class"]) == (status, kind)
    assert words in error["message"]
    assert search.in_use() == (1, 1)


@browser
@pytest.mark.parametrize(
    ("mode", "kind"), [(CrexMode.HANGING_PAGE, "PageLoadFailed"), (CrexMode.HANGING, "FeedUnavailable")]
)
async def test_a_page_that_does_not_load_times_out(search: Searched, x: SimulatedX, mode: CrexMode, kind: str) -> None:
    x.crex.mode = mode
    search.patience(navigation_seconds=1)
    answer = await search.page(match_page(x))
    assert (answer.status_code, answer.json()["error"]["class"]) == (503, kind)
    assert "within 1 s" in answer.json()["error"]["message"]


@browser
async def test_a_host_that_is_not_there_is_a_page_that_does_not_open(search: Searched) -> None:
    answer = await search.page("https://crex.example/fixtures/match-list", "crex_list")
    assert (answer.status_code, answer.json()["error"]["class"]) == (503, "PageLoadFailed")


@browser
async def test_a_page_with_an_endless_script_times_out(search: Searched, x: SimulatedX) -> None:
    x.crex.mode = CrexMode.FROZEN
    search.patience(scrape_seconds=3)
    answer = await search.page(match_page(x))
    search.patience(scrape_seconds=90)
    assert (answer.status_code, answer.json()["error"]["class"]) == (503, "FeedUnavailable")
    x.crex.mode = CrexMode.NORMAL
    assert (await search.page(match_page(x))).status_code == 200
    assert search.facts()["contexts"] == 1


@browser
async def test_a_changed_page_is_saved_for_inspection(search: Searched, x: SimulatedX) -> None:
    x.crex.mode = CrexMode.CHANGED
    search.patience(quiet_seconds=0.5)
    message = (await search.page(match_page(x))).json()["error"]["message"]
    kept = sorted(search.service.options.changed_pages.iterdir())[-1]
    assert str(kept) in message
    assert "innings-tab" in kept.read_text("utf-8")


@browser
async def test_a_hostile_page_opens_no_window_saves_no_file_and_reaches_no_private_address(
    search: Searched, x: SimulatedX, tmp_path: Path
) -> None:
    reached: list[str] = []

    async def note(request: Request) -> Response:
        reached.append(request.url.path)
        return PlainTextResponse("secret")

    routes = [Route("/{rest:path}", note, methods=["GET", "POST"])]
    async with HttpServer(Starlette(routes=routes), name="what is private") as private:
        x.crex.mode = CrexMode.HOSTILE
        before = search.facts()
        answer = await search.page(match_page(x, f"?private={private.url}/"))
        after, in_use = search.facts(), search.in_use()
    assert answer.status_code == 200
    assert len(answer.json()["data"]["innings"]) == 2
    assert reached == []
    assert after["requests_refused"] > before["requests_refused"]
    assert in_use == (1, 1)


@browser
async def test_pages_share_no_state(search: Searched, x: SimulatedX) -> None:
    async with search.browser.isolated_page() as page:
        await page.goto(x.url + LIST)
        await page.evaluate("() => { localStorage.setItem('t_9_name', 'left'); document.cookie = 'left=1'; }")
    async with search.browser.isolated_page() as page:
        await page.goto(x.url + LIST)
        assert await page.evaluate("() => [localStorage.getItem('t_9_name'), document.cookie]") == [None, ""]


@browser
async def test_a_page_without_login_does_not_see_the_login_to_x(search: Searched, x: SimulatedX) -> None:
    async with search.browser.page() as page:
        await page.goto(x.url + LIST)
        await page.evaluate("() => { document.cookie = 'auth_token=secret'; }")
    async with search.browser.isolated_page() as page:
        await page.goto(x.url + LIST)
        assert await page.evaluate("() => document.cookie") == ""


@browser
async def test_a_browser_killed_while_a_page_is_read_fails_that_reading_only(search: Searched, x: SimulatedX) -> None:
    x.crex.mode = CrexMode.HANGING
    under_way = asyncio.create_task(search.page(match_page(x)))
    while not x.crex.matches:
        await asyncio.sleep(0.01)
    kill(chromium_of(search.service))
    answer = await under_way
    assert (answer.status_code, answer.json()["error"]["class"]) == (503, "FeedUnavailable")
    x.crex.mode = CrexMode.NORMAL
    assert (await search.page(match_page(x))).status_code == 200
    assert search.facts()["recycles"][-1]["reason"] in ("crashed", "stuck")


@browser
async def test_thirty_readings_leak_no_process_no_page_and_no_context(search: Searched, x: SimulatedX) -> None:
    await search.page(match_page(x))
    before = search.facts()
    for _ in range(10):
        answers = await asyncio.gather(*(search.page(match_page(x)) for _ in range(3)))
        assert [each.status_code for each in answers] == [200, 200, 200]
    after = search.facts()
    assert (search.in_use(), after["starts"]) == ((1, 1), before["starts"])
    assert after["readings"] == before["readings"] + 30
    # Chromium keeps a renderer or two at hand.
    assert after["processes"] <= before["processes"] + 3


@browser
async def test_requests_beyond_the_queue_limit_are_rejected_at_once(search: Searched, x: SimulatedX) -> None:
    turns = search.service._page_queue
    turns.inside += search.service.options.pages_at_once + search.service.options.pages_waiting
    try:
        answer = await search.page(match_page(x))
    finally:
        turns.inside -= search.service.options.pages_at_once + search.service.options.pages_waiting
    assert (answer.status_code, answer.json()["error"]["class"]) == (429, "FeedBusy")


HOSTS = ("crex.com", "127.0.0.1:8700")


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://crex.com/fixtures/match-list", True),
        ("http://crex.com:80/", True),
        ("http://127.0.0.1:8700/x", True),
        ("http://127.0.0.1:8701/x", False),
        ("http://127.0.0.1/x", False),
        ("https://crex.com:8443/", False),
        ("https://crex.com.evil.example/", False),
        ("https://user@crex.com/", False),
        ("https://crex.com@evil.example/", False),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("chrome://settings", False),
        ("//crex.com/", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_only_pages_of_feeds_are_read(url: str, may: bool) -> None:
    assert is_allowed(url, HOSTS) is may


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"url": "https://crex.com/", "reader": "crex_match"}, None),
        ({"url": "https://crex.com/", "reader": "crex_list", "until": "2026-08-22"}, None),
        ({"url": "https://evil.example/", "reader": "crex_match"}, "url: expected a page of crex.com"),
        ({"url": "https://crex.com/" + "x" * 1000, "reader": "crex_match"}, "url:"),
        ({"url": "https://crex.com/\n", "reader": "crex_match"}, "url:"),
        ({"url": "https://crex.com/", "reader": "page"}, "reader: expected crex_list or crex_match"),
        ({"url": "https://crex.com/", "reader": "crex_list", "until": "'); alert(1"}, "until:"),
        ({}, "url:"),
    ],
)
def test_an_order_is_checked(params: dict[str, str], words: str | None) -> None:
    if words is None:
        assert parse_page_request(params, HOSTS).url == params["url"]
    else:
        with pytest.raises(InvalidBrowserRequest, match=words):
            parse_page_request(params, HOSTS)


@pytest.mark.parametrize(
    ("raw", "state"),
    [
        ({"sign": "ready", "data": {}}, PageState.READY),
        ({"sign": "ready", "data": []}, PageState.WAITING),
        ({"sign": "ready"}, PageState.WAITING),
        ({"sign": "missing", "data": {"a": 1}}, PageState.MISSING),
        ({"sign": "waiting"}, PageState.WAITING),
        ({"sign": ["ready"]}, PageState.WAITING),
        (None, PageState.WAITING),
        ("ready", PageState.WAITING),
    ],
)
def test_page_data_is_validated(raw: Any, state: PageState) -> None:
    reading = parse_result(raw)
    assert reading.state is state
    assert (reading.data is not None) == (state is PageState.READY)


@pytest.mark.parametrize(
    ("signs", "blocked"),
    [
        (PageSigns(True, False, "Just a moment...", ""), True),
        (PageSigns(False, False, "", "Please verify you are human"), True),
        (PageSigns(True, True, "CREX", ""), True),
        # It may be a part of a page that is yet to come.
        (PageSigns(False, True, "CREX", ""), False),
        # A long page that has such a word in it, such as a report on robots.
        (PageSigns(True, False, "CREX", "captcha " + "x" * 2000), False),
        (PageSigns(True, False, "CREX", "Something went wrong"), False),
    ],
)
def test_a_page_for_people_is_recognised(signs: PageSigns, blocked: bool) -> None:
    assert (signs.blocked is not None) == blocked


@pytest.mark.parametrize("raw", [None, [], {"title": 5, "text": None, "challenge": "yes"}])
def test_signs_that_do_not_fit_are_none(raw: Any) -> None:
    assert parse_signs(raw) == PageSigns()
