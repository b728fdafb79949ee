"""Which of the posts that were found are worth a download. Pure: posts and the time in, keys out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

TYPICAL_SECONDS = 20.0
"""Assumed for a post that does not announce its length: neither the first nor the last to be tried."""
UNKNOWN_SHARE = 0.4
"""Share of the places that posts of unknown length get if there are as many. Reddit announces no lengths, and a flood
of long posts elsewhere would keep its posts waiting until they are too old."""
CLOCK_SKEW = timedelta(minutes=5)
"""A post from further in the future is dated wrongly, and a wrong date must not make it young."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A post that was found and not taken yet."""

    key: str
    posted_at: datetime
    duration: float | None


@dataclass(frozen=True, slots=True)
class Choice:
    taken: tuple[str, ...]
    too_old: tuple[str, ...]
    """Waited until they were too old: passed over."""


@dataclass(frozen=True, slots=True)
class ChoosingRules:
    most: int = 5
    max_age: timedelta = timedelta(minutes=3)


def is_young(posted_at: datetime, now: datetime, rules: ChoosingRules) -> bool:
    return now - rules.max_age <= posted_at <= now + CLOCK_SKEW


def choose(waiting: Iterable[Waiting], now: datetime, rules: ChoosingRules) -> Choice:
    """The longest young posts, with places for those of unknown length; the rest may be taken by the next search."""
    posts = list(waiting)
    young = [post for post in posts if is_young(post.posted_at, now, rules)]
    best = sorted(young, key=lambda post: (-(post.duration or TYPICAL_SECONDS), post.posted_at, post.key))
    unknown = [post for post in best if not post.duration][: int(rules.most * UNKNOWN_SHARE)]
    known = [post for post in best if post not in unknown][: rules.most - len(unknown)]
    return Choice(
        taken=tuple(post.key for post in best if post in unknown or post in known),
        too_old=tuple(sorted(post.key for post in posts if post not in young)),
    )
