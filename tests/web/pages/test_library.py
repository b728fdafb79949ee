"""The library pages in a browser: live updates, videos, uploads and actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, expect

from found_footy.library.models import SourceKind, Submission
from found_footy.library.review import ActionKind
from found_footy.library.stages import find_stage
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.library_pages import WHO, Library, filled_library
from tests.support.web_world import NOW, clip_bytes
from tests.web.pages.conftest import OpenPage, in_one_loop
from tests.web.pages.test_accessibility import serious

pytestmark = pytest.mark.asyncio(loop_scope="package")

Enter = Callable[..., Awaitable[Page]]


@in_one_loop()
async def library(site: tuple[str, WebServices], small_world: SampleDataCopy) -> Library:
    async with httpx.AsyncClient(base_url=site[0]) as web:
        return await filled_library(site[1], web, small_world)


@pytest.fixture
def enter(visit: OpenPage, library: Library) -> Enter:
    """A page, seen by an editor."""

    async def logged_in(path: str, **more: bool) -> Page:
        page = await visit(f"/login?back={path}", **more)
        await page.fill("input[name=token]", library.token)
        await page.click("main button")
        await page.wait_for_url(f"**{path}")
        return page

    return logged_in


async def test_library_pages_refresh_after_changes(visit: OpenPage, library: Library) -> None:
    store = library.services.library.store
    page = await visit("/library")
    await page.wait_for_selector('[data-live][data-state="live"]')
    await page.fill("input[name=q]", "half typed")
    made = await store.submit(Submission(SourceKind.URL, "A new one", {}, url="https://films.example/a"), NOW)
    card = page.locator(f"#source-{made}")
    await expect(card).to_contain_text("waiting for download")
    assert await store.begin(find_stage("download"), made, NOW)
    await store.save_progress(made, 0.3, NOW)
    await expect(card).to_contain_text("30 %")
    await store.fail(find_stage("download"), made, "it is a poem", "NotAVideo", False, NOW)
    await expect(card).to_contain_text("It contains no video")
    assert await page.input_value("input[name=q]") == "half typed"


async def test_a_source_plays_from_its_tiles_and_shows_reviews(visit: OpenPage, library: Library) -> None:
    page = await visit(f"/library/sources/{library.first.source_id}")
    await page.wait_for_selector('[data-live][data-state="live"]')
    third = page.locator(f"#clip-{library.first.clips[2]}")
    await third.locator("[data-at]").click()
    await page.wait_for_function("document.getElementById('film').currentTime >= 2")
    sheet = await third.locator("image").get_attribute("href")
    loaded = "(url) => { const image = new Image(); image.src = url; return image.decode().then(() => image.width); }"
    assert await page.evaluate(loaded, sheet) > 160
    await library.services.library.review.decide(ActionKind.SKIP, [library.first.clips[2]], WHO)
    await expect(third).to_contain_text("skipped")
    await library.services.library.review.merge(*library.first.clips[:2], WHO)
    await expect(page.locator("#clips-title")).to_have_text("3 clips")
    assert await page.evaluate("document.getElementById('film').currentTime") >= 2  # the player was left alone


async def test_an_uploaded_file_becomes_a_source(
    enter: Enter, library: Library, small_world: SampleDataCopy, tmp_path: Path
) -> None:
    film = tmp_path / "derby.mp4"
    film.write_bytes(clip_bytes(1) * 20)
    page = await enter("/library")
    await page.fill("#submit input[name=title]", "The derby")
    await page.set_input_files("[data-file]", film)
    await page.wait_for_url("**/library/sources/*")
    await expect(page.locator("h1")).to_have_text("The derby")
    source = await library.services.library.store.source(library.whole.source_id + 1)
    assert source.upload_key is not None
    assert await small_world.world.objects.read(source.upload_key) == film.read_bytes()
    await page.goto("/library")
    empty = tmp_path / "empty.mp4"
    empty.touch()
    await page.set_input_files("[data-file]", empty)
    await expect(page.locator("[data-problem]")).to_have_text("This file is empty.")
    page.on("dialog", lambda dialog: dialog.accept())
    await page.evaluate("document.querySelector('[data-upload]').dataset.csrf = 'wrong'")
    await page.set_input_files("[data-file]", film)
    await expect(page.locator("[data-problem]")).to_contain_text("invalid CSRF token")


async def test_a_forbidden_url_is_reported_in_the_form(enter: Enter) -> None:
    page = await enter("/library")
    await page.keyboard.press("n")
    await page.fill("input[name=url]", "http://192.168.0.1/film")
    await page.press("input[name=url]", "Enter")
    await expect(page.locator(".problem[role=alert]:visible")).to_contain_text("address is not public")


async def test_a_clip_is_archived_restored_and_compared(enter: Enter, library: Library) -> None:
    clip, other = library.first.clips[0], library.whole.clips[0]
    await library.services.library.store.save_duplicates(clip, [other])
    page = await enter(f"/library/clips/{clip}")
    await page.wait_for_function("document.getElementById('film').readyState >= 1")
    assert await page.evaluate("document.getElementById('film').duration") == pytest.approx(1, abs=0.05)
    await page.click("text=Not a duplicate")
    await expect(page.locator("[data-copy]")).to_contain_text("marked it as different")
    await page.click("text=Archive")
    await expect(page.locator("[data-state-line] .chip")).to_have_text("archived")
    await page.keyboard.press("u")
    await expect(page.locator("[data-state-line] .chip")).to_have_text("waiting for review")
    await page.keyboard.press("ArrowRight")
    await page.wait_for_url(f"**/library/clips/{library.first.clips[1]}")


async def test_library_pages_are_accessible(enter: Enter, library: Library) -> None:
    await library.services.library.store.save_duplicates(library.first.clips[0], [library.whole.clips[0]])
    paths = (f"/library/sources/{library.first.source_id}", f"/library/clips/{library.first.clips[0]}")
    for phone, dark in ((False, False), (True, True)):
        page = await enter("/library", phone=phone, dark=dark)
        for path in ("/library", *paths):
            await page.goto(path)
            assert await serious(page) == [], (path, phone)
            assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (path, phone)
        await page.context.close()
