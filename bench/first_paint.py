"""First paint of the matchday with 50 matches and 150 goals, against the same bytes without a database

The database holds a long season (`bench/large_world.py`); the displayed day has 50 matches. Each load uses a new
headless Chromium profile with an empty cache; clip images are not loaded. The baseline is a server that returns the
same bytes as constants. Layout shift is the browser's own measure until one second after the load.
"""

from __future__ import annotations

import gzip
import re
import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path
from typing import NamedTuple

import httpx
from playwright.async_api import Browser, async_playwright
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bench.large_world import A_DAY, GOALS_EACH, LAST_DAY, fill
from bench.table import table
from found_footy.app import open_web
from found_footy.browser.chromium import find_chromium
from found_footy.config import Settings
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.migrations import migrate
from found_footy.web.app import create_app

LOADS = 9
SCREENS = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 800}}
NOON = datetime.combine(LAST_DAY, time(12), UTC)

OBSERVE = """
() => new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => { for (const each of list.getEntries()) shift += each.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const [page] = performance.getEntriesByType("navigation");
    resolve([paint.startTime, page.responseStart, page.domContentLoadedEventEnd, shift]);
  }, 1000);
})
"""


class Load(NamedTuple):
    paint: float
    first_byte: float
    ready: float
    shift: float


class Constants:
    """ASGI application with constant responses."""

    def __init__(self, answers: Mapping[str, tuple[bytes, str]]) -> None:
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        content, kind = self._answers.get(Request(scope).url.path, (b"", ""))
        response = Response(content, 200, media_type=kind) if kind else Response(status_code=404)
        await response(scope, receive, send)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = DataFolder(Path(folder, "data"))
        with data.lock():
            engine = EmbeddedPostgres(data)
            await engine.start()
            try:
                await migrate(engine.url)
                await fill(engine.url)
                await _measure(engine.url, Path(folder))
            finally:
                await engine.destroy()


async def _measure(url: str, folder: Path) -> None:
    given = {"database_url": SecretStr(url), "data_dir": folder, "api_football_key": SecretStr("bench")}
    async with open_web(Settings().model_copy(update=given)) as services:
        app = create_app(replace(services, now=lambda: NOON))
        async with HttpServer(app) as pages, async_playwright() as playwright:
            answers = await _answers(pages.url)
            browser = await playwright.chromium.launch(
                executable_path=str(find_chromium(None)), args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            async with HttpServer(Constants(answers)) as floor:
                _sizes(answers)
                print()
                await _paints(browser, pages.url, floor.url)
            await browser.close()


async def _answers(url: str) -> dict[str, tuple[bytes, str]]:
    """Fetch the page and the resources it references, without later requests of its scripts."""
    async with httpx.AsyncClient(base_url=url) as client:
        page = await client.get("/")
        assert page.text.count("data-fixture=") == A_DAY
        assert page.text.count("data-goal=") == A_DAY * GOALS_EACH
        found = {"/": page}
        for path in sorted(set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text))):
            found[path] = await client.get(path)
    return {path: (answer.content, answer.headers["content-type"]) for path, answer in found.items()}


def _sizes(answers: Mapping[str, tuple[bytes, str]]) -> None:
    kinds = {"HTML": "text/html", "CSS": "text/css", "scripts": "javascript", "icon": "image/svg"}
    rows: list[list[object]] = []
    for name, kind in kinds.items():
        files = [content for content, of in answers.values() if kind in of]
        rows.append([name, len(files), *_bytes(files)])
    everything = [content for content, _ in answers.values()]
    table(["part", "files", "bytes", "bytes as gzip"], [*rows, ["together", len(everything), *_bytes(everything)]])


def _bytes(files: list[bytes]) -> tuple[str, str]:
    return f"{sum(map(len, files)):,}", f"{sum(len(gzip.compress(each)) for each in files):,}"


async def _paints(browser: Browser, pages: str, floor: str) -> None:
    rows: list[list[object]] = []
    for screen in SCREENS:
        # Alternate the two, so that other load on the machine affects both alike.
        loads = [(await _load(browser, pages, screen), await _load(browser, floor, screen)) for _ in range(LOADS)]
        ours, theirs = ([pair[side] for pair in loads[1:]] for side in (0, 1))
        paint, least = _median(ours, "paint"), _median(theirs, "paint")
        rows.append(
            [
                screen,
                f"{paint:.0f}",
                f"{least:.0f}",
                f"{paint / least:.2f}",
                f"{_median(ours, 'first_byte'):.0f}",
                f"{_median(theirs, 'first_byte'):.0f}",
                f"{_median(ours, 'ready'):.0f}",
                f"{max(load.shift for load in ours):.3f}",
            ]
        )
    head = ["screen", "first paint (ms)", "floor (ms)", "ratio", "first byte (ms)", "floor (ms)", "scripts run (ms)"]
    table([*head, "layout shift (worst)"], rows)
    print(f"\nMedian of {LOADS - 1} loads each, after one to warm up.")


def _median(loads: list[Load], field: str) -> float:
    return float(statistics.median(getattr(load, field) for load in loads))


async def _load(browser: Browser, url: str, screen: str) -> Load:
    context = await browser.new_context(viewport=SCREENS[screen])  # type: ignore[arg-type]
    try:
        page = await context.new_page()
        await page.route("**/poster.jpg*", lambda route: route.abort())
        await page.goto(url)
        return Load(*await page.evaluate(OBSERVE))
    finally:
        await context.close()
