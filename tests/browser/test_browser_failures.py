"""Each way in which X fails has its class, and none looks like "nothing found"."""

from __future__ import annotations

import pytest

from footy_simulator.x import XMode
from tests.browser.simulated import Searched, SimulatedX, post

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize(
    ("mode", "status", "kind"),
    [
        (XMode.LOGGED_OUT, 401, "SourceLoggedOut"),
        (XMode.RATE_LIMITED, 429, "SourceRateLimited"),
        (XMode.SORRY, 429, "SourceRateLimited"),
        (XMode.BROKEN, 503, "SourceUnavailable"),
        (XMode.DOWN, 503, "SourceUnavailable"),
    ],
)
async def test_a_failure_has_its_class(search: Searched, x: SimulatedX, mode: XMode, status: int, kind: str) -> None:
    x.state.mode = mode
    answer = await search()
    error = answer.json()["error"]
    assert (answer.status_code, error["class"]) == (status, kind)
    assert error["message"]
    assert set(error) == {"class", "message", "hint"}


@pytest.mark.parametrize("mode", [XMode.HANGING, XMode.HANGING_PAGE, XMode.FROZEN])
async def test_a_page_that_does_not_load_times_out(search: Searched, x: SimulatedX, mode: XMode) -> None:
    x.state.mode = mode
    search.hurry(2)
    answer = await search()
    assert (answer.status_code, answer.json()["error"]["class"]) == (503, "SourceUnavailable")
    x.state.mode = XMode.NORMAL
    search.hurry(40)
    assert (await search()).status_code == 200


async def test_a_slow_answer_is_waited_for(search: Searched, x: SimulatedX) -> None:
    x.state.mode = XMode.SLOW
    assert len((await search()).json()["posts"]) == 2


async def test_an_empty_page_is_no_failure(search: Searched, x: SimulatedX) -> None:
    x.state.mode = XMode.EMPTY
    assert (await search()).json() == {"posts": []}


async def test_an_unknown_page_is_saved_for_inspection(search: Searched, x: SimulatedX) -> None:
    x.state.mode = XMode.CHANGED
    search.hurry(6)
    answer = await search()
    assert (answer.status_code, answer.json()["error"]["class"]) == (502, "SourceChanged")
    kept = sorted(search.service.options.changed_pages.iterdir())[-1]
    assert str(kept) in answer.json()["error"]["message"]
    assert "tweet-v2" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


async def test_posts_of_which_none_can_be_read_mean_that_x_has_changed(search: Searched, x: SimulatedX) -> None:
    x.state.noise = False
    x.posts[:] = [post(author="no name", ago=1)]
    search.hurry(6)
    answer = await search()
    assert (answer.status_code, answer.json()["error"]["class"]) == (502, "SourceChanged")


async def test_unrecognized_videos_raise_source_changed(search: Searched, x: SimulatedX) -> None:
    x.state.renamed = {name: f"{name}2" for name in ("videoPlayer", "videoComponent", "previewInterstitial")}
    x.posts[:] = [post(ago=second) for second in range(1, 8)]
    answer = await search()
    assert (answer.status_code, answer.json()["error"]["class"]) == (502, "SourceChanged")


@pytest.mark.parametrize(
    "params",
    [
        {"q": ""},
        {"q": " "},
        {"q": "a" * 513},
        {"q": "goal\x00"},
        {"q": "goal", "since": "yesterday"},
        {"q": "goal", "since": "2026-08-22T14:00:00"},
        {"q": "goal", "limit": "0"},
        {"q": "goal", "limit": "201"},
        {"q": "goal", "limit": "-1"},
        {"q": "goal", "limit": "٣"},
        {"q": "goal", "limit": "9" * 500},
    ],
)
async def test_an_invalid_request_is_rejected_and_not_counted(search: Searched, params: dict[str, str]) -> None:
    before = search.service.health()["searches"]
    answer = await search.client.get("/search", params=params)
    assert (answer.status_code, answer.json()["error"]["class"]) == (400, "BadRequest")
    assert search.service.health()["searches"] == before


async def test_a_page_under_another_host_name_gets_no_answer(search: Searched) -> None:
    answer = await search.client.get("/health", headers={"Host": "evil.example"})
    assert answer.status_code == 400
