"""One piece of news as readers get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A row of the outbox. Positions grow by one, in the order in which everybody sees the rows."""

    position: int
    at: datetime
    topic: str
    fixture_id: int | None = None
    event_id: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
