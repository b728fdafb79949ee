"""Bluesky source: finds posts with a video through its search API, logged in with an app password."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from found_footy.clips.bluesky_videos import is_did, pds_endpoint
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
    source_client,
    text,
    within,
)
from found_footy.errors import SourceChanged, SourceLoggedOut, SourceRateLimited
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http import HttpClient, HttpResponse
from found_footy.text import clean_text

SOURCE = "bluesky"
WEB_URL = "https://bsky.app"
VIDEO_CDN_URL = "https://video.bsky.app"
MIN_POST_DATE = datetime(2005, 1, 1, tzinfo=UTC)
"""Earlier dates come from wrong clocks."""

_VIDEO = "app.bsky.embed.video#view"
_RECORD_WITH_MEDIA = "app.bsky.embed.recordWithMedia#view"
_RECORD = "app.bsky.embed.record#view"
_VIEW_RECORD = "app.bsky.embed.record#viewRecord"
_URI = re.compile(r"at://([^/]+)/app\.bsky\.feed\.post/([A-Za-z0-9._:-]{1,64})", re.ASCII)
_CID = re.compile(r"b[a-z2-7]{40,110}", re.ASCII)
_HANDLE = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Video:
    """A video and the post that contains it, which is the quoted post in a quote post."""

    view: Any
    record: Any
    embed: Any


def parse_search_response(body: Any, query: SearchQuery, now: datetime) -> list[Post]:
    """Parse a searchPosts response into posts that have a video and match the query."""
    return parse_posts(SOURCE, field(body, "posts"), lambda view: _post(view, query, now))


def _post(view: Any, query: SearchQuery, now: datetime) -> Post | None:
    post_text = text(view, "record", "text")
    video = _video_of(view)
    if video is None:
        return None
    # The description may be in the quoting post or in the quoted one.
    quoted_text = "" if video.view is view else optional_text(video.record, "text")
    searchable = clean_text(f"{post_text} {quoted_text} {optional_text(video.embed, 'alt')}", 2000)
    if not query.matches(searchable):
        return None
    uri = _URI.fullmatch(text(video.view, "uri"))
    did, cid = text(video.view, "author", "did"), text(video.embed, "cid")
    if uri is None or uri[1] != did or not is_did(did) or not _CID.fullmatch(cid):
        raise InvalidPost("uri, author.did or cid of the video are invalid")
    handle = optional_text(video.view, "author", "handle")
    author = handle if len(handle) <= 253 and _HANDLE.fullmatch(handle) and handle != "handle.invalid" else did
    return Post(
        source=SOURCE,
        id=f"{did}/{uri[2]}",
        url=f"{WEB_URL}/profile/{author}/post/{uri[2]}",
        media_url=_media_url(video.embed, did, cid),
        posted_at=_posted_at(video, now),
        author=author,
        text=clean_text(f"{post_text} {quoted_text}"),
    )


def _media_url(embed: Any, did: str, cid: str) -> str:
    """Return the CDN playlist URL, which contains the author's DID and the file's CID.

    The downloader fetches the original from the author's server if possible, and the playlist otherwise, so one URL
    serves both.
    """
    playlist = optional_text(embed, "playlist")
    if playlist.startswith(("https://", "http://")) and cid in playlist and len(playlist) <= 1000:
        return playlist
    return f"{VIDEO_CDN_URL}/watch/{did}/{cid}/playlist.m3u8"


def _video_of(view: Any) -> _Video | None:
    embed = field(view, "embed")
    kind = field(embed, "$type")
    if kind == _VIDEO:
        return _Video(view, field(view, "record"), embed)
    if kind == _RECORD_WITH_MEDIA:
        if field(embed, "media", "$type") == _VIDEO:
            return _Video(view, field(view, "record"), field(embed, "media"))
        return _quoted_video(field(embed, "record", "record"))
    return _quoted_video(field(embed, "record")) if kind == _RECORD else None


def _quoted_video(view: Any) -> _Video | None:
    embeds = field(view, "embeds")
    if field(view, "$type") != _VIEW_RECORD or not isinstance(embeds, list):
        return None
    for embed in embeds[:4]:
        for each in (embed, field(embed, "media")):
            if field(each, "$type") == _VIDEO:
                return _Video(view, field(view, "value"), each)
    return None


def _posted_at(video: _Video, now: datetime) -> datetime:
    """Return the earlier of the author's `createdAt` and Bluesky's `indexedAt`, capped at `now`."""
    created, indexed = moment(field(video.record, "createdAt")), moment(field(video.view, "indexedAt"))
    plausible = [each for each in (created, indexed) if each is not None and each >= MIN_POST_DATE]
    if not plausible:
        raise InvalidPost("createdAt and indexedAt are not times")
    return min(*plausible, now)


# --- Login session: reused while valid, refreshed once on expiry, rate limited.


CREATE_SESSION = "/xrpc/com.atproto.server.createSession"
REFRESH_SESSION = "/xrpc/com.atproto.server.refreshSession"
MAX_LIMIT_PAUSE = timedelta(minutes=5)
"""Window of Bluesky's rate limits, and pause after a refused login."""

