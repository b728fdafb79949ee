"""Bluesky's API over what is posted of a matchday: login, search, and the way to a post's video.

As at the real service, a search finds posts that hold all its words, `OR` being one of them; a login is needed; and a
video is fetched by a redirect to the server that holds it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from found_footy.simulator.social.posts import PostsOf, SocialPost

MOST = 100


def bluesky_routes(posts: PostsOf, base_url: Callable[[], str], handle: str, password: str) -> list[Route]:
    service = _Bluesky(posts, base_url, handle, password)
    return [
        Route("/xrpc/com.atproto.server.createSession", service.create_session, methods=["POST"]),
        Route("/xrpc/com.atproto.server.refreshSession", service.refresh_session, methods=["POST"]),
        Route("/xrpc/app.bsky.feed.searchPosts", service.search_posts),
        Route("/xrpc/com.atproto.sync.getBlob", service.get_blob),
    ]


class _Bluesky:
    def __init__(self, posts: PostsOf, base_url: Callable[[], str], handle: str, password: str) -> None:
        self._posts = posts
        self._base_url = base_url
        self._handle = handle
        self._password = password
        self._access = f"access.{_letters(handle + password, 24)}.simulated"
        self._refresh = f"refresh.{_letters(handle + password, 24)}.simulated"

    async def create_session(self, request: Request) -> Response:
        try:
            given = json.loads(await request.body())
        except ValueError:
            given = None
        if not isinstance(given, dict):
            return _refused(400, "InvalidRequest", "Input must be an object")
        if (given.get("identifier"), given.get("password")) != (self._handle, self._password):
            return _refused(401, "AuthenticationRequired", "Invalid identifier or password")
        return self._session()

    async def refresh_session(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self._refresh}":
            return _refused(400, "InvalidToken", "Token could not be verified")
        return self._session()

    async def search_posts(self, request: Request) -> Response:
        authorization = request.headers.get("authorization")
        if authorization is None:
            return _refused(401, "AuthMissing", "Authentication Required")
        if authorization != f"Bearer {self._access}":
            return _refused(400, "ExpiredToken", "Token has expired")
        query, limit = request.query_params.get("q", ""), request.query_params.get("limit", "25")
        if not query.strip():
            return _refused(400, "InvalidRequest", "Error: Params must have the property q")
        if not limit.isdecimal() or not 1 <= int(limit) <= MOST:
            return _refused(400, "InvalidRequest", f"Error: limit can not be greater than {MOST}")
        since = _since(request.query_params.get("since"))
        found = [
            post_view(post, self._base_url())
            for post in self._posts("bluesky")
            if holds_all(post.text, query) and (since is None or post.posted_at >= since)
        ]
        return JSONResponse({"posts": found[: int(limit)]}, headers=_LIMITS)

    async def get_blob(self, request: Request) -> Response:
        wanted = request.query_params.get("did"), request.query_params.get("cid")
        for post in self._posts("bluesky"):
            if (did_of(post.author), cid_of(post.media)) == wanted:
                address = post.media if "://" in post.media else self._base_url() + post.media
                return RedirectResponse(address, status_code=302)
        return _refused(400, "BlobNotFound", "Blob not found")

    def _session(self) -> Response:
        did = did_of(self._handle)
        session = {"did": did, "handle": self._handle, "active": True}
        return JSONResponse({**session, "accessJwt": self._access, "refreshJwt": self._refresh})


_LIMITS = {"ratelimit-limit": "3000", "ratelimit-remaining": "2999", "ratelimit-policy": "3000;w=300"}


def holds_all(text: str, query: str) -> bool:
    """Whether a text holds all words, and the phrases in quotes, of a query; parentheses mean nothing."""
    words = f" {_plain(text)} "
    asked = [_plain(phrase or word) for phrase, word in re.findall(r'"([^"]*)"|(\S+)', query)]
    return all(f" {each} " in words for each in asked if each)


def _plain(text: str) -> str:
    """Case and accents make no difference to the search."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(re.findall(r"\w+", "".join(each for each in apart if not unicodedata.combining(each))))


def did_of(author: str) -> str:
    return f"did:plc:{_letters(author, 24)}"


def cid_of(media: str) -> str:
    return f"bafkrei{_letters(media, 52)}"


def _letters(seed: str, length: int) -> str:
    digest = hashlib.sha512(seed.encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest).decode().lower()[:length]


def _since(text: str | None) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _refused(status: int, error: str, message: str) -> Response:
    return JSONResponse({"error": error, "message": message}, status_code=status)


def post_view(post: SocialPost, base_url: str) -> dict[str, Any]:
    did, cid = did_of(post.author), cid_of(post.media)
    handle = post.author if "." in post.author else f"{post.author}.bsky.social"
    at = post.posted_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    watch = f"{base_url}/watch/{did}/{cid}"
    blob = {"$type": "blob", "ref": {"$link": cid}, "mimeType": "video/mp4", "size": 1_000_000}
    return {
        "uri": f"at://{did}/app.bsky.feed.post/{post.id}",
        "cid": f"bafyrei{_letters(post.id, 52)}",
        "author": {"did": did, "handle": handle, "displayName": post.author, "labels": []},
        "record": {
            "$type": "app.bsky.feed.post",
            "createdAt": at,
            "embed": {"$type": "app.bsky.embed.video", "video": blob},
            "langs": ["en"],
            "text": post.text,
        },
        "embed": {
            "$type": "app.bsky.embed.video#view",
            "cid": cid,
            "playlist": f"{watch}/playlist.m3u8",
            "thumbnail": f"{watch}/thumbnail.jpg",
            "aspectRatio": {"width": 1280, "height": 720},
        },
        "replyCount": 0,
        "repostCount": 0,
        "likeCount": 0,
        "quoteCount": 0,
        "indexedAt": at,
        "labels": [],
    }
