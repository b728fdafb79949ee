"""Reads each subreddit once for all goals and workers, within Reddit's limits."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from found_footy.discovery.reddit_clients import (
    RateLimitHeaders,
    RedditClient,
    RedditComment,
    RedditPost,
    parse_rate_limit,
)
from found_footy.errors import (
    SourceBlocked,
    SourceChanged,
    SourceError,
    SourceLoggedOut,
    SourceRateLimited,
    SourceUnavailable,
)
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http import HttpResponse
from found_footy.storage.limits import SourceLimits

LISTING_TTL_SECONDS = 150.0
"""Maximum age of a listing while no client may send a request: Atom allows one request a minute in total."""
DEMAND_TTL_SECONDS = 180.0
COMMENTS_TTL_SECONDS = 900.0
REFUSED_PAUSE_SECONDS = 900.0
CHANGED_PAUSE_SECONDS = 300.0
RATE_LIMIT_PAUSE_SECONDS = 60.0
"""Pause after a rate limit without a stated end."""
UNAVAILABLE_PAUSE_SECONDS = 10.0
MAX_PAUSE_SECONDS = 3600.0
LISTING_RESERVE = 20.0
"""Requests of a window that are reserved for listings."""
COMMENT_INTERVAL_FACTOR = 10
"""Interval between two reads of a thread, as a multiple of `fresh_seconds`."""
THREADS_PER_LISTING = 3
"""Number of threads that may be read per `fresh_seconds`."""
POLL_SECONDS = 0.05

log = logging.getLogger(__name__)
T = TypeVar("T")

ERROR_CLASSES: dict[str, type[SourceError]] = {
    kind.__name__: kind for kind in (SourceUnavailable, SourceRateLimited, SourceLoggedOut, SourceChanged)
}


@dataclass(frozen=True, slots=True)
class Listing:
    """A subreddit's newest posts, and the client that returned them."""

    client: str
    label: str
    posts: tuple[RedditPost, ...]


