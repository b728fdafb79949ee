"""The API reference page is generated from the OpenAPI document."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.web.reference import documented_errors, example, operation_groups, type_text
from found_footy.web.rendering import with_code

DOCUMENT: dict[str, Any] = {
    "paths": {
        "/b/{id}": {
            "get": {
                "tags": ["zebras"],
                "summary": "One",
                "parameters": [
                    {"in": "path", "name": "id", "required": True, "schema": {"type": "string"}},
                    {
                        "in": "query",
                        "name": "limit",
                        "schema": {"type": "integer", "default": 50},
                        "description": "Most",
                    },
                ],
                "responses": {
                    "200": {
                        "description": "Successful Response",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}},
                    },
                    "404": {"description": "None"},
                },
            }
        },
        "/a": {"post": {"tags": ["matches"], "responses": {}}},
    },
    "components": {
        "schemas": {
            "Node": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}},
            }
        }
    },
}


def test_operations_are_grouped_with_known_tags_first() -> None:
    made = operation_groups(DOCUMENT)
    assert [topic.name for topic in made] == ["matches", "zebras"]
    (operation,) = made[1].operations
    assert (operation.id, operation.method) == ("get-b-id", "GET")
    assert [(each.name, each.required, each.default) for each in operation.parameters] == [
        ("id", True, ""),
        ("limit", False, "50"),
    ]
    assert [(each.status, each.description) for each in operation.responses] == [("200", "Success."), ("404", "None")]
    assert operation.example.startswith('{\n  "name": "…"')


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 200}, "integer, 1 to 200"),
        ({"type": "integer", "minimum": 0, "maximum": 2**63 - 1}, "integer"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "maxLength": 100}, "string, at most 100 characters"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string"),
        ({"anyOf": [{"enum": ["a", "b"]}, {"type": "integer"}]}, "one of a, b or integer"),
        ({"type": "array", "items": {"type": "integer"}}, "list of integer"),
        ({"const": "x"}, "x"),
        ({}, "anything"),
    ],
)
def test_types_have_short_texts(schema: dict[str, Any], words: str) -> None:
    assert type_text(schema, DOCUMENT) == words


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "format": "date-time"}, "2026-08-22T14:23:00+00:00"),
        ({"type": "string", "examples": ["7001"]}, "7001"),
        ({"type": "array", "items": {"type": "number"}}, [1.5]),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, {"…": True}),
        ({"type": "object"}, {}),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"enum": ["a", "b"]}, "a"),
        ({}, None),
    ],
)
def test_an_example_follows_the_schema(schema: dict[str, Any], value: Any) -> None:
    assert example(schema, DOCUMENT) == value


def test_code_is_marked_and_text_escaped() -> None:
    assert with_code("`a<b` & c") == "<code>a&lt;b</code> &amp; c"
    assert with_code("") == ""


def test_every_error_has_a_meaning() -> None:
    assert all(said for _, _, said, _ in documented_errors())
    assert [status for status, *_ in documented_errors()] == sorted(status for status, *_ in documented_errors())
