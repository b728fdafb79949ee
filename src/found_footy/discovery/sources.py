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

        An empty result means that there are no posts; any failure raises a SourceError.
        """

    async def check(self) -> str:
        """Verify with one cheap call that the source responds and accepts the login; return a description."""

    async def aclose(self) -> None: ...


_INVALID_RESPONSES = frozenset(
    {
        HttpErrorKind.TOO_LARGE,
        HttpErrorKind.UNSUPPORTED_ENCODING,
        HttpErrorKind.NOT_JSON,
    }
)


def source_client(base_url: str, timeout: float, headers: Mapping[str, str] | None = None) -> HttpClient:
    """Return an HTTP client whose errors are SourceErrors."""
    all_headers = {"accept": "application/json", **(headers or {})}
    return HttpClient(HttpLimits(timeout), base_url=base_url, headers=all_headers, translate=_translate)


def _translate(error: HttpError) -> SourceError:
    return (SourceChanged if error.kind in _INVALID_RESPONSES else SourceUnavailable)(str(error))


@asynccontextmanager
async def within(seconds: float, name: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise SourceUnavailable(f"{name}: no response within {seconds:g} s") from None


def raise_for_status(response: HttpResponse, reason_text: str = "") -> None:
    """Raise the SourceError for the status. `reason_text` is the source's explanation, if any."""
    if response.ok:
        return
    message = f"{response.endpoint} returned HTTP {response.status}" + (
        f": {clean_text(reason_text, 200)}" if reason_text else ""
    )
    if response.status in (401, 403):
        raise SourceLoggedOut(message)
    if response.status == 429:
        raise SourceRateLimited(message)
    if response.status >= 500 or response.status == 408:
        raise SourceUnavailable(message)
    raise SourceChanged(message)


# --- Parsing posts: an invalid post is logged and does not affect the others.


MAX_ENTRIES_PARSED = 1000
"""Per response; sources return the newest first."""
MAX_POSTS = 300

log = logging.getLogger(__name__)
Entry = TypeVar("Entry")


class InvalidPost(ValueError):
    """A post cannot be parsed; the message is the reason."""


def parse_posts(source: str, entries: Any, parse: Callable[[Any], Entry | None]) -> list[Entry]:
    """Parse the posts of one response. `parse` returns None for an entry to skip; InvalidPost marks an invalid one.

    Raises SourceChanged if no entry is valid, because the format has changed.
    """
    if not isinstance(entries, list):
        raise SourceChanged(f"{source}: the response has no list of posts")
    parsed_entries = entries[:MAX_ENTRIES_PARSED]
    posts: list[Entry] = []
    reasons: list[str] = []
    for entry in parsed_entries:
        try:
            post = parse(entry)
        except InvalidPost as error:
            reasons.append(str(error))
            continue
        if post is not None:
            posts.append(post)
    if parsed_entries and len(reasons) == len(parsed_entries):
        raise SourceChanged(f"{source}: none of {len(reasons)} posts can be parsed; the first: {reasons[0]}")
    if reasons:
        log.warning(
            f"{source}: {len(reasons)} of {len(parsed_entries)} posts cannot be parsed",
            extra={"action": "posts_rejected", "source": source, "count": len(reasons), "reason": reasons[0]},
        )
    if len(entries) > len(parsed_entries):
        log.warning(
            f"{source}: only {len(parsed_entries)} of {len(entries)} posts are parsed",
            extra={"action": "posts_ignored", "source": source, "count": len(entries) - len(parsed_entries)},
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
    """Parse an ISO 8601 date and time with a time zone, or return None."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        parsed = datetime.fromisoformat(value)
        return parsed.astimezone(UTC) if parsed.tzinfo else None
    except (ValueError, OverflowError):
        return None
