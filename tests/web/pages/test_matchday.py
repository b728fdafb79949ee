"""The matchday in a browser: live updates, clips played in place, keyboard."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.async_api import expect

from found_footy.fixtures.models import MatchMinute, Score, Side
from tests.conftest import SampleDataCopy
from tests.support.web_world import (
    CITY,
    HAALAND,
    LIVERPOOL,
    NUNEZ,
    PREMIER,
    SALAH,
    Clip,
    clip_bytes,
    goal,
    match,
)
from tests.web.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="package")

CLASSIC = "#match-7001"
GOALS = (
    goal("23", Side.HOME, 306, "Mohamed Salah"),
    goal("45+2", Side.AWAY, 1100, "Erling Haaland"),
    goal("60", Side.HOME, 51617, "Darwin Núñez"),
)


async def test_a_clip_appears_without_a_reload(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await visit()
    await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
    await page.evaluate("window.sameage = true")
    waiting = page.locator(f'[data-goal="{NUNEZ}"]')
    await expect(waiting.locator("img")).to_have_count(0)
    await small_world.world.publish(NUNEZ, Clip("new", clip_bytes(7)), attempt=2)
    await expect(waiting.locator("img")).to_have_count(1)
    await expect(waiting.locator(".chip")).to_contain_text("1")
    assert await page.evaluate("window.sameage")


async def test_goal_score_and_minute_update_live(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await visit()
    await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
    fourth = goal("71", Side.AWAY, 633, "Bernardo Silva")
    answer = match(7001, PREMIER, LIVERPOOL, CITY, *GOALS, fourth, minute=MatchMinute(72))
    await small_world.world.poll(answer)
    card = page.locator(CLASSIC)
    await expect(card).to_contain_text("Bernardo Silva")
    await expect(card.locator(".score")).to_have_text("2–2")
    await expect(card).to_contain_text("1/3")
    await small_world.world.poll(replace(answer, minute=MatchMinute(73)))
    await expect(card.locator(".clock")).to_have_text("73'")
    await expect(card).to_contain_text("2/3")


async def test_a_withdrawn_goal_loses_its_clip_on_the_open_page(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await visit()
    await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
    row = page.locator(f'[data-goal="{HAALAND}"]')
    await expect(row.locator("img")).to_have_count(1)
    without = replace(match(7001, PREMIER, LIVERPOOL, CITY, minute=MatchMinute(70)), goals=(GOALS[0], GOALS[2]))
    await small_world.world.poll(replace(without, score=Score(2, 0)), times=3)
    await expect(row).to_contain_text("withdrawn")
    await expect(row.locator("img")).to_have_count(0)


async def test_the_best_clip_plays_in_a_dialog_by_keyboard(visit: OpenPage) -> None:
    page = await visit()
    await page.locator(f'[data-goal="{SALAH}"] a.shot').focus()
    await page.keyboard.press("Enter")
    film = page.locator("dialog video")
    await expect(film).to_be_visible()
    await page.wait_for_function("() => document.querySelector('dialog video').currentTime > 0")
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog#player")).to_be_hidden()
    await page.wait_for_function("() => document.querySelector('dialog video').paused")


async def test_keys_move_between_matches_and_days(visit: OpenPage) -> None:
    page = await visit()
    await page.keyboard.press("j")
    first = await page.evaluate("document.activeElement.closest('.match').id")
    await page.keyboard.press("j")
    second = await page.evaluate("document.activeElement.closest('.match').id")
    assert first != second
    await page.keyboard.press("k")
    assert await page.evaluate("document.activeElement.closest('.match').id") == first
    await page.keyboard.press("?")
    await expect(page.locator("dialog[open]")).to_contain_text("next, previous match")
    await page.keyboard.press("Escape")
    await page.keyboard.press("ArrowLeft")
    await page.wait_for_url("**/day/2026-08-21*")


async def test_hidden_scores_stay_hidden_until_a_match_is_opened(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await visit()
    await page.keyboard.press("s")
    await expect(page.get_by_role("button", name="No spoilers")).to_have_attribute("aria-pressed", "true")
    card = page.locator(CLASSIC)
    await expect(card).to_contain_text("score hidden")
    assert "Salah" not in await page.content()
    # News must not tell either.
    await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
    fourth = goal("71", Side.AWAY, 633, "Bernardo Silva")
    async with page.expect_response(lambda answer: "/fragments/match/7001" in answer.url):
        await small_world.world.poll(match(7001, PREMIER, LIVERPOOL, CITY, *GOALS, fourth, minute=MatchMinute(72)))
    assert "Bernardo" not in await page.content()
    assert await page.locator("[data-announcement]").text_content() == ""
    await card.get_by_role("button", name="Show this match").click()
    await expect(page.locator(CLASSIC)).to_contain_text("Mohamed Salah")
    await expect(page.locator("#match-7002")).to_contain_text("score hidden")


async def test_a_disconnected_page_shows_it_and_catches_up(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await visit()
    light = page.locator("[data-live]")
    await expect(light).to_have_attribute("data-state", "live")
    await page.context.set_offline(True)
    await page.evaluate("window.dispatchEvent(new Event('offline'))")
    await small_world.world.publish(NUNEZ, Clip("new", clip_bytes(7)), attempt=2)
    await page.context.set_offline(False)
    await page.evaluate("window.dispatchEvent(new Event('online'))")
    await expect(page.locator(f'[data-goal="{NUNEZ}"] img')).to_have_count(1)
    await expect(light).to_have_attribute("data-state", "live")


async def test_the_page_has_no_layout_shift_on_a_phone(visit: OpenPage) -> None:
    page = await visit(phone=True)
    shift = await page.evaluate(
        """() => new Promise((done) => new PerformanceObserver((list, observer) => {
            observer.disconnect();
            done(list.getEntries().filter((each) => !each.hadRecentInput).reduce((sum, each) => sum + each.value, 0));
        }).observe({ type: "layout-shift", buffered: true }) || setTimeout(() => done(0), 500))"""
    )
    assert shift < 0.01
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
