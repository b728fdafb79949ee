"""Serve posts on X in the protocol of FxEmbed's API: `/2/search` and `/2/status/<id>`, as of late 2026.

As at the real service, a search without results returns 404 with an empty list, and so does every search while it is
down.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footy_simulator.posts import PostIds, PostsOf, PostTimeline, SocialPost
from footy_simulator.scenario import FxTwitterService
from footy_simulator.x import VARIANTS, query_matches

MAX_QUERY_LENGTH = 512
DEFAULT_COUNT, MAX_COUNT = 30, 100
NO_CURSOR = {"top": None, "bottom": None}
_TOMBSTONES = {
    "gone": ("deleted", "This Post was deleted by the Post author."),
    "private": ("private", "This Post is from an account that limits who can view its Posts."),
}
_ELSEWHERE_AGE = timedelta(hours=1)


def _now() -> datetime:
    return datetime.now(UTC)


def fxtwitter_routes(
    posts: PostsOf,
    feed: PostTimeline,
    base_url: Callable[[], str],
    service: FxTwitterService,
    now: Callable[[], datetime] = _now,
) -> list[Route]:
    async def search(request: Request) -> Response:
        query, count = request.query_params.get("q", ""), request.query_params.get("count", "")
        if service.state == "down":
            return JSONResponse({"code": 500, "results": [], "cursor": NO_CURSOR}, 500)
        if not query.strip():
            return _refused("q: Search query is required")
        if len(query) > MAX_QUERY_LENGTH:
            return _refused(f"q: Raw query length {len(query)} exceeds max allowed {MAX_QUERY_LENGTH}")
        limit = min(int(count), MAX_COUNT) if count.isascii() and count.isdecimal() and count else DEFAULT_COUNT
        found = [] if service.state == "empty" else [*posts("x"), elsewhere(now())]
        results = [status_of(post, base_url()) for post in found if query_matches(query, post.text)][:limit]
        if not results:
            return JSONResponse({"code": 404, "results": [], "cursor": NO_CURSOR}, 404)
        cursor = {"top": f"DAAD{results[0]['id']}", "bottom": f"DAAC{results[-1]['id']}"}
        return JSONResponse({"code": 200, "results": results, "cursor": cursor})

    async def status(request: Request) -> Response:
        id_ = request.path_params["id"]
        if service.state == "down":
            return JSONResponse({"code": 500, "message": "Internal Server Error"}, 500)
        post, clip = feed.post("x", id_), feed.clip_of("x", id_)
        if post is None:
            return JSONResponse({"code": 404, "status": None, "author": None}, 404)
        if clip is not None and clip.kind in _TOMBSTONES:
            reason, message = _TOMBSTONES[clip.kind]
            buried = {"type": "tombstone", "provider": "twitter", "reason": reason, "message": message, "id": id_}
            return JSONResponse({"code": 404, "status": buried, "author": None}, 404)
        shown = status_of(post, base_url())
        return JSONResponse({"code": 200, "status": shown, "author": shown["author"]})

    return [Route("/2/search", search), Route("/2/status/{id}", status)]


def _refused(message: str) -> Response:
    return JSONResponse({"code": 400, "message": message}, 400)


def elsewhere(now: datetime) -> SocialPost:
    """A goal of another match, because the real X always has one: the canary finds it."""
    at = (now - _ELSEWHERE_AGE).replace(microsecond=0)
    text = "What a goal in the other half of the world"
    return SocialPost("x", PostIds().new("x", at), "elsewhere", text, at, 21.0, "/trap/gone/elsewhere.mp4")


def status_of(post: SocialPost, base: str) -> dict[str, Any]:
    page = f"https://x.com/{post.author}/status/{post.id}"
    video = _video(post, base)
    return {
        "type": "status",
        "id": post.id,
        "url": page,
        "text": post.text,
        "raw_text": {"text": post.text, "display_text_range": [0, len(post.text)], "facets": []},
        "created_at": post.posted_at.astimezone(UTC).strftime("%a %b %d %H:%M:%S +0000 %Y"),
        "created_timestamp": int(post.posted_at.timestamp()),
        "likes": 12,
        "reposts": 3,
        "quotes": 0,
        "replies": 1,
        "views": 450,
        "bookmarks": 0,
        "author": {
            "type": "profile",
            "id": "44196397",
            "name": post.author.title(),
            "screen_name": post.author,
            "avatar_url": "https://pbs.twimg.com/profile_images/1/normal.jpg",
            "url": f"https://x.com/{post.author}",
            "protected": False,
        },
        "media": {"videos": [video], "all": [video]},
        "lang": "en",
        "source": "Twitter for iPhone",
        "possibly_sensitive": False,
        "replying_to": None,
        "reposted_by": None,
        "community_note": None,
        "is_note_tweet": False,
        "embed_card": "player",
        "provider": "twitter",
    }


def _video(post: SocialPost, base: str) -> dict[str, Any]:
    files = [
        {
            "container": "mp4",
            "codec": "h264",
            "bitrate": bitrate,
            "url": f"{base}{post.media}" + ("" if place == len(VARIANTS) - 1 else f"?tag=low&size={width}x{height}"),
        }
        for place, (bitrate, width, height) in enumerate(VARIANTS)
    ]
    playlist = {"container": "m3u8", "url": f"{base}{post.media}.m3u8?tag=29"}
    return {
        "id": post.id,
        "type": "video",
        "format": "video/mp4",
        "url": files[-1]["url"],
        "thumbnail_url": "https://pbs.twimg.com/media/poster.jpg",
        "duration": post.duration,
        "width": 1280,
        "height": 720,
        "formats": [playlist, *files],
        "publisher": None,
    }
