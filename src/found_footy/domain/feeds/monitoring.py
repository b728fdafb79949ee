"""How the asking for one match at one feed goes: what the records in the cache say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum


class Priority(IntEnum):
    """Lower ones are asked for first."""

    LIVE = 0
    IMMINENT = 1
    """Starts within the hour."""
    COMPLETED = 2


class MatchLife(StrEnum):
    DISCOVERED = "discovered"
    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class MonitorRecord:
    """One match at one feed. Lost with the cache, and then built anew by the next answers."""

    feed: str
    feed_id: int
    life: MatchLife
    priority: Priority
    created_at: datetime
    updated_at: datetime | None = None
    """Of the last answer that was good."""
    asked_at: datetime | None = None
    failures_in_a_row: int = 0
    paused_until: datetime | None = None
    total: int = 0
    total_failures: int = 0
    error: str | None = None
    """Class and words of the last failure, until it succeeds again."""
    title: str = ""
    completed_at: datetime | None = None
    """When it was first said to be over."""

    @property
    def match_id(self) -> str:
        return match_id(self.feed, self.feed_id)


def match_id(feed: str, feed_id: int) -> str:
    """The name of a match at a feed in the cache's keys."""
    return f"{feed}_{feed_id}"
