"""The three ways to read Reddit, each with its requests, its answer's form and its limits.

oauth      the API with the operator's keys: 100 requests a minute, durations, whole comment trees
fragment   the HTML that reddit.com loads into its own pages: about 200 requests per window; refused in datacentres
atom       the Atom feeds: about one request a minute for each address, no durations

Without keys `*.json` answers 403 since May 2026, and old.reddit.com redirects to a login. A way asks and reads; when it
may ask is decided by `reddit_reader.py`.
"""

from __future__ import annotations

import json
import re
import time
import xml.etree.ElementTree as ElementTree
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from typing import Any, ClassVar, Literal, Protocol

from found_footy.adapters.social.http import Answer, SourceHttp, raise_for_status
from found_footy.adapters.social.reading import BadPost, field, moment, optional_text, read_all, seconds, text
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import SourceChanged, SourceLoggedOut

SOURCE = "reddit"
WayName = Literal["oauth", "fragment", "atom"]

MAX_PAGE_BYTES = 4 * 1024 * 1024
MAX_COMMENTS = 500
MAX_DEPTH = 8
MAX_LINKS = 10
"""Links kept of one comment."""
LISTING_LIMIT = 100
TOKEN_MARGIN_SECONDS = 60.0
LANGUAGE = "en-US,en;q=0.9"
PAGE = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ATOM = "{http://www.w3.org/2005/Atom}"

_ID = re.compile(r"[a-z0-9]{1,13}", re.ASCII)
_BLOCKED = re.compile(
    rb"whoa there, pardner|blocked by network|<title>\s*blocked|js_challenge|<title>\s*just a moment|"
    rb"please wait for verification",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s<>()\[\]\"']{4,2000}")


@dataclass(frozen=True, slots=True)
class RedditPost:
    id: str
    subreddit: str
    title: str
    link: str
    created: float
    """Seconds since the epoch."""
    author: str = ""
    duration: float | None = None
    """Seconds of Reddit's own video; only the API has it."""


@dataclass(frozen=True, slots=True)
class RedditComment:
    id: str
    text: str
    links: tuple[str, ...]
    created: float
    author: str = ""


@dataclass(frozen=True, slots=True)
class RedditKeys:
    client_id: str
    client_secret: str


class RedditWay(Protocol):
    name: WayName
    label: str
    spacing: float
    """Least seconds between two requests of all workers."""
    comment_spacing: float
    """The same for comments, which leave most of the budget to the listings."""
    combines: bool
    """Whether one request can list several subreddits."""

    async def ask_listing(self, subreddits: Sequence[str]) -> Answer: ...

    def read_listing(self, answer: Answer) -> list[RedditPost]: ...

    async def ask_comments(self, subreddit: str, post_id: str) -> Answer: ...

    def read_comments(self, answer: Answer) -> list[RedditComment]: ...

    async def aclose(self) -> None: ...


class FragmentWay:
    """`/svc/shreddit/…`: `<shreddit-post>` and `<shreddit-comment>` elements in HTML."""

    name: WayName = "fragment"
    label = "page fragment"
    spacing = 0.25
    comment_spacing = 0.25
    combines = False
    _HEADERS: ClassVar[Mapping[str, str]] = {"accept": PAGE, "accept-language": LANGUAGE}

    def __init__(self, base_url: str, timeout: float) -> None:
        self._http = SourceHttp(base_url, timeout)

    async def ask_listing(self, subreddits: Sequence[str]) -> Answer:
        return await self._http.get(
            "/svc/shreddit/community-more-posts/new/", {"name": subreddits[0]}, headers=self._HEADERS
        )

    def read_listing(self, answer: Answer) -> list[RedditPost]:
        raise_for_refusal(answer)
        page = _parsed_fragment(answer)
        if not page.posts:
            # A subreddit is never empty; a challenge, an error page or a new form has no posts either.
            raise SourceChanged(f"{answer.where} sent a page without posts, starting {answer.start!r}")
        return read_all(SOURCE, page.posts, _fragment_post)

    async def ask_comments(self, subreddit: str, post_id: str) -> Answer:
        return await self._http.get(f"/svc/shreddit/comments/r/{subreddit}/t3_{post_id}", {}, headers=self._HEADERS)

    def read_comments(self, answer: Answer) -> list[RedditComment]:
        raise_for_refusal(answer)
        page = _parsed_fragment(answer)
        if not page.comments and not page.is_thread:
            raise SourceChanged(f"{answer.where} sent a page without a comment tree, starting {answer.start!r}")
        return read_all(SOURCE, page.comments[:MAX_COMMENTS], _fragment_comment)

    async def aclose(self) -> None:
        await self._http.aclose()


