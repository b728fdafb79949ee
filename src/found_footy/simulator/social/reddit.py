"""A subreddit's newest posts over what is posted of a matchday, and the goal hosts that its links lead to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from html import escape
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from found_footy.simulator.social.posts import PostsOf, SocialPost

MOST = 100

PLAIN_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<title>{title}</title>
<meta property="og:type" content="video">
<meta property="og:title" content="{title}">
<meta property="og:image" content="{page}.jpg">
</head>
<body>
<video width="100%" poster="{page}.jpg" playsinline="" controls="">
<source src="{video}" type="video/mp4">
</video>
</body>
</html>
"""
META_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta content="text/html; charset=UTF-8" http-equiv="Content-Type">
<title>Video</title>
<link href="{page}" rel="canonical">
<meta content="{page}" property="og:url">
<meta content="{video}"
      property="og:video">
<meta content="{video}"
      property="og:video:secure_url">
<meta content="video" property="og:type">
</head>
<body>
<video controls="" id="video" loop="" playsinline="" preload="auto" src="{video}">
<source src="{video}" type="video/mp4">
</video>
</body>
</html>
"""


def reddit_routes(posts: PostsOf, base_url: Callable[[], str]) -> list[Route]:
    async def new(request: Request) -> Response:
        limit = request.query_params.get("limit", "25")
        most = min(int(limit), MOST) if limit.isdecimal() else 25
        name = request.path_params["subreddit"]
        children = [{"kind": "t3", "data": _link(post, name, base_url())} for post in posts("reddit")[:most]]
        data = {"after": None, "before": None, "dist": len(children), "modhash": "", "geo_filter": None}
        return JSONResponse({"kind": "Listing", "data": {**data, "children": children}})

    async def host_page(request: Request) -> Response:
        for post in posts("reddit"):
            if post.id == request.path_params["id"]:
                return HTMLResponse(_page(post, base_url()))
        return HTMLResponse("<html><body><h1>404 Not Found</h1></body></html>", status_code=404)

    return [Route("/r/{subreddit}/new.json", new), Route("/v/{id}", host_page)]


def _page(post: SocialPost, base_url: str) -> str:
    """Half of the hosts name the video in their head, half only in the player."""
    page = META_PAGE if hashlib.sha256(post.id.encode()).digest()[0] % 2 else PLAIN_PAGE
    video = post.media if "://" in post.media else base_url + post.media
    return page.format(title=escape(post.text), page=escape(f"{base_url}/v/{post.id}"), video=escape(video))


def _link(post: SocialPost, subreddit: str, base_url: str) -> dict[str, Any]:
    url = f"{base_url}/v/{post.id}"
    created = post.posted_at.timestamp()
    return {
        "approved_at_utc": None,
        "subreddit": subreddit,
        "selftext": "",
        "author_fullname": f"t2_{post.id}",
        "title": post.text,
        "name": f"t3_{post.id}",
        "id": post.id,
        "link_flair_text": "Media",
        "domain": urlsplit(base_url).hostname,
        "author": post.author,
        "permalink": f"/r/{subreddit}/comments/{post.id}/simulated/",
        "url": url,
        "url_overridden_by_dest": url,
        "post_hint": "link",
        "is_video": False,
        "is_self": False,
        "media": None,
        "secure_media": None,
        "over_18": False,
        "stickied": False,
        "removed_by_category": None,
        "created": created,
        "created_utc": created,
        "score": 1,
        "num_comments": 0,
    }
