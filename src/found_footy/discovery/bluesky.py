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
PAGES = "https://bsky.app"
VIDEOS = "https://video.bsky.app"
FIRST_PLAUSIBLE = datetime(2005, 1, 1, tzinfo=UTC)
"""Earlier dates come from a wrong clock; imported old posts carry their real dates."""

_VIDEO = "app.bsky.embed.video#view"
_WITH_MEDIA = "app.bsky.embed.recordWithMedia#view"
_QUOTE = "app.bsky.embed.record#view"
_QUOTED = "app.bsky.embed.record#viewRecord"
_URI = re.compile(r"at://([^/]+)/app\.bsky\.feed\.post/([A-Za-z0-9._:-]{1,64})", re.ASCII)
_CID = re.compile(r"b[a-z2-7]{40,110}", re.ASCII)
_HANDLE = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Video:
    """A video and the post that contains it, which is the quoted post in a quote post."""

    view: Any
    record: Any
    embed: Any


def read_answer(body: Any, query: SearchQuery, now: datetime) -> list[Post]:
    """Parse a searchPosts response into posts that have a video and match the query."""
    return parse_posts(SOURCE, field(body, "posts"), lambda view: _post(view, query, now))


def _post(view: Any, query: SearchQuery, now: datetime) -> Post | None:
    said = text(view, "record", "text")
    video = _video_of(view)
    if video is None:
        return None
    # The description may be in the quoting post or in the quoted one.
    quoted = "" if video.view is view else optional_text(video.record, "text")
    words = clean_text(f"{said} {quoted} {optional_text(video.embed, 'alt')}", 2000)
    if not query.matches(words):
        return None
    uri = _URI.fullmatch(text(video.view, "uri"))
    did, cid = text(video.view, "author", "did"), text(video.embed, "cid")
    if uri is None or uri[1] != did or not is_did(did) or not _CID.fullmatch(cid):
        raise InvalidPost("uri, author.did or cid of the video are invalid")
    handle = optional_text(video.view, "author", "handle")
    shown = handle if len(handle) <= 253 and _HANDLE.fullmatch(handle) and handle != "handle.invalid" else did
    return Post(
        source=SOURCE,
        id=f"{did}/{uri[2]}",
        url=f"{PAGES}/profile/{shown}/post/{uri[2]}",
        media_url=_media_url(video.embed, did, cid),
        posted_at=_posted_at(video, now),
        author=shown,
        text=clean_text(f"{said} {quoted}"),
    )


def _media_url(embed: Any, did: str, cid: str) -> str:
    """Return the CDN playlist URL, which contains the author's DID and the file's CID.

    The downloader fetches the original from the author's server if possible, and the playlist otherwise, so one URL
    serves both.
    """
    playlist = optional_text(embed, "playlist")
    if playlist.startswith(("https://", "http://")) and cid in playlist and len(playlist) <= 1000:
        return playlist
    return f"{VIDEOS}/watch/{did}/{cid}/playlist.m3u8"


def _video_of(view: Any) -> _Video | None:
    embed = field(view, "embed")
    kind = field(embed, "$type")
    if kind == _VIDEO:
        return _Video(view, field(view, "record"), embed)
    if kind == _WITH_MEDIA:
        if field(embed, "media", "$type") == _VIDEO:
            return _Video(view, field(view, "record"), field(embed, "media"))
        return _quoted(field(embed, "record", "record"))
    return _quoted(field(embed, "record")) if kind == _QUOTE else None


def _quoted(view: Any) -> _Video | None:
    embeds = field(view, "embeds")
    if field(view, "$type") != _QUOTED or not isinstance(embeds, list):
        return None
    for embed in embeds[:4]:
        for each in (embed, field(embed, "media")):
            if field(each, "$type") == _VIDEO:
                return _Video(view, field(view, "value"), each)
    return None


def _posted_at(video: _Video, now: datetime) -> datetime:
    """Return the earlier of the author's `createdAt` and Bluesky's `indexedAt`, capped at `now`."""
    created, indexed = moment(field(video.record, "createdAt")), moment(field(video.view, "indexedAt"))
    plausible = [each for each in (created, indexed) if each is not None and each >= FIRST_PLAUSIBLE]
    if not plausible:
        raise InvalidPost("createdAt and indexedAt are not times")
    return min(*plausible, now)


# --- Login session: reused while valid, refreshed once on expiry, rate limited.


CREATE = "/xrpc/com.atproto.server.createSession"
REFRESH = "/xrpc/com.atproto.server.refreshSession"
REST = timedelta(minutes=5)
"""Window of Bluesky's rate limits, and the pause after a refused login."""