class AtomWay:
    """`/r/{subreddit}/new/.rss` and `/comments/{id}/.rss`."""

    name: WayName = "atom"
    label = "Atom feed"
    spacing = 60.0
    comment_spacing = 240.0
    combines = True
    _HEADERS: ClassVar[Mapping[str, str]] = {"accept": "application/atom+xml", "accept-language": LANGUAGE}

    def __init__(self, base_url: str, timeout: float) -> None:
        self._http = SourceHttp(base_url, timeout)

    async def ask_listing(self, subreddits: Sequence[str]) -> Answer:
        path = f"/r/{'+'.join(subreddits)}/new/.rss"
        return await self._http.get(path, {"limit": str(LISTING_LIMIT)}, headers=self._HEADERS)

    def read_listing(self, answer: Answer) -> list[RedditPost]:
        return read_all(SOURCE, _atom_entries(answer), _atom_post)

    async def ask_comments(self, subreddit: str, post_id: str) -> Answer:
        params = {"limit": str(LISTING_LIMIT), "sort": "new"}
        return await self._http.get(f"/comments/{post_id}/.rss", params, headers=self._HEADERS)

    def read_comments(self, answer: Answer) -> list[RedditComment]:
        return read_all(SOURCE, _atom_entries(answer)[:MAX_COMMENTS], _atom_comment)

    async def aclose(self) -> None:
        await self._http.aclose()


class OAuthWay:
    """The API with an application-only token, which each process requests for itself."""

    name: WayName = "oauth"
    label = "API"
    spacing = 0.6
    comment_spacing = 0.6
    combines = False

    def __init__(self, base_url: str, oauth_url: str, keys: RedditKeys, timeout: float) -> None:
        self._login = SourceHttp(base_url, timeout)
        self._api = SourceHttp(oauth_url, timeout)
        self._keys = keys
        self._token = ""
        self._expires = 0.0

    async def ask_listing(self, subreddits: Sequence[str]) -> Answer:
        # raw_json: without it, titles and links contain &amp;.
        return await self._get(f"/r/{subreddits[0]}/new", {"limit": str(LISTING_LIMIT), "raw_json": "1"})

    def read_listing(self, answer: Answer) -> list[RedditPost]:
        raise_for_refusal(answer)
        return read_all(SOURCE, field(answer.json(), "data", "children"), _api_post)

    async def ask_comments(self, subreddit: str, post_id: str) -> Answer:
        params = {"limit": "200", "depth": str(MAX_DEPTH), "sort": "new", "raw_json": "1"}
        return await self._get(f"/r/{subreddit}/comments/{post_id}", params)

    def read_comments(self, answer: Answer) -> list[RedditComment]:
        raise_for_refusal(answer)
        body = answer.json()
        children = field(body[1], "data", "children") if isinstance(body, list) and len(body) == 2 else None
        if not isinstance(children, list):
            raise SourceChanged(f"{answer.where} sent no comment tree, starting {answer.start!r}")
        return read_all(SOURCE, list(_flattened(children)), _api_comment)

    async def aclose(self) -> None:
        await self._login.aclose()
        await self._api.aclose()

    async def _get(self, path: str, params: Mapping[str, str]) -> Answer:
        answer = await self._authorized(path, params)
        if answer.status == 401:
            # Revoked before its time: one new token, then the answer stands.
            self._token = ""
            answer = await self._authorized(path, params)
        return answer

    async def _authorized(self, path: str, params: Mapping[str, str]) -> Answer:
        if not self._token or time.monotonic() >= self._expires:
            await self._request_token()
        return await self._api.get(path, params, headers={"authorization": f"Bearer {self._token}"})

    async def _request_token(self) -> None:
        pair = f"{self._keys.client_id}:{self._keys.client_secret}".encode()
        answer = await self._login.post(
            "/api/v1/access_token",
            headers={"authorization": f"Basic {b64encode(pair).decode()}"},
            form={"grant_type": "client_credentials"},
            secret=True,
        )
        if answer.status in (400, 401, 403):
            raise SourceLoggedOut(
                f"{answer.where} answered HTTP {answer.status}: "
                "check FOOTY_REDDIT_CLIENT_ID and FOOTY_REDDIT_CLIENT_SECRET"
            )
        raise_for_refusal(answer)
        body = answer.json()
        token, lasts = field(body, "access_token"), seconds(field(body, "expires_in")) or 3600.0
        if not isinstance(token, str) or not re.fullmatch(r"[!-~]{1,4000}", token):
            raise SourceChanged(f"{answer.where} sent no access token")
        self._token = token
        self._expires = time.monotonic() + lasts - TOKEN_MARGIN_SECONDS


