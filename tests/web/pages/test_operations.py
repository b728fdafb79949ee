"""The operations page in a browser: refresh keeps opened details and focus."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from found_footy.access.models import Role
from tests.conftest import SampleDataCopy
from tests.support.web_access import make_token
from tests.web.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def renewed(page: Page) -> None:
    async with page.expect_response("**/operations/fragment"):
        pass
    await page.wait_for_timeout(50)


async def test_provenance_is_loaded_on_demand_and_stays_open(visit: OpenPage) -> None:
    page = await visit("/operations")
    details = page.locator("#provenance-7001")
    await details.locator("summary").focus()
    await page.keyboard.press("Enter")
    await expect(details).to_contain_text("espn: 1–1")
    await renewed(page)
    await expect(details).to_contain_text("espn: 1–1")
    assert await page.evaluate("document.activeElement.closest('details')?.id") == "provenance-7001"


async def test_an_operator_decides_a_pairing(visit: OpenPage, small_world: SampleDataCopy) -> None:
    token = await make_token(small_world.store, Role.OPERATOR)
    page = await visit("/login?back=/operations")
    await page.locator("input[name=token]").fill(token)
    await page.locator("main form button").click()
    await expect(page.locator("#pairings")).to_contain_text("FC Barcelona B")
    await page.get_by_role("button", name="The same").click()
    await expect(page.get_by_role("status").first).to_contain_text("both feeds now report this match")
    await page.goto("/operations/match/7002")
    await expect(page.locator(".provenance")).to_contain_text("espn")


async def test_grade_and_ages_have_text_alternatives(visit: OpenPage) -> None:
    page = await visit("/operations", phone=True)
    label = await page.locator(".ages > svg").first.get_attribute("aria-label")
    assert label is not None
    assert label.startswith("Ages of the matches over the last 6 hours")
    await expect(page.locator(".grade")).to_have_text("healthy")
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
