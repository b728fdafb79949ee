"""Subscriptions in a browser: for operators only; the secret is shown once."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from found_footy.access.models import Role
from tests.conftest import SampleDataCopy
from tests.support.web_access import make_token
from tests.web.pages.conftest import OpenPage
from tests.web.pages.test_accessibility import serious

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def logged_in(visit: OpenPage, world: SampleDataCopy, role: Role) -> Page:
    page = await visit("/login")
    await page.get_by_label("Token").fill(await make_token(world.store, role))
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("banner")).to_contain_text("somebody")
    return page


async def test_an_operator_adds_tests_and_deletes_a_webhook(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await logged_in(visit, small_world, Role.OPERATOR)
    await page.get_by_role("link", name="Subscriptions").click()
    assert await serious(page) == []
    await page.get_by_label("Name").fill("Newsroom")
    await page.locator('input[name="target"]').fill("https://hooks.example.org/in/very-secret")
    await page.get_by_role("button", name="Add").click()
    secret = page.locator("code[data-copy]")
    await expect(secret).to_be_visible()
    shown = await secret.text_content()
    card = page.locator(".subscription")
    await expect(card).to_contain_text("Newsroom")
    assert "very-secret" not in await page.content()
    assert await serious(page) == []
    await page.goto("/subscriptions")
    assert shown is not None
    assert shown not in await page.content()
    await card.get_by_role("button", name="Pause").click()
    await expect(card.locator(".chip")).to_contain_text("paused")
    await card.get_by_text("Delete…").click()
    await card.get_by_role("button", name="Yes, delete").click()
    await expect(page.locator(".subscription")).to_have_count(0)


async def test_editors_cannot_open_subscriptions(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await logged_in(visit, small_world, Role.EDITOR)
    await expect(page.get_by_role("link", name="Subscriptions")).to_have_count(0)
    answer = await page.goto("/subscriptions")
    assert answer is not None
    assert answer.status == 403
