"""X source, through the browser service. Post ids are validated by the creation time that they contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.sources import (
    InvalidPost,
    field,
    moment,
    newest_first,
    optional_text,
    parse_posts,
    raise_for_status,
    seconds,
    source_client,
    text,
)
from found_footy.errors import SourceChanged, SourceLoggedOut, SourceRateLimited, SourceUnavailable
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http import HttpResponse
from found_footy.text import MAX_ERROR_TEXT, clean_text

SNOWFLAKE_EPOCH = datetime(2010, 11, 4, 1, 42, 54, 657000, tzinfo=UTC)
"""Time of id 0: 1288834974657 ms after the Unix epoch."""
MAX_CLOCK_SKEW = timedelta(minutes=5)
"""Allowed clock skew."""
MAX_TIME_DIFFERENCE = timedelta(minutes=5)
"""Maximum difference between the time in the id and the displayed time."""

_DIGITS = re.compile(r"[1-9][0-9]{14,19}", re.ASCII)


def time_of_id(id_: str) -> datetime | None:
    """Return the time in an id, or None if the id is malformed."""
    if not _DIGITS.fullmatch(id_):
        return None
    try:
        return SNOWFLAKE_EPOCH + timedelta(milliseconds=int(id_) >> 22)
    except OverflowError:
        return None


def id_error(id_: str, displayed_at: datetime, now: datetime) -> str | None:
    """Return why an id cannot belong to a post with the displayed time, or None if it can."""
    created_at = time_of_id(id_)
    if created_at is None:
        return f"the id {id_[:30]!r} is not a number of 15 to 20 digits"
    if created_at > now + MAX_CLOCK_SKEW:
        return f"the id {id_} is from the future ({created_at:%Y-%m-%d %H:%M})"
    if abs(created_at - displayed_at) > MAX_TIME_DIFFERENCE:
        return f"the id {id_} is from {created_at:%Y-%m-%d %H:%M}, but the post is from {displayed_at:%Y-%m-%d %H:%M}"
    return None


# --- X source: searches through the browser service with a logged-in account.


SOURCE = "x"
MAX_RESULTS = 100
MAX_QUERY_LENGTH = 512 - len(" filter:videos")
"""X rejects longer queries; the browser service appends the filter."""

_AUTHOR = re.compile(r"\w{1,20}", re.ASCII)
_ERROR_CLASSES = {
    each.__name__: each for each in (SourceLoggedOut, SourceRateLimited, SourceChanged, SourceUnavailable)
}


class XSource:
    """Client of `footy browser`. Implements `SocialSource`."""

    def __init__(
        self,
        browser_url: str,
        x_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._http = source_client(browser_url, timeout, headers)
        self._x_url = x_url.rstrip("/")
        self._now = now

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        # A single text: each one uses a search call of the account's budget.
        (search_text,) = query.texts(MAX_QUERY_LENGTH, max_texts=1) or [""]
        if not search_text:
            return []
        params = {"q": search_text, "since": since.isoformat(), "limit": str(MAX_RESULTS)}
        response = await self._http.get("/search", params)
        _raise_for_error(response)
        return newest_first(parse_response(response.json(), self._x_url, self._now()), since)

    async def check(self) -> str:
        """Run the browser service's canary search, which is cached for a few minutes."""
        response = await self._http.get("/canary", {})
        _raise_for_error(response)
        posts, word = field(body := response.json(), "posts"), optional_text(body, "word")
        if not isinstance(posts, int):
            raise SourceChanged(f"{response.endpoint} does not state the number of posts")
        return f"a search for {clean_text(word, 50)!r} found {posts} posts"

    async def aclose(self) -> None:
        await self._http.aclose()


def parse_response(body: Any, x_url: str, now: datetime) -> list[Post]:
    return parse_posts(SOURCE, field(body, "posts"), lambda entry: _post(entry, x_url, now))


def _post(entry: Any, x_url: str, now: datetime) -> Post:
    displayed_at = moment(field(entry, "posted_at"))
    if displayed_at is None:
        raise InvalidPost("posted_at is not a time with a time zone")
    return x_post(
        text(entry, "id"),
        text(entry, "author").removeprefix("@"),
        displayed_at,
        clean_text(optional_text(entry, "text")),
        seconds(field(entry, "duration")),
        x_url,
        now,
    )


def x_post(
    id_: str, author: str, displayed_at: datetime, cleaned_text: str, duration: float | None, x_url: str, now: datetime
) -> Post:
    """Build a post on X for any source. Raises InvalidPost for an invalid id or author."""
    # A truncated id belongs to another post, or to none.
    if (error := id_error(id_, displayed_at, now)) is not None:
        raise InvalidPost(error)
    if not _AUTHOR.fullmatch(author):
        raise InvalidPost(f"invalid author {author[:30]!r}")
    url = f"{x_url}/{author}/status/{id_}"
    return Post(
        source=SOURCE,
        id=id_,
        url=url,
        media_url=url,
        posted_at=min(displayed_at, now),
        author=author,
        text=cleaned_text,
        duration=duration,
    )


def _raise_for_error(response: HttpResponse) -> None:
    """Raise the error class that the browser service reports."""
    if response.ok:
        return
    if not response.is_html:
        try:
            error = field(response.json(), "error")
        except SourceChanged:
            error = None
        error_class = _ERROR_CLASSES.get(optional_text(error, "class"))
        message = clean_text(optional_text(error, "message"), MAX_ERROR_TEXT)
        if optional_text(error, "class") == "NotAllowed":
            raise SourceUnavailable(f"{message}: set the same FOOTY_BROWSER_SECRET for `footy browser` and its clients")
        if error_class is not None:
            raise error_class(message or f"{response.endpoint} returned HTTP {response.status}")
        raise_for_status(response, message)
    raise_for_status(response)
