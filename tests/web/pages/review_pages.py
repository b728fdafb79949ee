"""Review pages in several browsers, and waiting for them."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.support.review_site import ReviewSite

DESKTOP = {"width": 1280, "height": 800}


class ReviewPages:
    """Whatever a page complains of fails the test."""

    def __init__(self, site: ReviewSite, chromium: Browser) -> None:
        self.site = site
        self._chromium = chromium
        self._contexts: list[BrowserContext] = []
        self._complaints: list[str] = []

    async def open(self, name: str = "Ana", path: str = "/review", **more: Any) -> Page:
        context = await self.site.browser(self._chromium, name, **{"viewport": DESKTOP, **more})
        self._contexts.append(context)
        page = await context.new_page()
        page.on("pageerror", lambda error: self._complaints.append(f"{name}: {error}"))
        page.on("console", lambda said: self._complaints.append(said.text) if said.type == "error" else None)
        await page.goto(path)
        return page

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()
        # What a browser says of an answer such as 409 is no fault of the page.
        assert [said for said in self._complaints if "Failed to load resource" not in said] == []


async def on_screen(page: Page, clip_id: int) -> None:
    """Until a picture of this clip is on the stage."""
    await expect(page.locator("[data-stage]")).to_have_attribute("data-shown", str(clip_id))


async def settled(page: Page) -> None:
    """Until the server has answered all that was done."""
    await expect(page.locator("#review")).to_have_attribute("data-sending", "0")
