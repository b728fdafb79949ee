"""Three ways to read Reddit, each with its own requests, response format and limits.

oauth      the API with the operator's keys: 100 requests a minute, durations, complete comment trees
fragment   the HTML that reddit.com loads into its own pages: about 200 requests per window; blocked in datacentres
atom       the Atom feeds: about one request a minute per IP address, no durations

Since May 2026, `*.json` returns 403 without keys, and old.reddit.com redirects to a login. A `RedditClient` sends
requests and parses responses; `RedditReader` decides when to send one (`reddit_reader.py`).
"""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ElementTree
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html.parser import HTMLParser
from typing import Any, ClassVar, Literal, Protocol

from found_footy.discovery.sources import (
    InvalidPost,
    field,
    moment,
    optional_text,
    parse_posts,
    raise_for_status,
    seconds,
    source_client,
    text,
)
from found_footy.errors import (
    SourceChanged,
    SourceLoggedOut,
)
from found_footy.runtime.http import HttpResponse
from found_footy.text import clean_text

SOURCE = "reddit"
RedditAccess = Literal["oauth", "fragment", "atom"]

MAX_PAGE_BYTES = 4 * 1024 * 1024
MAX_COMMENTS = 500
MAX_DEPTH = 8
MAX_LINKS = 10
"""Maximum links kept per comment."""
LISTING_LIMIT = 100
TOKEN_MARGIN_SECONDS = 60.0
ACCEPT_LANGUAGE = "en-US,en;q=0.9"
HTML_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
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
    """Seconds of a video hosted on Reddit; only the API returns it."""


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


class RedditClient(Protocol):
    name: RedditAccess
    label: str
    spacing: float
    """Minimum seconds between two requests of all workers."""
    comment_spacing: float
    """Minimum seconds between two comment requests, which leave most of the budget to listings."""
    combines: bool
    """Whether one request can list several subreddits."""

    async def request_listing(self, subreddits: Sequence[str]) -> HttpResponse: ...

    def parse_listing(self, response: HttpResponse) -> list[RedditPost]: ...

    async def request_comments(self, subreddit: str, post_id: str) -> HttpResponse: ...

    def read_comments(self, response: HttpResponse) -> list[RedditComment]: ...

    async def aclose(self) -> None: ...


class FragmentClient:
    """`/svc/shreddit/…`: `<shreddit-post>` and `<shreddit-comment>` elements in HTML."""

    name: RedditAccess = "fragment"
    label = "page fragment"
    spacing = 0.25
    comment_spacing = 0.25
    combines = False
    _HEADERS: ClassVar[Mapping[str, str]] = {"accept": HTML_ACCEPT, "accept-language": ACCEPT_LANGUAGE}

    def __init__(self, base_url: str, timeout: float) -> None:
        self._http = source_client(base_url, timeout)

    async def request_listing(self, subreddits: Sequence[str]) -> HttpResponse:
        return await self._http.get(
            "/svc/shreddit/community-more-posts/new/", {"name": subreddits[0]}, headers=self._HEADERS
        )

    def parse_listing(self, response: HttpResponse) -> list[RedditPost]:
        raise_for_refusal(response)
        page = _parse_fragment(response)
        if not page.posts:
            # A subreddit is never empty; a challenge, an error page or a changed format has no posts either.
            raise SourceChanged(f"{response.endpoint} sent a page without posts, starting {response.excerpt!r}")
        return parse_posts(SOURCE, page.posts, _fragment_post)

    async def request_comments(self, subreddit: str, post_id: str) -> HttpResponse:
        return await self._http.get(f"/svc/shreddit/comments/r/{subreddit}/t3_{post_id}", {}, headers=self._HEADERS)

    def read_comments(self, response: HttpResponse) -> list[RedditComment]:
        raise_for_refusal(response)
        page = _parse_fragment(response)
        if not page.comments and not page.is_thread:
            raise SourceChanged(
                f"{response.endpoint} sent a page without a comment tree, starting {response.excerpt!r}"
            )
        return parse_posts(SOURCE, page.comments[:MAX_COMMENTS], _fragment_comment)

    async def aclose(self) -> None:
        await self._http.aclose()


