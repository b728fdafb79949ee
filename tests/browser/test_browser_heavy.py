"""Pictures, films and fonts are not fetched, except in the window in which a person logs in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from found_footy.browser.chromium import block_videos
from found_footy.browser.login import log_in
from found_footy.runtime.http_server import HttpServer
from tests.browser.conftest import Opens
from tests.browser.simulated import Searched, SimulatedX, options, post

pytestmark = pytest.mark.asyncio(loop_scope="package")

HEAVY = """<!DOCTYPE html><html><head><style>
@font-face { font-family: A; src: url(/a.woff2) } @font-face { font-family: B; src: url(/font-without-ending) }
body { font-family: A, B; background: url(/background.png) }</style>
<link rel="preload" as="image" href="/early.png"><link rel="preload" as="font" href="/early.woff2?v=1" crossorigin>
</head><body>Words<img src="/picture.png"><img srcset="/wide.jpg 1x"><svg><image href="/drawing.svg"/></svg>
<video preload="auto" autoplay muted poster="/poster.png" src="/film.mp4"></video>
<video preload="auto" autoplay muted><source src="/film.webm?tag=12"></video>
<script>
  new Image().src = "/later.png";
  new FontFace("C", "url(/c.woff)").load().catch(() => {});
  for (const name of ["list.m3u8", "piece.m4s"]) fetch("/" + name).catch(() => {});
  fetch("/data?word=film.mp4&more=1").then(() => fetch("/end"));
</script></body></html>"""
HARMLESS = {"/", "/data", "/end"}


@dataclass
class HeavySite:
    url: str
    asked: set[str] = field(default_factory=set)

    async def shown_by(self, page: Page, wanted: set[str]) -> set[str]:
        """What was asked for, after all that is wanted was, and more has had its time."""
        self.asked.clear()
        await page.goto(self.url, wait_until="load")
        while not wanted <= self.asked:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)
        return set(self.asked)


@asynccontextmanager
async def heavy_site() -> AsyncIterator[HeavySite]:
    site = HeavySite("")

    async def answer(request: Request) -> Response:
        site.asked.add(request.url.path)
        return HTMLResponse(HEAVY) if request.url.path == "/" else Response(status_code=404)

    async with HttpServer(Starlette(routes=[Route("/{rest:path}", answer)]), name="a heavy site") as server:
        site.url = f"{server.url}/"
        yield site


async def test_a_page_for_searches_fetches_none_also_when_it_is_used_again(search: Searched) -> None:
    async with heavy_site() as site:
        for _ in range(2):
            async with search.browser.page() as page:
                assert await site.shown_by(page, HARMLESS) == HARMLESS


async def test_a_page_of_a_feed_fetches_none_but_lists_of_films(open_service: Opens) -> None:
    async with heavy_site() as site:
        host = site.url.removeprefix("http://").rstrip("/")
        async with open_service(private_hosts=(host,)) as search, search.browser.isolated_page() as page:
            wanted = HARMLESS | {"/list.m3u8", "/piece.m4s"}
            assert await site.shown_by(page, wanted) == wanted


async def test_the_window_for_the_login_shows_them(x: SimulatedX, tmp_path: Path) -> None:
    shown: set[str] = set()
    wanted = HARMLESS | {"/picture.png", "/background.png", "/a.woff2", "/film.mp4"}
    async with heavy_site() as site:

        async def look(page: Page) -> None:
            shown.update(await site.shown_by(page, wanted))
            await page.close()

        await log_in(options(x.url, tmp_path), headless=True, opened=look)
    assert wanted <= shown


async def test_a_search_term_that_resembles_a_video_file_is_not_blocked(search: Searched, x: SimulatedX) -> None:
    x.posts[:] = [post("Wirtz goal.mp4")]
    assert [each["text"] for each in (await search("goal.mp4")).json()["posts"]] == ["Wirtz goal.mp4"]


class Older:
    """The session of a Chromium that does not know how to block by a path."""

    async def send(self, method: str, _: Any) -> None:
        if method == "Network.setBlockedURLs":
            raise PlaywrightError("Invalid parameters")

    async def new_cdp_session(self, _: Any) -> Older:
        return self


async def test_a_browser_that_cannot_block_films_is_used_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    await block_videos(cast(Page, SimpleNamespace(context=Older())))
    assert "videos are not blocked: Invalid parameters" in caplog.text
