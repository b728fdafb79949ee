"""Pictures, films and fonts: most of a page's bytes, and none of what is read. How a lean browser goes without them."""

from __future__ import annotations

import logging
from contextlib import suppress

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Route

log = logging.getLogger(__name__)

LEAN_FLAGS = ("--blink-settings=imagesEnabled=false,downloadableBinaryFontsEnabled=false",)
"""Chromium never asks for them then, in no frame, and nobody has to look at each request."""
UNWANTED = frozenset({"image", "media", "font"})
ENDINGS = ("mp4", "m4s", "m4a", "m3u8", "mpd", "webm", "ts", "aac", "mp3", "woff", "woff2", "ttf", "otf", "ico")
"""Of films, of fonts that a page asks for before it needs them, and of the sign on a tab: no flag is against those."""
BLOCKED = [{"urlPattern": f"*://*:*/*.{ending}", "block": True} for ending in ENDINGS]
"""By the path alone: a search may be for such a word, and then its address holds it after the question mark."""


async def refuse_films(page: Page) -> None:
    """For good, whatever the page shows; but not in its frames of other sites, which are targets of their own."""
    session = await page.context.new_cdp_session(page)
    # Chromium blocks only where it watches. Answers are read from the page, and not from what is kept by watching.
    await session.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})
    try:
        await session.send("Network.setBlockedURLs", {"urlPatterns": BLOCKED})
    except PlaywrightError as error:
        # An older Chromium has other patterns only, which match anywhere. Without any, films cost what they cost.
        log.warning("films are not blocked: %s", error.message, extra={"action": "films_not_blocked"})


async def refuse_heavy(route: Route) -> None:
    """In every frame, by what a request is for. It costs each request a way to us and back."""
    # The page may be closed meanwhile, and with it the request.
    with suppress(PlaywrightError):
        if route.request.resource_type in UNWANTED:
            await route.abort()
        else:
            await route.continue_()