_EXPIRED_ERRORS = frozenset({"ExpiredToken", "InvalidToken"})
_TOKEN = re.compile(r"[!-~]{1,4096}")


class BlueskySession:
    def __init__(self, http: HttpClient, handle: str, password: str, *, now: Callable[[], datetime]) -> None:
        self.handle = handle
        self._http = http
        self._password = password
        self._now = now
        self._access: str | None = None
        self._refresh: str | None = None
        self._pds = ""
        """Base URL of the account's PDS; empty until a login returns one, to use the login server."""
        self._login_lock = asyncio.Lock()
        self._rate_limited_until: datetime | None = None
        self._login_refused_until: datetime | None = None

    async def get(self, path: str, params: Mapping[str, str]) -> HttpResponse:
        """Send a GET request with the session token, refreshing an expired session once. Raises a SourceError."""
        token = await self.login()
        response = await self._get(path, params, token)
        if _error_name(response) in _EXPIRED_ERRORS:
            response = await self._get(path, params, await self.login(expired=token))
            if _error_name(response) in _EXPIRED_ERRORS:
                raise SourceLoggedOut(f"{response.endpoint} rejects the token of a new login: {_error_name(response)}")
        raise_for_status(response, _error_name(response))
        return response

    async def _get(self, path: str, params: Mapping[str, str], token: str) -> HttpResponse:
        self._check_limit()
        response = await self._http.get(f"{self._pds}{path}", params, headers={"authorization": f"Bearer {token}"})
        # Only searches record an exhausted limit here: logins have a separate one.
        self._note_limit(response, exhausted=response.headers.get("ratelimit-remaining") == "0")
        return response

    async def login(self, expired: str | None = None) -> str:
        """Return a valid token other than `expired`. Concurrent callers share one refresh or login."""
        async with self._login_lock:
            if self._access is not None and self._access != expired:
                return self._access
            self._access = None
            response = await self._refresh_session() or await self._create_session()
            access, self._refresh = self._token(response, "accessJwt"), self._token(response, "refreshJwt")
            self._pds = self._trusted_pds(response) or self._pds
            self._access = access
            return access

    async def _refresh_session(self) -> HttpResponse | None:
        token, self._refresh = self._refresh, None
        if token is None:
            return None
        self._check_limit()
        response = await self._http.request(
            "POST", REFRESH_SESSION, headers={"authorization": f"Bearer {token}"}, record_body=False
        )
        self._note_limit(response)
        # If the refresh token has expired or was revoked, log in with the password.
        return response if response.ok else None

    async def _create_session(self) -> HttpResponse:
        self._check_limit()
        if self._login_refused_until is not None and self._now() < self._login_refused_until:
            raise SourceLoggedOut(f"Bluesky refused the login of {self.handle}; the next attempt is in up to 5 minutes")
        login = {"identifier": self.handle, "password": self._password}
        response = await self._http.request("POST", CREATE_SESSION, json=login, record_body=False)
        self._note_limit(response)
        if response.status in (400, 401, 403) and not response.is_html:
            self._login_refused_until = self._now() + MAX_LIMIT_PAUSE
            # The server's message is omitted: it might contain the password.
            raise SourceLoggedOut(
                f"Bluesky refused the login of {self.handle}: HTTP {response.status} {_error_name(response)}; "
                "check FOOTY_BLUESKY_HANDLE, and that FOOTY_BLUESKY_PASSWORD is an app password"
            )
        raise_for_status(response)
        return response

    def _trusted_pds(self, response: HttpResponse) -> str:
        """Return the account's PDS if it is safe to send the token there: over TLS, or to the login server."""
        endpoint = pds_endpoint(field(response.json(), "didDoc"))
        if endpoint is None:
            return ""
        is_trusted = endpoint.startswith("https://") or _origin(endpoint) == _origin(str(self._http.base_url))
        return endpoint if is_trusted else ""

    def _token(self, response: HttpResponse, name: str) -> str:
        token = optional_text(response.json(), name)
        if not _TOKEN.fullmatch(token):
            raise SourceChanged(f"{response.endpoint}: the login response has no {name}")
        return token

    def _check_limit(self) -> None:
        """Raise SourceRateLimited while a rate limit applies."""
        if self._rate_limited_until is not None and self._now() < self._rate_limited_until:
            raise SourceRateLimited(f"Bluesky's rate limit is exhausted until {self._rate_limited_until:%H:%M:%S} UTC")

    def _note_limit(self, response: HttpResponse, *, exhausted: bool = False) -> None:
        if response.status != 429 and not exhausted:
            return
        now = self._now()
        reset = response.headers.get("ratelimit-reset", "")
        until = datetime.fromtimestamp(int(reset), UTC) if re.fullmatch(r"\d{1,11}", reset, re.ASCII) else now
        self._rate_limited_until = min(until, now + MAX_LIMIT_PAUSE)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _error_name(response: HttpResponse) -> str:
    """Return Bluesky's error name, such as ExpiredToken, or an empty string for a successful response."""
    if response.ok or response.is_html:
        return ""
    try:
        name = optional_text(response.json(), "error")
    except SourceChanged:
        return ""
    return name if re.fullmatch(r"\w{1,40}", name, re.ASCII) else ""