class AtomClient:
    """`/r/{subreddit}/new/.rss` and `/comments/{id}/.rss`."""

    name: RedditAccess = "atom"
    label = "Atom feed"
    spacing = 60.0
    comment_spacing = 240.0
    combines = True
    _HEADERS: ClassVar[Mapping[str, str]] = {"accept": "application/atom+xml", "accept-language": ACCEPT_LANGUAGE}

    def __init__(self, base_url: str, timeout: float) -> None:
        self._http = source_client(base_url, timeout)

    async def request_listing(self, subreddits: Sequence[str]) -> HttpResponse:
        path = f"/r/{'+'.join(subreddits)}/new/.rss"
        return await self._http.get(path, {"limit": str(LISTING_LIMIT)}, headers=self._HEADERS)

    def parse_listing(self, response: HttpResponse) -> list[RedditPost]:
        return parse_posts(SOURCE, _atom_entries(response), _atom_post)

    async def request_comments(self, subreddit: str, post_id: str) -> HttpResponse:
        params = {"limit": str(LISTING_LIMIT), "sort": "new"}
        return await self._http.get(f"/comments/{post_id}/.rss", params, headers=self._HEADERS)

    def read_comments(self, response: HttpResponse) -> list[RedditComment]:
        return parse_posts(SOURCE, _atom_entries(response)[:MAX_COMMENTS], _atom_comment)

    async def aclose(self) -> None:
        await self._http.aclose()


class OAuthClient:
    """The API with an application-only token. Each process requests its own."""

    name: RedditAccess = "oauth"
    label = "API"
    spacing = 0.6
    comment_spacing = 0.6
    combines = False

    def __init__(self, base_url: str, oauth_url: str, keys: RedditKeys, timeout: float) -> None:
        self._login = source_client(base_url, timeout)
        self._api = source_client(oauth_url, timeout)
        self._keys = keys
        self._token = ""
        self._expires = 0.0

    async def request_listing(self, subreddits: Sequence[str]) -> HttpResponse:
        # raw_json: without it, titles and links contain &amp;.
        return await self._get(f"/r/{subreddits[0]}/new", {"limit": str(LISTING_LIMIT), "raw_json": "1"})

    def parse_listing(self, response: HttpResponse) -> list[RedditPost]:
        raise_for_refusal(response)
        return parse_posts(SOURCE, field(response.json(), "data", "children"), _api_post)

    async def request_comments(self, subreddit: str, post_id: str) -> HttpResponse:
        params = {"limit": "200", "depth": str(MAX_DEPTH), "sort": "new", "raw_json": "1"}
        return await self._get(f"/r/{subreddit}/comments/{post_id}", params)

    def read_comments(self, response: HttpResponse) -> list[RedditComment]:
        raise_for_refusal(response)
        body = response.json()
        children = field(body[1], "data", "children") if isinstance(body, list) and len(body) == 2 else None
        if not isinstance(children, list):
            raise SourceChanged(f"{response.endpoint} sent no comment tree, starting {response.excerpt!r}")
        return parse_posts(SOURCE, list(_flatten_comments(children)), _api_comment)

    async def aclose(self) -> None:
        await self._login.aclose()
        await self._api.aclose()

    async def _get(self, path: str, params: Mapping[str, str]) -> HttpResponse:
        response = await self._authorized(path, params)
        if response.status == 401:
            # Token revoked early: retry once with a new one.
            self._token = ""
            response = await self._authorized(path, params)
        return response

    async def _authorized(self, path: str, params: Mapping[str, str]) -> HttpResponse:
        if not self._token or time.monotonic() >= self._expires:
            await self._request_token()
        return await self._api.get(path, params, headers={"authorization": f"Bearer {self._token}"})

    async def _request_token(self) -> None:
        pair = f"{self._keys.client_id}:{self._keys.client_secret}".encode()
        response = await self._login.request(
            "POST",
            "/api/v1/access_token",
            headers={"authorization": f"Basic {b64encode(pair).decode()}"},
            form={"grant_type": "client_credentials"},
            record_body=False,
        )
        if response.status in (400, 401, 403):
            raise SourceLoggedOut(
                f"{response.endpoint} returned HTTP {response.status}: "
                "check FOOTY_REDDIT_CLIENT_ID and FOOTY_REDDIT_CLIENT_SECRET"
            )
        raise_for_refusal(response)
        body = response.json()
        token, lifetime = field(body, "access_token"), seconds(field(body, "expires_in")) or 3600.0
        if not isinstance(token, str) or not re.fullmatch(r"[!-~]{1,4000}", token):
            raise SourceChanged(f"{response.endpoint} sent no access token")
        self._token = token
        self._expires = time.monotonic() + lifetime - TOKEN_MARGIN_SECONDS


def raise_for_refusal(response: HttpResponse) -> None:
    """Raise the SourceError for an unexpected response."""
    if response.status in (200, 401, 403) and response.is_html and _BLOCKED.search(response.body[:20_000]):
        raise SourceLoggedOut(
            f"{response.endpoint} returned HTTP {response.status} with a page that blocks or challenges this IP address"
        )
    if 300 <= response.status < 400:
        target = response.headers.get("location", "")
        if "login" in target:
            raise SourceLoggedOut(f"{response.endpoint} redirects to a login")
        raise SourceChanged(f"{response.endpoint} returned HTTP {response.status}: does the subreddit exist?")
    raise_for_status(response, "" if response.is_html else response.excerpt)


