"""CREX (cricket): its pages carry their data as JSON, so plain HTTP comes first and the browser service second."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, date, datetime, timedelta
from typing import Any

from found_footy.adapters.feeds.crex_browser import PageReader
from found_footy.adapters.feeds.crex_links import LIST_PATH, base_of, details_path, scorecard_path, short_base
from found_footy.adapters.feeds.crex_list import CrexList, parse_list
from found_footy.adapters.feeds.crex_page import parse_match, toss_on
from found_footy.adapters.feeds.crex_state import list_document, match_document
from found_footy.adapters.feeds.http import FeedHttp, Turn, at_once
from found_footy.adapters.feeds.refusals import is_for_people
from found_footy.adapters.feeds.retrying import BUDGET_SECONDS, Deadline, with_retries
from found_footy.domain.errors import (
    FeedBlocked,
    FeedBusy,
    FeedError,
    FeedUnauthorized,
    FootyError,
    NotFound,
    PageDataUnknown,
)
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.feeds.retry import RetryRules
from found_footy.domain.fixtures.model import LiveFixture, Side, Toss
from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.ports import FeedAnswer

log = logging.getLogger(__name__)

FEED = "crex"
AT_ONCE = 4
PAGE_HEADERS = {"accept": "text/html,application/xhtml+xml", "accept-language": "en"}
HTTP_SECONDS = 15.0
LIST_SECONDS = 60.0
"""For so long, a list that was read is not read again."""
LIST_MISSING_SECONDS = 30.0
"""For so long, matches do without a list that could not be read."""
LIST_SHARE = 1 / 3
"""So much of a match's time may go into looking for its address: there is another way to its page."""
TOSS_SECONDS = 300.0
"""The same for a page that should have told the toss, and did not."""
REMEMBERED = 1000
AHEAD = 2
BROWSER_SECONDS = 600.0
"""How long pages are read with the browser after one was not readable over HTTP."""


