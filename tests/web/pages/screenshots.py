"""The pictures of docs/pages.md, of a system that runs: `python -m tests.web.pages.screenshots URL FOLDER [TOKEN]`.

Best of a demo: `footy demo --keep` in one terminal, this in another, in the middle of the matchday or after it.
Review is for editors: it is left out without a token. Names after the token take only those.
"""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from playwright.async_api import Browser, Page, async_playwright

from found_footy.browser.chromium import find_chromium

QUALITY = 82
SIZES = {"desktop": (1280, 860), "phone": (390, 844)}


@dataclass(frozen=True, slots=True)
class Shot:
    name: str
    path: str
    spoilers: str | None = None
    play: bool = False
    log_in: bool = False


def shots(base: str) -> list[Shot]:
    """The pages of what is there: of the goals, the one with the most clips, one without, one that was withdrawn."""
    goals = _read(base, "/api/v1/events?limit=200")["items"]
    found = [
        Shot("matchday", "/"),
        Shot("matchday-spoilers", "/", spoilers="hidden"),
        Shot("search", "/search?q=liverpool"),
        Shot("operations", "/operations"),
        Shot("login", "/login"),
        Shot("library", "/library"),
        Shot("review", "/review", log_in=True),
    ]
    sources = _read(base, "/api/v1/sources?limit=200")["items"]
    if sources:
        longest = max(sources, key=lambda source: (sum(source["clips"].values()), source["id"]))
        found.append(Shot("library-source", f"/library/sources/{longest['id']}"))
    with_clips = [goal for goal in goals if goal["_s3_videos"]]
    if with_clips:
        best = max(with_clips, key=lambda goal: (len(goal["_s3_videos"]), goal["_event_id"]))
        found.append(Shot("goal", f"/g/{best['_event_id']}", play=True))
    for name, fits in (
        ("goal-withdrawn", lambda goal: goal["status"] == "withdrawn"),
        ("goal-without-clip", lambda goal: goal["status"] == "complete" and not goal["_s3_videos"]),
    ):
        chosen = next((goal for goal in goals if fits(goal)), None)
        if chosen:
            found.append(Shot(name, f"/g/{chosen['_event_id']}"))
    return found


def warm(base: str) -> None:
    """Pictures are made when they are first asked for."""
    for video in _read(base, "/api/v1/videos?limit=200")["items"]:
        for width in (320, 1280):
            urllib.request.urlopen(f"{base}/v/{video['id']}/poster.jpg?w={width}", timeout=60).close()


def _read(base: str, path: str) -> dict[str, list[dict[str, Any]]]:
    with urllib.request.urlopen(base + path, timeout=10) as answer:
        content: dict[str, list[dict[str, Any]]] = json.load(answer)
        return content


async def take(browser: Browser, base: str, shot: Shot, size: str, scheme: str, folder: Path, token: str) -> None:
    width, height = SIZES[size]
    context = await browser.new_context(
        base_url=base,
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        is_mobile=size == "phone",
    )
    if shot.spoilers:
        await context.add_cookies([{"name": "spoilers", "value": shot.spoilers, "url": base}])
    page = await context.new_page()
    if shot.log_in:
        await page.goto("/login")
        await page.fill("input[name=token]", token)
        await page.click("form.login button")
    await page.goto(shot.path)
    await _settled(page, shot)
    picture = await page.screenshot(animations="disabled")
    pixels = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR)
    cv2.imwrite(str(folder / f"{shot.name}-{size}-{scheme}.webp"), pixels, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    await context.close()


async def _settled(page: Page, shot: Shot) -> None:
    """Posters are made on first demand."""
    await page.wait_for_load_state("load")
    await page.evaluate(
        """() => Promise.all([...document.images].filter((image) => !image.complete && image.loading !== "lazy")
            .map((image) => new Promise((done) => { image.onload = image.onerror = done; })))"""
    )
    await page.wait_for_timeout(1200)
    if shot.play:
        await page.evaluate("() => { const film = document.querySelector('video'); if (film) film.currentTime = 2; }")
        await page.wait_for_timeout(800)


async def main(base: str, folder: Path, token: str = "", *names: str) -> None:
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(find_chromium(None)), args=["--no-sandbox"])
        await asyncio.to_thread(warm, base)
        for shot in await asyncio.to_thread(shots, base):
            if (names and shot.name not in names) or (shot.log_in and not token):
                continue
            for size in SIZES:
                for scheme in ("light", "dark"):
                    await take(browser, base, shot, size, scheme, folder, token)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1].rstrip("/"), Path(sys.argv[2]), *sys.argv[3:]))
