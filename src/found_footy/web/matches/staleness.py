"""How old the news of a match are, and whether that is too old. The pages count on by themselves (`staleness.js`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from found_footy.web.matches.words import Standing, spell, standing


@dataclass(frozen=True, slots=True)
class News:
    """`age_seconds` is None for a match that is not followed at every poll."""

    heard_at: datetime | None
    age_seconds: float | None = None
    stale: bool = False

    @property
    def words(self) -> str:
        """`stale · 75 s`; empty where it is not."""
        if not self.stale or self.age_seconds is None:
            return ""
        return f"stale · {spell(timedelta(seconds=self.age_seconds))}" if self.heard_at else "no news from a feed yet"

    @property
    def since(self) -> int | None:
        """Of a match that is followed: when it was last heard of, in seconds since 1970."""
        return int(self.heard_at.timestamp()) if self.heard_at and self.age_seconds is not None else None


def news_of(match: Mapping[str, Any], now: datetime, stale_seconds: float, heard_at: datetime | None = None) -> News:
    """`match` has stage, status, kickoff and last_poll_at, as the database names them."""
    heard = heard_at or match["last_poll_at"]
    followed = match["stage"] == "active" and standing(match["status"], match["stage"]) is not Standing.OVER
    if not followed or match["kickoff"] > now:
        return News(heard)
    age = max(0.0, (now - (heard or match["kickoff"])).total_seconds())
    return News(heard, age, age > stale_seconds)
