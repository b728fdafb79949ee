"""X's syndication endpoint, which embeds posts in other sites and tells where their videos are."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC
from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from found_footy.simulator.services_script import XService
from found_footy.simulator.social.feed import SocialFeed
from found_footy.simulator.social.posts import SocialPost

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_UNSURE_DIGITS = 3
"""The last digits of a token hang on how a fraction is rounded when it is written out."""
VARIANTS = ((256_000, 480, 270), (832_000, 640, 360), (2_176_000, 1280, 720))
"""Bits a second, width and height; the last one is the file as it was posted."""
_TOMBSTONES = {
    "gone": "This Post was deleted by the Post author. Learn more",
    "private": "You’re unable to view this Post because this account owner limits who can view their Posts. Learn more",
}


def syndication_routes(feed: SocialFeed, base_url: Callable[[], str], service: XService | None = None) -> list[Route]:
    is_down = service is not None and service.syndication == "down"

    async def tweet_result(request: Request) -> Response:
        if is_down:
            return PlainTextResponse("upstream connect error", 503)
        post_id, token = request.query_params.get("id", ""), request.query_params.get("token", "")
        if not (post_id.isascii() and post_id.isdigit() and len(post_id) <= 20) or not fits(token, int(post_id)):
            return JSONResponse({"error": "Bad Request: the id and the token do not fit"}, status_code=400)
        post = feed.post("x", post_id)
        if post is None:
            return JSONResponse({}, status_code=404)
        clip = feed.clip_of("x", post_id)
        words = _TOMBSTONES.get(clip.kind) if clip else None
        return JSONResponse(_tombstone(words) if words else _tweet(post, base_url()))

    return [Route("/tweet-result", tweet_result)]


def token_of(post_id: int) -> str:
    """The number, in units of 10^15, times pi, in base 36, without zeros and without the point."""
    # Twelve digits behind the point are more than a number of this size has.
    number = math.floor(Fraction(post_id / 1e15 * math.pi) * 36**12)
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text.replace("0", "")


def fits(token: str, post_id: int) -> bool:
    return 6 <= len(token) <= 20 and token_of(post_id).startswith(token[:-_UNSURE_DIGITS])


def _tombstone(words: str) -> dict[str, Any]:
    return {
        "__typename": "TweetTombstone",
        "tombstone": {"text": {"text": words, "entities": [{"from_index": len(words) - 10, "to_index": len(words)}]}},
    }


def _tweet(post: SocialPost, base: str) -> dict[str, Any]:
    page = f"https://x.com/{post.author}/status/{post.id}"
    poster = f"https://pbs.twimg.com/ext_tw_video_thumb/{post.id}/pu/img/poster.jpg"
    milliseconds = round(post.duration * 1000)
    variants = _variants(post, base)
    return {
        "__typename": "Tweet",
        "lang": "en",
        "favorite_count": 12,
        "possibly_sensitive": False,
        "created_at": post.posted_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "display_text_range": [0, len(post.text)],
        "entities": {"hashtags": [], "urls": [], "user_mentions": [], "symbols": []},
        "id_str": post.id,
        "text": post.text,
        "user": {"id_str": "44196397", "name": post.author, "screen_name": post.author, "verified": False},
        "mediaDetails": [
            {
                "type": "video",
                "display_url": f"pic.x.com/{post.id[-10:]}",
                "expanded_url": f"{page}/video/1",
                "media_url_https": poster,
                "ext_media_availability": {"status": "Available"},
                "original_info": {"height": 720, "width": 1280, "focus_rects": []},
                "video_info": {"aspect_ratio": [16, 9], "duration_millis": milliseconds, "variants": variants},
            }
        ],
        "photos": [],
        "video": {
            "aspectRatio": [16, 9],
            "contentType": "media_entity",
            "durationMs": milliseconds,
            "mediaAvailability": {"status": "available"},
            "poster": poster,
            "variants": [{"type": variant["content_type"], "src": variant["url"]} for variant in variants],
            "videoId": {"type": "tweet", "id": post.id},
            "viewCount": 0,
        },
        "conversation_count": 3,
        "news_action_type": "conversation",
        "isEdited": False,
        "isStaleEdit": False,
    }


def _variants(post: SocialPost, base: str) -> list[dict[str, Any]]:
    """The playlist stands among the files, and the best one is not the last: whoever wants it has to look."""
    files = [
        {
            "bitrate": bitrate,
            "content_type": "video/mp4",
            "url": f"{base}{post.media}" + ("" if place == len(VARIANTS) - 1 else f"?tag=low&size={width}x{height}"),
        }
        for place, (bitrate, width, height) in enumerate(VARIANTS)
    ]
    playlist = {"content_type": "application/x-mpegURL", "url": f"{base}{post.media}.m3u8?tag=12"}
    return [files[0], playlist, files[2], files[1]]
