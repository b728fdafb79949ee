"""A simulated Reddit for contract tests, and sources that read it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from footy_simulator.posts import SocialPost
from footy_simulator.reddit import CLIENT_ID, CLIENT_SECRET, reddit_routes
from footy_simulator.scenario import RedditService
from found_footy.discovery.reddit import ALL_ACCESS, Reddit
from found_footy.discovery.reddit_clients import RedditAccess, RedditKeys
from found_footy.storage.limits import SourceLimits
from tests.discovery.serving import serving
from tests.discovery.source_sites import NOW, ScriptedPost, posted

KEYS = RedditKeys(CLIENT_ID, CLIENT_SECRET)
GOAL = ScriptedPost("Liverpool [2] - 1 Manchester City - M. Salah 67'")


@dataclass
class Site:
    """What is posted, and what was asked for."""

    url: str
    posts: list[SocialPost]
    asked: list[str] = field(default_factory=list)
    """Paths, without the hosts' pages."""
    sources: list[Reddit] = field(default_factory=list)
    """Closed with the site."""

    def source(
        self,
        ways: Sequence[RedditAccess] = ALL_ACCESS,
        *,
        keys: RedditKeys | None = None,
        limits: SourceLimits | None = None,
        **more: Any,
    ) -> Reddit:
        hosts = [self.url.removeprefix("http://")]
        given = {"timeout": 5.0, "fresh_seconds": 15.0, "now": lambda: NOW, "extra_hosts": hosts, **more}
        source = Reddit(self.url, "soccer", ways=ways, keys=keys, oauth_url=self.url, limits=limits, **given)
        self.sources.append(source)
        return source

    def listings(self) -> list[str]:
        return [path for path in self.asked if "comments" not in path]

    def comment_on(self, post: int, link: str = "", ago: float = 30) -> SocialPost:
        """A mirror in the comments of a post."""
        thread = self.posts[post]
        mirror = replace(thread, id=f"c{len(self.posts)}", thread=thread.id, author="mirror_bot", posted_at=_at(ago))
        self.posts.append(mirror)
        return mirror


def _at(ago: float) -> datetime:
    return datetime.fromtimestamp(NOW.timestamp() - ago, UTC)


@asynccontextmanager
async def reddit_site(said: Sequence[ScriptedPost] = (GOAL,), **service: Any) -> AsyncIterator[Site]:
    site = Site("", posted("reddit", said))

    def routes(url: str) -> list[Route]:
        site.url = url
        simulated = reddit_routes(lambda platform: site.posts, lambda: url, RedditService(**service))
        return [_counted(route, site) for route in simulated]

    async with serving(routes):
        try:
            yield site
        finally:
            for source in site.sources:
                await source.aclose()


def _counted(route: Route, site: Site) -> Route:
    async def endpoint(request: Request) -> Response:
        if not request.url.path.startswith("/hosts/"):
            site.asked.append(request.url.path)
        answer: Response = await route.endpoint(request)
        return answer

    return Route(route.path, endpoint, methods=list(route.methods or ["GET"]))
