"""How old what is known is: the figures by which the feeds' health is judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from statistics import median

from found_footy.domain.feeds.health_values import FreshnessStats


def ages(heard: Mapping[int, datetime], now: datetime) -> dict[int, float]:
    """Seconds since each match was heard of. A word from the future, by another machine's clock, is new."""
    return {match: max(0.0, (now - at).total_seconds()) for match, at in heard.items()}


def arrived(heard: Mapping[int, datetime], saved: Mapping[int, datetime], lag: timedelta) -> dict[int, datetime]:
    """When each match that the database follows was last heard of, for good.

    A match that a cache which was lost does not know is as old as the database says, not gone. So is one of which
    feeds are heard while nothing of it is saved any more: what does not reach the database reaches nobody.
    """
    return {match: heard[match] if _saved_soon(heard.get(match), at, lag) else at for match, at in saved.items()}


def unsaved(heard: Mapping[int, datetime], saved: Mapping[int, datetime], lag: timedelta) -> int:
    """Matches whose answers are heard and not saved."""
    return sum(match in heard and not _saved_soon(heard[match], at, lag) for match, at in saved.items())


def _saved_soon(heard: datetime | None, saved: datetime, lag: timedelta) -> bool:
    return heard is not None and heard - saved <= lag


def stats(seconds: Iterable[float]) -> FreshnessStats:
    ordered = sorted(seconds)
    if not ordered:
        return FreshnessStats()
    return FreshnessStats(median(ordered), percentile(ordered, 0.95), ordered[-1], len(ordered))


def percentile(ordered: list[float], share: float) -> float:
    """The smallest value that this share does not exceed: always one that was measured.

    Among fewer than twenty matches the 95th is the oldest, so that one match cannot hide behind a few others.
    """
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def stale(heard: Mapping[int, datetime], now: datetime, seconds: float) -> list[tuple[int, float]]:
    """Matches that were not heard of for so long, with their ages, the oldest first."""
    found = [(match, age) for match, age in ages(heard, now).items() if age >= seconds]
    return sorted(found, key=lambda each: (-each[1], each[0]))
