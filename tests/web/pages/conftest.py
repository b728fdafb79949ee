"""A real Chromium with the small world. A page error or console error fails the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from found_footy.browser.chromium import find_chromium
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy, world_copy
from tests.support.databases import Databases
from tests.support.web_world import served

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

OpenPage = Callable[..., Awaitable[Page]]

# What comes to pass at all is seen at once; only what does not takes so long. Five seconds are short on a busy machine.
expect.set_options(timeout=30_000)

in_one_loop = partial(pytest_asyncio.fixture, loop_scope="package")
"""All tests of this folder share a browser, which belongs to one loop: so they, and what they are given, run in it."""


@in_one_loop(scope="package")
async def running_chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        flags = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--mute-audio"]
        browser = await playwright.chromium.launch(executable_path=str(find_chromium(None)), args=flags)
        yield browser
        await browser.close()


@in_one_loop()
async def chromium(running_chromium: Browser) -> AsyncIterator[Browser]:
    yield running_chromium
    for context in running_chromium.contexts:
        await context.close()


@in_one_loop()
async def small_world(worlds: tuple[Databases, Path], tmp_path: Path) -> AsyncIterator[SampleDataCopy]:
    async with world_copy(worlds, tmp_path) as copy:
        yield copy


@in_one_loop()
async def site(small_world: SampleDataCopy) -> AsyncIterator[tuple[str, WebServices]]:
    """The address of the pages, and what is behind them."""
    async with served(small_world.settings) as (running, services):
        yield running.url, services


@in_one_loop()
async def visit(chromium: Browser, site: tuple[str, WebServices]) -> AsyncIterator[OpenPage]:
    """`await visit("/path", phone=True, dark=True)`: a page that has loaded."""
    complaints: list[str] = []

    async def open_page(path: str = "/", *, phone: bool = False, dark: bool = False, **more: Any) -> Page:
        context = await chromium.new_context(
            base_url=site[0],
            viewport=PHONE if phone else DESKTOP,
            color_scheme="dark" if dark else "light",
            has_touch=phone,
            **more,
        )
        page = await context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"{path}: {error}"))
        page.on("console", lambda said: complaints.append(f"{path}: {said.text}") if said.type == "error" else None)
        await page.goto(path)
        return page

    yield open_page
    # What a browser says of an answer such as 410 is no fault of the page.
    faults = [said for said in complaints if "Failed to load resource" not in said]
    assert faults == []
