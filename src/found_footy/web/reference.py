"""API reference at `/docs`, generated from the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.errors import FootyError
from found_footy.web.errors import STATUSES
from found_footy.web.rendering import render

Schema = Mapping[str, Any]

METHODS = ("get", "post", "put", "patch", "delete")
GROUPS = ("matches", "goals", "clips", "search", "losses", "live")
"""Shown first, in this order."""
MAX_DEPTH = 12

_SAMPLES: Mapping[str, Any] = {"date-time": "2026-08-22T14:23:00+00:00", "date": "2026-08-22", "uri": "https://…"}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    place: str
    kind: str
    required: bool
    default: str
    description: str


@dataclass(frozen=True, slots=True)
class ResponseView:
    status: str
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    body: str
    """Example of the request body; empty if there is none."""
    example: str
    responses: tuple[ResponseView, ...]


@dataclass(frozen=True, slots=True)
class OperationGroup:
    name: str
    operations: tuple[Operation, ...]


def operation_groups(document: Schema) -> list[OperationGroup]:
    found: dict[str, list[Operation]] = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                name = (operation.get("tags") or ["other"])[0]
                found.setdefault(name, []).append(_operation(path, method, operation, document))
    order = {name: number for number, name in enumerate(GROUPS)}
    names = sorted(found, key=lambda name: (order.get(name, len(GROUPS)), name))
    return [OperationGroup(name, tuple(found[name])) for name in names]


def _operation(path: str, method: str, operation: Schema, document: Schema) -> Operation:
    responses = operation.get("responses", {})
    success: Schema = next((responses[status] for status in sorted(responses) if status.startswith("2")), {})
    return Operation(
        id=f"{method}-{path.strip('/').replace('/', '-').replace('{', '').replace('}', '')}",
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        description=operation.get("description", ""),
        parameters=tuple(_parameters(operation.get("parameters", ()), document)),
        body=_content(operation.get("requestBody", {}), document),
        example=_content(success, document),
        responses=tuple(ResponseView(status, _description(each)) for status, each in sorted(responses.items())),
    )


def _description(response: Schema) -> str:
    description = str(response.get("description", ""))
    return "Success." if description == "Successful Response" else description


def _parameters(parameters: Iterable[Schema], document: Schema) -> Iterable[Parameter]:
    for each in parameters:
        schema = each.get("schema", {})
        default = schema.get("default")
        yield Parameter(
            name=each["name"],
            place=each["in"],
            kind=type_text(schema, document),
            required=each.get("required", False),
            default="" if default is None else json.dumps(default, ensure_ascii=False),
            description=each.get("description") or schema.get("description", ""),
        )


def _content(body: Schema, document: Schema) -> str:
    schema = body.get("content", {}).get("application/json", {}).get("schema")
    return json.dumps(example(schema, document), indent=2, ensure_ascii=False) if schema else ""


def type_text(schema: Schema, document: Schema) -> str:
    """`integer, 1 to 200`, `one of staging, active`."""
    schema = _resolve_reference(schema, document)
    if choices := [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]:
        return " or ".join(dict.fromkeys(type_text(each, document) for each in choices))
    if "enum" in schema:
        return "one of " + ", ".join(str(each) for each in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if schema.get("type") == "array":
        return f"list of {type_text(schema.get('items', {}), document)}"
    kind = str(schema.get("format") or schema.get("type") or "anything")
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    if minimum is not None and maximum is not None and maximum < 2**31:
        return f"{kind}, {minimum} to {maximum}"
    max_length = schema.get("maxLength")
    return f"{kind}, at most {max_length} characters" if max_length else kind


def example(schema: Schema, document: Schema, depth: int = 0) -> Any:
    """Example value of a schema."""
    schema = _resolve_reference(schema, document)
    if schema.get("examples"):
        return schema["examples"][0]
    for each in ("const", "default"):
        if schema.get(each) is not None:
            return schema[each]
    if "enum" in schema:
        return schema["enum"][0]
    choices = [each for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ())) if each.get("type") != "null"]
    if choices:
        return example(choices[0], document, depth)
    if depth > MAX_DEPTH:
        return None
    match schema.get("type"):
        case "object":
            fields = {name: example(each, document, depth + 1) for name, each in schema.get("properties", {}).items()}
            more = schema.get("additionalProperties")
            return fields or ({"…": example(more, document, depth + 1)} if isinstance(more, Mapping) else {})
        case "array":
            return [example(schema.get("items", {}), document, depth + 1)]
        case "integer":
            return 1
        case "number":
            return 1.5
        case "boolean":
            return True
        case "string":
            return _SAMPLES.get(schema.get("format", ""), "…")
        case _:
            return None


def _resolve_reference(schema: Schema, document: Schema) -> Schema:
    while "$ref" in schema:
        node: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        schema = node
    return schema


# --- `/docs`. FastAPI's own page would load scripts from another site.


router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def reference(request: Request) -> HTMLResponse:
    document: dict[str, Any] = request.app.openapi()
    values = {"groups": operation_groups(document), "errors": documented_errors()}
    return render(request, "docs.html", values, headers={"Cache-Control": "private, no-cache", "Vary": "Cookie"})


def documented_errors() -> list[tuple[int, str, str, str]]:
    """Status, class, meaning and hint of each error."""
    implemented = [(status, kind.__name__, _summary(kind), kind.hint) for kind, status in STATUSES.items()]
    more = [
        (405, "MethodNotAllowed", "The path exists but does not support this method.", ""),
        (422, "BadRequest", "Invalid parameter; `problems` names each with the reason.", ""),
        (500, "InternalFault", "Internal error.", "The log has the traceback; please report it."),
    ]
    return sorted([*implemented, *more])


def _summary(kind: type[FootyError]) -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0]
