"""The subscriptions page."""

from __future__ import annotations

import re

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.errors import BadRequest
from found_footy.notifications.fan_out import fan_out
from found_footy.notifications.models import TeamAndLeagueNames
from found_footy.notifications.store import NotificationStore
from found_footy.web.pages.subscriptions import parse_ids
from tests.conftest import SampleDataCopy
from tests.support.notifications import publish, subscribe
from tests.support.web_access import PAGE, csrf_in, log_in, make_token
from tests.support.web_world import HOSTILE, SALAH

FORM = {"name": "desk", "kind": "webhook", "target": "https://hooks.example/in?key=word-9f", "topic-goal.stable": "on"}


@pytest.fixture
async def page(web: httpx.AsyncClient, small_world: SampleDataCopy) -> httpx.AsyncClient:
    """A client that is logged in as an operator."""
    await log_in(web, await make_token(small_world.store, Role.OPERATOR))
    web.headers.update(PAGE)
    return web


async def send(page: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    csrf = csrf_in((await page.get("/subscriptions")).text)
    return await page.post(path, data={"csrf": csrf, **fields}, timeout=20)


async def test_anonymous_users_are_redirected_to_login(site: httpx.AsyncClient) -> None:
    answer = await site.get("/subscriptions", headers=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?back=%2Fsubscriptions")


async def test_a_subscription_is_added_and_its_secret_shown_once(page: httpx.AsyncClient) -> None:
    made = await send(page, "/subscriptions", **FORM, teams="liverpool, 50", leagues="Premier League (England)")
    assert made.status_code == 201
    secret = re.search(r"footy_[\w-]{40,}", made.text)
    assert secret is not None
    again = (await page.get("/subscriptions")).text
    assert secret[0] not in again
    assert "word-9f" not in again
    assert "Liverpool, Manchester City" in again
    assert "Premier League (England)" in again


async def test_an_error_keeps_the_form_except_the_target(page: httpx.AsyncClient) -> None:
    answer = await send(page, "/subscriptions", **FORM, teams="Liverpol")
    assert answer.status_code == 400
    assert "did you mean Liverpool?" in answer.text
    assert 'value="Liverpol"' in answer.text
    assert "word-9f" not in answer.text


async def test_each_button_acts_on_the_subscription(page: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    id_ = await subscribe(small_world.store.database)
    for wish, shown in (("test", "1 waiting"), ("pause", "by an operator"), ("resume", "Pause")):
        answer = await send(page, f"/subscriptions/{id_}", do=wish)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/subscriptions?done={wish}")
        assert shown in (await page.get("/subscriptions")).text
    assert (await send(page, f"/subscriptions/{id_}", do="test")).status_code == 429
    assert (await send(page, f"/subscriptions/{id_}", do="nothing")).status_code == 400
    await send(page, f"/subscriptions/{id_}", do="delete")
    assert "No subscriptions yet" in (await page.get("/subscriptions")).text


async def test_a_dead_delivery_is_retried(page: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    database = small_world.store.database
    await subscribe(database)
    await publish(database, "goal.stable", SALAH, player=HOSTILE)
    store = NotificationStore(database)
    await store.fan_out_batch(fan_out, 500)
    (id_,) = await store.claim_due("x", 10)
    await store.begin(id_)
    await store.fail(id_, "DeliveryRefused", f"HTTP 400: {HOSTILE}", possibly_delivered=False)
    await store.mark_dead(id_, "", "")
    shown = (await page.get("/subscriptions")).text
    assert "1 undelivered message" in shown
    assert "<img" not in shown.partition("<main")[2]
    assert (await send(page, f"/deliveries/{id_}")).status_code == 303
    assert "1 waiting" in (await page.get("/subscriptions")).text


async def test_a_form_without_the_csrf_token_changes_nothing(
    page: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    id_ = await subscribe(small_world.store.database)
    for path, fields in (("/subscriptions", FORM), (f"/subscriptions/{id_}", {"do": "delete"})):
        assert (await page.post(path, data=fields)).status_code == 403
    assert (await page.get("/subscriptions")).text.count('class="card subscription"') == 1


NAMES = {40: "Liverpool", 50: "Manchester City", 39: "Premier League (England)", 235: "Premier League (Russia)"}


@pytest.mark.parametrize(
    ("typed", "ids"),
    [("", []), (" , ", []), ("40", [40]), ("LIVERPOOL,Manchester City", [40, 50]), ("Premier League (England)", [39])],
)
def test_names_are_resolved_to_ids(typed: str, ids: list[int]) -> None:
    assert parse_ids("team", typed, TeamAndLeagueNames(NAMES, {}).teams) == ids


@pytest.mark.parametrize(
    ("typed", "said"),
    [("Premier League", "is ambiguous"), ("Liverpol", "did you mean Liverpool"), ("zzz", "use its id")],
)
def test_unknown_and_ambiguous_names_are_rejected(typed: str, said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        parse_ids("team", typed, NAMES)
