"""X's pages that have done their search well, cleared for the next one: a new page costs half as much as a search."""

from __future__ import annotations

import asyncio

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

CLEAR_SECONDS = 2
FORGET = "() => { sessionStorage.clear(); window.name = ''; }"
"""What a tab remembers from page to page. Cookies and the rest were always shared: they are the login."""


class SparePages:
    def __init__(self, most: int = 2, most_uses: int = 50) -> None:
        self._most = most
        self._most_uses = most_uses
        """So that whatever grows in a page has an end."""
        self._uses: dict[Page, int] = {}
        """Of the pages that live, with those that are in use."""
        self._spare: list[Page] = []
        self.crashed: set[Page] = set()
        """Those that are still to be closed."""

    def __len__(self) -> int:
        return len(self._spare)

    def add(self, page: Page) -> None:
        """A new one, for its first search."""
        self._uses[page] = 1
        # Also while nobody uses it.
        page.on("crash", lambda _: self._crashed(page))
        page.on("close", lambda _: self._closed(page))

    def take(self) -> Page | None:
        """The one that was used last; None where there is none."""
        if not self._spare:
            return None
        page = self._spare.pop()
        self._uses[page] += 1
        return page

    async def keep(self, page: Page) -> bool:
        """For the next search; False where it has to be closed instead."""
        if not self._wants(page) or not await _cleared(page) or not self._wants(page):
            return False
        self._spare.append(page)
        return True

    def _wants(self, page: Page) -> bool:
        return 0 < self._uses.get(page, 0) < self._most_uses and len(self._spare) < self._most

    def _crashed(self, page: Page) -> None:
        self.crashed.add(page)
        self._forget(page)

    def _closed(self, page: Page) -> None:
        self.crashed.discard(page)
        self._forget(page)

    def _forget(self, page: Page) -> None:
        self._uses.pop(page, None)
        if page in self._spare:
            self._spare.remove(page)


async def _cleared(page: Page) -> bool:
    """Nothing of the search is left: no script of X's runs on, and its posts are gone before anybody looks again.

    To go to an empty page costs as much as a fifth of a search. Whatever is cheaper leaves something running: Chromium
    freezes no page that is to be seen, and without its scripts a page still has its workers, films and animations.
    """
    try:
        async with asyncio.timeout(CLEAR_SECONDS):
            await page.evaluate(FORGET)
            await page.goto("about:blank", wait_until="commit")
    except (TimeoutError, PlaywrightError):
        return False
    return True
