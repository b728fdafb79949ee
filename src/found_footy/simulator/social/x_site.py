"""X's search page, simulated with X's DOM, so that a real browser can be driven against it.

As on the real one, posts come by a request of the page's own after it has loaded, and more of them on scrolling.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from found_footy.domain.discovery.query import folded
from found_footy.simulator.social.posts import PostsOf, SocialPost

PAGE_SIZE = 20
COOKIE = "auth_token"
TIMELINE = "/i/api/graphql/simulated/SearchTimeline"
LONGEST_HOLD = 60.0

_SCRIPT = files("found_footy.simulator.social").joinpath("x_site.js").read_text("utf-8")
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
"""Where whoever is not logged in lands since the summer of 2026."""


class XMode(StrEnum):
    NORMAL = "normal"
    EMPTY = "empty"
    LOGGED_OUT = "logged out"
    """For whoever has not used the login form."""
    RATE_LIMITED = "rate limited"
    SORRY = "sorry"
    """The page's error text with its button, and nothing that says why."""
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
    """How the site behaves, switched at any time, and what was asked of it."""

    mode: XMode = XMode.NORMAL
    slow_seconds: float = 1.0
    reset_seconds: float = 600.0
    """After so long, X says, its rate limit ends."""
    noise: bool = True
    """Among the posts an advertisement, a post that quotes one with a video, and a post that somebody passed on."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Test ids that X has changed."""
    queries: list[str] = field(default_factory=list)
    assets: int = 0
    """How many pictures were asked for."""


def x_routes(posts: PostsOf, state: XSiteState) -> list[Route]:
    async def search(request: Request) -> Response:
        match state.mode:
            case XMode.DOWN:
                return PlainTextResponse("over capacity", 503)
            case XMode.HANGING_PAGE:
                await _hold(request)
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
                await _hold(request)
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
    said = _words(text)
    return all(any(_words(word) in said for word in group) for group in _groups(query))


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
    """What a reader has to tell from the posts that were searched for. The first post was passed on by somebody."""
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


async def _hold(request: Request) -> None:
    """Until whoever asked gives up."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_HOLD):
            while (await request.receive())["type"] != "http.disconnect":
                pass
