"""CREX: client of the browser service, which renders pages, and parser and client of the feed."""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from found_footy.errors import (
    BrowserUnavailable,
    FeedBlocked,
    FeedBusy,
    FeedError,
    FeedMalformed,
    FeedRateLimited,
    FeedRejected,
    FeedSchemaError,
    FeedUnauthorized,
    FeedUnavailable,
    FootyError,
    NotFound,
    PageDataUnknown,
    PageLoadFailed,
)
from found_footy.feeds.crex_page import (
    LIST_PATH,
    PageNames,
    details_path,
    find_match_type,
    find_toss,
    parse_match,
    parse_match_link,
    remove_team_names,
    scorecard_path,
    short_match_path,
    split_title,
)
from found_footy.feeds.crex_state import list_document, match_document
from found_footy.feeds.cricket import cricket_status
from found_footy.feeds.http import FeedClient, Permit, is_block_page, unlimited
from found_footy.feeds.models import FeedAnswer, Quota, compact
from found_footy.feeds.validation import require_storable
from found_footy.fixtures.models import League, LiveFixture, Phase, Side, Sport, Toss, phase_of
from found_footy.json_reader import JsonReader
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http import HttpClient, HttpError, HttpErrorKind, HttpLimits
from found_footy.runtime.retry import BUDGET_SECONDS, Deadline, RetryRules, with_retries

MAX_BYTES = 4 * 1024 * 1024
GRACE_SECONDS = 3.0
"""Added to the client timeout, so that the service times out first and reports the cause."""

_ERROR_CLASSES: dict[str, type[FeedError | NotFound]] = {
    each.__name__: each
    for each in (
        BrowserUnavailable,
        FeedBlocked,
        FeedBusy,
        FeedMalformed,
        FeedRateLimited,
        FeedRejected,
        FeedUnavailable,
        NotFound,
        PageLoadFailed,
    )
}


class BrowserPageClient:
    """Client of `footy browser`."""

    def __init__(self, browser_url: str, timeout: float, headers: Mapping[str, str]) -> None:
        self._timeout = timeout + GRACE_SECONDS
        self._client = HttpClient(
            HttpLimits(self._timeout, max_bytes=MAX_BYTES),
            base_url=browser_url,
            headers=headers,
            translate=_browser_error,
            use_proxy=False,
        )

    async def read(self, url: str, reader: str, *, until: str | None = None, seconds: float | None = None) -> Any:
        """Return the data of a page. Raises FeedError, or NotFound if the site has no such page."""
        params = {"url": url, "reader": reader} | ({"until": until} if until else {})
        response = await self._client.get("/page", params, seconds=seconds)
        body = response.json()
        if response.ok and isinstance(body, dict) and isinstance(body.get("data"), dict):
            return body["data"]
        raise _service_error(body, response.status)

    async def aclose(self) -> None:
        await self._client.aclose()


def _browser_error(error: HttpError) -> FeedError:
    if error.kind is HttpErrorKind.TIMEOUT:
        return FeedUnavailable(f"the browser service did not read the page: {error.detail}")
    if error.kind is HttpErrorKind.TOO_LARGE:
        return FeedMalformed(f"browser service: {error.detail}")
    return BrowserUnavailable(f"the browser service does not respond ({error.detail}): is `footy browser` running?")


def _service_error(body: Any, status: int) -> FeedError | NotFound:
    error = body.get("error") if isinstance(body, dict) else None
    kind, message = (error.get("class"), error.get("message")) if isinstance(error, dict) else (None, None)
    detail = message[:300] if isinstance(message, str) and message.isprintable() else f"HTTP {status}"
    if kind == "NotAllowed":
        return BrowserUnavailable("the browser service uses a different FOOTY_BROWSER_SECRET")
    if kind == "BadRequest":
        return FeedRejected(f"the browser service refused the page: {detail}")
    return _ERROR_CLASSES.get(str(kind), FeedUnavailable)(detail)


# --- CREX's match list: matches by day, and the address of each match.


_DATES = ("%a, %d %b %Y", "%a %d %b %Y", "%A, %d %B %Y", "%d %b %Y", "%d %B %Y", "%a, %b %d %Y", "%b %d, %Y")


