"""Values of the feeds' JSON, and what was seen around a recovery, in words short enough for a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from found_footy.domain.feeds.health_values import Recovery, RecoveryAction
from found_footy.domain.operations.findings import spoken

LONGEST = 120
MOST_FACTS = 8
ACTIONS = {
    RecoveryAction.BROWSER_RECYCLE: "browser started anew",
    RecoveryAction.SOFT_RESTART: "poller started anew",
    RecoveryAction.MANUAL_TRIGGER: "started anew by hand",
}
LEFT_OUT = frozenset({"last_success", "active"})
"""Of what was seen: it says nothing that the rest does not say."""
SIDES = (("home", "away"), ("team_a", "team_b"))


def said_words(value: Any) -> str:
    """`2–1` for a score; otherwise the value itself, as JSON where it is no plain word."""
    if isinstance(value, str):
        return _short(value)
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        for home, away in SIDES:
            if set(value) == {home, away} and not isinstance(value[home], Mapping | list):
                return f"{said_words(value[home])}–{said_words(value[away])}"
    return _short(json.dumps(value, ensure_ascii=False, default=str))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


@dataclass(frozen=True, slots=True)
class RecoveryRow:
    at: datetime
    action: str
    trigger: str
    facts: tuple[tuple[str, str, str], ...]
    """What was seen: its name, before, and after."""
    steps: tuple[tuple[str, bool, str], ...]
    """What was done in the last attempt: the part, whether it worked, and what it said."""
    attempts: int
    outcome: str
    took: str
    healthy: str


def recovery_row(recovery: Recovery) -> RecoveryRow:
    before, after = _flat(recovery.before), _flat(recovery.after)
    attempts = _listed(recovery.after.get("attempts"))
    healthy = f"healthy after {spoken(recovery.healthy_at - recovery.at)}" if recovery.healthy_at else ""
    return RecoveryRow(
        at=recovery.at,
        action=ACTIONS[recovery.action],
        trigger=recovery.trigger,
        facts=tuple(
            (name.replace("_", " "), before.get(name, "–"), after.get(name, "–"))
            for name in list({**before, **after})[:MOST_FACTS]
        ),
        steps=tuple(
            (str(step.get("name", "")), bool(step.get("ok")), _short(str(step.get("said", ""))))
            for step in _listed(attempts[-1].get("steps") if attempts else None)[:MOST_FACTS]
        ),
        attempts=len(attempts),
        outcome=str(recovery.outcome) if recovery.outcome else "under way",
        took="" if recovery.seconds is None else spoken_seconds(recovery.seconds),
        healthy=healthy,
    )


def spoken_seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else spoken(timedelta(seconds=seconds))


def _flat(facts: Mapping[str, Any]) -> dict[str, str]:
    """Plain facts by their names; of the ages, the two that say the most."""
    flat = {name: _plain(value) for name, value in facts.items() if isinstance(value, str | int | float)}
    ages = facts.get("freshness")
    if isinstance(ages, Mapping):
        for name, key in (("oldest", "maximum"), ("median", "median")):
            if isinstance(ages.get(key), int | float):
                flat[name] = spoken(timedelta(seconds=ages[key]))
    for name in [name for name in flat if name in LEFT_OUT]:
        del flat[name]
    return flat


def _plain(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else said_words(value)


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list | tuple) else []
