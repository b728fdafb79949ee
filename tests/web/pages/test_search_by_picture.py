"""Similarity search in a browser: similar clips, and pictures chosen, pasted or dropped."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from found_footy.access.models import Role
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.library.clip_rows import GOAL, ClipRows
from tests.library.scene_pictures import compressed, draw_scene, mirrored
from tests.support.library_search import add_clips, jpeg, served_library
from tests.support.web_access import bearer, make_token
from tests.web.pages.conftest import OpenPage, in_one_loop

pytestmark = pytest.mark.asyncio(loop_scope="package")

NUNEZ = {**GOAL, "player": "Darwin Núñez", "kind": "Penalty", "minute": "12'", "score": "1–0"}


@in_one_loop()
async def site(small_world: SampleDataCopy) -> AsyncIterator[tuple[str, WebServices]]:
    """Clips 1 and 3 show one moment, clip 2 another."""
    database, objects = small_world.store.database, small_world.world.objects
    await add_clips(database, objects, [draw_scene(1), draw_scene(2)], "Salah scores", {**GOAL, "score": "2–1"})
    await add_clips(database, objects, [mirrored(draw_scene(1))], "Núñez scores", NUNEZ)
    await ClipRows(database).pair(1, 3)
    async with served_library(small_world.settings, database) as (running, services):
        yield running.url, services


@in_one_loop()
async def editor(small_world: SampleDataCopy) -> dict[str, str]:
    return bearer(await make_token(small_world.store, Role.EDITOR))


async def test_a_text_search_leads_to_a_similarity_search(visit: OpenPage) -> None:
    page = await visit("/search")
    await page.get_by_role("radio", name="Library").check(force=True)
    await page.locator("#q").fill("salah 90+3")
    found = page.locator("#results [data-clip]")
    await expect(found).to_have_count(2)
    await expect(page.locator("#results summary").first).to_have_text("1 copy")
    await page.locator("#results summary").first.click()
    await expect(page.locator("#results .copies li")).to_have_count(1)
    await page.wait_for_function("() => location.search.includes('kind=library')")
    await page.locator('[data-clip="2"]').get_by_role("link", name="More like this").click()
    await page.wait_for_url("**/search?like=2")
    await expect(page.locator("[data-count]")).to_have_text("1 moment like clip 2")
    await page.get_by_role("link", name="Any clip").click()
    await expect(page.locator("[data-count]")).to_have_text("Latest library clips")


async def test_library_filters_are_shown_for_the_library_only(visit: OpenPage) -> None:
    page = await visit("/search?q=salah")
    await expect(page.get_by_label("Kind of goal")).to_be_hidden()
    await page.get_by_role("radio", name="Library").check(force=True)
    await expect(page.get_by_label("Kind of goal")).to_be_visible()
    await page.get_by_label("Kind of goal").select_option("penalty")
    await expect(page.locator("[data-empty]")).to_contain_text("No results for salah with these filters.")
    await page.get_by_role("radio", name="Goals").check(force=True)
    await page.wait_for_function("() => !location.search.includes('penalty')")


async def test_a_search_picture_is_chosen_and_removed(visit: OpenPage, editor: dict[str, str], tmp_path: Path) -> None:
    shot = tmp_path / "shot.jpg"
    shot.write_bytes(jpeg(compressed(draw_scene(2))))
    page = await visit("/search?kind=library", extra_http_headers=editor)
    await page.locator("#picture").set_input_files(shot)
    await expect(page.locator("[data-count]")).to_have_text("2 moments like this picture")
    await expect(page.locator("#results [data-clip]").first).to_have_attribute("data-clip", "2")
    await expect(page.get_by_alt_text("The search picture")).to_be_visible()
    await page.get_by_role("button", name="Remove").click()
    await expect(page.locator("[data-count]")).to_have_text("Latest library clips")


HANDED = """([kind, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], "shot.jpg", { type: "image/jpeg" }));
  const named = kind === "paste" ? { clipboardData: transfer } : { dataTransfer: transfer };
  const made = kind === "paste" ? ClipboardEvent : DragEvent;
  document.body.dispatchEvent(new made(kind, { bubbles: true, cancelable: true, ...named }));
}"""


@pytest.mark.parametrize("kind", ["paste", "drop"])
async def test_a_search_picture_can_be_pasted_or_dropped(visit: OpenPage, editor: dict[str, str], kind: str) -> None:
    page = await visit("/search", extra_http_headers=editor)
    await page.evaluate(HANDED, [kind, base64.b64encode(jpeg(mirrored(draw_scene(1)))).decode()])
    await expect(page.locator("[data-count]")).to_have_text("2 moments like this picture")
    await expect(page.get_by_role("radio", name="Library")).to_be_checked()


async def test_a_file_that_is_not_a_picture_is_reported(
    visit: OpenPage, editor: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "notes.png").write_text("no picture")
    page = await visit("/search?kind=library", extra_http_headers=editor)
    await page.locator("#picture").set_input_files(tmp_path / "notes.png")
    await expect(page.locator("#announcement")).to_have_text("The browser cannot read this picture.")


async def test_the_search_page_fits_a_phone(visit: OpenPage) -> None:
    page = await visit("/search?kind=library", phone=True, dark=True)
    await expect(page.locator("#results [data-clip]")).to_have_count(2)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