# --- Rate limit headers.


@dataclass(frozen=True, slots=True)
class RateLimitHeaders:
    """Rate limit headers of a response."""

    remaining: float | None
    """Requests left in the window."""
    pause: float
    """Seconds until the next request is allowed; 0 if allowed now."""
    window: float
    """Seconds until the window ends."""


def parse_rate_limit(response: HttpResponse, *, now: datetime) -> RateLimitHeaders:
    remaining = _number(response.headers.get("x-ratelimit-remaining"))
    window = _number(response.headers.get("x-ratelimit-reset")) or 0.0
    retry_after = response.retry_after(now)
    pause = retry_after.total_seconds() if retry_after else 0.0
    if response.status == 429 or (remaining is not None and remaining < 1):
        pause = max(pause, window)
    return RateLimitHeaders(remaining, pause, window)


def _number(value: str | None) -> float | None:
    return float(value) if value and re.fullmatch(r"\d{1,7}(\.\d{1,6})?", value.strip()) else None


# --- Page fragments.


@dataclass(slots=True)
class _FragmentComment:
    attributes: dict[str, str]
    words: list[str]
    links: list[str]


class _FragmentParser(HTMLParser):
    """Collects posts and comments. Comments nest, so text belongs to the comment opened last."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.posts: list[dict[str, str]] = []
        self.comments: list[_FragmentComment] = []
        self.is_thread = False
        self.open = {"shreddit-post": 0, "shreddit-comment": 0}
        self._stack: list[_FragmentComment] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "shreddit-post":
            self.open[tag] += 1
            self.posts.append(attributes)
        elif tag == "shreddit-comment":
            self.open[tag] += 1
            comment = _FragmentComment(attributes, [], [])
            self.comments.append(comment)
            self._stack.append(comment)
        elif tag in ("shreddit-comment-tree", "shreddit-comment-tree-stats"):
            self.is_thread = True
        elif tag == "a" and self._stack and attributes.get("href", "").startswith("http"):
            # Links to profiles and to the comment itself are relative.
            self._stack[-1].links.append(attributes["href"])

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            self.open[tag] -= 1
        if tag == "shreddit-comment" and self._stack:
            self._stack.pop()

    def handle_data(self, data: str) -> None:
        if self._stack and data.strip() and len(self._stack[-1].words) < 200:
            self._stack[-1].words.append(data)


def _parse_fragment(response: HttpResponse) -> _FragmentParser:
    page = _limited_body(response).rstrip()
    parser = _FragmentParser()
    parser.feed(page.decode("utf-8", "replace"))
    parser.close()
    in_a_tag = (parser.posts or parser.comments) and not page.endswith(b">")
    if in_a_tag or any(count > 0 for count in parser.open.values()):
        raise SourceChanged(f"{response.endpoint} sent a truncated page")
    return parser


def _limited_body(response: HttpResponse) -> bytes:
    if len(response.body) > MAX_PAGE_BYTES:
        raise SourceChanged(f"{response.endpoint}: the page is larger than {MAX_PAGE_BYTES} bytes")
    return response.body


def _fragment_post(attributes: dict[str, str]) -> RedditPost | None:
    if "promoted" in attributes or attributes.get("post-type") == "ad":
        return None
    return RedditPost(
        id=_valid_id(attributes.get("id", ""), "t3_"),
        subreddit=clean_text(
            attributes.get("subreddit-name") or attributes.get("subreddit-prefixed-name", "").removeprefix("r/")
        ),
        title=_title(attributes.get("post-title")),
        link=_absolute_url(attributes.get("content-href", "")),
        created=_timestamp(attributes.get("created-timestamp"), "created-timestamp"),
        author=clean_text(attributes.get("author", ""), 50),
    )


def _fragment_comment(comment: _FragmentComment) -> RedditComment | None:
    attributes = comment.attributes
    return _comment_with_links(
        id_=_valid_id(attributes.get("thingid", ""), "t1_"),
        words=" ".join(comment.words),
        links=comment.links,
        created=_timestamp(attributes.get("created"), "created"),
        author=attributes.get("author", ""),
    )


# --- Atom.


def _atom_entries(response: HttpResponse) -> list[ElementTree.Element]:
    raise_for_refusal(response)
    body = _limited_body(response)
    if b"<!DOCTYPE" in body[:2000] or b"<!ENTITY" in body:
        raise SourceChanged(f"{response.endpoint} sent a page instead of a feed, starting {response.excerpt!r}")
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        raise SourceChanged(
            f"{response.endpoint} sent a malformed feed ({error}), starting {response.excerpt!r}"
        ) from None
    except (ValueError, LookupError):  # unknown encoding
        raise SourceChanged(f"{response.endpoint} sent a feed in an unknown encoding") from None
    if root.tag != f"{ATOM}feed":
        raise SourceChanged(f"{response.endpoint} sent <{clean_text(root.tag, 60)}> instead of a feed")
    return root.findall(f"{ATOM}entry")


def _atom_post(entry: ElementTree.Element) -> RedditPost | None:
    id_ = entry.findtext(f"{ATOM}id", "")
    if id_.startswith("t1_"):
        return None
    category = entry.find(f"{ATOM}category")
    anchors = _anchors(entry.findtext(f"{ATOM}content", ""))
    return RedditPost(
        id=_valid_id(id_, "t3_"),
        subreddit=clean_text(category.get("term", "") if category is not None else ""),
        title=_title(entry.findtext(f"{ATOM}title")),
        link=next((href for href, link_text in anchors.found if link_text == "[link]"), ""),
        created=_atom_time(entry),
        author=_atom_author(entry),
    )


def _atom_comment(entry: ElementTree.Element) -> RedditComment | None:
    id_ = entry.findtext(f"{ATOM}id", "")
    if id_.startswith("t3_"):
        return None  # the post itself comes first
    anchors = _anchors(entry.findtext(f"{ATOM}content", ""))
    return _comment_with_links(
        id_=_valid_id(id_, "t1_"),
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


# --- API.


def _api_post(entry: Any) -> RedditPost:
    post = field(entry, "data")
    link, duration = _api_media(post)
    return RedditPost(
        id=_valid_id(text(post, "id")),
        subreddit=clean_text(optional_text(post, "subreddit")),
        title=_title(field(post, "title")),
        link=link,
        created=_valid_timestamp(field(post, "created_utc")),
        author=clean_text(optional_text(post, "author"), 50),
        duration=duration,
    )


def _api_media(post: Any) -> tuple[str, float | None]:
    """Return the link and the duration of a video hosted on Reddit, from the parent for a crosspost."""
    parents = field(post, "crosspost_parent_list")
    for each in (post, *(parents[:1] if isinstance(parents, list) else ())):
        for media in ("secure_media", "media"):
            video = field(each, media, "reddit_video")
            link = optional_text(video, "fallback_url")
            if re.match(r"https://v\.redd\.it/[A-Za-z0-9]", link):
                return link, seconds(field(video, "duration"))
    return optional_text(post, "url_overridden_by_dest") or optional_text(post, "url"), None


def _flatten_comments(children: list[Any]) -> Iterator[Any]:
    """Yield comments and their replies, without "more" placeholders, at most MAX_COMMENTS."""
    stack, yielded = list(reversed(children)), 0
    while stack and yielded < MAX_COMMENTS:
        child = stack.pop()
        if field(child, "kind") == "more":
            continue
        yielded += 1
        yield child
        replies = field(child, "data", "replies", "data", "children")
        if isinstance(replies, list):
            stack += reversed(replies)


def _api_comment(entry: Any) -> RedditComment | None:
    comment = field(entry, "data")
    anchors = _anchors(optional_text(comment, "body_html"))
    body = optional_text(comment, "body")
    return _comment_with_links(
        id_=_valid_id(text(comment, "id")),
        words=body,
        links=[href for href, _ in anchors.found] or _URL.findall(body[:10_000]),
        created=_valid_timestamp(field(comment, "created_utc")),
        author=optional_text(comment, "author"),
    )


# --- Values.


def _comment_with_links(
    *, id_: str, words: str, links: Sequence[str], created: float, author: str
) -> RedditComment | None:
    """Build a comment; None if it has no link."""
    kept = tuple(dict.fromkeys(link for link in links if link.startswith("http")))[:MAX_LINKS]
    if not kept:
        return None
    return RedditComment(id_, clean_text(words, 400), kept, created, clean_text(author, 50))


def _valid_id(value: str, prefix: str = "") -> str:
    id_ = value.removeprefix(prefix)
    if not value.startswith(prefix) or not _ID.fullmatch(id_):
        raise InvalidPost(f"invalid id {value[:30]!r}")
    return id_


def _title(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidPost("no title")
    return value[:2000]


def _absolute_url(link: str) -> str:
    return f"https://www.reddit.com{link}" if link.startswith("/") else link


def _valid_timestamp(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 1e9 <= value < 1e10:
        raise InvalidPost("created_utc is not a time")
    return float(value)


def _timestamp(value: str | None, name: str) -> float:
    """Parse an ISO 8601 time; the fragments write the zone as +0000."""
    at = moment(value)
    if at is None:
        raise InvalidPost(f"{name} is not a time")
    return _valid_timestamp(at.timestamp())
