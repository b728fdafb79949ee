"""The OpenAPI document is committed as served, and compatible with the last release."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from found_footy.web.errors import STATUSES
from found_footy.web.openapi import document_json
from tests.support.docs import REFERENCE, text_of
from tests.web.openapi_changes import breaks

CURRENT = REFERENCE / "openapi.json"
RELEASED = Path(__file__).parent / "openapi_released.json"

SMALL: dict[str, Any] = {
    "paths": {
        "/goals": {
            "get": {
                "parameters": [
                    {"in": "query", "name": "team", "schema": {"type": "string", "maxLength": 100}},
                    {"in": "query", "name": "limit", "schema": {"type": "integer", "minimum": 1, "maximum": 200}},
                    {"in": "query", "name": "state", "schema": {"anyOf": [{"enum": ["a", "b"], "type": "string"}]}},
                ],
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Goals"}}}},
                    "404": {"description": "none"},
                },
            },
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Wish"}}}},
                "responses": {"200": {"description": "done"}},
            },
        }
    },
    "components": {
        "schemas": {
            "Goals": {
                "type": "object",
                "required": ["items"],
                "properties": {
                    "items": {"type": "array", "items": {"$ref": "#/components/schemas/Goal"}},
                    "next": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
            },
            "Goal": {
                "type": "object",
                "required": ["id", "state"],
                "properties": {
                    "id": {"type": "string"},
                    "minute": {"type": "integer"},
                    "state": {"type": "string", "enum": ["seen", "complete"]},
                    "before": {"$ref": "#/components/schemas/Goal"},
                },
            },
            "Wish": {"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}},
        }
    },
}

Change = Callable[[dict[str, Any]], object]


def get(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"]["/goals"]["get"]
    return found


def shape(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = document["components"]["schemas"][name]
    return found


BREAKS: list[tuple[str, Change]] = [
    ("GET /goals is gone", lambda d: d["paths"]["/goals"].pop("get")),
    ("GET /goals is gone", lambda d: d["paths"].pop("/goals")),
    ("the parameter team is gone", lambda d: get(d)["parameters"].pop(0)),
    ("the parameter team is required now", lambda d: get(d)["parameters"][0].update(required=True)),
    (
        "the new parameter day is required",
        lambda d: get(d)["parameters"].append({"in": "query", "name": "day", "required": True, "schema": {}}),
    ),
    ("does not take string any more", lambda d: get(d)["parameters"][0]["schema"].update(type="integer")),
    ("limit has another maximum", lambda d: get(d)["parameters"][1]["schema"].update(maximum=100)),
    ("limit has another minimum", lambda d: get(d)["parameters"][1]["schema"].update(minimum=2)),
    ("team has another maxLength", lambda d: get(d)["parameters"][0]["schema"].update(maxLength=10)),
    ("does not take the values b any more", lambda d: get(d)["parameters"][2]["schema"]["anyOf"][0].update(enum=["a"])),
    ("the answer 404 is gone", lambda d: get(d)["responses"].pop("404")),
    ("the answer 200 has no content any more", lambda d: get(d)["responses"]["200"].pop("content")),
    ("items[]: minute is gone", lambda d: shape(d, "Goal")["properties"].pop("minute")),
    ("items[]: id may be missing now", lambda d: shape(d, "Goal").update(required=["state"])),
    ("minute can be string now", lambda d: shape(d, "Goal")["properties"]["minute"].update(type="string")),
    (
        "minute can be null now",
        lambda d: shape(d, "Goal")["properties"].update(minute={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    ),
    ("state has the new values lost", lambda d: shape(d, "Goal")["properties"]["state"]["enum"].append("lost")),
    ("the body: delay is required now", lambda d: shape(d, "Wish").update(required=["url", "delay"])),
    ("the body: url is gone", lambda d: shape(d, "Wish")["properties"].pop("url")),
    ("url does not take string any more", lambda d: shape(d, "Wish")["properties"]["url"].update(type="integer")),
]
ADDITIONS: list[Change] = [
    lambda d: None,
    lambda d: d["paths"].update({"/clips": {"get": {"responses": {}}}}),
    lambda d: d["paths"]["/goals"].update(delete={"responses": {}}),
    lambda d: get(d)["parameters"].append({"in": "query", "name": "day", "schema": {"type": "string"}}),
    lambda d: get(d)["parameters"][1]["schema"].update(maximum=500, minimum=0),
    lambda d: get(d)["parameters"][2]["schema"]["anyOf"][0]["enum"].append("c"),
    lambda d: get(d)["responses"].update({"410": {"description": "gone"}}),
    lambda d: shape(d, "Goal")["properties"].update(score={"type": "string"}),
    lambda d: shape(d, "Goal").update(required=["id", "state", "minute"]),
    lambda d: shape(d, "Wish")["properties"].update(delay={"type": "integer"}),
    lambda d: get(d).update(summary="Goals", description="in other words"),
]


@pytest.mark.parametrize(("told", "change"), BREAKS)
def test_breaking_api_changes_are_detected(told: str, change: Change) -> None:
    changed = copy.deepcopy(SMALL)
    change(changed)
    assert any(told in each for each in breaks(SMALL, changed)), breaks(SMALL, changed)


@pytest.mark.parametrize("change", ADDITIONS)
def test_additions_are_not_breaking(change: Change) -> None:
    changed = copy.deepcopy(SMALL)
    change(changed)
    assert breaks(SMALL, changed) == []


def test_the_committed_openapi_document_is_current() -> None:
    assert CURRENT.read_text(encoding="utf-8") == document_json(), (
        "the routes have changed: python -m found_footy.web.openapi > docs/reference/openapi.json"
    )


def test_every_error_status_and_class_is_documented() -> None:
    text = text_of(REFERENCE / "api.md")
    missing = [kind.__name__ for kind, status in STATUSES.items() if f"|{status}|`{kind.__name__}`|" not in text]
    assert missing == []


def test_nothing_released_was_removed() -> None:
    """With a release, `docs/reference/openapi.json` is copied to `tests/web/openapi_released.json`."""
    released, current = (json.loads(path.read_text(encoding="utf-8")) for path in (RELEASED, CURRENT))
    assert breaks(released, current) == []


async def test_the_openapi_document_is_served_and_rendered(site: httpx.AsyncClient) -> None:
    served = await site.get("/api/v1/openapi.json")
    assert served.json() == json.loads(document_json())
    page = await site.get("/docs", headers={"accept": "text/html"})
    assert page.status_code == 200
    for path, item in served.json()["paths"].items():
        assert path in page.text
        for operation in item.values():
            assert all(each["name"] in page.text for each in operation.get("parameters", ()))
    for told in ("LinkGone", "410", "StoreUnavailable", "_event_id", "cursor"):
        assert told in page.text
    assert "http://" not in page.text.replace("http://www.w3.org", "")