class RedditReader:
    """Reads listings and comments. `clients` are tried in order. `timeout` limits a whole search."""

    def __init__(
        self,
        clients: Sequence[RedditClient],
        limits: SourceLimits,
        *,
        subreddits: Sequence[str],
        timeout: float,
        fresh_seconds: float,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._clients = tuple(clients)
        self._limits = limits
        self._timeout = timeout
        self._max_gate_wait = timeout / 4
        self._fresh_seconds = fresh_seconds
        self._now = now
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._subreddits = tuple(subreddits)

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()

    async def listing(self, subreddit: str, *, refresh: bool = False) -> Listing:
        """Return the newest posts, cached for at most LISTING_TTL_SECONDS. `refresh` forces a request.

        Raises a SourceError with the failure of each client.
        """
        await self._limits.put(f"wanted:{subreddit}", b"1", DEMAND_TTL_SECONDS)
        async with self._locks[subreddit]:
            if not refresh and (fresh := await self._fresh(subreddit)):
                return fresh
            clock = asyncio.get_running_loop().time
            deadline = clock() + self._timeout / 2
            while await self._limits.hold(f"reading:{subreddit}", self._timeout * 2) > 0:
                if clock() > deadline:
                    # The worker that reads it was killed, or its request is slow.
                    if cached := await self.cached(subreddit):
                        return cached
                    raise SourceUnavailable(f"r/{subreddit} is being read by another worker, which has no result yet")
                await asyncio.sleep(POLL_SECONDS)
                if fresh := await self._fresh(subreddit):
                    return fresh
            try:
                # Another worker may have finished between the check and the lock.
                if not refresh and (fresh := await self._fresh(subreddit)):
                    return fresh
                return await self._read(subreddit)
            finally:
                await self._limits.release(f"reading:{subreddit}")

    async def cached(self, subreddit: str) -> Listing | None:
        """Return the cached listing without sending a request."""
        stored = await self._limits.get(f"listing:{subreddit}")
        return None if stored is None else _listing_from_json(stored)

    async def cached_comments(self, post_id: str) -> list[RedditComment]:
        stored = await self._limits.get(f"comments:{post_id}")
        with suppress(ValueError, KeyError, TypeError):  # written by another version
            return [] if stored is None else comments_from_json(json.loads(stored))
        return []

    async def read_comments(self, post: RedditPost, subreddit: str) -> None:
        """Read a thread's comments if they are due and a request is available; otherwise do nothing.

        Comments are optional: reading them never waits, and a failure is logged instead of failing the search.
        """
        interval = self._fresh_seconds * COMMENT_INTERVAL_FACTOR
        if await self._limits.get(f"comments-read:{post.id}") is not None:
            return
        client = await self._acquire_comment_request()
        if client is None or await self._limits.hold(f"comments-read:{post.id}", interval) > 0:
            return
        try:
            comments = await self._request(
                client, partial(client.request_comments, subreddit, post.id), client.read_comments, whole_client=False
            )
        except SourceError as error:
            log.warning(
                f"{client.name}: {error}",
                extra={"action": "reddit_comments_failed", "source": "reddit", "way": client.name, "error": error.kind},
            )
            return
        await self._limits.put(f"comments:{post.id}", to_json_bytes(to_dicts(comments)), COMMENTS_TTL_SECONDS)

    async def _fresh(self, subreddit: str) -> Listing | None:
        return await self.cached(subreddit) if await self._limits.get(f"fresh:{subreddit}") else None

    async def _read(self, subreddit: str) -> Listing:
        failures: list[tuple[str, SourceError]] = []
        is_rate_limited = False
        for client in self._clients:
            if (unavailable := await self._acquire_request(client)) is not None:
                failures.append((client.name, unavailable))
                is_rate_limited |= isinstance(unavailable, SourceRateLimited)
                continue
            subreddits = await self._subreddits_of_request(client, subreddit)
            try:
                posts = await self._request(client, partial(client.request_listing, subreddits), client.parse_listing)
            except SourceError as error:
                failures.append((client.name, error))
                is_rate_limited |= isinstance(error, SourceRateLimited)
                log.warning(
                    f"{client.name}: {error}",
                    extra={
                        "action": "reddit_client_failed",
                        "source": "reddit",
                        "way": client.name,
                        "error": error.kind,
                    },
                )
                continue
            return await self._cache_listings(client, subreddit, subreddits, posts)
        if is_rate_limited and (cached := await self.cached(subreddit)):
            return cached
        raise _combine_failures(failures)

    async def _cache_listings(
        self, client: RedditClient, subreddit: str, subreddits: Sequence[str], posts: Sequence[RedditPost]
    ) -> Listing:
        """Store the response for each subreddit that it covers."""
        listings = {name: Listing(client.name, client.label, _posts_of(name, subreddits, posts)) for name in subreddits}
        for name, listing in listings.items():
            stored = {"way": listing.client, "label": listing.label, "posts": to_dicts(listing.posts)}
            await self._limits.put(f"listing:{name}", to_json_bytes(stored), LISTING_TTL_SECONDS)
            await self._limits.put(f"fresh:{name}", b"1", self._fresh_seconds)
        return listings[subreddit]

    async def _subreddits_of_request(self, client: RedditClient, subreddit: str) -> list[str]:
        others = [name for name in self._subreddits if client.combines and name != subreddit]
        return [subreddit] + [name for name in others if await self._limits.get(f"wanted:{name}") is not None]

    async def _acquire_request(self, client: RedditClient) -> SourceError | None:
        """Reserve a request, after a short wait if necessary. Return None if it is granted, otherwise the reason."""
        wait = await self._limits.hold(f"gate:{client.name}", client.spacing)
        if 0 < wait <= self._max_gate_wait and await self._limits.get(f"refused:{client.name}") is None:
            await asyncio.sleep(wait)
            wait = await self._limits.hold(f"gate:{client.name}", client.spacing)
        if wait <= 0:
            return None
        refused = await self._limits.get(f"refused:{client.name}")
        if refused is None:
            return SourceRateLimited(f"next request in {wait:.0f} s")
        refusal = json.loads(refused)
        return ERROR_CLASSES.get(refusal["kind"], SourceUnavailable)(
            f"{refusal['message']}; next attempt in {wait:.0f} s"
        )

    async def _acquire_comment_request(self) -> RedditClient | None:
        """Reserve a comment request of the first client that is not refused; None if it has none to spare."""
        for client in self._clients:
            refused = f"refused:{client.name}", f"refused:comments:{client.name}"
            if any([await self._limits.get(key) is not None for key in refused]):
                continue
            remaining = await self._limits.get(f"remaining:{client.name}")
            if remaining is not None and float(remaining) < LISTING_RESERVE:
                return None
            spacing = max(client.comment_spacing, self._fresh_seconds / THREADS_PER_LISTING)
            if await self._limits.get(f"gate:comments:{client.name}") is not None:
                return None
            if await self._limits.hold(f"gate:{client.name}", client.spacing) > 0:
                return None
            return client if await self._limits.hold(f"gate:comments:{client.name}", spacing) <= 0 else None
        return None

    async def _request(
        self,
        client: RedditClient,
        send: Callable[[], Awaitable[HttpResponse]],
        parse: Callable[[HttpResponse], list[T]],
        *,
        whole_client: bool = True,
    ) -> list[T]:
        """Send one request. Limits and refusals are shared with all workers.

        With `whole_client`, a refusal pauses the client completely; otherwise only its comment requests.
        """
        limit = RateLimitHeaders(None, 0.0, 0.0)
        try:
            response = await send()
            limit = parse_rate_limit(response, now=self._now())
            if limit.remaining is not None and limit.window > 0:
                await self._limits.put(
                    f"remaining:{client.name}", str(limit.remaining).encode(), min(limit.window, MAX_PAUSE_SECONDS)
                )
            if limit.pause > 0:
                await self._limits.extend(f"gate:{client.name}", min(limit.pause, MAX_PAUSE_SECONDS))
            # Parsing large pages would block the event loop.
            return await asyncio.to_thread(parse, response)
        except SourceError as error:
            pause = min(self._pause_after(error, limit), MAX_PAUSE_SECONDS)
            if whole_client or isinstance(error, SourceRateLimited):
                refusal = {"kind": error.kind, "message": str(error)}
                await self._limits.put(f"refused:{client.name}", to_json_bytes(refusal), pause)
                await self._limits.extend(f"gate:{client.name}", pause)
            else:
                await self._limits.put(f"refused:comments:{client.name}", str(error).encode(), pause)
            if isinstance(error, SourceRateLimited):
                raise SourceRateLimited(f"{error}; next request in {pause:.0f} s") from None
            raise

    def _pause_after(self, error: SourceError, limit: RateLimitHeaders) -> float:
        match error:
            case SourceRateLimited():
                return limit.pause or RATE_LIMIT_PAUSE_SECONDS
            case SourceLoggedOut():
                return REFUSED_PAUSE_SECONDS
            case SourceChanged():
                return CHANGED_PAUSE_SECONDS
            case _:
                return max(limit.pause, min(UNAVAILABLE_PAUSE_SECONDS, self._fresh_seconds))


def _posts_of(name: str, subreddits: Sequence[str], posts: Sequence[RedditPost]) -> tuple[RedditPost, ...]:
    return tuple(post for post in posts if len(subreddits) == 1 or post.subreddit.lower() == name.lower())


def _listing_from_json(stored: bytes) -> Listing | None:
    with suppress(ValueError, KeyError, TypeError):  # written by another version
        fields = json.loads(stored)
        return Listing(fields["way"], fields["label"], tuple(posts_from_json(fields["posts"])))
    return None


def _combine_failures(failures: Sequence[tuple[str, SourceError]]) -> SourceError:
    """Combine the failures of all clients into one error. A rate limit takes precedence, because it ends by itself."""
    details = "; ".join(f"{client}: {error}" for client, error in failures) or "no access method is enabled"
    for kind in (SourceRateLimited, SourceUnavailable, SourceChanged):
        if any(isinstance(error, kind) for _, error in failures):
            return kind(f"reddit: {details}")
    if any(client != "oauth" for client, _ in failures):
        return SourceBlocked(f"Reddit blocks this IP address without a login: {details}")
    return SourceLoggedOut(f"reddit: {details}")


def to_dicts(entries: Sequence[RedditPost | RedditComment]) -> list[dict[str, Any]]:
    return [asdict(entry) for entry in entries]


def posts_from_json(entries: Any) -> list[RedditPost]:
    return [RedditPost(**entry) for entry in entries]


def comments_from_json(entries: Any) -> list[RedditComment]:
    return [RedditComment(**{**entry, "links": tuple(entry["links"])}) for entry in entries]


def to_json_bytes(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def from_timestamp(created: float) -> datetime:
    return datetime.fromtimestamp(created, UTC)