_ENDED = frozenset({"ExpiredToken", "InvalidToken"})
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
        """Base URL of the account's server (PDS); the entryway until a login returns one."""
        self._renewing = asyncio.Lock()
        self._limited_until: datetime | None = None
        self._refused_until: datetime | None = None

    async def get(self, path: str, params: Mapping[str, str]) -> HttpResponse:
        """Send a GET request with the session token. Renew an expired session once. Raises a SourceError."""
        token = await self.login()
        answer = await self._get(path, params, token)
        if _error(answer) in _ENDED:
            answer = await self._get(path, params, await self.login(than=token))
            if _error(answer) in _ENDED:
                raise SourceLoggedOut(f"{answer.where} refuses a new login too: {_error(answer)}")
        raise_for_status(answer, _error(answer))
        return answer

    async def _get(self, path: str, params: Mapping[str, str], token: str) -> HttpResponse:
        self._heed_limit()
        answer = await self._http.get(f"{self._pds}{path}", params, headers={"authorization": f"Bearer {token}"})
        # Logins have a separate rate limit, so an exhausted one does not stop searches.
        self._note_limit(answer, spent=answer.headers.get("ratelimit-remaining") == "0")
        return answer

    async def login(self, than: str | None = None) -> str:
        """Return a valid token other than `than`, the expired one. Concurrent callers share one renewal."""
        async with self._renewing:
            if self._access is not None and self._access != than:
                return self._access
            self._access = None
            answer = await self._renewed() or await self._created()
            access, self._refresh = self._token(answer, "accessJwt"), self._token(answer, "refreshJwt")
            self._pds = self._server(answer) or self._pds
            self._access = access
            return access

    async def _renewed(self) -> HttpResponse | None:
        token, self._refresh = self._refresh, None
        if token is None:
            return None
        self._heed_limit()
        answer = await self._http.request(
            "POST", REFRESH, headers={"authorization": f"Bearer {token}"}, record_body=False
        )
        self._note_limit(answer)
        # If the refresh token has expired or was revoked, log in with the password.
        return answer if answer.ok else None

    async def _created(self) -> HttpResponse:
        self._heed_limit()
        if self._refused_until is not None and self._now() < self._refused_until:
            raise SourceLoggedOut(f"Bluesky refused the login of {self.handle}; not tried again for 5 minutes")
        login = {"identifier": self.handle, "password": self._password}
        answer = await self._http.request("POST", CREATE, json=login, record_body=False)
        self._note_limit(answer)
        if answer.status in (400, 401, 403) and not answer.is_html:
            self._refused_until = self._now() + REST
            # The server's message is left out, because it might repeat the password.
            raise SourceLoggedOut(
                f"Bluesky refused the login of {self.handle}: HTTP {answer.status} {_error(answer)}; "
                "check FOOTY_BLUESKY_HANDLE, and that FOOTY_BLUESKY_PASSWORD is an app password"
            )
        raise_for_status(answer)
        return answer

    def _server(self, answer: HttpResponse) -> str:
        """Return the account's server if the token cannot leak: over TLS, or on the server used for the login."""
        endpoint = pds_endpoint(field(answer.json(), "didDoc"))
        if endpoint is None:
            return ""
        return (
            endpoint
            if endpoint.startswith("https://") or _origin(endpoint) == _origin(str(self._http.base_url))
            else ""
        )

    def _token(self, answer: HttpResponse, name: str) -> str:
        token = optional_text(answer.json(), name)
        if not _TOKEN.fullmatch(token):
            raise SourceChanged(f"{answer.where}: the login's answer has no {name}")
        return token

    def _heed_limit(self) -> None:
        """Raise SourceRateLimited while a rate limit is in force."""
        if self._limited_until is not None and self._now() < self._limited_until:
            raise SourceRateLimited(f"Bluesky's rate limit is used up until {self._limited_until:%H:%M:%S} UTC")

    def _note_limit(self, answer: HttpResponse, *, spent: bool = False) -> None:
        if answer.status != 429 and not spent:
            return
        now = self._now()
        reset = answer.headers.get("ratelimit-reset", "")
        until = datetime.fromtimestamp(int(reset), UTC) if re.fullmatch(r"\d{1,11}", reset, re.ASCII) else now
        self._limited_until = min(until, now + REST)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _error(answer: HttpResponse) -> str:
    """Return Bluesky's error name, such as ExpiredToken, or an empty string for a successful response."""
    if answer.ok or answer.is_html:
        return ""
    try:
        name = optional_text(answer.json(), "error")
    except SourceChanged:
        return ""
    return name if re.fullmatch(r"\w{1,40}", name, re.ASCII) else ""


# --- Bluesky source.


SEARCH = "/xrpc/app.bsky.feed.searchPosts"
LIMIT = 100
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
        # The timeout of one request does not cover a login followed by a search.
        async with within(self._timeout, "Bluesky"):
            await self._session.login()  # once for all requests, even if it fails
            asked = [self._ask(question, query, since) for question in search_terms(query)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
        found: list[Post] = []
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            found += answer
        return newest_first(found, since)

    async def check(self) -> str:
        async with within(self._timeout, "Bluesky"):
            await self._session.get(SEARCH, {"q": "goal", "limit": "1"})
        return f"logged in as {self._session.handle}"

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _ask(self, question: str, query: SearchQuery, since: datetime) -> list[Post]:
        since_text = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        params = {"q": question, "sort": "latest", "limit": str(LIMIT), "since": since_text}
        answer = await self._session.get(SEARCH, params)
        return read_answer(answer.json(), query, self._now())


def search_terms(query: SearchQuery) -> list[str]:
    """Return one search text per name of the scorer, or per team if the scorer is unknown, to keep results narrow."""
    return [f'"{word}"' if " " in word else word for word in query.players or query.teams][:MAX_SEARCH_TERMS]
