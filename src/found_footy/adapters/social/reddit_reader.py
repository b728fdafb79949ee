"""Reads subreddits once for all goals and all workers, within Reddit's limits.

What was read is kept in the shared cache, and so is everything that decides who may ask when:

    listing:{subreddit}     the newest posts, kept for KEPT_SECONDS
    fresh:{subreddit}       exists while that listing need not be read again
    reading:{subreddit}     held by the worker that reads it; the others wait for its result
    wanted:{subreddit}      exists while somebody asks for it, so that one Atom request can list several
    gate:{way}              held until the way may be asked again: its spacing, a stated limit, or a cool-down
    refused:{way}           what the way answered when it was refused, for as long as it is left alone
    remaining:{way}         requests left in the window, as the headers state
    comments:{post}, comments-read:{post}, gate:comments:{way}, refused:comments:{way}   the same for comments

The first way that answers wins. A refused way is left alone for a while, and the next one is used meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from found_footy.adapters.social.http import Answer
from found_footy.adapters.social.reddit_ways import (
    RedditComment,
    RedditPost,
    RedditWay,
    StatedLimit,
    as_json,
    comments_from_json,
    dumped,
    posts_from_json,
    stated_limit,
)
from found_footy.domain.errors import (
    SourceBlocked,
    SourceChanged,
    SourceError,
    SourceLoggedOut,
    SourceRateLimited,
    SourceUnavailable,
)
from found_footy.ports import SharedCache

KEPT_SECONDS = 150.0
"""How old a listing may be if no way may be asked: with Atom alone there is one request a minute for everything."""
WANTED_SECONDS = 180.0
COMMENTS_KEPT_SECONDS = 900.0
REFUSED_SECONDS = 900.0
CHANGED_SECONDS = 300.0
LIMITED_SECONDS = 60.0
"""After a limit that states no end."""
UNAVAILABLE_SECONDS = 10.0
MAX_PAUSE_SECONDS = 3600.0
COMMENT_RESERVE = 20.0
"""Requests of a window that comments leave to the listings."""
READS_PER_COMMENT_READ = 10
"""A thread is read again after so many times the age at which a listing is read again."""
LISTINGS_PER_COMMENTS = 3
"""So many threads may be read in the time in which a listing is fresh."""
POLL_SECONDS = 0.05

log = logging.getLogger(__name__)
T = TypeVar("T")

KINDS: dict[str, type[SourceError]] = {
    kind.__name__: kind for kind in (SourceUnavailable, SourceRateLimited, SourceLoggedOut, SourceChanged)
}


@dataclass(frozen=True, slots=True)
class Listing:
    """A subreddit's newest posts, and the way by which they came."""

    way: str
    label: str
    posts: tuple[RedditPost, ...]


