"""Login and logout in a browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from found_footy.access.models import Role
from tests.conftest import SampleDataCopy
from tests.support.web_access import make_token
from tests.support.web_world import served
from tests.web.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_login_starts_and_logout_ends_a_session(visit: OpenPage, small_world: SampleDataCopy) -> None:
    text = await make_token(small_world.store, Role.OPERATOR, name="an editor")
    page = await visit("/")
    await page.get_by_role("link", name="Log in").click()
    await page.get_by_label("Token").fill("footy_wrong_token")
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("alert")).to_contain_text("Unknown token")
    await page.get_by_label("Token").fill(text)
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("banner")).to_contain_text("an editor")
    cookie = next(each for each in await page.context.cookies() if each["name"] == "footy_session")
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_role("link", name="Log in")).to_be_visible()


async def test_login_returns_to_the_requested_page(chromium: Browser, small_world: SampleDataCopy) -> None:
    text = await make_token(small_world.store, Role.READER)
    closed = small_world.settings.model_copy(update={"read_access": "token"})
    async with served(closed) as (server, _):
        page = await (await chromium.new_context(base_url=server.url)).new_page()
        await page.goto("/search?q=salah")
        await page.get_by_label("Token").fill(text)
        await page.get_by_role("button", name="Log in").click()
        await page.wait_for_url("**/search?q=salah")
        await expect(page.locator("#results")).to_contain_text("Mohamed Salah")
        # The stream and the pictures go by the same cookie.
        await page.goto("/")
        await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
        await page.wait_for_function("() => [...document.images].some((each) => each.naturalWidth === 320)")
        await page.close()
