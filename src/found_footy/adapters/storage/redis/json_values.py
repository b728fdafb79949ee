"""Reading what the cache holds: nothing in there is believed before it has been looked at.

A value that does not fit raises Broken. Whoever reads many drops it, as if it had been lost, and says so in the log.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")
Fields = Mapping[str, Any]


class Broken(ValueError):
    """A value of the cache that is not what it should be."""


def dump(fields: Fields) -> str:
    """ASCII, since names can hold halves of characters that UTF-8 has no place for."""
    return json.dumps(fields, allow_nan=False, separators=(",", ":"))


def load(text: bytes | str) -> Fields:
    try:
        fields = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Broken("not JSON") from error
    if not isinstance(fields, dict):
        raise Broken("not an object")
    return fields


def readable(key: str, text: bytes | str | None, read: Callable[[Fields], T]) -> T | None:
    """None for what is missing, and for what is broken."""
    if text is None:
        return None
    try:
        return read(load(text))
    except Broken as error:
        log.warning("dropped %s from the cache: %s", key, error, extra={"action": "cache_value_dropped", "key": key})
        return None


def string(fields: Fields, name: str) -> str:
    return _of(fields, name, str)


def maybe_string(fields: Fields, name: str) -> str | None:
    return None if fields.get(name) is None else string(fields, name)


def flag(fields: Fields, name: str) -> bool:
    return _of(fields, name, bool)


def whole(fields: Fields, name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**63:
        raise Broken(f"{name} is not a whole number")
    return value


def number(fields: Fields, name: str) -> float:
    value = fields.get(name)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise Broken(f"{name} is not a number")
    try:
        found = float(value)
    except OverflowError as error:
        raise Broken(f"{name} is too large") from error
    if not math.isfinite(found):
        raise Broken(f"{name} is too large")
    return found


def maybe_number(fields: Fields, name: str) -> float | None:
    return None if fields.get(name) is None else number(fields, name)


def moment(fields: Fields, name: str) -> datetime:
    """Kept as seconds since 1970, in UTC."""
    try:
        return datetime.fromtimestamp(number(fields, name), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise Broken(f"{name} is no moment") from error


def maybe_moment(fields: Fields, name: str) -> datetime | None:
    return None if fields.get(name) is None else moment(fields, name)


def mapping(fields: Fields, name: str) -> Mapping[str, Any]:
    return _of(fields, name, dict)


def strings(fields: Fields, name: str) -> tuple[str, ...]:
    values: Sequence[Any] = _of(fields, name, list)
    if not all(isinstance(value, str) for value in values):
        raise Broken(f"{name} has something in it that is no text")
    return tuple(values)


def one_of(fields: Fields, name: str, kinds: Callable[[Any], T]) -> T:
    """A member of an enumeration."""
    try:
        return kinds(fields.get(name))
    except ValueError as error:
        raise Broken(f"{name} is none of those that there are") from error


def _of(fields: Fields, name: str, kind: type[T]) -> T:
    value = fields.get(name)
    if not isinstance(value, kind):
        raise Broken(f"{name} is not a {kind.__name__}")
    return value


def _refuse(constant: str) -> NoReturn:
    raise Broken(f"{constant} is not JSON")
