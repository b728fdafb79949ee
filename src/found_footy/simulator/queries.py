"""What a request to the service asks for, with the service's own words for what is wrong with it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

MOST_IDS = 20
_SELECTORS = ("date", "id", "ids", "live")


class QueryError(Exception):
    """The service's `errors` object for a wrong request; it never leaves the HTTP layer."""

    def __init__(self, field: str, text: str) -> None:
        self.errors = {field: text}
        super().__init__(f"{field}: {text}")


@dataclass(frozen=True, slots=True)
class FixtureQuery:
    """A request to `/fixtures`: a day, some ids, or what is live (in these leagues, or in all)."""

    day: date | None = None
    ids: frozenset[int] | None = None
    live_leagues: frozenset[int] | None = None


def parse_fixtures(params: Mapping[str, str]) -> FixtureQuery:
    given = [name for name in _SELECTORS if name in params]
    if not given or set(params) - {*_SELECTORS, "timezone"}:
        raise QueryError("required", "At least one parameter is required.")
    if len(given) > 1:
        first, second = given[0], given[1]
        text = f"The {first.title()} field cannot be used with the {second.title()} field."
        raise QueryError(first, text)
    if params.get("timezone", "UTC") != "UTC":
        raise QueryError("timezone", "The Timezone field must be UTC.")
    name, value = given[0], params[given[0]]
    if name == "date":
        return FixtureQuery(day=_day(value))
    if name == "live":
        return FixtureQuery(live_leagues=None if value == "all" else _numbers("live", value))
    ids = frozenset({parse_number("id", value)}) if name == "id" else _numbers("ids", value)
    if len(ids) > MOST_IDS:
        raise QueryError("ids", f"The Ids field must not contain more than {MOST_IDS} ids.")
    return FixtureQuery(ids=ids)


def required(params: Mapping[str, str], *names: str, optional: tuple[str, ...] = ()) -> None:
    """Refuse a request that lacks one of `names`, or has a parameter that is unknown."""
    if set(names) - set(params) or set(params) - {*names, *optional}:
        raise QueryError("required", "At least one parameter is required.")


def parse_number(name: str, value: str) -> int:
    if not value.isdecimal():
        raise QueryError(name, f"The {name.title()} field must contain an integer.")
    return int(value)


def _numbers(name: str, value: str) -> frozenset[int]:
    return frozenset(parse_number(name, part) for part in value.split("-"))


def _day(value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise QueryError("date", "The Date field must contain a valid date in the format YYYY-MM-DD.") from None
