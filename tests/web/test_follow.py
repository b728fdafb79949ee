"""The Follow page, and `/api/v1/follow`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.errors import EngineError
from found_footy.fixtures.follow_list import FollowStore
from found_footy.runtime.http_server import HttpServer
from found_footy.web.app import create_app
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.web_access import PAGE, bearer, csrf_in, log_in, make_token

API = "/api/v1/follow"


@pytest.fixture
async def page(web: httpx.AsyncClient, small_world: SampleDataCopy) -> httpx.AsyncClient:
    """A client that is logged in as an operator."""
    await log_in(web, await make_token(small_world.store, Role.OPERATOR, name="desk"))
    web.headers.update(PAGE)
    return web


@pytest.fixture
async def api(web: httpx.AsyncClient, small_world: SampleDataCopy) -> httpx.AsyncClient:
    web.headers.update(bearer(await make_token(small_world.store, Role.OPERATOR, name="desk")))
    return web


async def send(page: httpx.AsyncClient, **fields: str) -> httpx.Response:
    csrf = csrf_in((await page.get("/follow")).text)
    return await page.post("/follow", data={"csrf": csrf, **fields})


def followed(document: Any) -> set[str]:
    return {each["slug"] for each in document["competitions"] if each["followed"]}


# --- the page


async def test_everyone_sees_the_follow_list_and_operators_change_it(site: httpx.AsyncClient) -> None:
    text = (await site.get("/follow", headers=PAGE)).text
    assert 'href="/follow" aria-current="page"' in text
    assert "Premier League" in text
    assert '<button class="switch toggle"' not in text
    assert "Requests on a full matchday" in text
    assert "Arsenal – Chelsea" in text, "the next match"


async def test_a_toggle_adds_and_removes(page: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    assert 'name="add" value="mls" aria-pressed="false"' in (await page.get("/follow")).text
    done = await send(page, add="mls", place="americas")
    assert (done.status_code, done.headers["location"]) == (303, "/follow?done=added-later#americas")
    assert 'name="remove" value="mls" aria-pressed="true"' in (await page.get("/follow")).text
    done = await send(page, remove="mls", place="nowhere\r\nX: y")
    assert done.headers["location"] == "/follow?done=removed"
    (change,) = await FollowStore(small_world.store.database).changes()
    assert (change.entry, change.followed, change.by) == ("mls", False, "desk")


async def test_a_preset_is_switched_off_as_a_whole(page: httpx.AsyncClient) -> None:
    await send(page, remove="top5", place="presets")
    text = (await page.get("/follow")).text
    assert 'name="add" value="top5" aria-pressed="false"' in text
    assert 'name="add" value="premier-league" aria-pressed="false"' in text
    assert 'name="remove" value="champions-league" aria-pressed="true"' in text


async def test_names_are_entered_and_kept_after_an_error(page: httpx.AsyncClient) -> None:
    wrong = await send(page, names="Levante, Premier Leage <b>")
    assert wrong.status_code == 400
    assert "did you mean Premier League?" in wrong.text
    assert 'value="Levante, Premier Leage &lt;b&gt;"' in wrong.text
    assert "<b>" not in wrong.text.replace("<b>espn</b>", "").replace("<b>api_football</b>", "").replace(
        "<b>Arsenal – Chelsea</b>", ""
    )
    assert (await send(page, names="Levante, Real Madrid, man utd")).status_code == 303
    text = (await page.get("/follow")).text
    for name in ("team:Levante", "Real Madrid", "Manchester United"):
        assert f'name="remove" value="{name}" aria-pressed="true"' in text
    assert (await send(page, names=" , ")).status_code == 400


async def test_all_changes_are_reset_at_once(page: httpx.AsyncClient) -> None:
    await send(page, add="mls")
    await send(page, remove="serie-a")
    assert (await send(page, reset="yes")).headers["location"] == "/follow?done=reset"
    text = (await page.get("/follow?done=reset")).text
    assert "All changes are discarded" in text
    assert 'name="remove" value="serie-a"' in text


async def test_a_form_without_the_csrf_token_changes_nothing(
    page: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    assert (await page.post("/follow", data={"add": "mls"})).status_code == 403
    assert await FollowStore(small_world.store.database).changes() == []


# --- the API


async def test_the_api_returns_list_costs_and_next_match(site: httpx.AsyncClient) -> None:
    document = (await site.get(API)).json()
    assert document["setting"] == ["top5", "european-cups", "tournaments"]
    assert {"premier-league", "champions-league", "world-cup"} <= followed(document)
    assert document["summary"].startswith("5 leagues, 4 cups, 11 tournaments: Premier League")
    assert "api_football" in {each["feed"] for each in document["requests"]}
    assert (document["next_match"]["home"], document["changes"], document["everything"]) == ("Arsenal", [], False)


async def test_the_api_follows_unfollows_and_resets(api: httpx.AsyncClient) -> None:
    added = await api.post(API, json={"names": ["MLS", "Germany"]})
    assert (added.status_code, added.json()["ingest"]) == (200, False)
    assert "mls" in followed(added.json())
    assert [each["name"] for each in added.json()["teams"]] == ["Germany"]
    removed = await api.delete(API, params={"name": ["mls", "La Liga"]})
    assert not {"mls", "la-liga"} & followed(removed.json())
    again = await api.post(f"{API}/reset")
    assert "la-liga" in followed(again.json())
    assert again.json()["teams"] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"names": ["Premier Leage"]}, 400),
        ({"names": []}, 422),
        ({"names": ["x" * 500]}, 422),
        ({"names": ["MLS"] * 51}, 422),
        ({"names": ["MLS"], "more": 1}, 422),
    ],
)
async def test_an_invalid_request_is_rejected(api: httpx.AsyncClient, body: dict[str, Any], status: int) -> None:
    answer = await api.post(API, json=body)
    assert answer.status_code == status
    if status == 400:
        error = answer.json()["error"]
        assert error["class"] == "FollowUnknown"
        assert "did you mean Premier League?" in error["message"]


async def test_adding_starts_an_ingest_if_temporal_responds(
    server: tuple[str, WebServices], small_world: SampleDataCopy
) -> None:
    services = server[1]
    started = []

    async def ingest() -> None:
        started.append(1)
        if len(started) > 1:
            raise EngineError("away")

    token = bearer(await make_token(small_world.store, Role.OPERATOR))
    app = create_app(replace(services, follow=replace(services.follow, ingest=ingest)))
    running = HttpServer(app, grace_seconds=1)
    async with running, httpx.AsyncClient(base_url=running.url, headers=token) as web:
        assert (await web.post(API, json={"names": ["MLS"]})).json()["ingest"] is True
        assert (await web.post(API, json={"names": ["MLS"]})).json()["ingest"] is False
