"""Breaking changes between two OpenAPI documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


def breaks(old: Schema, new: Schema) -> list[str]:
    """One sentence for each; empty where everything was only added to."""
    return list(_paths(old, new))


def _paths(old: Schema, new: Schema) -> Iterator[str]:
    for path, item in old["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            name = f"{method.upper()} {path}"
            now = new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{name} is gone"
            else:
                yield from _parameters(name, item[method], now, old, new)
                yield from _body(name, item[method], now, old, new)
                yield from _responses(name, item[method], now, old, new)


def _parameters(name: str, was: Schema, now: Schema, old: Schema, new: Schema) -> Iterator[str]:
    before = {(each["in"], each["name"]): each for each in was.get("parameters", ())}
    after = {(each["in"], each["name"]): each for each in now.get("parameters", ())}
    for key, each in before.items():
        said = f"{name}: the parameter {key[1]}"
        if key not in after:
            yield f"{said} is gone"
            continue
        if after[key].get("required") and not each.get("required"):
            yield f"{said} is required now"
        yield from _taken(said, each.get("schema", {}), after[key].get("schema", {}), old, new)
    for key in after.keys() - before.keys():
        if after[key].get("required"):
            yield f"{name}: the new parameter {key[1]} is required"


def _body(name: str, was: Schema, now: Schema, old: Schema, new: Schema) -> Iterator[str]:
    before, after = _content(was.get("requestBody", {})), _content(now.get("requestBody", {}))
    if after is not None and before is None and now["requestBody"].get("required"):
        yield f"{name}: a body is required now"
    if before is not None and after is not None:
        yield from _taken(f"{name}: the body", before, after, old, new)


def _responses(name: str, was: Schema, now: Schema, old: Schema, new: Schema) -> Iterator[str]:
    for status, response in was.get("responses", {}).items():
        answered = now.get("responses", {}).get(status)
        if answered is None:
            yield f"{name}: the answer {status} is gone"
            continue
        before, after = _content(response), _content(answered)
        if before is not None and after is None:
            yield f"{name}: the answer {status} has no content any more"
        elif before is not None and after is not None:
            yield from _given(f"{name}: the answer {status}", before, after, old, new, ())


def _taken(name: str, was: Schema, now: Schema, old: Schema, new: Schema) -> Iterator[str]:
    """What readers send: it may become wider, never narrower."""
    was, now = _resolved(was, old), _resolved(now, new)
    missing = _kinds(was, old) - _kinds(now, new)
    if missing:
        yield f"{name} does not take {', '.join(sorted(missing))} any more"
    gone = set(map(str, _values(was, old))) - set(map(str, _values(now, new)))
    if gone and _values(now, new):
        yield f"{name} does not take the values {', '.join(sorted(gone))} any more"
    for bound, is_narrower in (("maximum", _less), ("maxLength", _less), ("minimum", _more), ("minLength", _more)):
        if is_narrower(_bound(now, bound, new), _bound(was, bound, old)):
            yield f"{name} has another {bound}"
    for field in set(now.get("required", ())) - set(was.get("required", ())):
        yield f"{name}: {field} is required now"
    for field, schema in was.get("properties", {}).items():
        if field not in now.get("properties", {}):
            yield f"{name}: {field} is gone"
        else:
            yield from _taken(f"{name}.{field}", schema, now["properties"][field], old, new)


def _given(name: str, was: Schema, now: Schema, old: Schema, new: Schema, within: tuple[str, ...]) -> Iterator[str]:
    """What readers get: nothing that they know may go, or become something else."""
    reference = str(was.get("$ref", ""))
    if reference and reference in within:
        return
    within = (*within, reference) if reference else within
    was, now = _resolved(was, old), _resolved(now, new)
    added = _kinds(now, new) - _kinds(was, old)
    if added and _kinds(was, old):
        yield f"{name} can be {', '.join(sorted(added))} now"
    values = set(map(str, _values(now, new))) - set(map(str, _values(was, old)))
    if values and _values(was, old):
        yield f"{name} has the new values {', '.join(sorted(values))}"
    for field, schema in was.get("properties", {}).items():
        if field not in now.get("properties", {}):
            yield f"{name}: {field} is gone"
            continue
        if field in was.get("required", ()) and field not in now.get("required", ()):
            yield f"{name}: {field} may be missing now"
        yield from _given(f"{name}.{field}", schema, now["properties"][field], old, new, within)
    if "items" in was and "items" in now:
        yield from _given(f"{name}[]", was["items"], now["items"], old, new, within)
    for choice in ("anyOf", "oneOf"):
        for before, after in zip(was.get(choice, ()), now.get(choice, ()), strict=False):
            yield from _given(name, before, after, old, new, within)


def _content(given: Schema) -> Schema | None:
    content = given.get("content", {})
    return next((each.get("schema", {}) for each in content.values()), None)


def _kinds(schema: Schema, document: Schema) -> set[str]:
    """`string`, `integer`, `null`…; empty for anything."""
    schema = _resolved(schema, document)
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if choices:
        return set().union(*(_kinds(each, document) for each in choices))
    kind = schema.get("type")
    return {kind} if isinstance(kind, str) else set(kind or ())


def _values(schema: Schema, document: Schema) -> list[Any]:
    schema = _resolved(schema, document)
    if "const" in schema:
        return [schema["const"]]
    found = list(schema.get("enum", ()))
    for each in schema.get("anyOf", ()):
        found += _values(each, document)
    return found


def _bound(schema: Schema, name: str, document: Schema) -> float | None:
    schema = _resolved(schema, document)
    found = [schema.get(name), *(_bound(each, name, document) for each in schema.get("anyOf", ()))]
    return next((each for each in found if each is not None), None)


def _less(now: float | None, was: float | None) -> bool:
    return now is not None and (was is None or now < was)


def _more(now: float | None, was: float | None) -> bool:
    return now is not None and (was is None or now > was)


def _resolved(schema: Schema, document: Schema) -> Schema:
    while "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema
