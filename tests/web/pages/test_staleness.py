"""Pages in a browser mark stale matches without a message from the server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.conftest import SampleDataCopy
from tests.support.web_world import HAALAND, served
from tests.web.pages.conftest import in_one_loop

pytestmark = pytest.mark.asyncio(loop_scope="package")

CARD = "#match-7001"
STALE = 25.0
Show = Callable[[str], Awaitable[Page]]


async def hear(small_world: SampleDataCopy, seconds_ago: float = 0) -> None:
    """A feed said something of the match so long ago; of the other ones nothing is said at all."""
    at = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    async with small_world.store.database.connection() as connection:
        await connection.execute(
            "update fixtures set kickoff = %s, last_poll_at = case when id = 7001 then %s end where stage = 'active'",
            [at - timedelta(minutes=1), at],
        )


@in_one_loop()
async def show(chromium: Browser, small_world: SampleDataCopy) -> AsyncIterator[Show]:
    """A page of a server whose clock goes, and which calls news of 25 seconds stale."""
    settings = small_world.settings.model_copy(update={"stale_seconds": STALE})
    async with served(settings, now=None) as (running, _):
        context = await chromium.new_context(base_url=running.url)

        async def opened(path: str) -> Page:
            page = await context.new_page()
            await page.goto(path)
            return page

        yield opened
        await context.close()


async def seconds_in(words: Locator) -> int:
    """How old it says the news is."""
    said = re.compile(r"^stale · (\d+) s$")
    await expect(words).to_have_text(said)
    found = said.match(await words.inner_text())
    assert found is not None
    return int(found[1])


async def test_a_card_becomes_stale_and_fresh_again(show: Show, small_world: SampleDataCopy) -> None:
    await hear(small_world, seconds_ago=STALE - 15)  # a busy machine has so long to show the page
    page = await show("/")
    words = page.locator(f"{CARD} [data-stale]")
    await expect(words).to_be_hidden()
    await expect(words).to_be_visible()
    await expect(page.locator(f"{CARD}[data-is-stale]")).to_be_visible()
    first = await seconds_in(words)
    assert first >= STALE
    await expect(words).not_to_have_text(f"stale · {first} s")
    assert await seconds_in(words) > first
    await hear(small_world)
    await expect(words).to_be_hidden()


async def test_an_unreachable_server_leaves_matches_stale(show: Show, small_world: SampleDataCopy) -> None:
    await hear(small_world, seconds_ago=STALE - 5)
    page = await show("/")
    await page.context.set_offline(True)
    words = page.locator(f"{CARD} [data-stale]")
    first = await seconds_in(words)
    async with page.expect_event("requestfailed"):  # it asks, and nobody answers
        await hear(small_world)
    await expect(words).not_to_have_text(f"stale · {first} s")
    assert await seconds_in(words) > first


async def test_the_goal_page_becomes_stale_too(show: Show, small_world: SampleDataCopy) -> None:
    await hear(small_world, seconds_ago=90)
    page = await show(f"/g/{HAALAND}")
    words = page.locator("[data-part=head] [data-stale]")
    assert await seconds_in(words) >= 90
    await hear(small_world)
    await expect(words).to_be_hidden()
