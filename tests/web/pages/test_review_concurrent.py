"""Review in a browser with two reviewers: separate claims, live updates, refused actions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.support.review_site import review_site
from tests.web.pages.conftest import in_one_loop
from tests.web.pages.review_pages import ReviewPages, on_screen, settled
from tests.web.pages.test_accessibility import serious

pytestmark = pytest.mark.asyncio(loop_scope="package")


@in_one_loop()
async def pages(database_url: str, tmp_path: Path, chromium: Browser) -> AsyncIterator[ReviewPages]:
    async with review_site(database_url, tmp_path) as site:
        opened = ReviewPages(site, chromium)
        yield opened
        await opened.close()


async def test_two_reviewers_get_different_clips_and_see_each_others_actions(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 8)
    clips = filmed.clips
    ana = await pages.open("Ana")
    await on_screen(ana, clips[0])
    ben = await pages.open("Ben")
    await on_screen(ben, clips[4])
    for number in range(2):
        await ana.keyboard.press("a")
        await ben.keyboard.press("s")
        await on_screen(ana, clips[number + 1])
        await on_screen(ben, clips[number + 5])
    # Each hears of the other, in the log, in the counts and in the film strip.
    await expect(ana.locator("[data-log]")).to_contain_text(f"Ben skipped clip {clips[5]}")
    await expect(ben.locator("[data-log]")).to_contain_text(f"Ana approved clip {clips[1]}")
    await expect(ana.locator("[data-log]")).to_contain_text(f"You approved clip {clips[1]}")
    for page in (ana, ben):
        await expect(page.locator('[data-states="pending_review"] dd')).to_have_text("4")
        await expect(page.locator(f'[data-tile="{clips[1]}"]')).to_have_attribute("data-state", "review_approved")
        await expect(page.locator(f'[data-tile="{clips[5]}"]')).to_have_attribute("data-state", "review_skipped")
    await expect(ana.locator(f'[data-tile="{clips[6]}"]')).to_have_attribute("data-taken", "")
    # An undo is heard, too.
    await ana.keyboard.press("u")
    await expect(ben.locator("[data-log] li[data-undone]")).to_contain_text(f"Ana approved clip {clips[1]}")
    await expect(ben.locator(f'[data-tile="{clips[1]}"]')).to_have_attribute("data-state", "pending_review")


async def test_splitting_a_clip_claimed_by_another_is_refused_and_reverted(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 4)
    one, two, *_ = filmed.clips
    before = await pages.site.tiles(filmed)
    ana = await pages.open("Ana")
    await on_screen(ana, one)
    ben = await pages.open("Ben", f"/review?clip={one}")
    await on_screen(ben, one)
    await expect(ben.locator("[data-chip]")).to_contain_text("claimed by another reviewer")
    await ben.keyboard.press("Shift+ArrowRight")
    await ben.keyboard.press("c")
    await expect(ben.locator("[data-toast]")).to_contain_text("Not split: clip")
    await on_screen(ben, one)
    await expect(ben.locator("[data-where]")).to_contain_text("frame 11 of 25")
    await expect(ben.locator("[data-tile]")).to_have_count(4)
    assert await pages.site.tiles(filmed) == before
    # Now the one before whom it lies: the other sees what became of it.
    await ana.keyboard.press("Shift+ArrowRight")
    await ana.keyboard.press("c")
    await on_screen(ana, two)
    await expect(ben.locator("[data-tile]")).to_have_count(5)
    await expect(ben.locator("[data-toast]")).to_contain_text("split or merged by another reviewer")
    await expect(ben.locator("[data-where]")).to_contain_text("frame 1 of 10")
    await settled(ana)
    assert len(await pages.site.tiles(filmed)) == 5


async def test_leaving_releases_claims_and_a_reload_keeps_them(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 4)
    one, two, *_ = filmed.clips
    ana = await pages.open("Ana")
    await on_screen(ana, one)
    await ana.keyboard.press("a")
    await on_screen(ana, two)
    await settled(ana)
    await ana.reload()
    await on_screen(ana, two)
    await expect(ana.locator('[data-shortcut="undo"]')).to_contain_text("Undo approved")
    ben = await pages.open("Ben")
    await expect(ben.locator("[data-veil]")).to_contain_text("claimed by others")
    await expect(ben.locator("[data-title]")).to_have_text("Review")
    await ana.goto("/login")
    async with asyncio.timeout(20):
        while any(clip.claimed_by for clip in await pages.site.library.clips_of(filmed.source_id)):
            await asyncio.sleep(0.05)  # the farewell goes its own way
    await ben.reload()
    await on_screen(ben, two)


async def test_the_review_page_is_accessible(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 3)
    await pages.site.library.save_duplicates(filmed.clips[0], [filmed.clips[2]])
    page = await pages.open()
    await on_screen(page, filmed.clips[0])
    await page.keyboard.press("}")
    for form in ("light", "dark", "phone"):
        await page.emulate_media(color_scheme="light" if form == "light" else "dark")
        if form == "phone":
            await page.set_viewport_size({"width": 360, "height": 740})
        assert await serious(page) == [], form
        assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), form
    await page.keyboard.press("?")
    assert await serious(page) == []
