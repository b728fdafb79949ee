"""What is wrong with one match's entry in an answer of API-Football."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from found_footy.simulator.feed_script import Fault


def corrupted(item: dict[str, Any], faults: Sequence[Fault]) -> dict[str, Any]:
    """The `/fixtures` item with the faults of its match put in."""
    mine = [fault for fault in faults if fault.match == item["fixture"]["id"]]
    if not mine:
        return item
    item = copy.deepcopy(item)
    for fault in mine:
        if fault.kind == "wrong_score":
            item["goals"]["home"] = (item["goals"]["home"] or 0) + 1
        elif fault.kind == "bad_schema":
            item["fixture"]["status"]["elapsed"] = "abc"
        elif fault.kind == "unknown_status":
            item["fixture"]["status"].update(short="XYZ", long="Unheard Of")
    return item


def entries(item: dict[str, Any], faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """Mostly one; two of the same id where that is the fault."""
    twice = any(fault.kind == "duplicate_id" and fault.match == item["fixture"]["id"] for fault in faults)
    return [corrupted(item, faults)] * (2 if twice else 1)
