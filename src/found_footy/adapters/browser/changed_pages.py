"""Keeps the pages that nobody understood, so that a person can see what has changed."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

log = logging.getLogger(__name__)

NEWEST = 5
MOST_BYTES = 2_000_000
SECONDS = 2


async def keep_page(page: Page, folder: Path) -> Path | None:
    """The file, or None where the page cannot be had: then its error alone must do."""
    try:
        async with asyncio.timeout(SECONDS):
            html = await page.content()
        return keep(html, folder, datetime.now(UTC))
    except (TimeoutError, PlaywrightError, OSError) as error:
        log.warning("the page was not kept: %s", error, extra={"action": "page_not_kept"})
        return None


def keep(html: str, folder: Path, now: datetime) -> Path:
    """Readable for the owner only: a page of X shows who is logged in."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{now:%Y%m%dT%H%M%S.%fZ}.html"
    path.touch(mode=0o600)
    path.write_bytes(html.encode("utf-8", "replace")[:MOST_BYTES])
    for old in sorted(folder.glob("*.html"))[:-NEWEST]:
        old.unlink(missing_ok=True)
    return path