def raise_for_refusal(answer: Answer) -> None:
    """Raise the SourceError for an answer that is not the one asked for."""
    if answer.status in (200, 401, 403) and answer.is_page and _BLOCKED.search(answer.body[:20_000]):
        raise SourceLoggedOut(
            f"{answer.where} answered HTTP {answer.status} with a page that blocks or challenges this address"
        )
    if 300 <= answer.status < 400:
        target = answer.headers.get("location", "")
        if "login" in target:
            raise SourceLoggedOut(f"{answer.where} redirects to a login")
        raise SourceChanged(f"{answer.where} answered HTTP {answer.status}: does the subreddit exist?")
    raise_for_status(answer, "" if answer.is_page else answer.start)


# --- limits that the headers state


@dataclass(frozen=True, slots=True)
class StatedLimit:
    """What an answer says about further requests."""

    remaining: float | None
    """Requests left in the window."""
    pause: float
    """Seconds until the next request is allowed; 0 if it is allowed now."""
    window: float
    """Seconds until the window ends."""


def stated_limit(answer: Answer, *, now: datetime) -> StatedLimit:
    remaining = _number(answer.headers.get("x-ratelimit-remaining"))
    window = _number(answer.headers.get("x-ratelimit-reset")) or 0.0
    pause = _retry_after(answer.headers.get("retry-after"), now)
    if answer.status == 429 or (remaining is not None and remaining < 1):
        pause = max(pause, window)
    return StatedLimit(remaining, pause, window)


def _number(value: str | None) -> float | None:
    return float(value) if value and re.fullmatch(r"\d{1,7}(\.\d{1,6})?", value.strip()) else None


def _retry_after(value: str | None, now: datetime) -> float:
    """Seconds; the header has a number of them or a date."""
    if (given := _number(value)) is not None:
        return given
    try:
        until = parsedate_to_datetime(value or "")
    except ValueError:
        return 0.0
    return max(0.0, (until - now).total_seconds()) if until.tzinfo else 0.0


# --- page fragments


@dataclass(slots=True)
class _FragmentComment:
    attributes: dict[str, str]
    words: list[str]
    links: list[str]


