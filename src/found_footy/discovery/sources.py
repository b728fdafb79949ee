"""Interface of the social sources, and their shared code: HTTP client, error classes by status, parsing of posts."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.errors import SourceChanged, SourceError, SourceLoggedOut, SourceRateLimited, SourceUnavailable
from found_footy.runtime.http import HttpClient, HttpError, HttpErrorKind, HttpLimits, HttpResponse
from found_footy.text import clean_text


class SocialSource(Protocol):
    """A source of posts with clips."""

    @property
    def name(self) -> str: ...

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        """Return matching posts with a video, newest first, at most a few hundred. May omit posts older than `since`.

        An empty result means that nothing was posted; any failure raises SourceError.
        """

    async def check(self) -> str:
        """Verify with one cheap call that the source responds and accepts the login; return a description."""

    async def aclose(self) -> None: ...


_UNUSABLE = frozenset(
    {
        HttpErrorKind.TOO_LARGE,
        HttpErrorKind.UNSUPPORTED_ENCODING,
        HttpErrorKind.NOT_JSON,
    }
)


def source_client(base_url: str, timeout: float, headers: Mapping[str, str] | None = None) -> HttpClient:
    """Return an HTTP client whose errors are SourceErrors."""
    given = {"accept": "application/json", **(headers or {})}
    return HttpClient(HttpLimits(timeout), base_url=base_url, headers=given, translate=_translate)


def _translate(error: HttpError) -> SourceError:
    return (SourceChanged if error.kind in _UNUSABLE else SourceUnavailable)(str(error))


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise SourceUnavailable(f"{what}: no response within {seconds:g} s") from None


def raise_for_status(answer: HttpResponse, said: str = "") -> None:
    """Raise the SourceError for the status. `said` is the source's own reason, if any."""
    if answer.ok:
        return
    reason = f"{answer.where} returned HTTP {answer.status}" + (f": {clean_text(said, 200)}" if said else "")
    if answer.status in (401, 403):
        raise SourceLoggedOut(reason)
    if answer.status == 429:
        raise SourceRateLimited(reason)
    if answer.status >= 500 or answer.status == 408:
        raise SourceUnavailable(reason)
    raise SourceChanged(reason)


# --- Parsing posts: an invalid post is logged and does not affect the others.


MAX_ENTRIES_PARSED = 1000
"""Per response; sources return the newest first."""
MAX_POSTS = 300

log = logging.getLogger(__name__)
Entry = TypeVar("Entry")


class InvalidPost(ValueError):
    """An invalid entry, with the reason."""


def parse_posts(source: str, entries: Any, read: Callable[[Any], Entry | None]) -> list[Entry]:
    """Parse the posts of one response. `read` returns None for entries to skip and raises InvalidPost for invalid ones.

    Raises SourceChanged if no entry is valid, because the format has changed.
    """
    if not isinstance(entries, list):
        raise SourceChanged(f"{source}: the response has no list of posts")
    considered = entries[:MAX_ENTRIES_PARSED]
    posts: list[Entry] = []
    reasons: list[str] = []
    for entry in considered:
        try:
            post = read(entry)
        except InvalidPost as error:
            reasons.append(str(error))
            continue
        if post is not None:
            posts.append(post)
    if considered and len(reasons) == len(considered):
        raise SourceChanged(f"{source}: none of {len(reasons)} posts can be parsed; the first: {reasons[0]}")
    if reasons:
        log.warning(
            f"{source}: {len(reasons)} of {len(considered)} posts cannot be parsed",
            extra={"action": "posts_rejected", "source": source, "count": len(reasons), "reason": reasons[0]},
        )
    if len(entries) > len(considered):
        log.warning(
            f"{source}: only {len(considered)} of {len(entries)} posts are parsed",
            extra={"action": "posts_ignored", "source": source, "count": len(entries) - len(considered)},
        )
    return posts


def newest_first(posts: Iterable[Post], since: datetime) -> Sequence[Post]:
    """Return unique posts not older than `since`, newest first, at most MAX_POSTS."""
    unique = {post.id: post for post in posts if post.posted_at >= since}
    return sorted(unique.values(), key=lambda post: (post.posted_at, post.id), reverse=True)[:MAX_POSTS]


def field(entry: Any, *path: str) -> Any:
    """Return the value at a path of nested objects, or None if any of them is missing or not an object."""
    for name in path:
        if not isinstance(entry, dict):
            return None
        entry = entry.get(name)
    return entry


def text(entry: Any, *path: str) -> str:
    value = field(entry, *path)
    if not isinstance(value, str):
        raise InvalidPost(f"{'.'.join(path)} is not a string")
    return value


def optional_text(entry: Any, *path: str) -> str:
    value = field(entry, *path)
    return value if isinstance(value, str) else ""


def seconds(value: Any) -> float | None:
    """Return a valid duration in seconds, or None."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 < value < 86400 and math.isfinite(value) else None


def moment(value: Any) -> datetime | None:
    """Parse an ISO 8601 date and time with a zone, or return None."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        parsed = datetime.fromisoformat(value)
        return parsed.astimezone(UTC) if parsed.tzinfo else None
    except (ValueError, OverflowError):
        return None
