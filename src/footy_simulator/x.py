"""Serve posts as X does: the syndication endpoint with their videos, and the search page for a real browser."""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from footy_simulator.posts import PostsOf, PostTimeline, SocialPost
from footy_simulator.scenario import XService
from found_footy.text import folded

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_UNSURE_DIGITS = 3
"""The last digits of a token depend on how JavaScript rounds a fraction."""
VARIANTS = ((256_000, 480, 270), (832_000, 640, 360), (2_176_000, 1280, 720))
"""Bits a second, width and height; the last one is the file as it was posted."""
_TOMBSTONES = {
    "gone": "This Post was deleted by the Post author. Learn more",
    "private": "You’re unable to view this Post because this account owner limits who can view their Posts. Learn more",
}


def syndication_routes(feed: PostTimeline, base_url: Callable[[], str], service: XService | None = None) -> list[Route]:
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
    """Variants in no useful order, with the playlist among them."""
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


# --- X's search page, simulated with X's DOM, so that a real browser can be driven against it.


PAGE_SIZE = 20
COOKIE = "auth_token"
TIMELINE = "/i/api/graphql/simulated/SearchTimeline"
MAX_HOLD_SECONDS = 60.0

_SCRIPT = files("footy_simulator").joinpath("x_site.js").read_text("utf-8")
_STYLE = ".cell{min-height:300px}#spacer{height:0}"
_NAVIGATION = """
<header><nav><a href="/home" data-testid="AppTabBar_Home_Link">Home</a></nav>
<div data-testid="SideNav_AccountSwitcher_Button" role="button">@simulated</div></header>"""
_SEARCH = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Search / X</title><style>{_STYLE}</style></head>
<body><div id="react-root">{_NAVIGATION}
<main data-testid="primaryColumn">
<input id="query" data-testid="SearchBox_Search_Input" aria-label="Search query">
<section role="region"><div id="spacer"></div><div id="timeline" aria-label="Timeline: Search timeline"></div>
<div id="spinner" role="progressbar" aria-label="Loading"></div></section>
</main></div><script src="/x-assets/search.js"></script></body></html>"""
_HOME = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Home / X</title></head><body>{_NAVIGATION}</body></html>"""
_LOGIN = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Log in to X / X</title></head><body>
<form id="login" method="post" action="/i/jfapi/onboarding/web/actions/begin_login">
<input name="username_or_email" autocomplete="username" aria-label="Email or username">
<input name="password" type="password" autocomplete="current-password" aria-label="Password">
</form>
<button type="button">Continue with Google</button><button type="button">Continue with Apple</button>
<script>
const form = document.getElementById("login");
form.addEventListener("keydown", (event) => { if (event.key === "Enter") form.submit(); });
</script></body></html>"""
"""Both fields on one page, and no button of their own: Enter submits."""
ONBOARDING = "/i/jf/onboarding/web"
"""Where visitors without a login land since the summer of 2026."""


class XMode(StrEnum):
    NORMAL = "normal"
    EMPTY = "empty"
    LOGGED_OUT = "logged out"
    """Shown without a login."""
    RATE_LIMITED = "rate limited"
    SORRY = "sorry"
    """The page's generic error with its button."""
    BROKEN = "broken"
    """The page comes; its request for posts fails."""
    DOWN = "down"
    CHANGED = "changed"
    """Other names for everything."""
    SLOW = "slow"
    HANGING = "hanging"
    """The page comes; its request for posts is never answered."""
    HANGING_PAGE = "hanging page"
    FROZEN = "frozen"
    """A script that never ends: the page does not react any more."""


@dataclass(slots=True)
class XSiteState:
    """How the site behaves, which can change at any time, and the requests it received."""

    mode: XMode = XMode.NORMAL
    slow_seconds: float = 1.0
    reset_seconds: float = 600.0
    """Seconds until the rate limit resets."""
    noise: bool = True
    """Adds an advertisement, a post that quotes a video, and a repost."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Test ids that X has changed."""
    queries: list[str] = field(default_factory=list)
    assets: int = 0
    """Number of image requests."""


