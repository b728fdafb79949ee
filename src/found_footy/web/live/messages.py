"""News as server-sent events. Each is written once, however many hear it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from found_footy.domain.announcing.news import NewsItem

RETRY_MS = 2000
"""How long a browser waits before it comes back."""


@dataclass(frozen=True, slots=True)
class Message:
    position: int
    topic: str
    fixture_id: int | None
    event_id: str | None
    content: bytes


def message_of(item: NewsItem) -> Message:
    data = {
        "position": item.position,
        "at": item.at.isoformat(),
        "topic": item.topic,
        "fixture_id": item.fixture_id,
        "event_id": item.event_id,
        "payload": item.payload,
    }
    return Message(item.position, item.topic, item.fixture_id, item.event_id, _event(item.topic, item.position, data))


def hello(position: int, topics: Iterable[str]) -> bytes:
    """The first of every stream: from here on nothing is missed, and these are the names to listen for."""
    first = _event("hello", position, {"position": position, "topics": list(topics)})
    return b"retry: %d\n" % RETRY_MS + first


def reset(position: int, reason: str) -> bytes:
    return _event("reset", position, {"position": position, "reason": reason})


def beat(position: int | None) -> bytes:
    """A sign of life. With a position it is an event without data: no browser shows it, all remember its id."""
    return b":\n\n" if position is None else b":\nid: %d\n\n" % position


def _event(name: str, position: int, data: dict[str, Any]) -> bytes:
    # JSON has no line ends of its own, so the data is always one line.
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {position}\nevent: {name}\ndata: {line}\n\n".encode()
