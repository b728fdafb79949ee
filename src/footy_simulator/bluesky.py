"""Serve posts in the protocol of Bluesky: the entryway, two PDSes, the account directory and the video CDN.

As at the real service, a search finds posts that contain all its words, `OR` being one of them, and needs a login. The
entryway (`/xrpc`) handles sessions; `didDoc` names the account's PDS. Authors are on another PDS, which the directory
(`/plc/<did>`) names and which holds their videos: the entryway does not (gallery-dl#6406).
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
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from footy_simulator.posts import HOSTILE_PATH, PostsOf, SocialPost
from footy_simulator.scenario import BlueskyService

MAX_RESULTS = 100
PLC = "/plc"
OWN_PDS = "/hosts/morel.us-east.host.bsky.network"
"""PDS of the account that searches."""
AUTHORS_PDS = "/hosts/pds.example.net"
CDN = "/hosts/video.bsky.app"


def bluesky_routes(
    posts: PostsOf,
    base_url: Callable[[], str],
    handle: str,
    password: str,
    script: BlueskyService = BlueskyService(),  # noqa: B008 - frozen
) -> list[Route]:
    service = _Bluesky(posts, base_url, handle, password, script)
    return [
        Route("/xrpc/com.atproto.server.createSession", service.create_session, methods=["POST"]),
        Route("/xrpc/com.atproto.server.refreshSession", service.refresh_session, methods=["POST"]),
        Route("/xrpc/com.atproto.sync.getBlob", service.no_blob),
        Route(f"{OWN_PDS}/xrpc/app.bsky.feed.searchPosts", service.search_posts),
        Route(f"{AUTHORS_PDS}/xrpc/com.atproto.sync.getBlob", service.get_blob),
        Route(f"{PLC}/{{did}}", service.did_document),
        Route(f"{CDN}/watch/{{did}}/{{cid}}/playlist.m3u8", service.playlist),
    ]


class _Bluesky:
    def __init__(
        self, posts: PostsOf, base_url: Callable[[], str], handle: str, password: str, script: BlueskyService
    ) -> None:
        self._script = script
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
        if not limit.isdecimal() or not 1 <= int(limit) <= MAX_RESULTS:
            return _refused(400, "InvalidRequest", f"Error: limit can not be greater than {MAX_RESULTS}")
        since = _since(request.query_params.get("since"))
        found = [
            post_view(post, self._base_url())
            for post in self._posts("bluesky")
            if holds_all(post.text, query) and (since is None or post.posted_at >= since)
        ]
        return JSONResponse({"posts": found[: int(limit)]}, headers=_LIMITS)

    async def get_blob(self, request: Request) -> Response:
        video = self._video(request.query_params.get("did"), request.query_params.get("cid"))
        if video is None or self._script.blobs == "refused":
            return _refused(400, "BlobNotFound", "Blob not found")
        # A real PDS returns the file itself; clients that follow redirects see no difference.
        return RedirectResponse(video, status_code=302)

    async def no_blob(self, request: Request) -> Response:
        return _refused(400, "RepoNotFound", f"Could not find repo for DID: {request.query_params.get('did')}")

    async def did_document(self, request: Request) -> Response:
        did = request.path_params["did"]
        known = {did_of(post.author) for post in self._posts("bluesky")}
        if did == did_of(self._handle):
            return JSONResponse(self._document(did, OWN_PDS))
        if did in known:
            return JSONResponse(self._document(did, AUTHORS_PDS))
        return JSONResponse({"message": f"DID not registered: {did}"}, status_code=404)

    async def playlist(self, request: Request) -> Response:
        """A playlist whose only segment is the whole file."""
        video = self._video(request.path_params["did"], request.path_params["cid"])
        if video is None or f"{HOSTILE_PATH}/" in video:
            return PlainTextResponse("Not Found", status_code=404)
        lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:60", "#EXTINF:60.0,", video, "#EXT-X-ENDLIST", ""]
        return Response("\n".join(lines), media_type="application/vnd.apple.mpegurl")

    def _video(self, did: str | None, cid: str | None) -> str | None:
        for post in self._posts("bluesky"):
            if (did_of(post.author), cid_of(post.media)) == (did, cid):
                return post.media if "://" in post.media else self._base_url() + post.media
        return None

    def _document(self, did: str, pds: str) -> dict[str, Any]:
        endpoint = f"{self._base_url()}{pds}"
        service = {"id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": endpoint}
        return {"@context": ["https://www.w3.org/ns/did/v1"], "id": did, "service": [service]}

    def _session(self) -> Response:
        did = did_of(self._handle)
        session = {"did": did, "handle": self._handle, "active": True, "didDoc": self._document(did, OWN_PDS)}
        return JSONResponse({**session, "accessJwt": self._access, "refreshJwt": self._refresh})


_LIMITS = {"ratelimit-limit": "3000", "ratelimit-remaining": "2999", "ratelimit-policy": "3000;w=300"}


def holds_all(text: str, query: str) -> bool:
    """Whether a text contains all words and quoted phrases of a query; parentheses are ignored."""
    words = f" {_plain(text)} "
    asked = [_plain(phrase or word) for phrase, word in re.findall(r'"([^"]*)"|(\S+)', query)]
    return all(f" {each} " in words for each in asked if each)


def _plain(text: str) -> str:
    """The search ignores case and accents."""
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
    watch = f"{base_url}{CDN}/watch/{did.replace(':', '%3A')}/{cid}"
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