class _FragmentParser(HTMLParser):
    """Collects posts and comments. Comments nest, so the text belongs to the comment opened last."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.posts: list[dict[str, str]] = []
        self.comments: list[_FragmentComment] = []
        self.is_thread = False
        self.open = {"shreddit-post": 0, "shreddit-comment": 0}
        self._stack: list[_FragmentComment] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "shreddit-post":
            self.open[tag] += 1
            self.posts.append(given)
        elif tag == "shreddit-comment":
            self.open[tag] += 1
            comment = _FragmentComment(given, [], [])
            self.comments.append(comment)
            self._stack.append(comment)
        elif tag in ("shreddit-comment-tree", "shreddit-comment-tree-stats"):
            self.is_thread = True
        elif tag == "a" and self._stack and given.get("href", "").startswith("http"):
            # Links to profiles and to the comment itself are relative.
            self._stack[-1].links.append(given["href"])

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            self.open[tag] -= 1
        if tag == "shreddit-comment" and self._stack:
            self._stack.pop()

    def handle_data(self, data: str) -> None:
        if self._stack and data.strip() and len(self._stack[-1].words) < 200:
            self._stack[-1].words.append(data)


def _parsed_fragment(answer: Answer) -> _FragmentParser:
    page = _page(answer).rstrip()
    parser = _FragmentParser()
    parser.feed(page.decode("utf-8", "replace"))
    parser.close()
    in_a_tag = (parser.posts or parser.comments) and not page.endswith(b">")
    if in_a_tag or any(count > 0 for count in parser.open.values()):
        raise SourceChanged(f"{answer.where} sent a page that is cut off")
    return parser


def _page(answer: Answer) -> bytes:
    if len(answer.body) > MAX_PAGE_BYTES:
        raise SourceChanged(f"{answer.where}: the page is larger than {MAX_PAGE_BYTES} bytes")
    return answer.body


def _fragment_post(given: dict[str, str]) -> RedditPost | None:
    if "promoted" in given or given.get("post-type") == "ad":
        return None
    return RedditPost(
        id=_checked_id(given.get("id", ""), "t3_"),
        subreddit=clean_text(
            given.get("subreddit-name") or given.get("subreddit-prefixed-name", "").removeprefix("r/")
        ),
        title=_title(given.get("post-title")),
        link=_absolute(given.get("content-href", "")),
        created=_timestamp(given.get("created-timestamp"), "created-timestamp"),
        author=clean_text(given.get("author", ""), 50),
    )


def _fragment_comment(comment: _FragmentComment) -> RedditComment | None:
    given = comment.attributes
    return _with_links(
        id_=_checked_id(given.get("thingid", ""), "t1_"),
        words=" ".join(comment.words),
        links=comment.links,
        created=_timestamp(given.get("created"), "created"),
        author=given.get("author", ""),
    )


# --- Atom


def _atom_entries(answer: Answer) -> list[ElementTree.Element]:
    raise_for_refusal(answer)
    body = _page(answer)
    if b"<!DOCTYPE" in body[:2000] or b"<!ENTITY" in body:
        raise SourceChanged(f"{answer.where} sent a page where a feed was expected, starting {answer.start!r}")
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        raise SourceChanged(f"{answer.where} sent no well-formed feed ({error}), starting {answer.start!r}") from None
    except (ValueError, LookupError):  # an encoding that does not exist
        raise SourceChanged(f"{answer.where} sent a feed in an unknown encoding") from None
    if root.tag != f"{ATOM}feed":
        raise SourceChanged(f"{answer.where} sent <{clean_text(root.tag, 60)}> where a feed was expected")
    return root.findall(f"{ATOM}entry")


def _atom_post(entry: ElementTree.Element) -> RedditPost | None:
    id_ = entry.findtext(f"{ATOM}id", "")
    if id_.startswith("t1_"):
        return None
    category = entry.find(f"{ATOM}category")
    anchors = _anchors(entry.findtext(f"{ATOM}content", ""))
    return RedditPost(
        id=_checked_id(id_, "t3_"),
        subreddit=clean_text(category.get("term", "") if category is not None else ""),
        title=_title(entry.findtext(f"{ATOM}title")),
        link=next((href for href, words in anchors.found if words == "[link]"), ""),
        created=_atom_time(entry),
        author=_atom_author(entry),
    )


def _atom_comment(entry: ElementTree.Element) -> RedditComment | None:
    id_ = entry.findtext(f"{ATOM}id", "")
    if id_.startswith("t3_"):
        return None  # the post itself comes first
    anchors = _anchors(entry.findtext(f"{ATOM}content", ""))
    return _with_links(
        id_=_checked_id(id_, "t1_"),
        words=" ".join(anchors.words),
        links=[href for href, _ in anchors.found],
        created=_atom_time(entry),
        author=_atom_author(entry),
    )


def _atom_time(entry: ElementTree.Element) -> float:
    value = entry.findtext(f"{ATOM}published") or entry.findtext(f"{ATOM}updated")
    return _timestamp(value, "published")


def _atom_author(entry: ElementTree.Element) -> str:
    return clean_text(entry.findtext(f"{ATOM}author/{ATOM}name", "").removeprefix("/u/"), 50)


class _AnchorParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str]] = []
        """Links with their text."""
        self.words: list[str] = []
        self._href: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and len(self.found) < MAX_LINKS * 5:
            self._href = dict(attrs).get("href") or ""
            self.found.append((self._href, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._href = None

    def handle_data(self, data: str) -> None:
        if len(self.words) < 200:
            self.words.append(data)
        if self._href is not None:
            self.found[-1] = (self._href, data.strip()[:20])


def _anchors(content: str) -> _AnchorParser:
    parser = _AnchorParser()
    parser.feed(content[:200_000])
    parser.close()
    return parser


# --- the API


def _api_post(entry: Any) -> RedditPost:
    post = field(entry, "data")
    link, duration = _api_media(post)
    return RedditPost(
        id=_checked_id(text(post, "id")),
        subreddit=clean_text(optional_text(post, "subreddit")),
        title=_title(field(post, "title")),
        link=link,
        created=_created(field(post, "created_utc")),
        author=clean_text(optional_text(post, "author"), 50),
        duration=duration,
    )


def _api_media(post: Any) -> tuple[str, float | None]:
    """The link, and the length of Reddit's own video; a crosspost has its parent's."""
    parents = field(post, "crosspost_parent_list")
    for each in (post, *(parents[:1] if isinstance(parents, list) else ())):
        for media in ("secure_media", "media"):
            own = field(each, media, "reddit_video")
            link = optional_text(own, "fallback_url")
            if re.match(r"https://v\.redd\.it/[A-Za-z0-9]", link):
                return link, seconds(field(own, "duration"))
    return optional_text(post, "url_overridden_by_dest") or optional_text(post, "url"), None


def _flattened(children: list[Any]) -> Iterator[Any]:
    """Comments and their replies, without the "more" placeholders, at most MAX_COMMENTS."""
    waiting, given = list(reversed(children)), 0
    while waiting and given < MAX_COMMENTS:
        child = waiting.pop()
        if field(child, "kind") == "more":
            continue
        given += 1
        yield child
        replies = field(child, "data", "replies", "data", "children")
        if isinstance(replies, list):
            waiting += reversed(replies)


def _api_comment(entry: Any) -> RedditComment | None:
    comment = field(entry, "data")
    anchors = _anchors(optional_text(comment, "body_html"))
    body = optional_text(comment, "body")
    return _with_links(
        id_=_checked_id(text(comment, "id")),
        words=body,
        links=[href for href, _ in anchors.found] or _URL.findall(body[:10_000]),
        created=_created(field(comment, "created_utc")),
        author=optional_text(comment, "author"),
    )


# --- values


def _with_links(*, id_: str, words: str, links: Sequence[str], created: float, author: str) -> RedditComment | None:
    """None for a comment without a link: there is nothing to try."""
    kept = tuple(dict.fromkeys(link for link in links if link.startswith("http")))[:MAX_LINKS]
    if not kept:
        return None
    return RedditComment(id_, clean_text(words, 400), kept, created, clean_text(author, 50))


def _checked_id(value: str, prefix: str = "") -> str:
    id_ = value.removeprefix(prefix)
    if not value.startswith(prefix) or not _ID.fullmatch(id_):
        raise BadPost(f"invalid id {value[:30]!r}")
    return id_


def _title(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise BadPost("no title")
    return value[:2000]


def _absolute(link: str) -> str:
    return f"https://www.reddit.com{link}" if link.startswith("/") else link


def _created(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 1e9 <= value < 1e10:
        raise BadPost("created_utc is not a time")
    return float(value)


def _timestamp(value: str | None, name: str) -> float:
    """ISO 8601; the fragments write the zone as +0000."""
    at = moment(value)
    if at is None:
        raise BadPost(f"{name} is not a time")
    return _created(at.timestamp())


def as_json(entries: Sequence[RedditPost | RedditComment]) -> list[dict[str, Any]]:
    return [asdict(entry) for entry in entries]


def posts_from_json(entries: Any) -> list[RedditPost]:
    return [RedditPost(**entry) for entry in entries]


def comments_from_json(entries: Any) -> list[RedditComment]:
    return [RedditComment(**{**entry, "links": tuple(entry["links"])}) for entry in entries]


def dumped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def at(created: float) -> datetime:
    return datetime.fromtimestamp(created, UTC)
