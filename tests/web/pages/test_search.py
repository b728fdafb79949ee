"""Search in a browser: results while typing, filters, and a shareable URL."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.support.web_world import NUNEZ
from tests.web.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_results_follow_typing_and_update_the_url(visit: OpenPage) -> None:
    page = await visit("/search")
    await page.keyboard.press("/")
    await page.keyboard.type("nunez liv")
    rows = page.locator("#results [data-found] > li")
    await expect(rows).to_have_count(1)
    await expect(rows.first).to_contain_text("Darwin Núñez")
    await page.wait_for_function("() => location.search.includes('nunez')")
    await page.reload()
    await expect(rows).to_have_count(1)
    await rows.first.get_by_role("link", name="Darwin Núñez").click()
    await page.wait_for_url(f"**/g/{NUNEZ}")


async def test_matches_and_clips_are_searchable(visit: OpenPage) -> None:
    page = await visit("/search?q=koln&kind=fixtures")
    await expect(page.locator("#results")).to_contain_text("1. FC Köln")
    page = await visit("/search?q=salah&kind=clips")
    await expect(page.locator("#results [data-found] > li")).to_have_count(3)


async def test_an_empty_result_suggests_alternatives(visit: OpenPage) -> None:
    page = await visit("/search")
    await page.locator("#q").fill("zzzz")
    await expect(page.locator("[data-empty]")).to_contain_text("No results for")


async def test_hidden_scores_hide_scorers_in_results(visit: OpenPage) -> None:
    page = await visit("/search?q=salah")
    await page.keyboard.press("s")
    await expect(page.get_by_role("button", name="No spoilers")).to_have_attribute("aria-pressed", "true")
    assert "Mohamed Salah" not in await page.locator("#results").inner_html()
