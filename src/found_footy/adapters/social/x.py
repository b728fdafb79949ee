"""X, searched through our own browser service with a logged-in account."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from found_footy.adapters.social.http import Answer, SourceHttp, raise_for_status
from found_footy.adapters.social.reading import (
    BadPost,
    field,
    moment,
    newest_first,
    optional_text,
    read_all,
    seconds,
    text,
)
from found_footy.adapters.social.snowflake import fault_of
from found_footy.domain.discovery.posts import Post, clean_text
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.errors import (
    SourceChanged,
    SourceLoggedOut,
    SourceRateLimited,
    SourceUnavailable,
)

SOURCE = "x"
LIMIT = 100
MAX_QUERY_LENGTH = 512 - len(" filter:videos")
"""X refuses longer queries; the browser service adds the filter."""

_AUTHOR = re.compile(r"\w{1,20}", re.ASCII)
_CLASSES = {each.__name__: each for each in (SourceLoggedOut, SourceRateLimited, SourceChanged, SourceUnavailable)}


class XSource:
    """A client of `footy browser`."""

    def __init__(
        self,
        browser_url: str,
        x_url: str,
        *,
        timeout: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._http = SourceHttp(browser_url, timeout)
        self._x_url = x_url.rstrip("/")
        self._now = now

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        # One text only: each costs a call of the account's budget.
        (words,) = query.texts(MAX_QUERY_LENGTH, most=1) or [""]
        if not words:
            return []
        params = {"q": words, "since": since.isoformat(), "limit": str(LIMIT)}
        answer = await self._http.get("/search", params)
        _raise_for_error(answer)
        return newest_first(read_answer(answer.json(), self._x_url, self._now()), since)

    async def check(self) -> str:
        """The browser's own try-out search, which it repeats at most every few minutes."""
        answer = await self._http.get("/canary", {})
        _raise_for_error(answer)
        posts, word = field(body := answer.json(), "posts"), optional_text(body, "word")
        if not isinstance(posts, int):
            raise SourceChanged(f"{answer.where} does not say how many posts it found")
        return f"a search for {clean_text(word, 50)!r} found {posts} posts"

    async def aclose(self) -> None:
        await self._http.aclose()


def read_answer(body: Any, x_url: str, now: datetime) -> list[Post]:
    return read_all(SOURCE, field(body, "posts"), lambda entry: _post(entry, x_url, now))


def _post(entry: Any, x_url: str, now: datetime) -> Post:
    shown = moment(field(entry, "posted_at"))
    if shown is None:
        raise BadPost("posted_at is not a time with a zone")
    return x_post(
        text(entry, "id"),
        text(entry, "author").removeprefix("@"),
        shown,
        clean_text(optional_text(entry, "text")),
        seconds(field(entry, "duration")),
        x_url,
        now,
    )


def x_post(
    id_: str, author: str, shown: datetime, words: str, duration: float | None, x_url: str, now: datetime
) -> Post:
    """A post on X, whichever source found it. Raises BadPost for an id or an author that cannot be real."""
    # Truncated ids lead to other people's posts, or to none.
    if (fault := fault_of(id_, shown, now)) is not None:
        raise BadPost(fault)
    if not _AUTHOR.fullmatch(author):
        raise BadPost(f"invalid author {author[:30]!r}")
    url = f"{x_url}/{author}/status/{id_}"
    return Post(
        source=SOURCE,
        id=id_,
        url=url,
        media_url=url,
        posted_at=min(shown, now),
        author=author,
        text=words,
        duration=duration,
    )


def _raise_for_error(answer: Answer) -> None:
    """The browser service knows what it saw, and says its class."""
    if answer.ok:
        return
    if not answer.is_page:
        try:
            error = field(answer.json(), "error")
        except SourceChanged:
            error = None
        named = _CLASSES.get(optional_text(error, "class"))
        message = clean_text(optional_text(error, "message"), 300)
        if named is not None:
            raise named(message or f"{answer.where} answered HTTP {answer.status}")
        raise_for_status(answer, message)
    raise_for_status(answer)
