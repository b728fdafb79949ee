"""API-Football's answers, as short as they can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

HOME, AWAY = 40, 50
GONE = object()
"""As a value for `changed`: the field is left out."""


def goal(elapsed: int, team: int = HOME, **fields: Any) -> dict[str, Any]:
    return {
        "time": {"elapsed": elapsed, "extra": None},
        "team": {"id": team, "name": "?"},
        "player": {"id": 306, "name": "M. Salah"},
        "assist": {"id": None, "name": None},
        "type": "Goal",
        "detail": "Normal Goal",
        "comments": None,
        **fields,
    }


def item(fixture_id: int, **fields: Any) -> dict[str, Any]:
    return {
        "fixture": {
            "id": fixture_id,
            "date": "2026-08-22T14:00:00+00:00",
            "status": {"short": "1H", "elapsed": 30, "extra": None},
        },
        "league": {"id": 39, "name": "Premier League", "country": "England", "season": 2026, "round": "1"},
        "teams": {"home": {"id": HOME, "name": "Liverpool"}, "away": {"id": AWAY, "name": "Manchester City"}},
        "goals": {"home": 1, "away": 0},
        "score": {"penalty": {"home": None, "away": None}},
        "events": [goal(12)],
        **fields,
    }


def changed(value: Any, path: str, new: object) -> Any:
    """The value with the field at a path such as `events.0.team.id` set to something else."""
    key, _, rest = path.partition(".")
    if isinstance(value, list):
        return [changed(part, rest, new) if i == int(key) and rest else part for i, part in enumerate(value)]
    if not rest:
        return {**{k: v for k, v in value.items() if k != key}, **({} if new is GONE else {key: new})}
    return {**value, key: changed(value[key], rest, new)}


def body(items: Sequence[Any], **fields: Any) -> dict[str, Any]:
    return {
        "get": "fixtures",
        "parameters": [],
        "errors": [],
        "results": len(items),
        "paging": {"current": 1, "total": 1},
        "response": list(items),
        **fields,
    }


def refusal(**errors: str) -> dict[str, Any]:
    return body([], errors=errors)
