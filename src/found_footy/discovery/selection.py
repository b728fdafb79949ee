"""Selects the posts to download. Pure functions of posts and time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

TYPICAL_SECONDS = 20.0
"""Assumed duration of posts without one, so that they sort neither first nor last."""
UNKNOWN_SHARE = 0.4
"""Share of downloads reserved for posts of unknown duration, such as Reddit's. Otherwise many long posts from other
sources would delay them until they are too old.
"""
CLOCK_SKEW = timedelta(minutes=5)
"""A post dated further in the future has a wrong date and does not count as recent."""


@dataclass(frozen=True, slots=True)
class PendingPost:
    """A post that no search has selected yet."""

    key: str
    posted_at: datetime
    duration: float | None


@dataclass(frozen=True, slots=True)
class Selection:
    selected: tuple[str, ...]
    too_old: tuple[str, ...]
    """Posts that became too old while waiting."""


@dataclass(frozen=True, slots=True)
class SelectionRules:
    max_posts: int = 5
    max_age: timedelta = timedelta(minutes=3)


def is_recent(posted_at: datetime, now: datetime, rules: SelectionRules) -> bool:
    return now - rules.max_age <= posted_at <= now + CLOCK_SKEW


def select_posts(pending: Iterable[PendingPost], now: datetime, rules: SelectionRules) -> Selection:
    """Select the longest recent posts and some of unknown duration. Later searches may select the rest."""
    posts = list(pending)
    recent = [post for post in posts if is_recent(post.posted_at, now, rules)]
    ranked = sorted(recent, key=lambda post: (-(post.duration or TYPICAL_SECONDS), post.posted_at, post.key))
    unknown = [post for post in ranked if not post.duration][: int(rules.max_posts * UNKNOWN_SHARE)]
    known = [post for post in ranked if post not in unknown][: rules.max_posts - len(unknown)]
    return Selection(
        selected=tuple(post.key for post in ranked if post in unknown or post in known),
        too_old=tuple(sorted(post.key for post in posts if post not in recent)),
    )
