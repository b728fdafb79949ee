"""Subscriptions through the API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.notifications.fan_out import fan_out
from found_footy.notifications.store import NotificationStore
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.notifications import publish
from tests.support.web_access import bearer, make_token
from tests.support.web_world import HAALAND, SALAH

HOOK = {"name": "desk", "kind": "webhook", "target": "https://hooks.example/in?key=hidden"}


@pytest.fixture
async def api(small_world: SampleDataCopy, server: tuple[str, WebServices]) -> AsyncIterator[httpx.AsyncClient]:
    token = await make_token(small_world.store, Role.OPERATOR)
    async with httpx.AsyncClient(base_url=f"{server[0]}/api/v1", headers=bearer(token), timeout=20) as client:
        yield client


async def add(api: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    answer = await api.post("/subscriptions", json=HOOK | more)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def test_the_secret_is_shown_once_and_the_target_masked(api: httpx.AsyncClient) -> None:
    made = await add(api, teams=[40], delay_seconds=30, no_score=True)
    assert made["secret"].startswith("footy_")
    assert made["target"] == "https://hooks.example/…"
    listed = await api.get("/subscriptions")
    one = await api.get(f"/subscriptions/{made['id']}")
    assert listed.headers["cache-control"] == "no-store"
    assert listed.json()["items"] == [one.json()]
    assert one.json() == {name: value for name, value in made.items() if name != "secret"}
    for answer in (listed, one):
        assert "hidden" not in answer.text
        assert made["secret"] not in answer.text


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"name": ""}, 422),
        ({"name": "x" * 101}, 422),
        ({"name": "\u202e"}, 400),
        ({"kind": "pigeon"}, 422),
        ({"target": "ftp://hooks.example"}, 400),
        ({"target": "http://127.0.0.1/"}, 400),
        ({"target": "http://169.254.169.254/latest"}, 400),
        ({"target": "https://hooks.example:5432/"}, 400),
        ({"target": "https://hooks.example/\u0000"}, 400),
        ({"topics": []}, 422),
        ({"topics": ["goal.nothing"]}, 400),
        ({"topics": ["fixture.clock"]}, 400),
        ({"topics": ["x" * 61]}, 422),
        ({"teams": list(range(1, 102))}, 422),
        ({"teams": [2**63]}, 422),
        ({"teams": ["forty"]}, 422),
        ({"delay_seconds": 21601}, 422),
        ({"delay_seconds": -1}, 422),
        ({"colour": "blue"}, 422),
        ({"kind": "notify", "target": "json://hooks.example"}, 400),
    ],
)
async def test_invalid_values_are_rejected_with_the_reason(
    api: httpx.AsyncClient, wrong: dict[str, Any], status: int
) -> None:
    answer = await api.post("/subscriptions", json=HOOK | wrong)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["class"] == "BadRequest"
    assert (await api.get("/subscriptions")).json()["items"] == []


async def test_an_update_keeps_other_fields(api: httpx.AsyncClient) -> None:
    made = await add(api, teams=[40], topics=["goal.*"])
    path = f"/subscriptions/{made['id']}"
    changed = (await api.patch(path, json={"delay_seconds": 60, "name": "night desk"})).json()
    same = {name: made[name] for name in ("topics", "teams", "leagues", "verified_only", "no_score", "target")}
    assert {name: changed[name] for name in same} == same
    assert (changed["delay_seconds"], changed["name"]) == (60, "night desk")
    paused = (await api.patch(path, json={"paused": True})).json()
    assert paused["paused_reason"] == "by an operator"
    assert (await api.patch(path, json={"paused": False})).json()["paused_at"] is None
    moved = (await api.patch(path, json={"target": "https://elsewhere.example/x"})).json()
    assert moved["target"] == "https://elsewhere.example/…"
    assert (await api.patch(path, json={"target": "http://10.0.0.1/"})).status_code == 400
    assert (await api.patch(path, json={"topics": ["nothing"]})).status_code == 400


async def test_an_unknown_subscription_is_not_found(api: httpx.AsyncClient) -> None:
    for answer in (
        await api.get("/subscriptions/999"),
        await api.patch("/subscriptions/999", json={"name": "x"}),
        await api.delete("/subscriptions/999"),
        await api.post("/subscriptions/999/test"),
        await api.get("/subscriptions/999/deliveries"),
        await api.post("/deliveries/999/retry"),
    ):
        assert (answer.status_code, answer.json()["error"]["class"]) == (404, "NotFound")
    assert (await api.get(f"/subscriptions/{2**63}")).status_code == 422


async def test_a_test_message_is_queued_once(api: httpx.AsyncClient) -> None:
    made = await add(api)
    first = await api.post(f"/subscriptions/{made['id']}/test")
    assert first.status_code == 202
    assert (await api.post(f"/subscriptions/{made['id']}/test")).status_code == 429
    (only,) = (await api.get(f"/subscriptions/{made['id']}/deliveries")).json()["items"]
    assert (only["id"], only["topic"], only["state"]) == (first.json()["delivery_id"], "test", "pending")
    assert (await api.get(f"/subscriptions/{made['id']}")).json()["waiting"] == 1


async def test_dead_deliveries_are_paginated_and_retried(api: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    made = await add(api)
    database = small_world.store.database
    for event in (SALAH, HAALAND, SALAH):
        await publish(database, "goal.stable", event)
    store = NotificationStore(database)
    await store.fan_out_batch(fan_out, 500)
    path = f"/subscriptions/{made['id']}/deliveries"
    ids = [each["id"] for each in (await api.get(path)).json()["items"]]
    for id_ in ids:
        await store.begin(id_)
        await store.fail(id_, "DeliveryRefused", "HTTP 404", possibly_delivered=False)
        await store.mark_dead(id_, "", "")
    first = (await api.get(path, params={"state": "dead", "limit": 2})).json()
    assert [each["error"] for each in first["items"]] == [{"class": "DeliveryRefused", "message": "HTTP 404"}] * 2
    second = (await api.get(path, params={"state": "dead", "limit": 2, "cursor": first["next"]})).json()
    assert [each["id"] for each in first["items"] + second["items"]] == sorted(ids, reverse=True)
    assert second["next"] is None
    assert (await api.get(path, params={"cursor": first["next"]})).status_code == 400, "of other filters"
    assert (await api.get(path, params={"cursor": "made-up"})).status_code == 400
    assert (await api.post(f"/deliveries/{ids[0]}/retry")).status_code == 202
    assert (await api.post(f"/deliveries/{ids[0]}/retry")).status_code == 400
    shown = (await api.get(f"/subscriptions/{made['id']}")).json()
    assert (shown["waiting"], shown["dead"], shown["failure"]) == (1, 2, "DeliveryRefused: HTTP 404")


async def test_a_subscription_is_deleted(api: httpx.AsyncClient) -> None:
    made = await add(api)
    assert (await api.delete(f"/subscriptions/{made['id']}")).status_code == 204
    assert (await api.get("/subscriptions")).json()["items"] == []


async def test_a_notification_target_is_validated_by_apprise(api: httpx.AsyncClient) -> None:
    made = await add(api, kind="notify", target="ntfys://ntfy.sh/hidden-topic")
    assert (made["secret"], made["target"]) == (None, "ntfys://…")
    answer = await api.post("/subscriptions", json=HOOK | {"kind": "notify", "target": "tgram://hidden"})
    assert answer.status_code == 400
    assert "hidden" not in answer.text
