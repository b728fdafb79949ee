"""Good answers of the places that are reached by HTTP, to be spoilt by a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from footy_simulator.bluesky import post_view
from footy_simulator.fxtwitter import status_of
from footy_simulator.posts import SocialPost
from tests.discovery.shared import RawServer, Reply, Request, json_reply
from tests.discovery.source_sites import HANDLE, ScriptedPost, browser_post, posted

SESSION = {"accessJwt": "an.access.token", "refreshJwt": "a.refresh.token", "handle": HANDLE, "did": "did:plc:x"}
REDDIT_TOKEN = {"access_token": "an.app.token", "token_type": "bearer", "expires_in": 86400, "scope": "*"}
SALAH = ScriptedPost("GOAL! Salah for Liverpool against Manchester City")


def entry(place: str, said: ScriptedPost = SALAH) -> Any:
    """One post as the place's answer lists it."""
    return entries(place, [said])[0]


def entries(place: str, said: Sequence[ScriptedPost]) -> list[Any]:
    if place == "bluesky":
        return [post_view(post, "http://127.0.0.1") for post in posted("bluesky", said)]
    if place == "reddit":
        return [{"kind": "t3", "data": reddit_link(post)} for post in posted("reddit", said)]
    if place == "fxtwitter":
        return [status_of(post, "http://127.0.0.1") for post in posted("x", said)]
    return [browser_post(post) for post in posted("x", said)]


def reddit_link(post: SocialPost) -> dict[str, Any]:
    url = f"https://streamin.one/v/{post.id}"
    created = post.posted_at.timestamp()
    return {"id": post.id, "title": post.text, "author": post.author, "created_utc": created, "url": url}


def answer(place: str, listed: Any) -> Any:
    if place == "fxtwitter":
        return {"code": 200, "results": listed, "cursor": {"top": "a", "bottom": "b"}}
    return {"kind": "Listing", "data": {"children": listed}} if place == "reddit" else {"posts": listed}


def answering(place: str, reply: Reply | Any) -> RawServer:
    """A server that takes every login, and answers each search alike."""
    good = reply if isinstance(reply, Reply) else json_reply(reply)

    def respond(request: Request) -> Reply:
        if request.path.endswith("access_token"):
            return json_reply(REDDIT_TOKEN)
        return json_reply(SESSION) if "Session" in request.path else good

    return RawServer(respond)


def spoilt(value: Any, *path: str, to: Any = None, without: bool = False) -> Any:
    """A copy in which one field has another value, or is missing."""
    copy = json.loads(json.dumps(value))
    at = copy
    for name in path[:-1]:
        at = at[name]
    if without:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return copy