# --- Bluesky source.


SEARCH_POSTS = "/xrpc/app.bsky.feed.searchPosts"
MAX_RESULTS = 100
MAX_SEARCH_TERMS = 8


class Bluesky:
    def __init__(
        self,
        base_url: str,
        handle: str,
        app_password: str,
        *,
        timeout: float,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._http = source_client(base_url, timeout)
        self._session = BlueskySession(self._http, handle, app_password, now=now)
        self._timeout = timeout
        self._now = now

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        # Limits a login and the searches together, not each request.
        async with within(self._timeout, "Bluesky"):
            await self._session.login()  # first, so that a failed login is not retried by each search
            searches = [self._search_text(search_text, query, since) for search_text in search_terms(query)]
            results = await asyncio.gather(*searches, return_exceptions=True)
        found: list[Post] = []
        for response in results:
            if isinstance(response, BaseException):
                raise response
            found += response
        return newest_first(found, since)

    async def check(self) -> str:
        async with within(self._timeout, "Bluesky"):
            await self._session.get(SEARCH_POSTS, {"q": "goal", "limit": "1"})
        return f"logged in as {self._session.handle}"

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _search_text(self, search_text: str, query: SearchQuery, since: datetime) -> list[Post]:
        since_text = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        params = {"q": search_text, "sort": "latest", "limit": str(MAX_RESULTS), "since": since_text}
        response = await self._session.get(SEARCH_POSTS, params)
        return parse_search_response(response.json(), query, self._now())


def search_terms(query: SearchQuery) -> list[str]:
    """Return one search text per name of the scorer, or per team if the scorer is unknown, to narrow the results."""
    return [f'"{word}"' if " " in word else word for word in query.players or query.teams][:MAX_SEARCH_TERMS]
