"""Reddit: the newest posts of a subreddit for each sport, whose titles name the goal and whose links lead to a video.

Reddit's own search lags by minutes, so the list of new posts is read and chosen from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from found_footy.adapters.social.http import Answer, SourceHttp, raise_for_status
from found_footy.adapters.social.reading import (
    BadPost,
    field,
    newest_first,
    optional_text,
    read_all,
    seconds,
    text,
)
from found_footy.adapters.social.video_hosts import is_video_link, split
from found_footy.domain.discovery.posts import Post, clean_text
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.discovery.reddit_title import parse_title
from found_footy.domain.errors import SourceChanged, SourceLoggedOut
from found_footy.domain.fixtures.model import Sport

SOURCE = "reddit"
LIMIT = 100
OWN_HOST = "v.redd.it"

_ID = re.compile(r"[a-z0-9]{1,13}", re.ASCII)
_BLOCKED = re.compile(rb"whoa there, pardner|blocked by network|<title>\s*blocked", re.IGNORECASE)


class Reddit:
    def __init__(
        self,
        base_url: str,
        subreddit: str,
        cricket_subreddit: str = "Cricket",
        *,
        timeout: float,
        extra_hosts: Collection[str] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._http = SourceHttp(base_url, timeout)
        self._subreddits = {Sport.FOOTBALL: subreddit, Sport.CRICKET: cricket_subreddit}
        self._extra_hosts = frozenset(host.lower() for host in extra_hosts)
        self._now = now

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        subreddit = self._subreddits[query.sport]
        body = await self._listing(subreddit, LIMIT)
        now = self._now()
        read = read_all(SOURCE, field(body, "data", "children"), lambda entry: self._post(entry, query, subreddit, now))
        return newest_first(read, since)

    async def check(self) -> str:
        subreddit = self._subreddits[Sport.FOOTBALL]
        body = await self._listing(subreddit, 1)
        if not isinstance(field(body, "data", "children"), list):
            raise SourceChanged(f"{SOURCE}: the answer has no list of posts")
        return f"r/{subreddit} answers"

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _listing(self, subreddit: str, limit: int) -> Any:
        # raw_json: without it, Reddit writes &amp; into titles and links.
        answer = await self._http.get(f"/r/{subreddit}/new.json", {"limit": str(limit), "raw_json": "1"})
        _raise_for_refusal(answer)
        return answer.json()

    def _post(self, entry: Any, query: SearchQuery, subreddit: str, now: datetime) -> Post | None:
        post = field(entry, "data")
        id_, title = text(post, "id"), text(post, "title")
        posted_at = _created(field(post, "created_utc"))
        if not _ID.fullmatch(id_):
            raise BadPost(f"{id_[:30]!r} is no id of Reddit's")
        if not title_matches(title, query):
            return None
        media_url, duration = _media(post, self._extra_hosts)
        if media_url is None:
            return None
        return Post(
            source=SOURCE,
            id=id_,
            url=f"{self._base_url}/r/{subreddit}/comments/{id_}/",
            media_url=media_url,
            posted_at=min(posted_at, now),
            author=clean_text(optional_text(post, "author"), 50),
            text=clean_text(title),
            duration=duration,
        )


def title_matches(title: str, query: SearchQuery) -> bool:
    """A goal's title must name the scorer as the scorer: who gave the pass is named in it too."""
    cleaned = clean_text(title)
    goal = parse_title(cleaned)
    return query.matches(cleaned if goal is None else goal.named)


def _media(post: Any, extra_hosts: Collection[str]) -> tuple[str | None, float | None]:
    """The link to the video, and how long it is where Reddit knows; a post that repeats another has the other's."""
    parents = field(post, "crosspost_parent_list")
    for each in (post, *(parents[:1] if isinstance(parents, list) else ())):
        for media in ("secure_media", "media"):
            own = field(each, media, "reddit_video")
            link = optional_text(own, "fallback_url")
            if (parts := split(link)) and parts.scheme == "https" and parts.hostname == OWN_HOST:
                return link, seconds(field(own, "duration"))
    link = optional_text(post, "url_overridden_by_dest") or optional_text(post, "url")
    return (link if is_video_link(link, extra_hosts) else None), None


def _created(value: Any) -> datetime:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 1e9 <= value < 1e10:
        raise BadPost("created_utc is no time")
    return datetime.fromtimestamp(value, UTC)


def _raise_for_refusal(answer: Answer) -> None:
    if answer.status in (200, 401, 403) and answer.is_page and _BLOCKED.search(answer.body[:20_000]):
        raise SourceLoggedOut(
            f"{answer.where} answered HTTP {answer.status} with a page that says that we are blocked: "
            "Reddit refuses this address without a login"
        )
    if 300 <= answer.status < 400:
        raise SourceChanged(f"{answer.where} answered HTTP {answer.status}: is there such a subreddit?")
    raise_for_status(answer, "" if answer.is_page else answer.start)
