"""A matchday that is played through the real system, and what of its outcome must always be the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def outcome(documents: Iterable[Mapping[str, Any]]) -> dict[int, Any]:
    """Everything that matters in the end; not when it was seen, nor by which poll."""
    return {document["_id"]: _match(document) for document in documents}


def _match(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stage": document["stage"],
        "status": document["fixture"]["status"]["short"],
        "goals": document["goals"],
        "penalties": document["score"]["penalty"],
        "events": {event["_event_id"]: _event(event) for event in document["events"]},
    }


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("time", "player", "assist", "detail", "_scoring_team", "_removed")
    # Whether a goal that does not stand was certain before depends on how many polls a death has cost.
    standing = ("_debounce_complete", "_score_before", "_score_after", "_download_complete")
    return {name: event[name] for name in (kept if event["_removed"] else kept + standing)}
