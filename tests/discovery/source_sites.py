"""The same posts in every place where people post, and a source that searches there."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footy_simulator.bluesky import bluesky_routes
from footy_simulator.fxtwitter import fxtwitter_routes
from footy_simulator.posts import Platform, PostTimeline, SocialPost
from footy_simulator.reddit import CLIENT_ID, CLIENT_SECRET, reddit_routes
from footy_simulator.scenario import FxTwitterService, Scenario
from found_footy.discovery.bluesky import Bluesky
from found_footy.discovery.folder import Folder
from found_footy.discovery.fxtwitter import FxTwitter
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.reddit import Reddit
from found_footy.discovery.reddit_clients import RedditKeys
from found_footy.discovery.sources import SocialSource
from found_footy.discovery.x import SNOWFLAKE_EPOCH, XSource
from tests.discovery.serving import serving

NOW = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
SINCE = NOW - timedelta(minutes=3)
QUERY = SearchQuery(("Salah", "Mohamed Salah"), ("Liverpool", "LFC"))
HANDLE, PASSWORD = "footy.bsky.social", "abcd-efgh-ijkl-mnop"

OVER_HTTP = ("fxtwitter", "bluesky", "reddit", "x")
PLACES = (*OVER_HTTP, "folder")
PLATFORMS = {"fxtwitter": "x"}
"""Sources whose posts are those of another one: the same post is one candidate."""
NO_MATCHES = Scenario(title="No matches")


@dataclass(frozen=True)
class ScriptedPost:
    text: str
    ago: float = 60
    """Seconds."""
    author: str = "goalsdaily"

    @property
    def at(self) -> datetime:
        return NOW - timedelta(seconds=self.ago)


def snowflake(at: datetime, worker: int = 1) -> str:
    return str(((at - SNOWFLAKE_EPOCH) // timedelta(milliseconds=1)) << 22 | worker)


def source_at(place: str, url: str, *, timeout: float = 5, extra_hosts: Sequence[str] = ()) -> SocialSource:
    """A source of that kind, which believes that it is NOW."""
    if place == "bluesky":
        return Bluesky(url, HANDLE, PASSWORD, timeout=timeout, now=lambda: NOW)
    if place == "reddit":
        # By the API, whose JSON is spoilt in the same ways as the others'; the page forms have tests of their own.
        keys, ways = RedditKeys(CLIENT_ID, CLIENT_SECRET), ("oauth",)
        return Reddit(
            url,
            "soccer",
            timeout=timeout,
            extra_hosts=extra_hosts,
            ways=ways,
            keys=keys,
            oauth_url=url,
            now=lambda: NOW,
        )
    if place == "fxtwitter":
        return FxTwitter(url, "https://x.com", timeout=timeout, now=lambda: NOW)
    if place == "x":
        return XSource(url, "https://x.com", timeout=timeout, now=lambda: NOW)
    return Folder(Path(url), now=lambda: NOW)


@asynccontextmanager
async def place(name: str, folder: Path, said: Sequence[ScriptedPost]) -> AsyncIterator[SocialSource]:
    """A place in which this was said, open to a source."""
    async with AsyncExitStack() as stack:
        if name == "folder":
            for each in said:
                drop(folder, f"{each.text}.mp4", each.at)
            url, extra_hosts = os.fspath(folder), []
        else:
            url = await stack.enter_async_context(serving(lambda at: _routes(name, said, at)))
            extra_hosts = [url.removeprefix("http://")]
        source = source_at(name, url, extra_hosts=extra_hosts)
        stack.push_async_callback(source.aclose)
        yield source


def drop(folder: Path, name: str, at: datetime, content: bytes = b"video") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def posted(platform: Platform, said: Sequence[ScriptedPost]) -> list[SocialPost]:
    newest = sorted(said, key=lambda each: each.ago)
    return [
        SocialPost(
            platform=platform,
            id=snowflake(each.at, number) if platform == "x" else f"p{number}",
            author=each.author,
            text=each.text,
            posted_at=each.at,
            duration=12.5,
            media=f"/media/{platform}-{number}.mp4",
        )
        for number, each in enumerate(newest)
    ]


def _routes(name: str, said: Sequence[ScriptedPost], url: str) -> list[Route]:
    def visible(platform: Platform) -> Sequence[SocialPost]:
        return posted(platform, said)

    if name == "bluesky":
        return bluesky_routes(visible, lambda: url, HANDLE, PASSWORD)
    if name == "reddit":
        return reddit_routes(visible, lambda: url)
    if name == "fxtwitter":
        feed = PostTimeline(NO_MATCHES, lambda: None)
        return fxtwitter_routes(visible, feed, lambda: url, FxTwitterService(), lambda: NOW)
    return [Route("/search", _browser_search(posted("x", said))), Route("/canary", _browser_canary)]


def _browser_search(visible: Sequence[SocialPost]) -> Any:
    """As the browser service answers, with what X's search would show."""

    async def search(request: Request) -> Response:
        groups = [a or b for a, b in re.findall(r"\(([^)]*)\)|(\S+)", request.query_params["q"])]
        wanted = [[word.strip('"').casefold() for word in group.split(" OR ")] for group in groups]
        found = [post for post in visible if all(any(w in post.text.casefold() for w in any_) for any_ in wanted)]
        return JSONResponse({"posts": [browser_post(post) for post in found]})

    return search


async def _browser_canary(request: Request) -> Response:
    return JSONResponse({"word": "goal", "posts": 5, "cached": False})


def browser_post(post: SocialPost) -> dict[str, Any]:
    return {
        "id": post.id,
        "url": f"https://x.com/{post.author}/status/{post.id}",
        "author": post.author,
        "text": post.text,
        "posted_at": post.posted_at.isoformat(),
        "duration": post.duration,
    }
