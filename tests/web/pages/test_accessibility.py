"""No serious axe violation on any page, theme or size."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

from tests.support.web_world import HAALAND, HOSTILE_GOAL, NO_CLIP, SALAH, WITHDRAWN
from tests.support.web_world_feeds import WICKET_OF_HEAD
from tests.web.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="package")

PAGES = [
    "/",
    "/day/2026-08-21",
    "/day/2020-01-01",
    f"/g/{SALAH}",
    f"/g/{HAALAND}",
    f"/g/{NO_CLIP}",
    f"/g/{WITHDRAWN}",
    f"/g/{HOSTILE_GOAL}",
    "/library",
    "/search",
    "/search?q=liverpool",
    "/search?q=nobody+of+this+name",
    f"/g/{WICKET_OF_HEAD}",
    "/operations",
    "/operations/match/7001",
    "/login",
    "/nowhere",
]


async def serious(page: Page) -> list[tuple[str, str, list[Any]]]:
    found = await Axe().run(page)
    return [
        (each["id"], each["help"], [node["target"] for node in each["nodes"]][:5])
        for each in found.response["violations"]
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_accessible(visit: OpenPage, path: str) -> None:
    for phone in (False, True):
        page = await visit(path, phone=phone)
        assert await serious(page) == [], phone
        assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), phone
        if not phone:
            # Its colours are those of another style sheet, not of another page.
            await page.emulate_media(color_scheme="dark")
            assert await serious(page) == [], "dark"
        await page.context.close()


async def test_the_api_reference_is_accessible(visit: OpenPage) -> None:
    assert await serious(await visit("/docs")) == []


async def test_hidden_matches_and_dialogs_are_accessible(visit: OpenPage) -> None:
    page = await visit()
    await page.keyboard.press("?")
    assert await serious(page) == []
    await page.keyboard.press("Escape")
    await page.locator(f'[data-goal="{SALAH}"] a.shot').click()
    assert await serious(page) == []
    await page.keyboard.press("Escape")
    await page.keyboard.press("s")
    await page.wait_for_selector("text=score hidden")
    assert await serious(page) == []
