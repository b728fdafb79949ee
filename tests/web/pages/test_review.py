"""Review in a browser with one reviewer: actions by key, undo, selection, frames."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from found_footy.library.review import MAX_CLIPS_PER_ACTION
from tests.support.review_site import review_site
from tests.web.pages.conftest import in_one_loop
from tests.web.pages.review_pages import ReviewPages, on_screen, settled

pytestmark = pytest.mark.asyncio(loop_scope="package")

PENDING, APPROVED, SKIPPED, ARCHIVED = "pending_review", "review_approved", "review_skipped", "review_archived"


@in_one_loop()
async def pages(database_url: str, tmp_path: Path, chromium: Browser) -> AsyncIterator[ReviewPages]:
    async with review_site(database_url, tmp_path) as site:
        opened = ReviewPages(site, chromium)
        yield opened
        await opened.close()


async def test_every_decision_has_a_key_advances_and_can_be_undone(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 4)
    one, two, three, four = filmed.clips
    page = await pages.open()
    await on_screen(page, one)
    for key, after in (("a", two), ("s", three), ("x", four)):
        await page.keyboard.press(key)
        await on_screen(page, after)
    await settled(page)
    assert [state for _, _, state in await pages.site.tiles(filmed)] == [APPROVED, SKIPPED, ARCHIVED, PENDING]
    await expect(page.locator("[data-log] li")).to_have_count(3)
    await expect(page.locator("[data-log] li").first).to_contain_text(f"You archived clip {three}")
    await expect(page.locator('[data-states="pending_review"] dd')).to_have_text("1")

    await expect(page.locator('[data-shortcut="undo"]')).to_contain_text("Undo archived")
    for key, back in (("u", three), ("Control+z", two), ("u", one)):
        await page.keyboard.press(key)
        await on_screen(page, back)
    await settled(page)
    assert [state for _, _, state in await pages.site.tiles(filmed)] == [PENDING] * 4
    await expect(page.locator("[data-log] li[data-undone]")).to_have_count(3)
    await expect(page.locator('[data-shortcut="undo"]')).to_be_disabled()

    # Group: with the clip before, both approved.
    await page.keyboard.press("]")
    await on_screen(page, two)
    await page.keyboard.press("g")
    await on_screen(page, three)
    await settled(page)
    assert [state for _, _, state in await pages.site.tiles(filmed)] == [APPROVED, APPROVED, PENDING, PENDING]
    await page.keyboard.press("u")
    await on_screen(page, one)
    await settled(page)
    assert [state for _, _, state in await pages.site.tiles(filmed)] == [PENDING] * 4


async def test_split_and_merge_are_immediate_and_undoable(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 4)
    one, two, three, four = filmed.clips
    before = await pages.site.tiles(filmed)
    page = await pages.open()
    await on_screen(page, one)
    strip = page.locator("[data-tile]")

    await page.keyboard.press("c")  # at its first frame
    await expect(page.locator("[data-toast]")).to_contain_text("cannot be split at its first frame")
    await page.keyboard.press("Shift+ArrowRight")
    await page.keyboard.press("c")
    await on_screen(page, two)
    await expect(strip).to_have_count(5)
    await expect(strip.first).to_have_attribute("data-state", "edit_pending")
    await expect(strip.first.locator(".left")).to_contain_text(" s")
    await settled(page)
    assert [(first, end) for first, end, _ in await pages.site.tiles(filmed)][:2] == [(0, 10), (10, 25)]
    await page.keyboard.press("[")  # a look at what it became
    await expect(page.locator("[data-chip]")).to_contain_text("final in")
    await expect(page.locator("[data-where]")).to_contain_text("frame 1 of 15")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("[data-where]")).to_contain_text("11 in the source")
    await page.wait_for_function(_SECOND, arg=11.5 / 25)  # it plays out of its source
    await page.keyboard.press("u")
    await on_screen(page, one)
    await expect(strip).to_have_count(4)
    await settled(page)
    assert await pages.site.tiles(filmed) == before

    for key, start, after, edges in (("n", one, three, [0, 50, 75]), ("m", three, four, [0, 25, 75])):
        await page.locator(f'[data-tile="{start}"]').click()
        await on_screen(page, start)
        await page.keyboard.press(key)
        await on_screen(page, after)
        await expect(strip).to_have_count(3)
        await settled(page)
        assert [first for first, _, _ in await pages.site.tiles(filmed)] == edges
        await page.keyboard.press("u")
        await expect(strip).to_have_count(4)
        await settled(page)
        assert await pages.site.tiles(filmed) == before


async def test_a_cut_is_moved_by_one_key_and_one_undo(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 3)
    one, two, three = filmed.clips
    before = await pages.site.tiles(filmed)
    page = await pages.open()
    await on_screen(page, one)
    await expect(page.locator('[data-shortcut="cut-before"]')).to_be_disabled()
    strip = page.locator("[data-tile]")
    for key, after, edges, back in (("b", three, [0, 35, 50], one), ("v", one, [0, 25, 35], two)):
        await page.locator(f'[data-tile="{two}"]').click()
        await on_screen(page, two)
        await page.keyboard.press(key)  # at its first frame
        await expect(page.locator("[data-toast]")).to_contain_text("Go to the frame that the cut should move to")
        await page.keyboard.press("Shift+ArrowRight")
        await page.keyboard.press(key)
        await on_screen(page, after)
        await expect(page.locator('[data-tile][data-state="edit_pending"]')).to_have_count(2)
        await settled(page)
        assert [first for first, _, _ in await pages.site.tiles(filmed)] == edges
        await expect(page.locator('[data-shortcut="undo"]')).to_contain_text("Undo recut")
        await page.keyboard.press("u")
        await on_screen(page, back)
        await expect(strip).to_have_count(3)
        await settled(page)
        assert await pages.site.tiles(filmed) == before


async def test_a_shift_selection_is_decided_together(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 6)
    one, _, three, four, *_ = filmed.clips
    page = await pages.open()
    await on_screen(page, one)
    await page.locator(f'[data-tile="{three}"]').click(modifiers=["Shift"])
    await expect(page.locator('[data-tile][aria-selected="true"]')).to_have_count(3)
    await expect(page.locator("[data-selected]")).to_contain_text(
        "3 clips selected: approve, skip or archive them together"
    )
    await page.keyboard.press("Escape")
    await expect(page.locator("[data-selected]")).to_be_hidden()
    await page.keyboard.press("}")
    await page.keyboard.press("}")
    await page.keyboard.press("{")
    await expect(page.locator('[data-tile][aria-selected="true"]')).to_have_count(2)
    await page.locator(f'[data-tile="{one}"]').focus()
    most = await page.locator("#review").get_attribute("data-max-clips")
    assert most == str(MAX_CLIPS_PER_ACTION)
    await page.evaluate("document.getElementById('review').dataset.maxClips = '2'")
    await page.keyboard.press("Shift+ArrowRight")
    await expect(page.locator('[data-tile][aria-selected="true"]')).to_have_count(3)
    await expect(page.locator("[data-selected]")).to_contain_text("3 clips selected; at most 2 at once")
    await page.keyboard.press("x")
    await expect(page.locator("[data-toast]")).to_contain_text("3 clips selected; at most 2 at once")
    await on_screen(page, one)
    await page.evaluate(f"document.getElementById('review').dataset.maxClips = '{most}'")
    await page.keyboard.press("x")
    await on_screen(page, four)
    await settled(page)
    assert [state for _, _, state in await pages.site.tiles(filmed)] == [ARCHIVED] * 3 + [PENDING] * 3
    await page.keyboard.press("u")
    await on_screen(page, one)
    await settled(page)
    assert [state for _, _, state in await pages.site.tiles(filmed)] == [PENDING] * 6


_SECOND = """(second) => {
  const film = document.querySelector("#review video:not([hidden])");
  return film && film.readyState >= 2 && !film.seeking && Math.abs(film.currentTime - second) < 0.011;
}"""


async def test_frames_are_stepped_by_key_and_scrubbed_by_mouse(pages: ReviewPages) -> None:
    filmed = await pages.site.film((2.0, 2.0))
    page = await pages.open()
    await on_screen(page, filmed.clips[0])
    where = page.locator("[data-where]")
    for key, frame in (
        ("ArrowRight", 2), ("Shift+ArrowRight", 12), ("ArrowLeft", 11), ("Shift+ArrowLeft", 1), ("ArrowLeft", 1),
    ):  # fmt: skip
        await page.keyboard.press(key)
        await expect(where).to_contain_text(f"frame {frame} of 50")
    await page.keyboard.press("ArrowRight")
    await page.wait_for_function(_SECOND, arg=1.5 / 25)

    # A look at the middle, which is a still out of the sheet; then there, with the film.
    box = await page.locator("[data-timeline]").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.move(*middle)
    await expect(where).to_contain_text("frame 26 of 50")
    await expect(page.locator("[data-still]")).to_be_visible()
    await page.mouse.move(middle[0], box["y"] - 60)
    await page.mouse.move(5, 5)
    await expect(where).to_contain_text("frame 2 of 50")
    await expect(page.locator("[data-still]")).to_be_hidden()
    await page.mouse.move(*middle)
    await page.mouse.down()
    await page.mouse.move(middle[0] + box["width"] / 4, middle[1], steps=3)
    await page.mouse.up()
    await page.mouse.move(5, 5)
    await expect(where).to_contain_text("frame 38 of 50")
    await page.wait_for_function(_SECOND, arg=37.5 / 25)

    await page.keyboard.press(" ")
    await page.wait_for_function("() => !document.querySelector('#review video:not([hidden])').paused")
    await expect(page.locator('[data-shortcut="play"]')).to_contain_text("Pause")
    await page.keyboard.press(" ")
    await page.wait_for_function("() => document.querySelector('#review video:not([hidden])').paused")


async def test_quick_steps_end_at_the_last_target(pages: ReviewPages) -> None:
    filmed = await pages.site.film((2.0, 2.0))
    page = await pages.open()
    await on_screen(page, filmed.clips[0])
    await page.wait_for_function(_SECOND, arg=0.5 / 25)
    await page.evaluate(_THREE_STEPS)
    await expect(page.locator("[data-where]")).to_contain_text("frame 4 of 50")
    await page.wait_for_function(_SECOND, arg=3.5 / 25)


# The second step waits for the first; the third comes when the film no longer seeks, before "seeked" is dispatched.
_THREE_STEPS = """() => new Promise((done) => {
  const film = document.querySelector("#review video:not([hidden])");
  const step = () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  film.addEventListener("timeupdate", step, { once: true });
  film.addEventListener("seeked", () => setTimeout(done, 500), { once: true });
  step();
  step();
})"""


async def test_keys_act_on_the_visible_frame(pages: ReviewPages) -> None:
    filmed = await pages.site.film((2.0, 2.0))
    one, two = filmed.clips
    page = await pages.open()
    await on_screen(page, one)
    where, still = page.locator("[data-where]"), page.locator("[data-still]")
    box = await page.locator("[data-stage]").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.move(*middle)
    await expect(where).to_contain_text("frame 26 of 50")
    await expect(still).to_be_visible()

    await page.keyboard.press("ArrowRight")
    await expect(where).to_contain_text("frame 27 of 50")
    await expect(still).to_be_hidden()
    await page.wait_for_function(_SECOND, arg=26.5 / 25)
    await page.mouse.move(*middle)  # told of once more, and not moved
    await page.keyboard.press("ArrowRight")
    await expect(where).to_contain_text("frame 28 of 50")

    # Playing goes on from what is shown, and is seen.
    for start in (page.keyboard.press(" "), page.mouse.click(*middle)):
        await page.mouse.move(middle[0] + 3, middle[1])
        await page.mouse.move(*middle)
        await expect(still).to_be_visible()
        await expect(where).to_contain_text("frame 26 of 50")
        await start
        await expect(page.locator('[data-shortcut="play"]')).to_contain_text("Pause")
        await expect(still).to_be_hidden()
        await page.wait_for_function(_BEYOND, arg=26 / 25)
        await page.keyboard.press(" ")
        await expect(page.locator('[data-shortcut="play"]')).to_contain_text("Play")

    await page.mouse.move(middle[0] + 3, middle[1])
    await page.mouse.move(*middle)
    await expect(where).to_contain_text("25 in the source")
    await page.keyboard.press("c")
    await on_screen(page, two)
    await expect(where).to_contain_text("frame 1 of 50")
    await settled(page)
    assert [first for first, _, _ in await pages.site.tiles(filmed)] == [0, 25, 50]


_BEYOND = """(second) => {
  const film = document.querySelector("#review video:not([hidden])");
  return !film.paused && film.currentTime > second && film.currentTime < second + 0.9;
}"""


async def test_a_likely_copy_gets_a_verdict_by_key(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0, 1.0))
    one, two = filmed.clips
    await pages.site.library.save_duplicates(one, [two])
    page = await pages.open()
    await on_screen(page, one)
    copies = page.locator("[data-copies]")
    await expect(copies).to_contain_text("No verdict yet")
    await page.keyboard.press("e")
    await expect(copies).to_contain_text("Marked as different by you")
    await page.keyboard.press("d")
    await expect(page.locator("[data-toast]")).to_contain_text("marked as duplicates")
    await expect(copies).to_contain_text("Marked as a duplicate by you")
    await page.reload()
    await on_screen(page, one)
    await expect(page.locator("[data-copies]")).to_contain_text("Marked as a duplicate by Ana")


async def test_help_lists_all_keys_and_blocks_them_while_open(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0, 1.0))
    page = await pages.open()
    await on_screen(page, filmed.clips[0])
    await page.keyboard.press("?")
    dialog = page.locator("#keys")
    await expect(dialog).to_be_visible()
    shown = await dialog.locator("kbd").all_text_contents()
    assert {"a", "s", "x", "g", "m", "n", "c", "u", "ctrl+z", "d", "e", "[", "]", "←", "→", "Space", "?"} <= set(shown)
    assert len(shown) == len(set(shown))
    for key in ("a", "x", "s"):
        await page.keyboard.press(key)
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    assert [state for _, _, state in await pages.site.tiles(filmed)] == [PENDING] * 2
    await expect(page).to_have_url(f"{pages.site.url}/review")


async def test_new_clips_appear_after_all_are_reviewed(pages: ReviewPages) -> None:
    page = await pages.open()
    await expect(page.locator("[data-veil]")).to_contain_text("No clips to review")
    await page.keyboard.press("a")  # nothing to approve, and no harm in it
    filmed = await pages.site.film((1.0, 1.0))
    for clip_id in filmed.clips:
        await on_screen(page, clip_id)
        await page.keyboard.press("a")
    await expect(page.locator("[data-veil]")).to_contain_text("No clips to review")
    await settled(page)
    assert [state for _, _, state in await pages.site.tiles(filmed)] == [APPROVED] * 2


async def test_review_works_by_touch_on_a_phone(pages: ReviewPages) -> None:
    filmed = await pages.site.film((1.0,) * 3)
    one, two, three = filmed.clips
    page = await pages.open(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    await on_screen(page, one)
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await _tap(page, "approve")
    await on_screen(page, two)
    await _tap(page, "forward")
    await _tap(page, "split")
    await on_screen(page, three)
    await _tap(page, "undo")
    await on_screen(page, two)
    await _tap(page, "merge-next")
    await settled(page)
    assert [(first, state) for first, _, state in await pages.site.tiles(filmed)] == [
        (0, APPROVED),
        (25, "edit_pending"),
    ]


async def _tap(page: Page, deed: str) -> None:
    await page.locator(f'[data-shortcut="{deed}"]').tap()