@dataclass(frozen=True, slots=True)
class CrexList:
    fixtures: tuple[LiveFixture, ...] = ()
    failures: Mapping[int, FeedSchemaError] = field(default_factory=dict)
    bases: Mapping[int, str] = field(default_factory=dict)
    """Match id to the address of its pages, including matches that failed to parse."""


def parse_list(raw: Any, feed: str) -> CrexList:
    """Parse the list. An invalid match does not affect the others; raises FeedSchemaError if none is valid."""
    data = JsonReader(raw)
    events = {base: event for event in data["events"].items() if (base := _base(event.display_text("url")))}
    names = PageNames(data.get("names"))
    fixtures: dict[int, LiveFixture] = {}
    failures: dict[int, FeedSchemaError] = {}
    bases: dict[int, str] = {}
    for card in data["cards"].items():
        try:
            base, id_ = parse_match_link(card["link"].text())
        except FeedSchemaError:
            continue  # a link to a series, or an advertisement
        if id_ in bases:
            continue  # matches in progress are shown twice: on top, and under their day
        bases[id_] = base
        try:
            fixtures[id_] = _fixture(card, events.get(base), names, id_, feed)
        except FeedSchemaError as error:
            failures[id_] = error
    if not bases and data["cards"].items():
        raise FeedSchemaError("cards", len(data["cards"].items()), "links to matches")
    return CrexList(tuple(fixtures.values()), failures, bases)


def _base(link: str | None) -> str | None:
    try:
        return parse_match_link(link or "")[0]
    except FeedSchemaError:
        return None


def _fixture(card: JsonReader, event: JsonReader | None, names: PageNames, id_: int, feed: str) -> LiveFixture:
    title = (event.display_text("name") if event else None) or ""
    sides, round_name, series = split_title(title)
    if len(sides) != 2:
        sides = [each.text() for each in card["teams"].items(4)[:2]]
    if not series:
        round_name, _, series = (card.display_text("what") or "").partition(",")
    if len(sides) != 2:
        raise FeedSchemaError(f"{card.path}.teams", sides, "two sides")
    home, away = (names.team(name, f"{card.path}.teams") for name in sides)
    status_texts = [
        remove_team_names(text, (home, away)) for key in ("result", "reason") if (text := card.display_text(key))
    ]
    state = "in" if card.get("live") is True else "post" if card.display_text("result") else "pre"
    league = series.strip() or "Cricket"
    year = re.search(r"\b(20\d\d)\b", league)
    return LiveFixture(
        id=id_,
        feed=feed,
        status=cricket_status(state, status_texts),
        kickoff=_kickoff(card, event),
        league=League(
            zlib.crc32(league.encode()), league, season=int(year[1]) if year else None, round=round_name.strip() or None
        ),
        home=home,
        away=away,
        raw=require_storable({"card": card.value}),
        sport=Sport.CRICKET,
        venue=event.display_text("venue") if event else None,
        metadata=compact(
            title=title or None, series=series.strip() or None, match_type=find_match_type(round_name, series)
        ),
    )


def _kickoff(card: JsonReader, event: JsonReader | None) -> datetime:
    """Return the kick-off from the structured data, else from the visible text; the browser's time zone is UTC."""
    if event is not None and event.display_text("start"):
        return event["start"].timestamp()
    date, time_text = card.display_text("date") or "", card.display_text("start") or ""
    found = re.search(r"\b(\d{1,2}:\d{2})\s*([AP]M)\b", time_text, re.IGNORECASE)
    text = f"{date} {found[1]} {found[2].upper()} +0000" if found else ""
    for pattern in _DATES:
        try:
            return datetime.strptime(text, f"{pattern} %I:%M %p %z")
        except ValueError:
            continue
    raise FeedSchemaError(f"{card.path}.start", f"{date} {time_text}".strip(), "the start of the match")


# --- CREX (cricket): read over plain HTTP from the JSON in its pages; the browser service is the fallback.


log = logging.getLogger(__name__)

