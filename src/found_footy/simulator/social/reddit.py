"""A subreddit's newest posts over what is posted of a matchday."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from found_footy.simulator.social.clip_hosts import clip_host_link
from found_footy.simulator.social.posts import PostsOf, SocialPost

MOST = 100


def reddit_routes(posts: PostsOf, base_url: Callable[[], str]) -> list[Route]:
    async def new(request: Request) -> Response:
        limit = request.query_params.get("limit", "25")
        most = min(int(limit), MOST) if limit.isdecimal() else 25
        name = request.path_params["subreddit"]
        children = [{"kind": "t3", "data": _link(post, name, base_url())} for post in posts("reddit")[:most]]
        data = {"after": None, "before": None, "dist": len(children), "modhash": "", "geo_filter": None}
        return JSONResponse({"kind": "Listing", "data": {**data, "children": children}})

    return [Route("/r/{subreddit}/new.json", new)]


def _link(post: SocialPost, subreddit: str, base_url: str) -> dict[str, Any]:
    url = clip_host_link(post, base_url)
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