class RedditReader:
    """`ways` in the order in which they are tried. `timeout` bounds a whole search."""

    def __init__(
        self,
        ways: Sequence[RedditWay],
        shared: SharedCache,
        *,
        subreddits: Sequence[str],
        timeout: float,
        fresh_seconds: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._ways = tuple(ways)
        self._shared = shared
        self._timeout = timeout
        self._patience = timeout / 4
        self._fresh_seconds = fresh_seconds
        self._now = now
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._subreddits = tuple(subreddits)

    async def aclose(self) -> None:
        for way in self._ways:
            await way.aclose()

    async def listing(self, subreddit: str, *, refresh: bool = False) -> Listing:
        """The newest posts, at most KEPT_SECONDS old. `refresh` asks even if the last listing is still fresh.

        Raises a SourceError that names what each way answered.
        """
        await self._shared.put(f"wanted:{subreddit}", b"1", WANTED_SECONDS)
        async with self._locks[subreddit]:
            if not refresh and (fresh := await self._fresh(subreddit)):
                return fresh
            clock = asyncio.get_running_loop().time
            deadline = clock() + self._timeout / 2
            while await self._shared.acquire(f"reading:{subreddit}", self._timeout * 2) > 0:
                if clock() > deadline:
                    # It was killed, or its request takes long.
                    if known := await self.known(subreddit):
                        return known
                    raise SourceUnavailable(f"r/{subreddit} is being read by another worker, without a result so far")
                await asyncio.sleep(POLL_SECONDS)
                if fresh := await self._fresh(subreddit):
                    return fresh
            try:
                # Somebody else may have read it between our look and our turn.
                if not refresh and (fresh := await self._fresh(subreddit)):
                    return fresh
                return await self._read(subreddit)
            finally:
                await self._shared.release(f"reading:{subreddit}")

    async def known(self, subreddit: str) -> Listing | None:
        """The last listing, without a request."""
        kept = await self._shared.get(f"listing:{subreddit}")
        return None if kept is None else _listing_from(kept)

    async def known_comments(self, post_id: str) -> list[RedditComment]:
        kept = await self._shared.get(f"comments:{post_id}")
        with suppress(ValueError, KeyError, TypeError):  # written by another version
            return [] if kept is None else comments_from_json(json.loads(kept))
        return []

    async def read_comments(self, post: RedditPost, subreddit: str) -> None:
        """Read a thread again if it is due and a request is free at once; otherwise do nothing.

        Comments are an extra: they never wait, and a failure is logged instead of failing the search.
        """
        again = self._fresh_seconds * READS_PER_COMMENT_READ
        if await self._shared.get(f"comments-read:{post.id}") is not None:
            return
        way = await self._way_for_comments()
        if way is None or await self._shared.acquire(f"comments-read:{post.id}", again) > 0:
            return
        try:
            comments = await self._request(
                way, partial(way.ask_comments, subreddit, post.id), way.read_comments, whole_way=False
            )
        except SourceError as error:
            log.warning(
                f"{way.name}: {error}",
                extra={"action": "reddit_comments_failed", "source": "reddit", "way": way.name, "error": error.kind},
            )
            return
        await self._shared.put(f"comments:{post.id}", dumped(as_json(comments)), COMMENTS_KEPT_SECONDS)

    async def _fresh(self, subreddit: str) -> Listing | None:
        return await self.known(subreddit) if await self._shared.get(f"fresh:{subreddit}") else None

    async def _read(self, subreddit: str) -> Listing:
        failures: list[tuple[str, SourceError]] = []
        pausing = False
        for way in self._ways:
            if (closed := await self._pass_gate(way)) is not None:
                failures.append((way.name, closed))
                pausing |= isinstance(closed, SourceRateLimited)
                continue
            subreddits = await self._together(way, subreddit)
            try:
                posts = await self._request(way, partial(way.ask_listing, subreddits), way.read_listing)
            except SourceError as error:
                failures.append((way.name, error))
                pausing |= isinstance(error, SourceRateLimited)
                log.warning(
                    f"{way.name}: {error}",
                    extra={"action": "reddit_way_failed", "source": "reddit", "way": way.name, "error": error.kind},
                )
                continue
            return await self._keep(way, subreddit, subreddits, posts)
        if pausing and (known := await self.known(subreddit)):
            return known
        raise _combined(failures)

    async def _keep(
        self, way: RedditWay, subreddit: str, subreddits: Sequence[str], posts: Sequence[RedditPost]
    ) -> Listing:
        """An answer over several subreddits is kept for each of them."""
        listings = {name: Listing(way.name, way.label, _posts_of(name, subreddits, posts)) for name in subreddits}
        for name, listing in listings.items():
            kept = {"way": listing.way, "label": listing.label, "posts": as_json(listing.posts)}
            await self._shared.put(f"listing:{name}", dumped(kept), KEPT_SECONDS)
            await self._shared.put(f"fresh:{name}", b"1", self._fresh_seconds)
        return listings[subreddit]

    async def _together(self, way: RedditWay, subreddit: str) -> list[str]:
        others = [name for name in self._subreddits if way.combines and name != subreddit]
        return [subreddit] + [name for name in others if await self._shared.get(f"wanted:{name}") is not None]

    async def _pass_gate(self, way: RedditWay) -> SourceError | None:
        """None if the way may be asked now; waits a little if that is enough."""
        wait = await self._shared.acquire(f"gate:{way.name}", way.spacing)
        if 0 < wait <= self._patience and await self._shared.get(f"refused:{way.name}") is None:
            await asyncio.sleep(wait)
            wait = await self._shared.acquire(f"gate:{way.name}", way.spacing)
        if wait <= 0:
            return None
        refused = await self._shared.get(f"refused:{way.name}")
        if refused is None:
            return SourceRateLimited(f"next request in {wait:.0f} s")
        what = json.loads(refused)
        return KINDS.get(what["kind"], SourceUnavailable)(f"{what['message']}; next attempt in {wait:.0f} s")

    async def _way_for_comments(self) -> RedditWay | None:
        """The first way that is not refused, if it has a request to spare now."""
        for way in self._ways:
            refused = f"refused:{way.name}", f"refused:comments:{way.name}"
            if any([await self._shared.get(key) is not None for key in refused]):
                continue
            left = await self._shared.get(f"remaining:{way.name}")
            if left is not None and float(left) < COMMENT_RESERVE:
                return None
            spacing = max(way.comment_spacing, self._fresh_seconds / LISTINGS_PER_COMMENTS)
            if await self._shared.get(f"gate:comments:{way.name}") is not None:
                return None
            if await self._shared.acquire(f"gate:{way.name}", way.spacing) > 0:
                return None
            return way if await self._shared.acquire(f"gate:comments:{way.name}", spacing) <= 0 else None
        return None

    async def _request(
        self,
        way: RedditWay,
        ask: Callable[[], Awaitable[Answer]],
        read: Callable[[Answer], list[T]],
        *,
        whole_way: bool = True,
    ) -> list[T]:
        """One request. Limits and refusals are noted for all workers.

        `whole_way`: whether a refusal of this request closes the way for everything, or for comments only.
        """
        stated = StatedLimit(None, 0.0, 0.0)
        try:
            answer = await ask()
            stated = stated_limit(answer, now=self._now())
            if stated.remaining is not None and stated.window > 0:
                await self._shared.put(
                    f"remaining:{way.name}", str(stated.remaining).encode(), min(stated.window, MAX_PAUSE_SECONDS)
                )
            if stated.pause > 0:
                await self._shared.extend(f"gate:{way.name}", min(stated.pause, MAX_PAUSE_SECONDS))
            # Pages are large, and other work waits on the event loop.
            return await asyncio.to_thread(read, answer)
        except SourceError as error:
            seconds = min(self._cool_down(error, stated), MAX_PAUSE_SECONDS)
            if whole_way or isinstance(error, SourceRateLimited):
                what = {"kind": error.kind, "message": str(error)}
                await self._shared.put(f"refused:{way.name}", dumped(what), seconds)
                await self._shared.extend(f"gate:{way.name}", seconds)
            else:
                await self._shared.put(f"refused:comments:{way.name}", str(error).encode(), seconds)
            if isinstance(error, SourceRateLimited):
                raise SourceRateLimited(f"{error}; next request in {seconds:.0f} s") from None
            raise

    def _cool_down(self, error: SourceError, stated: StatedLimit) -> float:
        match error:
            case SourceRateLimited():
                return stated.pause or LIMITED_SECONDS
            case SourceLoggedOut():
                return REFUSED_SECONDS
            case SourceChanged():
                return CHANGED_SECONDS
            case _:
                return max(stated.pause, min(UNAVAILABLE_SECONDS, self._fresh_seconds))


def _posts_of(name: str, subreddits: Sequence[str], posts: Sequence[RedditPost]) -> tuple[RedditPost, ...]:
    return tuple(post for post in posts if len(subreddits) == 1 or post.subreddit.lower() == name.lower())


def _listing_from(kept: bytes) -> Listing | None:
    with suppress(ValueError, KeyError, TypeError):  # written by another version
        read = json.loads(kept)
        return Listing(read["way"], read["label"], tuple(posts_from_json(read["posts"])))
    return None


def _combined(failures: Sequence[tuple[str, SourceError]]) -> SourceError:
    """One error for all ways, with what each answered. A limit ends by itself, so it comes before a refusal."""
    said = "; ".join(f"{way}: {error}" for way, error in failures) or "no way is switched on"
    for kind in (SourceRateLimited, SourceUnavailable, SourceChanged):
        if any(isinstance(error, kind) for _, error in failures):
            return kind(f"reddit: {said}")
    if any(way != "oauth" for way, _ in failures):
        return SourceBlocked(f"Reddit refuses this address without a login: {said}")
    return SourceLoggedOut(f"reddit: {said}")