FEED = "crex"
CONCURRENT_PAGES = 4
PAGE_HEADERS = {"accept": "text/html,application/xhtml+xml", "accept-language": "en"}
HTTP_SECONDS = 15.0
LIST_SECONDS = 60.0
"""How long the match list is reused."""
LIST_MISSING_SECONDS = 30.0
"""Pause after a failed read of the list before it is retried for matches that can do without it."""
LIST_TIME_SHARE = 1 / 3
"""Share of a match's time budget for finding its path in the list; the short path is the fallback."""
TOSS_SECONDS = 300.0
"""Minimum interval between two reads of the toss page of a match."""
MAX_REMEMBERED = 1000
DAYS_AHEAD = 2
BROWSER_SECONDS = 600.0
"""How long pages are read with the browser after one that could not be parsed over HTTP."""


class Crex:
    """CREX feed. `permit` is entered around each page read: rate limits count pages.

    Without `browser_url`, pages that cannot be parsed over HTTP fail. With `http_first=False` only the browser is used.
    """

    def __init__(
        self,
        base_url: str,
        browser_url: str | None = None,
        browser_headers: Mapping[str, str] | None = None,
        *,
        timeout: float,
        now: Callable[[], datetime] = utc_now,
        permit: Permit = unlimited,
        retry: RetryRules | None = None,
        name: str = FEED,
        budget: float = BUDGET_SECONDS,
        http_first: bool = True,
        http_timeout: float = HTTP_SECONDS,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._http = FeedClient(self._base_url, min(timeout, http_timeout), PAGE_HEADERS, permit=permit, now=now)
        self._use_http_from = 0.0 if http_first else math.inf
        """Monotonic time before which pages are read with the browser."""
        self._pages = BrowserPageClient(browser_url, timeout, browser_headers or {}) if browser_url else None
        self._now = now
        self._permit = permit
        self._retry = retry or RetryRules()
        self._name = name
        self._budget = budget
        self._listing = asyncio.Lock()
        self._listed: tuple[float, str, CrexList] | None = None
        """Time of the read, last day covered, and the list."""
        self._list_failure: tuple[float, FeedError] | None = None
        self._bases: dict[int, str] = {}
        self._toss_by_match: dict[int, Toss] = {}
        self._toss_requested_at: dict[int, float] = {}

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
        """Return the matches that start on the day; for today also those still in progress from previous days."""
        today = self._now().date()
        # An ingest requests several consecutive days, so read the next days as well.
        until = max(day, today + timedelta(days=DAYS_AHEAD))
        listed = await self._list(f"{until:%Y-%m-%d}", Deadline(self._budget))
        fixtures = [
            each for each in listed.fixtures if each.kickoff.date() == day or (day == today and _is_in_progress(each))
        ]
        return FeedAnswer(tuple(fixtures), dict(listed.failures))

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        deadline, slots = Deadline(self._budget), asyncio.Semaphore(CONCURRENT_PAGES)

        async def read_match(id_: int) -> LiveFixture | FootyError:
            async with slots:
                try:
                    return await self._match(id_, deadline)
                except (FeedError, NotFound) as error:
                    return error

        ids = list(dict.fromkeys(ids))
        results = dict(zip(ids, await asyncio.gather(*(read_match(id_) for id_ in ids)), strict=True))
        return FeedAnswer(
            fixtures=tuple(each for each in results.values() if isinstance(each, LiveFixture)),
            failures={id_: each for id_, each in results.items() if isinstance(each, FeedError)},
            unknown=tuple(id_ for id_, each in results.items() if isinstance(each, NotFound)),
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
        self._store_address(id_, data)
        match = parse_match(data, id_, self._name, self._toss_by_match.get(id_))
        if match.toss is None and match.innings and await self._request_toss(id_, match, deadline):
            # The toss determines which side batted first.
            match = parse_match(data, id_, self._name, self._toss_by_match[id_])
        if match.toss is not None:
            _remember(self._toss_by_match, id_, match.toss)
        return match

    async def _base(self, id_: int, deadline: Deadline) -> str:
        """Return the match's path from the list, else a short path that the site also accepts."""
        if id_ not in self._bases:
            try:
                await self._list("", Deadline(deadline.left() * LIST_TIME_SHARE), optional=True)
            except FeedError as error:
                log.info("could not read CREX's list: %s", error, extra={"action": "crex_list_missing"})
        return self._bases.get(id_) or short_match_path(id_)

    def _store_address(self, id_: int, data: Any) -> None:
        """Store the full path that a short one redirected to."""
        path = data.get("path")
        if id_ not in self._bases and isinstance(path, str) and parse_match_link(path)[1] == id_:
            _remember(self._bases, id_, parse_match_link(path)[0])

    async def _request_toss(self, id_: int, match: LiveFixture, deadline: Deadline) -> bool:
        if time.monotonic() - self._toss_requested_at.get(id_, -TOSS_SECONDS) < TOSS_SECONDS:
            return False
        _remember(self._toss_requested_at, id_, time.monotonic())
        try:
            path = details_path(self._bases.get(id_) or short_match_path(id_))
            data = await self._page(path, "crex_match", deadline)
        except (FeedError, NotFound) as error:
            log.info("could not read the toss: %s", error, extra={"action": "crex_toss_missing"})
            return False
        toss = find_toss(data, {Side.HOME: match.home, Side.AWAY: match.away})
        if toss is not None:
            _remember(self._toss_by_match, id_, toss)
        return toss is not None

    async def _list(self, until: str, deadline: Deadline, *, optional: bool = False) -> CrexList:
        """Return the match list. With `optional`, a recent failure is raised again, not retried."""
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(deadline.left()):
                    await stack.enter_async_context(self._listing)
            except TimeoutError:
                raise FeedBusy("another request is still reading the list") from None
            if self._listed is not None:
                at, covered, listed = self._listed
                if time.monotonic() - at < LIST_SECONDS and covered >= until:
                    return listed
            if optional and self._list_failure is not None:
                at, failure = self._list_failure
                if time.monotonic() - at < LIST_MISSING_SECONDS:
                    raise failure
            try:
                listed = parse_list(await self._read(LIST_PATH, "crex_list", deadline, until or None), self._name)
            except FeedError as error:
                self._list_failure = (time.monotonic(), error)
                raise
            self._listed, self._list_failure = (time.monotonic(), until, listed), None
            for id_, base in listed.bases.items():
                _remember(self._bases, id_, base)
            return listed

    async def _read(self, path: str, reader: str, deadline: Deadline, until: str | None = None) -> Any:
        return await with_retries(lambda: self._page(path, reader, deadline, until), self._retry, deadline)

    async def _page(self, path: str, reader: str, deadline: Deadline, until: str | None = None) -> Any:
        """Return the data of a page, in the format of the browser's readers."""
        if self._pages is None or time.monotonic() >= self._use_http_from:
            try:
                return await self._read_over_http(path, reader, deadline)
            except (PageDataUnknown, FeedBlocked, FeedUnauthorized) as error:
                if self._pages is None:
                    raise
                self._use_http_from = time.monotonic() + BROWSER_SECONDS
                log.warning(
                    f"{path}: {error}; reading pages with the browser", extra={"action": "crex_http_unreadable"}
                )
        return await self._read_in_browser(self._pages, path, reader, deadline, until)

    async def _read_over_http(self, path: str, reader: str, deadline: Deadline) -> Any:
        where, page = await self._http.page(path, deadline)
        try:
            return list_document(page) if reader == "crex_list" else match_document(page, where)
        except PageDataUnknown:
            if is_block_page(200, {"content-type": "text/html"}, page.encode()):
                raise FeedBlocked(f"{path}: captcha or consent page instead of the match") from None
            raise

    async def _read_in_browser(
        self, pages: BrowserPageClient, path: str, reader: str, deadline: Deadline, until: str | None
    ) -> Any:
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(deadline.left()):
                    await stack.enter_async_context(self._permit())
            except TimeoutError:
                raise FeedBusy("rate limit wait exceeded the poll's deadline") from None
            if not deadline.left():
                raise FeedBusy("no time left for this page")
            return await pages.read(self._base_url + path, reader, until=until, seconds=deadline.left())


def _is_in_progress(match: LiveFixture) -> bool:
    return phase_of(match.status) in (Phase.IN_PLAY, Phase.INTERRUPTED)


def _remember(memory: dict[int, Any], id_: int, value: Any) -> None:
    """Add an entry and evict the oldest when the memory is full."""
    memory.pop(id_, None)
    memory[id_] = value
    if len(memory) > MAX_REMEMBERED:
        memory.pop(next(iter(memory)))
