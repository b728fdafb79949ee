"""A search for a common word: where X is well and the login holds, posts come back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from found_footy.adapters.browser.options import BrowserOptions
from found_footy.adapters.browser.reading import FoundPost
from found_footy.adapters.browser.search import SearchOrder
from found_footy.domain.errors import SourceChanged, SourceError

Search = Callable[[SearchOrder], Awaitable[list[FoundPost]]]


class Canary:
    """Answers from memory for some time, so that whoever asks often does not search X often."""

    def __init__(self, search: Search, options: BrowserOptions, now: Callable[[], datetime]) -> None:
        self._search = search
        self._options = options
        self._now = now
        self._asking = asyncio.Lock()
        self._answer: dict[str, Any] | SourceError | None = None
        self._asked_at: datetime | None = None

    async def ask(self) -> dict[str, Any]:
        """Raises the SourceError of the search, and SourceChanged where a common word is found nowhere."""
        async with self._asking:
            cached = self._fresh()
            if not cached:
                self._asked_at = self._now()
                self._answer = await self._ask()
            if isinstance(self._answer, SourceError):
                raise self._answer.with_traceback(None)
            assert self._answer is not None
            return {**self._answer, "cached": cached}

    def _fresh(self) -> bool:
        if self._asked_at is None:
            return False
        failed = isinstance(self._answer, SourceError)
        seconds = self._options.canary_failure_seconds if failed else self._options.canary_seconds
        return self._answer is not None and self._now() - self._asked_at < timedelta(seconds=seconds)

    async def _ask(self) -> dict[str, Any] | SourceError:
        word = self._options.canary_word
        try:
            posts = await self._search(SearchOrder(word, limit=5))
        except SourceError as error:
            return error
        if not posts:
            return SourceChanged(f"a search for {word!r} found nothing, which cannot be")
        return {"word": word, "posts": len(posts), "newest": posts[0].posted_at, "asked_at": self._asked_at}
