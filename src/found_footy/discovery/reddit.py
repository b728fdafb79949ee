"""Reddit source, including the parser of r/soccer goal titles: `Liverpool [2] - 1 Manchester City - M. Salah 67'`.

The number in square brackets marks the side that has just scored. Titles are written by hand, so dashes, quotes and
notes vary; only the score in the middle is reliable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from found_footy.clips.hosts import is_plausible_clip_link, is_video_link
from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.reddit_clients import (
    SOURCE,
    AtomClient,
    FragmentClient,
    OAuthClient,
    RedditAccess,
    RedditClient,
    RedditComment,
    RedditKeys,
    RedditPost,
)
from found_footy.discovery.reddit_reader import Listing, RedditReader, from_timestamp
from found_footy.discovery.sources import newest_first
from found_footy.fixtures.models import GoalKind, MatchMinute, Score, Side, Sport
from found_footy.runtime.clock import utc_now
from found_footy.storage.limits import LocalSourceLimits, SourceLimits
from found_footy.text import clean_text

MAX_TITLE_LENGTH = 300
MAX_MINUTE = 130

_DASH = "[-\u2010-\u2015\u2212:]"
_QUOTE = "['\u2018\u2019\u02bc\u2032\u00b4`]"
_GOALS = r"\[\s?\d{1,2}\s?\]|\d{1,2}"

_SCORE = re.compile(rf"(?<!\S)({_GOALS})\s?{_DASH}\s?({_GOALS})(?![^\s(])")
_PAIR = rf"\[?(\d{{1,2}})\]?\s?{_DASH}\s?\[?(\d{{1,2}})\]?"
_AGGREGATE = re.compile(
    rf"[(\[]\s?(?:{_PAIR},?\s(?:on\s)?agg(?:regate)?\.?|agg(?:regate)?[.:]{{0,2}}\s?{_PAIR})\s?[)\]]", re.IGNORECASE
)
_BARE_PAIR = re.compile(rf"\(\s?{_PAIR}\s?\)")
_TAG = re.compile(r"^\[[^\]\d]{1,40}\]\s?")
_SEPARATOR = re.compile(rf"\s(?:{_DASH}|\|)\s|:\s")
_MINUTE = re.compile(
    rf"(?<![\d.])(?:(\d{{1,3}}){_QUOTE}?\s?\+\s?(\d{{1,2}})(?!\d)(?:{_QUOTE}|\s?min\b\.?)?"
    rf"|(\d{{1,3}})\s?(?:{_QUOTE}|min\b\.?))",
    re.IGNORECASE,
)
_LAST_NUMBER = re.compile(r"(?<=\s)(\d{1,3})$")
_NOTE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_OWN_GOAL = re.compile(r"\(\s?o\.?\s?g\.?\s?\)|\bOG\b|\bo\.g\.|\bown[ -]goal\b", re.IGNORECASE)
_PENALTY = re.compile(r"\(\s?p\.?\s?\)|\bpen\b\.?|\bpenalty(?:[ -]kick)?\b|\bpk\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GoalTitle:
    home: str
    away: str
    score: Score
    """Score after the goal."""
    side: Side | None
    """Side that scored; None if no number, or both, are in brackets."""
    scorer: str | None
    minute: MatchMinute | None
    kind: GoalKind = GoalKind.NORMAL
    aggregate: Score | None = None

    @property
    def relevant_text(self) -> str:
        """The teams and the scorer, without other names in the title."""
        return " ".join(part for part in (self.home, self.away, self.scorer) if part)


def parse_goal_title(text: str) -> GoalTitle | None:
    """Parse a title. Returns None if it has no score, or neither brackets nor a minute."""
    title, aggregate = _extract_aggregate(_TAG.sub("", clean_text(text, MAX_TITLE_LENGTH)))
    found = _find_score(title)
    if found is None:
        return None
    home, rest = title[: found.start()].strip(" -:|"), title[found.end() :]
    away, detail = _split_team_and_detail(rest)
    if aggregate is None and (pair := _BARE_PAIR.search(away)):
        aggregate = _score(pair[1], pair[2])
        away = away[: pair.start()] + away[pair.end() :]
    minute, before, after = _extract_minute(detail or "")
    if detail is None:
        # Without a separator, the boundary between team and scorer is unknown.
        minute, away, _ = _extract_minute(away)
    away, side = _remove_notes(away), _side(found[1], found[2])
    if not home or not away or (side is None and minute is None):
        return None
    return GoalTitle(
        home=home,
        away=away,
        score=_score(found[1].strip("[] "), found[2].strip("[] ")),
        side=side,
        scorer=_remove_notes(before) or _remove_notes(after) or None,
        minute=minute,
        kind=_kind(rest),
        aggregate=aggregate,
    )


def _find_score(title: str) -> re.Match[str] | None:
    """Return the score, preferring one with brackets: `Schalke 04 - 1860` is not a score."""
    found = list(_SCORE.finditer(title))
    return next((each for each in found if "[" in each[0]), found[0] if found else None)


def _score(home: str, away: str) -> Score:
    return Score(int(home), int(away))


def _side(home: str, away: str) -> Side | None:
    marked = [side for side, goals in ((Side.HOME, home), (Side.AWAY, away)) if goals.startswith("[")]
    return marked[0] if len(marked) == 1 else None


def _extract_aggregate(title: str) -> tuple[str, Score | None]:
    found = _AGGREGATE.search(title)
    if found is None:
        return title, None
    home, away = (goals for goals in found.groups() if goals is not None)
    return " ".join((title[: found.start()] + " " + title[found.end() :]).split()), _score(home, away)


def _split_team_and_detail(rest: str) -> tuple[str, str | None]:
    """Split into the away team and the details of the goal."""
    found = _SEPARATOR.search(rest)
    return (rest, None) if found is None else (rest[: found.start()], rest[found.end() :])


def _extract_minute(detail: str) -> tuple[MatchMinute | None, str, str]:
    """Return the minute and the text before and after it."""
    for found in reversed(list(_MINUTE.finditer(detail))):
        elapsed = int(found[1] or found[3])
        if 1 <= elapsed <= MAX_MINUTE:
            return MatchMinute(elapsed, int(found[2] or 0) or None), detail[: found.start()], detail[found.end() :]
    plain = _NOTE.sub(" ", detail).rstrip()
    if (bare := _LAST_NUMBER.search(plain)) and 1 <= int(bare[1]) <= MAX_MINUTE:
        return MatchMinute(int(bare[1])), plain[: bare.start()], ""
    return None, detail, ""


def _kind(text: str) -> GoalKind:
    if _OWN_GOAL.search(text):
        return GoalKind.OWN_GOAL
    return GoalKind.PENALTY if _PENALTY.search(text) else GoalKind.NORMAL


def _remove_notes(text: str) -> str:
    for unwanted in (_OWN_GOAL, _PENALTY, _NOTE):
        text = unwanted.sub(" ", text)
    return " ".join(text.split()).strip(" ,;:|-\u2013\u2014&(")


# --- Reddit source: posts whose titles name the goal, and mirrors in their comments.


ALL_ACCESS: tuple[RedditAccess, ...] = ("oauth", "fragment", "atom")
MAX_THREAD_AGE = timedelta(minutes=15)
"""Maximum age of posts whose comments are read; the search for a goal takes about ten minutes."""
MAX_THREAD_LINKS = 10

_REDDIT_VIDEO = re.compile(r"https://v\.redd\.it/([A-Za-z0-9]{1,20})(?:[/?].*)?")
_MIRROR = re.compile(r"\b(?:mirrors?|alt(?:ernat\w+)?|angles?|aa|replays?|goal|clip|stream\w*)\b", re.IGNORECASE)


class Reddit:
    """Implements `SocialSource`. Workers with the same `limits` share responses."""

    def __init__(
        self,
        base_url: str,
        subreddit: str,
        cricket_subreddit: str = "Cricket",
        *,
        timeout: float,
        extra_hosts: Collection[str] = (),
        ways: Sequence[RedditAccess] = ALL_ACCESS,
        keys: RedditKeys | None = None,
        oauth_url: str = "https://oauth.reddit.com",
        limits: SourceLimits | None = None,
        fresh_seconds: float = 15.0,
        comment_threads: int = 2,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._subreddits = {Sport.FOOTBALL: subreddit, Sport.CRICKET: cricket_subreddit}
        self._extra_hosts = frozenset(host.lower() for host in extra_hosts)
        self._threads = comment_threads
        self._now = now
        enabled = [access for access in ways if access != "oauth" or keys is not None]
        # Split the timeout, so that one unresponsive access method leaves time for the next.
        client_timeout = timeout / max(1, len(enabled))
        self._reader = RedditReader(
            [self._build_client(access, base_url, oauth_url, keys, client_timeout) for access in enabled],
            limits or LocalSourceLimits(),
            subreddits=list(self._subreddits.values()),
            timeout=timeout,
            fresh_seconds=fresh_seconds,
            now=now,
        )

    @staticmethod
    def _build_client(
        name: RedditAccess, base_url: str, oauth_url: str, keys: RedditKeys | None, timeout: float
    ) -> RedditClient:
        if name == "oauth" and keys is not None:
            return OAuthClient(base_url, oauth_url, keys, timeout)
        return FragmentClient(base_url, timeout) if name == "fragment" else AtomClient(base_url, timeout)

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        subreddit = self._subreddits[query.sport]
        if self._threads and (previous := await self._reader.cached(subreddit)):
            # Read comments first: the listing would use up scarce requests.
            for thread in self._matching_threads(previous, query):
                await self._reader.read_comments(thread, subreddit)
        listing = await self._reader.listing(subreddit)
        posts = list(self._posts(listing, query, subreddit))
        seen_urls = {post.media_url for post in posts}
        if self._threads:
            for thread in self._matching_threads(listing, query):
                comments = await self._reader.cached_comments(thread.id)
                posts += self._mirrors(thread, comments, subreddit, seen_urls)
        return newest_first(posts, since)

    async def check(self) -> str:
        subreddit = self._subreddits[Sport.FOOTBALL]
        listing = await self._reader.listing(subreddit, refresh=True)
        return f"r/{subreddit} through the {listing.label}: {len(listing.posts)} posts"

    async def aclose(self) -> None:
        await self._reader.aclose()

    def _posts(self, listing: Listing, query: SearchQuery, subreddit: str) -> Iterator[Post]:
        now = self._now()
        for post in listing.posts:
            if not title_matches(post.title, query):
                continue
            is_goal_post = bool(query.words) or parse_goal_title(clean_text(post.title)) is not None
            if (media_url := downloadable_url(post.link, self._extra_hosts, any_host=is_goal_post)) is None:
                continue
            yield Post(
                source=SOURCE,
                id=post.id,
                url=f"{self._base_url}/r/{subreddit}/comments/{post.id}/",
                media_url=media_url,
                posted_at=min(from_timestamp(post.created), now),
                author=post.author,
                text=clean_text(post.title),
                duration=post.duration,
            )

    def _matching_threads(self, listing: Listing, query: SearchQuery) -> list[RedditPost]:
        """Return the oldest posts about the goal, where people post mirrors."""
        oldest = self._now() - MAX_THREAD_AGE
        young = [
            post
            for post in listing.posts
            if from_timestamp(post.created) >= oldest and title_matches(post.title, query)
        ]
        return sorted(young, key=lambda post: post.created)[: self._threads]

    def _mirrors(
        self, thread: RedditPost, comments: Sequence[RedditComment], subreddit: str, seen_urls: set[str]
    ) -> Iterator[Post]:
        """Yield at most MAX_THREAD_LINKS links from a thread's comments and add them to `seen_urls`."""
        now, yielded = self._now(), 0
        for comment in comments:
            for number, link in enumerate(comment.links):
                any_host = _MIRROR.search(comment.text) is not None
                media_url = downloadable_url(link, self._extra_hosts, any_host=any_host)
                if media_url is None or media_url in seen_urls or yielded >= MAX_THREAD_LINKS:
                    continue
                seen_urls.add(media_url)
                yielded += 1
                yield Post(
                    source=SOURCE,
                    id=f"{thread.id}/{comment.id}/{number}",
                    url=f"{self._base_url}/r/{subreddit}/comments/{thread.id}/comment/{comment.id}/",
                    media_url=media_url,
                    posted_at=min(from_timestamp(comment.created), now),
                    author=comment.author,
                    text=clean_text(f"mirror of: {thread.title}"),
                )


def title_matches(title: str, query: SearchQuery) -> bool:
    """Whether a title matches the query. A goal title must name the player as scorer, not as assist."""
    cleaned = clean_text(title)
    goal = parse_goal_title(cleaned)
    return query.matches(cleaned if goal is None else goal.relevant_text)


def downloadable_url(link: str, extra_hosts: Collection[str], *, any_host: bool) -> str | None:
    """Return the URL to download, or None. `any_host` is true if the text around the link promises a clip of the goal,
    which allows any public host: clip hosts change names faster than a list of them.
    """
    if reddit_video := _REDDIT_VIDEO.fullmatch(link):
        return f"https://v.redd.it/{reddit_video[1]}/HLSPlaylist.m3u8"
    is_accepted = is_plausible_clip_link if any_host else is_video_link
    return link if is_accepted(link, extra_hosts) else None
