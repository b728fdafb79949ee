"""Select which found posts to download. Pure functions of posts and time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

TYPICAL_SECONDS = 20.0
"""Assumed length of a post without a stated one, so it is tried neither first nor last."""
UNKNOWN_SHARE = 0.4
"""Share of downloads reserved for posts of unknown length. Reddit states no lengths, so many long posts from other
sources would keep its posts waiting until they are too old.
"""
CLOCK_SKEW = timedelta(minutes=5)
"""A post dated further in the future has a wrong date and does not count as young."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A found post that is not taken yet."""

    key: str
    posted_at: datetime
    duration: float | None


@dataclass(frozen=True, slots=True)
class Choice:
    taken: tuple[str, ...]
    too_old: tuple[str, ...]
    """Posts that became too old while waiting."""


@dataclass(frozen=True, slots=True)
class ChoosingRules:
    most: int = 5
    max_age: timedelta = timedelta(minutes=3)


def is_young(posted_at: datetime, now: datetime, rules: ChoosingRules) -> bool:
    return now - rules.max_age <= posted_at <= now + CLOCK_SKEW


def choose(waiting: Iterable[Waiting], now: datetime, rules: ChoosingRules) -> Choice:
    """Select the longest young posts, with places for unknown lengths. The next search may take the rest."""
    posts = list(waiting)
    young = [post for post in posts if is_young(post.posted_at, now, rules)]
    best = sorted(young, key=lambda post: (-(post.duration or TYPICAL_SECONDS), post.posted_at, post.key))
    unknown = [post for post in best if not post.duration][: int(rules.most * UNKNOWN_SHARE)]
    known = [post for post in best if post not in unknown][: rules.most - len(unknown)]
    return Choice(
        taken=tuple(post.key for post in best if post in unknown or post in known),
        too_old=tuple(sorted(post.key for post in posts if post not in young)),
    )
