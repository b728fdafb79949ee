"""From a source's answer to posts: one bad post never costs the others, and none is left out in silence."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from found_footy.domain.discovery.posts import Post
from found_footy.domain.errors import SourceChanged

MOST_READ = 1000
"""Entries of one answer that are looked at; sources give the newest first."""
MOST_POSTS = 300

log = logging.getLogger(__name__)
Entry = TypeVar("Entry")


class BadPost(ValueError):
    """An entry that cannot be read, with the reason."""


def read_all(source: str, entries: Any, read: Callable[[Any], Entry | None]) -> list[Entry]:
    """The posts of one answer. `read` returns None for entries to skip, and raises BadPost for invalid ones.

    An answer in which no entry is valid is not an empty one: its form has changed.
    """
    if not isinstance(entries, list):
        raise SourceChanged(f"{source}: the answer has no list of posts")
    looked_at = entries[:MOST_READ]
    posts: list[Entry] = []
    reasons: list[str] = []
    for entry in looked_at:
        try:
            post = read(entry)
        except BadPost as error:
            reasons.append(str(error))
            continue
        if post is not None:
            posts.append(post)
    if looked_at and len(reasons) == len(looked_at):
        raise SourceChanged(f"{source}: none of {len(reasons)} posts can be read; the first: {reasons[0]}")
    if reasons:
        log.warning(
            f"{source}: {len(reasons)} of {len(looked_at)} posts cannot be read",
            extra={"action": "posts_refused", "source": source, "count": len(reasons), "reason": reasons[0]},
        )
    if len(entries) > len(looked_at):
        log.warning(
            f"{source}: only {len(looked_at)} of {len(entries)} posts are looked at",
            extra={"action": "posts_passed_over", "source": source, "count": len(entries) - len(looked_at)},
        )
    return posts


def newest_first(posts: Iterable[Post], since: datetime) -> Sequence[Post]:
    """Each post once, without those that are too old, and a bounded number of them."""
    unique = {post.id: post for post in posts if post.posted_at >= since}
    return sorted(unique.values(), key=lambda post: (post.posted_at, post.id), reverse=True)[:MOST_POSTS]


def field(entry: Any, *path: str) -> Any:
    """The value at the end of a path of objects; nothing where one of them is missing or is no object."""
    for name in path:
        if not isinstance(entry, dict):
            return None
        entry = entry.get(name)
    return entry


def text(entry: Any, *path: str) -> str:
    value = field(entry, *path)
    if not isinstance(value, str):
        raise BadPost(f"{'.'.join(path)} is no text")
    return value


def optional_text(entry: Any, *path: str) -> str:
    value = field(entry, *path)
    return value if isinstance(value, str) else ""


def seconds(value: Any) -> float | None:
    """A duration, where it is one."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 < value < 86400 and math.isfinite(value) else None


def moment(value: Any) -> datetime | None:
    """A date and time with its zone, as ISO 8601 writes it."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        parsed = datetime.fromisoformat(value)
        return parsed.astimezone(UTC) if parsed.tzinfo else None
    except (ValueError, OverflowError):
        return None
