"""Serve posts in the protocols of Reddit as of late 2026: page fragments, Atom feeds, OAuth API.

Every subreddit shows the posts of the matchday and a few permanent ones. Some clips are linked in the comments of
another post. Each protocol counts its own requests and states its limit in the headers.
"""

from __future__ import annotations

import time
from base64 import b64decode
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from footy_simulator.clip_hosts import clip_host_link
from footy_simulator.matchday import TimeSource
from footy_simulator.posts import PostsOf, SocialPost
from footy_simulator.scenario import RedditService

CLIENT_ID = "simulated-app"
CLIENT_SECRET = "simulated-secret"
TOKEN = "simulated-token"
TOKEN_SECONDS = 86400
MAX_POSTS = 100
FRAGMENT_POSTS = 27


class RedditSite:
    """The three protocols, with the refusals and limits of the scenario."""

    def __init__(
        self,
        posts: PostsOf,
        base_url: Callable[[], str],
        service: RedditService | None = None,
        time_source: TimeSource = time.monotonic,
    ) -> None:
        self._posts = posts
        self._base_url = base_url
        self._service = service or RedditService()
        self._time = time_source
        self._began = defaultdict[str, float](lambda: time_source())
        self._counted = defaultdict[str, int](int)

    def routes(self) -> list[Route]:
        return [
            Route("/svc/shreddit/community-more-posts/new/", self._fragment(self._fragment_listing)),
            Route("/svc/shreddit/comments/r/{subreddit}/t3_{id}", self._fragment(self._fragment_comments)),
            Route("/r/{subreddit}/new/.rss", self._atom(self._atom_listing)),
            Route("/comments/{id}/.rss", self._atom(self._atom_comments)),
            Route("/api/v1/access_token", self._access_token, methods=["POST"]),
            Route("/r/{subreddit}/new", self._oauth(self._api_listing)),
            Route("/r/{subreddit}/comments/{id}", self._oauth(self._api_comments)),
            Route("/r/{subreddit}/new.json", _refused),
            Route("/comments/{id}.json", _refused),
        ]

    # --- page fragments

    def _fragment(self, answer: Callable[[Request], str]) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            state, named = self._service.fragment, request.headers
            if state == "blocked" or not (named.get("accept") and named.get("accept-language")):
                return await _refused(request)
            if state == "challenge":
                return HTMLResponse(CHALLENGE)
            limited, headers = self._count("fragment", self._service.fragment_per_window, state == "limited")
            if limited:
                return HTMLResponse(TOO_MANY, 429, headers)
            if state == "changed":
                return HTMLResponse("<div>Welcome to Reddit</div>", headers=headers)
            return HTMLResponse(answer(request), headers=headers)

        return respond

    def _fragment_listing(self, request: Request) -> str:
        name = request.query_params.get("name", "")
        posts = [*self._threads(), *_standing()][:FRAGMENT_POSTS]
        return "\n".join(_fragment_post(post, name, self._link(post)) for post in posts)

    def _fragment_comments(self, request: Request) -> str:
        id_ = request.path_params["id"]
        comments = "\n".join(_fragment_comment(each, id_, self._link(each)) for each in self._mirrors(id_))
        tree = f'<shreddit-comment-tree id="comment-tree" post-id="t3_{escape(id_)}">\n{comments}'
        return f"{tree}\n</shreddit-comment-tree>"

    # --- Atom

    def _atom(self, answer: Callable[[Request], str]) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            state = self._service.atom
            if state == "blocked":
                return await _refused(request)
            limited, headers = self._count("atom", self._service.atom_per_window, state == "limited")
            if limited:
                return HTMLResponse(TOO_MANY, 429, headers)
            body = "<html><body>Welcome to Reddit</body></html>" if state == "changed" else answer(request)
            return Response(body, media_type="application/atom+xml; charset=UTF-8", headers=headers)

        return respond

    def _atom_listing(self, request: Request) -> str:
        # Every subreddit shows all posts.
        names = request.path_params["subreddit"].split("+")
        posts = [*self._threads(), *_standing()][: _limit(request)]
        entries = (_atom_post(post, name, self._link(post)) for post in posts for name in names)
        return _atom_feed(f"newest submissions : {'+'.join(names)}", "".join(entries))

    def _atom_comments(self, request: Request) -> str:
        id_ = request.path_params["id"]
        thread = [post for post in self._threads() if post.id == id_]
        entries = [_atom_post(post, "soccer", self._link(post)) for post in thread]
        entries += [_atom_comment(each, id_, self._link(each)) for each in self._mirrors(id_)]
        return _atom_feed("comments", "".join(entries))

    # --- the API

    async def _access_token(self, request: Request) -> Response:
        given = request.headers.get("authorization", "").removeprefix("Basic ")
        form = (await request.body()).decode()
        known = given and b64decode(given).decode() == f"{CLIENT_ID}:{CLIENT_SECRET}"
        if not known or self._service.oauth == "blocked":
            return JSONResponse({"message": "Unauthorized", "error": 401}, 401)
        if form != "grant_type=client_credentials":
            return JSONResponse({"error": "unsupported_grant_type"})
        return JSONResponse({"access_token": TOKEN, "token_type": "bearer", "expires_in": TOKEN_SECONDS, "scope": "*"})

    def _oauth(self, answer: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            if request.headers.get("authorization") != f"Bearer {TOKEN}" or self._service.oauth == "blocked":
                return JSONResponse({"message": "Unauthorized", "error": 401}, 401)
            limited, headers = self._count("oauth", self._service.oauth_per_window, self._service.oauth == "limited")
            if limited:
                return JSONResponse({"message": "Too Many Requests", "error": 429}, 429, headers)
            return JSONResponse(answer(request), headers=headers)

        return respond

    def _api_listing(self, request: Request) -> Any:
        name = request.path_params["subreddit"]
        posts = [*self._threads(), *_standing()][: _limit(request)]
        return _listing([{"kind": "t3", "data": _api_post(post, name, self._link(post))} for post in posts])

    def _api_comments(self, request: Request) -> Any:
        name, id_ = request.path_params["subreddit"], request.path_params["id"]
        thread = [post for post in self._threads() if post.id == id_]
        return [
            _listing([{"kind": "t3", "data": _api_post(post, name, self._link(post))} for post in thread]),
            _api_tree([_api_comment(each, id_, self._link(each)) for each in self._mirrors(id_)]),
        ]

    # --- shared

    def _threads(self) -> list[SocialPost]:
        return [post for post in self._posts("reddit") if not post.thread]

    def _mirrors(self, thread: str) -> list[SocialPost]:
        return [post for post in self._posts("reddit") if post.thread == thread]

    def _link(self, post: SocialPost) -> str:
        return clip_host_link(post, self._base_url()) if post.media else f"/r/soccer/comments/{post.id}/"

    def _count(self, way: str, per_window: int, always_limited: bool) -> tuple[bool, dict[str, str]]:
        """Whether the request exceeds the limit, and the headers that state the limit."""
        window, now = self._service.window_seconds, self._time()
        if now - self._began[way] >= window:
            self._began[way], self._counted[way] = now, 0
        self._counted[way] += 1
        left = 0 if always_limited else max(0, per_window - self._counted[way])
        reset = max(1, round(self._began[way] + window - now))
        headers = {
            "x-ratelimit-used": str(self._counted[way]),
            "x-ratelimit-remaining": f"{left:.1f}",
            "x-ratelimit-reset": str(reset),
        }
        limited = always_limited or self._counted[way] > per_window
        return limited, {**headers, "retry-after": str(reset)} if limited else headers


def reddit_routes(
    posts: PostsOf,
    base_url: Callable[[], str],
    service: RedditService | None = None,
    time_source: TimeSource = time.monotonic,
) -> list[Route]:
    return RedditSite(posts, base_url, service, time_source).routes()


# --- forms of late 2026; the contract tests cite their sources

BLOCKED = (
    "<!doctype html><html><head><title>Blocked</title></head>"
    "<body>You've been blocked by network security. To continue, log in to your Reddit account.</body></html>"
)
TOO_MANY = "<!doctype html><html><head><title>Too Many Requests</title></head><body>whoa there, pardner!</body></html>"
CHALLENGE = (
    "<!doctype html><html><head><title>Reddit - Please wait for verification</title></head><body>"
    '<form method="GET"><input type="hidden" name="js_challenge" value="1"></form></body></html>'
)


async def _refused(request: Request) -> Response:
    return HTMLResponse(BLOCKED, 403)


def _standing() -> list[SocialPost]:
    """Permanent posts: a subreddit is never empty."""
    began = datetime.now(UTC) - timedelta(hours=5)
    titles = ("Daily Discussion", "Free Talk", "Match Thread: Everybody vs Everybody")
    return [
        SocialPost("reddit", f"zz{number}", "AutoModerator", title, began - timedelta(minutes=number), 0.0, "")
        for number, title in enumerate(titles)
    ]


def _limit(request: Request) -> int:
    limit = request.query_params.get("limit", "25")
    return min(int(limit), MAX_POSTS) if limit.isdecimal() else 25


def _tag(name: str, attributes: Mapping[str, str], content: str) -> str:
    written = "\n".join(f'  {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}\n{written}\n>{content}</{name}>"


def _fragment_post(post: SocialPost, subreddit: str, link: str) -> str:
    attributes = {
        "id": f"t3_{post.id}",
        "post-title": post.text,
        "post-type": "link" if post.media else "text",
        "permalink": f"/r/{subreddit}/comments/{post.id}/simulated/",
        "content-href": link,
        "created-timestamp": _stamp(post),
        "author": post.author,
        "subreddit-name": subreddit,
        "subreddit-prefixed-name": f"r/{subreddit}",
        "domain": urlsplit(link).hostname or f"self.{subreddit}",
        "comment-count": "0",
        "score": "1",
    }
    return f"<article>{_tag('shreddit-post', attributes, '<div slot=title></div>')}</article>"


def _fragment_comment(comment: SocialPost, thread: str, link: str) -> str:
    attributes = {
        "author": comment.author,
        "thingId": f"t1_{comment.id}",
        "postId": f"t3_{thread}",
        "depth": "0",
        "created": _stamp(comment),
        "permalink": f"/r/soccer/comments/{thread}/comment/{comment.id}/",
        "score": "1",
        "content-type": "text",
    }
    body = f'<div id="t1_{comment.id}-comment-rtjson-content" slot="comment">{_comment_html(link)}</div>'
    return _tag(
        "shreddit-comment", attributes, f'<a href="/user/{escape(comment.author)}/">{escape(comment.author)}</a>{body}'
    )


def _comment_html(link: str) -> str:
    return f'<div class="md"><p>Mirror: <a href="{escape(link)}" rel="nofollow">{escape(link)}</a></p></div>'


def _stamp(post: SocialPost) -> str:
    return post.posted_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+0000")


def _atom_feed(title: str, entries: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">'
        f"<updated>{datetime.now(UTC).isoformat(timespec='seconds')}</updated><title>{escape(title)}</title>"
        f"{entries}</feed>"
    )


def _atom_entry(post: SocialPost, id_: str, page: str, title: str, subreddit: str, content: str) -> str:
    at = post.posted_at.astimezone(UTC).isoformat()
    return (
        f"<entry><author><name>/u/{escape(post.author)}</name></author>"
        f'<category term="{escape(subreddit)}" label="r/{escape(subreddit)}"/>'
        f'<content type="html">{escape(content)}</content><id>{id_}</id><link href="{escape(page)}"/>'
        f"<updated>{at}</updated><published>{at}</published><title>{escape(_without_controls(title))}</title></entry>"
    )


def _atom_post(post: SocialPost, subreddit: str, link: str) -> str:
    page = f"https://www.reddit.com/r/{subreddit}/comments/{post.id}/simulated/"
    target = link if post.media else page
    content = (
        f'<table><tr><td> &#32; submitted by &#32; <a href="https://www.reddit.com/user/{escape(post.author)}">'
        f' /u/{escape(post.author)} </a> <br/> <span><a href="{escape(target)}">[link]</a></span> &#32; '
        f'<span><a href="{escape(page)}">[comments]</a></span></td></tr></table>'
    )
    return _atom_entry(post, f"t3_{post.id}", page, post.text, subreddit, content)


def _atom_comment(comment: SocialPost, thread: str, link: str) -> str:
    page = f"https://www.reddit.com/r/soccer/comments/{thread}/simulated/{comment.id}/"
    title = f"/u/{comment.author} on {comment.text}"
    content = f"<!-- SC_OFF -->{_comment_html(link)}<!-- SC_ON -->"
    return _atom_entry(comment, f"t1_{comment.id}", page, title, "soccer", content)


def _without_controls(text: str) -> str:
    """XML 1.0 forbids control characters, and Reddit drops them."""
    return "".join(letter for letter in text if letter >= " ")


def _listing(children: Sequence[Any]) -> dict[str, Any]:
    data = {"after": None, "before": None, "dist": len(children), "modhash": "", "geo_filter": None}
    return {"kind": "Listing", "data": {**data, "children": list(children)}}


def _api_post(post: SocialPost, subreddit: str, link: str) -> dict[str, Any]:
    page = f"/r/{subreddit}/comments/{post.id}/simulated/"
    url = link if post.media else f"https://www.reddit.com{page}"
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
        "domain": urlsplit(url).hostname,
        "author": post.author,
        "permalink": page,
        "url": url,
        "url_overridden_by_dest": url,
        "post_hint": "link",
        "is_video": False,
        "is_self": not post.media,
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


def _api_tree(comments: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mirrors are replies to the moderators' sticky comment, as on r/soccer."""
    sticky = {
        "id": "sticky",
        "author": "AutoModerator",
        "body": "**Mirrors / Alternative Angles**",
        "body_html": '<div class="md"><p><strong>Mirrors / Alternative Angles</strong></p></div>',
        "created_utc": datetime.now(UTC).timestamp(),
        "replies": _listing([{"kind": "t1", "data": comment} for comment in comments]),
    }
    return _listing([{"kind": "t1", "data": sticky}, {"kind": "more", "data": {"count": 0, "children": []}}])


def _api_comment(comment: SocialPost, thread: str, link: str) -> dict[str, Any]:
    return {
        "id": comment.id,
        "name": f"t1_{comment.id}",
        "link_id": f"t3_{thread}",
        "author": comment.author,
        "body": f"[Mirror]({link})",
        "body_html": _comment_html(link),
        "created_utc": comment.posted_at.timestamp(),
        "replies": "",
        "score": 1,
    }
