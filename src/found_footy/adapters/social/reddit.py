"""Reddit: posts whose titles name the goal and whose links may hold a video, and the mirrors in their comments.

Each sport has its subreddit. Reddit's own search lags by minutes, so the newest posts are read, once for all goals, and
chosen from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from found_footy.adapters.social.reading import newest_first
from found_footy.adapters.social.reddit_reader import Listing, RedditReader
from found_footy.adapters.social.reddit_ways import (
    SOURCE,
    AtomWay,
    FragmentWay,
    OAuthWay,
    RedditComment,
    RedditKeys,
    RedditPost,
    RedditWay,
    WayName,
    at,
)
from found_footy.adapters.social.shared_cache import CacheWithFallback, LocalCache
from found_footy.domain.discovery.clip_hosts import is_plausible_clip_link, is_video_link
from found_footy.domain.discovery.posts import Post, clean_text
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.discovery.reddit_title import parse_title
from found_footy.domain.fixtures.model import Sport
from found_footy.ports import SharedCache

ALL_WAYS: tuple[WayName, ...] = ("oauth", "fragment", "atom")
THREAD_AGE = timedelta(minutes=15)
"""Comments are read of posts up to this age: a goal is searched for during about ten minutes."""
MAX_THREAD_LINKS = 10

_OWN_VIDEO = re.compile(r"https://v\.redd\.it/([A-Za-z0-9]{1,20})(?:[/?].*)?")
_MIRROR = re.compile(r"\b(?:mirrors?|alt(?:ernat\w+)?|angles?|aa|replays?|goal|clip|stream\w*)\b", re.IGNORECASE)


class Reddit:
    """`shared` makes all workers read as one; without it this process reads for itself."""

    def __init__(
        self,
        base_url: str,
        subreddit: str,
        cricket_subreddit: str = "Cricket",
        *,
        timeout: float,
        extra_hosts: Collection[str] = (),
        ways: Sequence[WayName] = ALL_WAYS,
        keys: RedditKeys | None = None,
        oauth_url: str = "https://oauth.reddit.com",
        shared: SharedCache | None = None,
        fresh_seconds: float = 15.0,
        comment_threads: int = 2,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._subreddits = {Sport.FOOTBALL: subreddit, Sport.CRICKET: cricket_subreddit}
        self._extra_hosts = frozenset(host.lower() for host in extra_hosts)
        self._threads = comment_threads
        self._now = now
        used = [way for way in ways if way != "oauth" or keys is not None]
        # One way that does not answer must leave time for the next.
        each = timeout / max(1, len(used))
        self._reader = RedditReader(
            [self._way(way, base_url, oauth_url, keys, each) for way in used],
            LocalCache() if shared is None else CacheWithFallback(shared),
            subreddits=list(self._subreddits.values()),
            timeout=timeout,
            fresh_seconds=fresh_seconds,
            now=now,
        )

    @staticmethod
    def _way(name: WayName, base_url: str, oauth_url: str, keys: RedditKeys | None, timeout: float) -> RedditWay:
        if name == "oauth" and keys is not None:
            return OAuthWay(base_url, oauth_url, keys, timeout)
        return FragmentWay(base_url, timeout) if name == "fragment" else AtomWay(base_url, timeout)

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        subreddit = self._subreddits[query.sport]
        if self._threads and (known := await self._reader.known(subreddit)):
            # Before the listing: where requests are scarce, it would take each of them.
            for thread in self._matching_threads(known, query):
                await self._reader.read_comments(thread, subreddit)
        listing = await self._reader.listing(subreddit)
        posts = list(self._posts(listing, query, subreddit))
        taken = {post.media_url for post in posts}
        if self._threads:
            for thread in self._matching_threads(listing, query):
                comments = await self._reader.known_comments(thread.id)
                posts += self._mirrors(thread, comments, subreddit, taken)
        return newest_first(posts, since)

    async def check(self) -> str:
        subreddit = self._subreddits[Sport.FOOTBALL]
        listing = await self._reader.listing(subreddit, refresh=True)
        return f"r/{subreddit} by {listing.label}: {len(listing.posts)} posts"

    async def aclose(self) -> None:
        await self._reader.aclose()

    def _posts(self, listing: Listing, query: SearchQuery, subreddit: str) -> Iterator[Post]:
        now = self._now()
        for post in listing.posts:
            if not title_matches(post.title, query):
                continue
            named = bool(query.words) or parse_title(clean_text(post.title)) is not None
            if (media_url := media_of(post.link, self._extra_hosts, any_host=named)) is None:
                continue
            yield Post(
                source=SOURCE,
                id=post.id,
                url=f"{self._base_url}/r/{subreddit}/comments/{post.id}/",
                media_url=media_url,
                posted_at=min(at(post.created), now),
                author=post.author,
                text=clean_text(post.title),
                duration=post.duration,
            )

    def _matching_threads(self, listing: Listing, query: SearchQuery) -> list[RedditPost]:
        """The oldest posts of the goal: that is where people put their mirrors."""
        oldest = self._now() - THREAD_AGE
        young = [post for post in listing.posts if at(post.created) >= oldest and title_matches(post.title, query)]
        return sorted(young, key=lambda post: post.created)[: self._threads]

    def _mirrors(
        self, thread: RedditPost, comments: Sequence[RedditComment], subreddit: str, taken: set[str]
    ) -> Iterator[Post]:
        """Links of a thread's comments, at most MAX_THREAD_LINKS. `taken` grows by what is given."""
        now, given = self._now(), 0
        for comment in comments:
            for number, link in enumerate(comment.links):
                any_host = _MIRROR.search(comment.text) is not None
                media_url = media_of(link, self._extra_hosts, any_host=any_host)
                if media_url is None or media_url in taken or given >= MAX_THREAD_LINKS:
                    continue
                taken.add(media_url)
                given += 1
                yield Post(
                    source=SOURCE,
                    id=f"{thread.id}/{comment.id}/{number}",
                    url=f"{self._base_url}/r/{subreddit}/comments/{thread.id}/comment/{comment.id}/",
                    media_url=media_url,
                    posted_at=min(at(comment.created), now),
                    author=comment.author,
                    text=clean_text(f"mirror of: {thread.title}"),
                )


def title_matches(title: str, query: SearchQuery) -> bool:
    """The title of a goal must name the scorer as the scorer: it may name who gave the pass, too."""
    cleaned = clean_text(title)
    goal = parse_title(cleaned)
    return query.matches(cleaned if goal is None else goal.named)


def media_of(link: str, extra_hosts: Collection[str], *, any_host: bool) -> str | None:
    """The address to download, or None. `any_host`: the words around the link promise a clip of the goal.

    Clip hosts change their names faster than a table of them, so then any public host is worth a try.
    """
    if own := _OWN_VIDEO.fullmatch(link):
        return f"https://v.redd.it/{own[1]}/HLSPlaylist.m3u8"
    worth_trying = is_plausible_clip_link if any_host else is_video_link
    return link if worth_trying(link, extra_hosts) else None
