"""Review page: time from a key press to the next clip, against the browser's minimum

A source with many clips is approved with the key `a`, at most four per second. The page measures from the timestamp of
the key press to the second animation frame after the next clip's image is on the stage, when it has been painted. The
baseline is the same for a key that only changes one attribute. Also shown: the time until the server answered the
action, which the reviewer does not wait for.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from playwright.async_api import Page, async_playwright
from tests.support.review_site import review_site

from bench.table import table
from found_footy.browser.chromium import find_chromium
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.storage.migrations import migrate

CLIPS = 42
WARM = 2
SECONDS = 2.0
PACE_MS = 250

MEASURE = """
(selector) => {
  const stage = document.querySelector(selector);
  window.measured = [];
  let pressed = null;
  // On the window: before the page's own listeners.
  window.addEventListener("keydown", (event) => { pressed = event.timeStamp; }, { capture: true });
  new MutationObserver(() => {
    if (pressed === null || stage.dataset.shown === "") return;
    const [from, film] = [pressed, stage.querySelector("video:not([hidden])")];
    pressed = null;
    const whole = stage.querySelector("[data-still][hidden]") !== null && film?.readyState >= 2;
    requestAnimationFrame(() => requestAnimationFrame(() => window.measured.push([performance.now() - from, whole])));
  }).observe(stage, { attributeFilter: ["data-shown"] });
}
"""
FLOOR = """
() => document.addEventListener("keydown", (event) => {
  if (event.key === "q") document.querySelector("#floor").dataset.shown = String(event.timeStamp);
})
"""
ANSWERS = """
() => performance.getEntriesByType("resource").filter((each) => each.name.endsWith("/review/actions"))
  .map((each) => each.duration)
"""


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = DataFolder(Path(folder, "data"))
        with data.lock():
            engine = EmbeddedPostgres(data)
            await engine.start()
            try:
                await migrate(engine.url)
                await _measure(engine.url, Path(folder))
            finally:
                await engine.destroy()


async def _measure(url: str, folder: Path) -> None:
    async with review_site(url, folder) as site, async_playwright() as playwright:
        await site.film((SECONDS,) * CLIPS)
        chromium = await playwright.chromium.launch(
            executable_path=str(find_chromium(None)), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        context = await site.browser(chromium, viewport={"width": 1280, "height": 800})
        page = await context.new_page()
        await page.goto("/review")
        await page.wait_for_selector("[data-stage][data-shown]:not([data-shown=''])")
        reviewed = await _pressed(page, "a", "[data-stage]", CLIPS - 1)
        answers = await page.evaluate(ANSWERS)
        await page.evaluate("() => document.body.insertAdjacentHTML('beforeend', '<div id=floor data-shown=x></div>')")
        await page.evaluate(FLOOR)
        floor = await _pressed(page, "q", "#floor", CLIPS - 1)
        await chromium.close()
    rows = [
        ["next clip on the screen", *_times([each for each, _ in reviewed])],
        ["floor: one attribute painted", *_times([each for each, _ in floor])],
        ["the server's answer to the action", *_times(answers)],
    ]
    table(["what", "median (ms)", "95 % (ms)", "worst (ms)"], rows)
    films = sum(whole for _, whole in reviewed)
    print(
        f"\n{len(reviewed)} clips of {SECONDS:.0f} s; {films} were shown as film at once, the others first as a still."
    )


async def _pressed(page: Page, key: str, selector: str, times: int) -> list[tuple[float, bool]]:
    await page.evaluate(MEASURE, selector)
    for number in range(times):
        await page.wait_for_timeout(PACE_MS)
        await page.keyboard.press(key)
        await page.wait_for_function(f"() => window.measured.length === {number + 1}")
    found: list[tuple[float, bool]] = await page.evaluate("() => window.measured")
    return found[WARM:]


def _times(values: list[float]) -> tuple[str, str, str]:
    ordered = sorted(values)
    return (
        f"{statistics.median(ordered):.0f}",
        f"{ordered[round(0.95 * (len(ordered) - 1))]:.0f}",
        f"{ordered[-1]:.0f}",
    )
