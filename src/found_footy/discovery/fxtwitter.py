"""X without a login, through the search API of FxEmbed (api.fxtwitter.com or a self-hosted instance).

Posts have X's id, `source="x"` and the URL of their page on X, so a post that source `x` also finds is one candidate
and one download. The downloader gets the page URL instead of the mp4 in the response: it resolves posts itself, with a
fallback, and follows no link of the response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.sources import (
    InvalidPost,
    field,
    newest_first,
    optional_text,
    parse_posts,
    raise_for_status,
    seconds,
    source_client,
    text,
    within,
)
from found_footy.discovery.x import x_post
from found_footy.errors import SourceChanged, SourceRateLimited, SourceUnavailable
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http import HttpResponse
from found_footy.storage.limits import Cooldown, LocalSourceLimits, SourceLimits
from found_footy.text import clean_text

SOURCE = "fxtwitter"
SEARCH = "/2/search"
PAGE_SIZE = 50
VIDEO_FILTER = " filter:videos"
MAX_QUERY_LENGTH = 512
"""FxEmbed, like X, rejects longer queries with HTTP 400."""

CANARY_WORD = "goal"
"""A word that occurs in new posts with a video every second."""
CANARY_SECONDS = 180.0
"""How long after a search with results an empty response still means "no results"."""
CANARY_FAILURE_SECONDS = 30.0

COOLDOWN = timedelta(seconds=60)
"""Pause after a 429 without a usable Retry-After: the documented rate limit window."""
MAX_COOLDOWN = timedelta(minutes=15)

_UP, _DOWN = b"up", b"down"


class FxTwitter:
    """Implements `SocialSource`."""

    def __init__(
        self,
        base_url: str,
        x_url: str,
        *,
        timeout: float,
        limits: SourceLimits | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._http = source_client(base_url, timeout)
        self._x_url = x_url.rstrip("/")
        self._timeout = timeout
        self._limits = limits or LocalSourceLimits()
        self._now = now
        self._canary_lock = asyncio.Lock()

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        texts = query.texts(MAX_QUERY_LENGTH - len(VIDEO_FILTER))
        async with within(self._timeout, SOURCE):
            result_lists = [await self._fetch_results(search_text) for search_text in texts]
            if any(results is None for results in result_lists):
                await self._require_canary()
        now = self._now()
        found: list[Post] = []
        for results in result_lists:
            if results is not None:
                found += parse_results(results, self._x_url, now)
        return newest_first(found, since)

    async def check(self) -> str:
        async with within(self._timeout, SOURCE):
            results = await self._fetch_results(CANARY_WORD)
        posts = [] if results is None else parse_results(results, self._x_url, self._now())
        if not posts:
            raise SourceUnavailable(_search_down_message())
        return f"a search for {CANARY_WORD!r} found {len(posts)} posts with a video"

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _fetch_results(self, search_text: str) -> Any | None:
        """Return the result list, or None for an empty 404, which means "no results" or "search is down"."""
        cooldown = await self._limits.cooldown()
        if cooldown is not None:
            raise _rate_limit_error(cooldown)
        async with self._limits.permit():
            response = await self._http.get(
                SEARCH, {"q": search_text + VIDEO_FILTER, "feed": "latest", "count": str(PAGE_SIZE)}
            )
        if response.status == 429:
            until = self._now() + cooldown_length(response.retry_after(self._now()))
            cooldown = Cooldown(until, SourceRateLimited.__name__, f"{response.endpoint} returned HTTP 429")
            await self._limits.cool_down(cooldown)
            raise _rate_limit_error(cooldown)
        results = extract_results(response)
        if results:
            await self._limits.put("canary", _UP, CANARY_SECONDS)
        return results

    async def _require_canary(self) -> None:
        """Raise SourceUnavailable if even a common word has no results (FxEmbed#2303)."""
        async with self._canary_lock:
            state = await self._limits.get("canary")
            if state is None:
                state = _UP if await self._fetch_results(CANARY_WORD) else _DOWN
                if state == _DOWN:
                    await self._limits.put("canary", _DOWN, CANARY_FAILURE_SECONDS)
        if state != _UP:
            raise SourceUnavailable(_search_down_message())


def _rate_limit_error(cooldown: Cooldown) -> SourceRateLimited:
    message = f"{SOURCE}: {cooldown.reason}; no request before {cooldown.until:%H:%M:%S} UTC"
    return SourceRateLimited.ending(cooldown.until, message)


def _search_down_message() -> str:
    return f"{SOURCE}: search is down: a search for {CANARY_WORD!r} found nothing"


def extract_results(response: HttpResponse) -> list[Any] | None:
    """Return the results, or None for an empty 404. Raises the SourceError for the response."""
    if response.status in (401, 403):
        raise SourceUnavailable(
            f"{response.endpoint} returned HTTP {response.status}: FxEmbed blocks this IP address; wait, or set "
            "FOOTY_FXTWITTER_URL to your own instance"
        )
    if response.status not in (200, 404) or response.is_html:
        raise_for_status(response, "" if response.is_html else response.excerpt)
    body = response.json()
    results = field(body, "results")
    # The code in the body decides: errors are also sent with HTTP 200.
    code = field(body, "code")
    if not isinstance(results, list) or code not in (200, 404, 500):
        message = clean_text(optional_text(body, "message"), 100)
        raise SourceChanged(f"{response.endpoint} returned HTTP {response.status} without a list of posts: {message}")
    if code == 500:
        raise SourceUnavailable(f"{response.endpoint} returned code 500: X did not respond to FxEmbed")
    return None if code == 404 and not results else results


def parse_results(results: list[Any], x_url: str, now: datetime) -> list[Post]:
    return parse_posts(SOURCE, results, lambda entry: _post(entry, x_url, now))


def _post(entry: Any, x_url: str, now: datetime) -> Post | None:
    id_, author = text(entry, "id"), text(entry, "author", "screen_name")
    videos = field(entry, "media", "videos")
    post = x_post(
        id_,
        author,
        _posted_at(entry),
        clean_text(optional_text(entry, "text")),
        _duration(videos),
        x_url,
        now,
    )
    # A GIF on X is a short silent loop.
    has_video = isinstance(videos, list) and any(field(each, "type") == "video" for each in videos[:10])
    return post if has_video else None


def _posted_at(entry: Any) -> datetime:
    at = field(entry, "created_timestamp")
    if isinstance(at, int | float) and not isinstance(at, bool) and 1e9 <= at < 1e10:
        return datetime.fromtimestamp(at, UTC)
    try:
        # Fri Aug 14 19:59:04 +0000 2026
        return datetime.strptime(optional_text(entry, "created_at")[:40], "%a %b %d %H:%M:%S %z %Y").astimezone(UTC)
    except ValueError:
        raise InvalidPost("created_timestamp and created_at are not times") from None


def _duration(videos: Any) -> float | None:
    candidates = videos[:10] if isinstance(videos, list) else []
    return next((seconds(field(each, "duration")) for each in candidates if field(each, "type") == "video"), None)


def cooldown_length(retry_after: timedelta | None) -> timedelta:
    wait = COOLDOWN if retry_after is None else retry_after
    return min(max(wait, timedelta(seconds=1)), MAX_COOLDOWN)
