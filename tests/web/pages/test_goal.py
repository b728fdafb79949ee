"""The goal page in a browser: player, aligned copies, proof, live updates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.async_api import Page, expect

from found_footy.fixtures.models import MatchMinute, Score, Side
from tests.conftest import SampleDataCopy
from tests.support.web_world import (
    CITY,
    HAALAND,
    HOSTILE_GOAL,
    LIVERPOOL,
    NO_CLIP,
    PREMIER,
    SALAH,
    WITHDRAWN,
    Clip,
    clip_bytes,
    goal,
    match,
)
from tests.web.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="package")

PLAYS = "() => { const film = document.querySelector('video'); return film.readyState >= 2 && film.currentTime > 0.2; }"

DRAWN = (
    "() => { const frame = document.querySelector('[data-proof] img'); return frame.complete && frame.naturalWidth; }"
)


async def plays(page: Page) -> None:
    await page.evaluate("() => { document.querySelector('video').muted = true; }")
    await page.keyboard.press("k")
    await page.wait_for_function(PLAYS)


async def test_switching_copies_keeps_the_moment(visit: OpenPage) -> None:
    page = await visit(f"/g/{SALAH}")
    copies = page.locator("[data-copy]")
    await expect(copies).to_have_count(3)
    await plays(page)
    await page.keyboard.press("k")
    await page.evaluate("() => { document.querySelector('video').currentTime = 2; }")
    before = await page.evaluate("document.querySelector('video').currentSrc")
    await page.keyboard.press("2")
    await expect(copies.nth(1)).to_have_attribute("aria-checked", "true")
    await page.wait_for_function("() => document.querySelector('video').readyState >= 2")
    assert await page.evaluate("document.querySelector('video').currentSrc") != before
    moment = await page.evaluate("document.querySelector('video').currentTime")
    offsets = [float(await copies.nth(place).get_attribute("data-offset") or 0) for place in (0, 1)]
    assert abs(moment - (2 + offsets[0] - offsets[1])) < 0.2


async def test_copies_are_chosen_by_click_and_arrow_keys(visit: OpenPage) -> None:
    page = await visit(f"/g/{SALAH}")
    copies = page.locator("[data-copy]")
    await copies.nth(2).click()
    await expect(copies.nth(2)).to_have_attribute("aria-checked", "true")
    await page.keyboard.press("ArrowUp")
    await expect(copies.nth(1)).to_have_attribute("aria-checked", "true")
    await expect(copies.nth(1)).to_be_focused()


async def test_the_proof_marks_the_clock_in_the_frame(visit: OpenPage) -> None:
    page = await visit(f"/g/{SALAH}")
    proof = page.locator("[data-proof]").first
    await expect(proof).to_contain_text("22:41")
    frame = proof.locator("img").first
    await frame.scroll_into_view_if_needed()
    await page.wait_for_function(DRAWN)
    await expect(proof.locator("svg rect").first).to_be_attached()


async def test_a_new_copy_appears_during_playback(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await visit(f"/g/{HAALAND}")
    await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
    # It is short: on a busy machine it may be over before anybody looks.
    await page.evaluate("() => { window.film = document.querySelector('video'); window.film.loop = true; }")
    await plays(page)
    await small_world.world.publish(HAALAND, Clip("another", clip_bytes(8)), attempt=3)
    await expect(page.locator("[data-copy]")).to_have_count(2)
    assert await page.evaluate("() => [window.film === document.querySelector('video'), window.film.paused]") == [
        True,
        False,
    ]


async def test_a_withdrawal_replaces_the_page(visit: OpenPage, small_world: SampleDataCopy) -> None:
    page = await visit(f"/g/{HAALAND}")
    await expect(page.locator("[data-live][data-state=live]")).to_be_visible()
    kept = (goal("23", Side.HOME, 306, "Mohamed Salah"), goal("60", Side.HOME, 51617, "Darwin Núñez"))
    answer = replace(match(7001, PREMIER, LIVERPOOL, CITY, minute=MatchMinute(70)), goals=kept, score=Score(2, 0))
    await small_world.world.poll(answer, times=3)
    await expect(page.locator("[data-withdrawn]")).to_be_visible()
    await expect(page.locator("video")).to_have_count(0)


async def test_missing_clips_are_explained(visit: OpenPage) -> None:
    page = await visit(f"/g/{WITHDRAWN}")
    await expect(page.locator("[data-withdrawn]")).to_contain_text("withdrawn")
    page = await visit(f"/g/{NO_CLIP}")
    await expect(page.locator("main")).to_contain_text("all were rejected")
    await expect(page.locator("main")).to_contain_text("too short")


async def test_a_hostile_post_stays_text(visit: OpenPage) -> None:
    page = await visit(f"/g/{HOSTILE_GOAL}")
    await expect(page.locator("main")).to_contain_text("<script>document.title")
    assert "owned" not in await page.title() or "<script>" in await page.title()
    assert await page.evaluate("document.querySelectorAll('main script, main img[onerror]').length") == 0
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page = await visit(f"/g/{HOSTILE_GOAL}", phone=True)
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


async def test_hidden_scores_hide_the_goal_page(visit: OpenPage) -> None:
    page = await visit(f"/g/{SALAH}")
    await page.keyboard.press("s")
    await expect(page.get_by_role("button", name="No spoilers")).to_have_attribute("aria-pressed", "true")
    assert "Salah" not in await page.content()
    await page.locator("main form button").click()
    await expect(page.locator("[data-copy]")).to_have_count(3)