class Crex:
    """`turn` is entered around each page that is read: the limits count pages.

    Without `browser_url`, pages that are not readable over HTTP are failures. `http_first` off uses the browser alone.
    """

    def __init__(
        self,
        base_url: str,
        browser_url: str | None = None,
        *,
        timeout: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        turn: Turn = at_once,
        retry: RetryRules | None = None,
        name: str = FEED,
        budget: float = BUDGET_SECONDS,
        http_first: bool = True,
        http_timeout: float = HTTP_SECONDS,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._http = FeedHttp(self._base_url, min(timeout, http_timeout), PAGE_HEADERS, turn=turn, now=now)
        self._http_from = 0.0 if http_first else math.inf
        """On the monotonic clock: before it, pages are read with the browser."""
        self._pages = PageReader(browser_url, timeout) if browser_url else None
        self._now = now
        self._turn = turn
        self._retry = retry or RetryRules()
        self._name = name
        self._budget = budget
        self._listing = asyncio.Lock()
        self._listed: tuple[float, str, CrexList] | None = None
        """When, up to which day, and what."""
        self._list_failed: tuple[float, FeedError] | None = None
        self._bases: dict[int, str] = {}
        self._tosses: dict[int, Toss] = {}
        self._toss_asked: dict[int, float] = {}

    @property
    def name(self) -> str:
        return self._name

    @property
    def quota(self) -> Quota | None:
        return None

    @property
    def ids_per_request(self) -> int | None:
        return 1

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        return fixtures

    async def fixtures_on(self, day: date) -> FeedAnswer:
        """What begins on that day, and today what goes on from the days before."""
        today = self._now().date()
        # Whoever asks for a day asks for the next ones as well.
        until = max(day, today + timedelta(days=AHEAD))
        listed = await self._list(f"{until:%Y-%m-%d}", Deadline(self._budget))
        fixtures = [each for each in listed.fixtures if each.kickoff.date() == day or (day == today and _goes_on(each))]
        return FeedAnswer(tuple(fixtures), dict(listed.failures))

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        deadline, places = Deadline(self._budget), asyncio.Semaphore(AT_ONCE)

        async def one(id_: int) -> LiveFixture | FootyError:
            async with places:
                try:
                    return await self._match(id_, deadline)
                except (FeedError, NotFound) as error:
                    return error

        ids = list(dict.fromkeys(ids))
        said = dict(zip(ids, await asyncio.gather(*(one(id_) for id_ in ids)), strict=True))
        return FeedAnswer(
            fixtures=tuple(each for each in said.values() if isinstance(each, LiveFixture)),
            failures={id_: each for id_, each in said.items() if isinstance(each, FeedError)},
            unknown=tuple(id_ for id_, each in said.items() if isinstance(each, NotFound)),
        )

    async def check(self) -> str:
        listed = await self._list("", Deadline(self._budget))
        return f"{len(listed.bases)} matches on the list of {self._base_url}"

    async def aclose(self) -> None:
        await self._http.aclose()
        if self._pages is not None:
            await self._pages.aclose()

    async def _match(self, id_: int, deadline: Deadline) -> LiveFixture:
        base = await self._base(id_, deadline)
        data = await self._read(scorecard_path(base), "crex_match", deadline)
        self._learn(id_, data)
        match = parse_match(data, id_, self._name, self._tosses.get(id_))
        if match.toss is None and match.innings and await self._ask_for_toss(id_, match, deadline):
            # The toss says whose innings was the first.
            match = parse_match(data, id_, self._name, self._tosses[id_])
        if match.toss is not None:
            _remember(self._tosses, id_, match.toss)
        return match

    async def _base(self, id_: int, deadline: Deadline) -> str:
        """From the list, where it is there; other addresses are made up by the site out of the teams' names."""
        if id_ not in self._bases:
            try:
                await self._list("", Deadline(deadline.left() * LIST_SHARE), can_do_without=True)
            except FeedError as error:
                log.info("CREX's list was not read: %s", error, extra={"action": "crex_list_missing"})
        return self._bases.get(id_) or short_base(id_)

    def _learn(self, id_: int, data: Any) -> None:
        """The full address, which a short one has led to."""
        path = data.get("path")
        if id_ not in self._bases and isinstance(path, str) and base_of(path)[1] == id_:
            _remember(self._bases, id_, base_of(path)[0])

    async def _ask_for_toss(self, id_: int, match: LiveFixture, deadline: Deadline) -> bool:
        if time.monotonic() - self._toss_asked.get(id_, -TOSS_SECONDS) < TOSS_SECONDS:
            return False
        _remember(self._toss_asked, id_, time.monotonic())
        try:
            path = details_path(self._bases.get(id_) or short_base(id_))
            data = await self._page(path, "crex_match", deadline)
        except (FeedError, NotFound) as error:
            log.info("the toss was not read: %s", error, extra={"action": "crex_toss_missing"})
            return False
        toss = toss_on(data, {Side.HOME: match.home, Side.AWAY: match.away})
        if toss is not None:
            _remember(self._tosses, id_, toss)
        return toss is not None

    async def _list(self, until: str, deadline: Deadline, *, can_do_without: bool = False) -> CrexList:
        """Whoever can do without it takes the word of the one who has just tried in vain."""
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(deadline.left()):
                    await stack.enter_async_context(self._listing)
            except TimeoutError:
                raise FeedBusy("somebody else is still reading the list") from None
            if self._listed is not None:
                at, covered, listed = self._listed
                if time.monotonic() - at < LIST_SECONDS and covered >= until:
                    return listed
            if can_do_without and self._list_failed is not None:
                at, failure = self._list_failed
                if time.monotonic() - at < LIST_MISSING_SECONDS:
                    raise failure
            try:
                listed = parse_list(await self._read(LIST_PATH, "crex_list", deadline, until or None), self._name)
            except FeedError as error:
                self._list_failed = (time.monotonic(), error)
                raise
            self._listed, self._list_failed = (time.monotonic(), until, listed), None
            for id_, base in listed.bases.items():
                _remember(self._bases, id_, base)
            return listed

    async def _read(self, path: str, reader: str, deadline: Deadline, until: str | None = None) -> Any:
        return await with_retries(lambda: self._page(path, reader, deadline, until), self._retry, deadline)

    async def _page(self, path: str, reader: str, deadline: Deadline, until: str | None = None) -> Any:
        """What a page shows, in the form of the browser's readers."""
        if self._pages is None or time.monotonic() >= self._http_from:
            try:
                return await self._over_http(path, reader, deadline)
            except (PageDataUnknown, FeedBlocked, FeedUnauthorized) as error:
                if self._pages is None:
                    raise
                self._http_from = time.monotonic() + BROWSER_SECONDS
                log.warning(
                    f"{path}: {error}; reading pages with the browser", extra={"action": "crex_http_unreadable"}
                )
        return await self._in_browser(self._pages, path, reader, deadline, until)

    async def _over_http(self, path: str, reader: str, deadline: Deadline) -> Any:
        where, page = await self._http.page(path, deadline)
        try:
            return list_document(page) if reader == "crex_list" else match_document(page, where)
        except PageDataUnknown:
            if is_for_people(200, {"content-type": "text/html"}, page.encode()):
                raise FeedBlocked(f"{path}: a page for people came instead of the match") from None
            raise

    async def _in_browser(
        self, pages: PageReader, path: str, reader: str, deadline: Deadline, until: str | None
    ) -> Any:
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(deadline.left()):
                    await stack.enter_async_context(self._turn())
            except TimeoutError:
                raise FeedBusy("no turn came in time for this page") from None
            if not deadline.left():
                raise FeedBusy("no time was left for this page")
            return await pages.read(self._base_url + path, reader, until=until, seconds=deadline.left())


def _goes_on(match: LiveFixture) -> bool:
    return phase_of(match.status) in (Phase.IN_PLAY, Phase.INTERRUPTED)


def _remember(memory: dict[int, Any], id_: int, value: Any) -> None:
    """Bounded: the oldest is forgotten."""
    memory.pop(id_, None)
    memory[id_] = value
    if len(memory) > REMEMBERED:
        memory.pop(next(iter(memory)))