def x_routes(posts: PostsOf, state: XSiteState) -> list[Route]:
    async def search(request: Request) -> Response:
        match state.mode:
            case XMode.DOWN:
                return PlainTextResponse("over capacity", 503)
            case XMode.HANGING_PAGE:
                await _wait_for_disconnect(request)
            case XMode.LOGGED_OUT if COOKIE not in request.cookies:
                after = urlencode({"redirect_after_login": f"/search?{request.url.query}", "mode": "login"})
                return RedirectResponse(f"{ONBOARDING}?{after}", 302)
        return HTMLResponse(_SEARCH)

    async def timeline(request: Request) -> Response:
        query = request.query_params.get("q", "")
        cursor = request.query_params.get("cursor", "0")
        state.queries.append(query)
        match state.mode:
            case XMode.RATE_LIMITED:
                reset = str(int(time.time() + state.reset_seconds))
                headers = {"x-rate-limit-limit": "50", "x-rate-limit-remaining": "0", "x-rate-limit-reset": reset}
                return PlainTextResponse("Rate limit exceeded", 429, headers)
            case XMode.BROKEN:
                return PlainTextResponse("Internal error", 500)
            case XMode.HANGING:
                await _wait_for_disconnect(request)
            case XMode.SLOW:
                await asyncio.sleep(state.slow_seconds)
        empty = state.mode is XMode.EMPTY
        matching = [] if empty else [post for post in posts("x") if query_matches(query, post.text)]
        start = int(cursor) if cursor.isascii() and cursor.isdigit() else 0
        end = start + PAGE_SIZE
        shown = [_item(post) for post in matching[start:end]]
        body = {
            "posts": _with_noise(shown) if state.noise and start == 0 else shown,
            "cursor": end if end < len(matching) else None,
            "names": _other_names() if state.mode is XMode.CHANGED else dict(state.renamed),
            "sorry": state.mode is XMode.SORRY,
            "freeze": state.mode is XMode.FROZEN,
        }
        return JSONResponse(body)

    async def log_in(_: Request) -> Response:
        answer = RedirectResponse("/home", 303)
        answer.set_cookie(COOKIE, "simulated", max_age=86_400, httponly=True)
        return answer

    async def home(request: Request) -> Response:
        if COOKIE in request.cookies:
            return HTMLResponse(_HOME)
        return RedirectResponse(f"{ONBOARDING}?redirect_after_login=%2Fhome&mode=login", 302)

    async def login_page(_: Request) -> Response:
        return HTMLResponse(_LOGIN)

    async def to_login(_: Request) -> Response:
        return RedirectResponse(f"{ONBOARDING}?mode=login", 302)

    async def script(_: Request) -> Response:
        return Response(_SCRIPT, media_type="text/javascript")

    async def asset(_: Request) -> Response:
        state.assets += 1
        return Response(status_code=404)

    return [
        Route("/search", search),
        Route(TIMELINE, timeline),
        Route("/home", home),
        Route("/login", to_login),
        Route("/i/flow/login", to_login),
        Route(ONBOARDING, login_page),
        Route("/i/jfapi/onboarding/web/actions/begin_login", log_in, methods=["POST"]),
        Route("/x-assets/search.js", script),
        Route("/x-assets/{name}", asset),
    ]


def query_matches(query: str, text: str) -> bool:
    """X's search, as far as it is used: words and "several words" that must all be there, and (one OR another)."""
    words = _words(text)
    return all(any(_words(word) in words for word in group) for group in _groups(query))


@lru_cache(maxsize=1024)
def _words(text: str) -> str:
    return f" {folded(text)} "


def _groups(query: str) -> list[list[str]]:
    groups: list[list[str]] = []
    inside = joined = False
    for quoted, mark, word in re.findall(r'"([^"]*)"|([()])|([^\s()"]+)', query):
        if mark:
            inside = mark == "("
            groups += [[]] if inside else []
        elif word == "OR":
            joined = True
            continue
        elif not word.startswith("filter:") and folded(quoted or word):
            if not groups or not (inside or joined):
                groups.append([])
            groups[-1].append(quoted or word)
        joined = False
    return [group for group in groups if group]


def _item(post: SocialPost) -> dict[str, Any]:
    return {
        "kind": "post",
        "id": post.id,
        "author": post.author,
        "name": post.author.title(),
        "text": post.text,
        "posted_at": post.posted_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "duration": post.duration,
        "media": post.media,
    }


def _with_noise(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items that a client must not take for results. The first post is a repost."""
    if not items:
        return []
    first = {**items[0], "kind": "repost"}
    advertisement = {**items[0], "kind": "promoted", "id": "1", "author": "buythis", "text": "Boots, half price"}
    other = {**items[0], "id": "3", "author": "elsewhere", "text": "An older goal"}
    quote = {**items[-1], "kind": "quote", "id": "2", "author": "quoter", "text": "Look at this", "quoted": other}
    return [advertisement, first, *items[1:], quote]


def _other_names() -> dict[str, str]:
    names = (
        "tweet",
        "tweetText",
        "User-Name",
        "emptyState",
        "empty_state_header_text",
        "videoPlayer",
        "videoComponent",
    )
    return {name: f"{name}-v2" for name in names}


async def _wait_for_disconnect(request: Request) -> None:
    """Wait until the client gives up."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(MAX_HOLD_SECONDS):
            while (await request.receive())["type"] != "http.disconnect":
                pass
