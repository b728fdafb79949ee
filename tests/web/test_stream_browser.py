"""`live.js` in a real Chromium: it hears, says how it stands, and comes back from where it left off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, async_playwright, expect

from found_footy.browser.chromium import find_chromium
from found_footy.web.live import CloseReason
from tests.support.sse import StreamServer, stream_server

CONNECT = """async ([query]) => {
    const { connect } = await import("/static/live.js");
    window.heard = [];
    window.resets = window.away = 0;
    window.live = connect({
        query,
        onMessage: (message) => window.heard.push(message),
        onReset: () => (window.resets += 1),
        onState: (state) => (window.away += state === "away"),
    });
}"""


@pytest.fixture
async def server(database_url: str, tmp_path: Path) -> AsyncIterator[StreamServer]:
    async with stream_server(database_url, tmp_path) as made:
        yield made


@pytest.fixture
async def page(server: StreamServer) -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        path = str(find_chromium(None))
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = await browser.new_page(base_url=server.url)
        await page.clock.install()
        await page.goto("/login")
        yield page
        await browser.close()


async def until(page: Page, expression: str, value: object) -> None:
    """The policy of our pages forbids what Playwright would do for this."""
    async with asyncio.timeout(20):
        while await page.evaluate(expression) != value:
            await asyncio.sleep(0.02)


async def heard(page: Page, *positions: int) -> None:
    await until(page, "window.heard.map((message) => message.position)", list(positions))


async def test_a_page_receives_messages_and_resumes_after_an_interruption(page: Page, server: StreamServer) -> None:
    await page.evaluate(CONNECT, ["topic=goal.*"])
    await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
    await server.publish(("goal.seen", 1, "1_1_1_Goal_1", {"player": "<b>x</b>"}), ("fixture.score", 1))
    await heard(page, 1)
    assert await page.evaluate("window.heard[0].payload.player") == "<b>x</b>"
    (listener,) = server.hub._clients
    listener.close(CloseReason.MAX_AGE)
    await server.publish(("goal.stable", 1))
    await heard(page, 1, 3)
    await expect(page.locator("[data-live]")).to_have_attribute("data-state", "live")
    await page.evaluate("window.live.close()")


async def test_a_refused_connection_is_retried_and_finally_reset(page: Page, server: StreamServer) -> None:
    await server.publish(("goal.seen", 1), ("goal.seen", 2))
    asked: list[str] = []

    async def refuse(route: Route) -> None:
        asked.append(route.request.url)
        await (route.fulfill(status=503) if len(asked) <= 3 else route.continue_())

    await page.route("**/api/v1/stream*", refuse)
    await page.evaluate(CONNECT, ["after=1"])
    for number in (1, 2, 3):
        await until(page, "window.away", number)
        await page.clock.run_for(60_000)
    await until(page, "window.resets", 1)
    assert [url.partition("?")[2] for url in asked] == ["after=1"] * 3 + [""]
    await expect(page.locator("[data-live]")).to_have_attribute("data-state", "live")
    await server.publish(("goal.seen", 3))
    await heard(page, 3)


async def test_a_page_has_one_connection_and_closes_it_when_hidden(page: Page, server: StreamServer) -> None:
    for query in ("fixture=1", "fixture=2"):
        await page.evaluate(CONNECT, [query])
        await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
    await server.publish(("goal.seen", 1), ("goal.seen", 2))
    await heard(page, 2)
    await page.goto("about:blank")
