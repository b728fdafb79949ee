"""An X account's search calls: one budget for all browsers, a cool-down, and answers that are shared.

X allows about 50 search calls in 15 minutes and account (Rishikant181/Rettiwt-API#549, pc-style/x-md#11), scrolls
included. X answers 429 with the header `x-rate-limit-reset`, in seconds since 1970 (docs.x.com, rate limits). Searches
without a login are redirected to /i/jf/onboarding/web?…&mode=login since July 2026 (liuyiliux/YLCraft,
amanetoki7/twikit-dotnet).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from footy_simulator.x import XMode
from found_footy.browser.models import BrowserOptions
from found_footy.browser.service import BrowserService
from found_footy.browser.x_search import FoundPost, XSearchRequest, reset_time
from found_footy.errors import SourceError, SourceLoggedOut, SourceRateLimited, SourceUnavailable
from found_footy.storage.limits import CallBudget, Cooldown, LocalSourceLimits, RedisSourceLimits, SourceLimits
from found_footy.storage.redis import RedisCache
from tests.browser.conftest import Opens
from tests.browser.simulated import SimulatedX, post

WINDOW = timedelta(minutes=15)
START = datetime(2026, 11, 17, 20, 0, tzinfo=UTC)
SALAH = XSearchRequest("Salah LFC")


class Scripted(BrowserService):
    """Answers without a browser: with posts, or with errors in turn."""

    def __init__(self, folder: Path, limits: SourceLimits | None, *errors: SourceError, fresh: float = 0) -> None:
        super().__init__(BrowserOptions("http://x.invalid", folder, port=0, fresh_seconds=fresh), limits=limits)
        self.errors = list(errors)
        self.searched: list[str] = []
        self.scrolled = 0
        self.scrolls = 0

    async def _search(self, order: XSearchRequest) -> list[FoundPost]:
        self.searched.append(order.query)
        await asyncio.sleep(0)
        if self.errors:
            raise self.errors.pop(0)
        while self.scrolled < self.scrolls and await self._can_scroll():
            self.scrolled += 1
        return []


def shared_budget(cache: RedisCache, calls: int) -> SourceLimits:
    return RedisSourceLimits(cache, "x", budget=CallBudget(calls, WINDOW))


async def refusals(services: Sequence[BrowserService], times: int) -> list[SourceRateLimited]:
    refused = []
    for number in range(times):
        try:
            await services[number % len(services)].search(XSearchRequest(f"goal {number}"))
        except SourceRateLimited as error:
            refused.append(error)
    return refused


# --- the budget


async def test_two_browsers_over_one_redis_have_one_budget(cache: RedisCache, tmp_path: Path) -> None:
    browsers = [Scripted(tmp_path / name, shared_budget(cache, 5)) for name in ("one", "other")]
    refused = await refusals(browsers, 8)
    assert sum(len(each.searched) for each in browsers) == 5
    assert len(refused) == 3
    until = refused[0].until
    assert until is not None
    assert timedelta(minutes=14) < until - datetime.now(UTC) <= WINDOW
    assert f"{until:%H:%M:%S} UTC" in str(refused[0])


async def test_many_at_once_do_not_exceed_the_budget(cache: RedisCache) -> None:
    takers = [shared_budget(cache, 10) for _ in range(3)]
    granted = await asyncio.gather(*(takers[number % 3].take_call() for number in range(60)))
    assert sum(each is None for each in granted) == 10


async def test_scrolls_are_calls_and_end_with_the_budget(cache: RedisCache, tmp_path: Path) -> None:
    browser = Scripted(tmp_path, shared_budget(cache, 4))
    browser.scrolls = 10
    assert await browser.search(SALAH) == [], "what was found before counts"
    assert browser.scrolled == 3
    with pytest.raises(SourceRateLimited):
        await browser.search(SALAH)


async def test_an_exhausted_budget_does_not_fail_health(cache: RedisCache, tmp_path: Path) -> None:
    browser = Scripted(tmp_path, shared_budget(cache, 1))
    await refusals([browser], 6)
    assert browser.health()["searches"] == {
        "asked": 1, "answered": 1, "failed": 0, "refused": 5, "failed_in_a_row": 0, "running": 0, "waiting": 0,
    }  # fmt: skip


async def test_calls_become_free_one_by_one_after_the_window() -> None:
    now = START
    limits = LocalSourceLimits(budget=CallBudget(2, WINDOW), now=lambda: now)
    assert await limits.take_call() is None
    now += timedelta(minutes=10)
    assert await limits.take_call() is None
    assert await limits.take_call() == START + WINDOW
    now = START + WINDOW
    assert await limits.take_call() is None
    assert await limits.take_call() == START + timedelta(minutes=25)


async def test_without_redis_the_budget_survives_a_restart_in_a_file(tmp_path: Path) -> None:
    def opened() -> LocalSourceLimits:
        return LocalSourceLimits(budget=CallBudget(2, WINDOW), file=tmp_path / "x-calls.json", now=lambda: START)

    first = opened()
    assert [await first.take_call() for _ in range(2)] == [None, None]
    await first.cool_down(Cooldown(START + WINDOW, "SourceLoggedOut", "X requires a login"))
    again = opened()
    assert await again.take_call() == START + WINDOW
    cooldown = await again.cooldown()
    assert cooldown is not None
    assert cooldown.kind == "SourceLoggedOut"
    await again.clear_cooldown()
    assert await opened().cooldown() is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"calls": 7, "cooldown": null}', '{"calls": ["x"], "cooldown": null}']
)
async def test_a_damaged_file_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "x-calls.json").write_text(text)
    limits = LocalSourceLimits(budget=CallBudget(2, WINDOW), file=tmp_path / "x-calls.json")
    assert await limits.take_call() is None


async def test_while_redis_is_away_the_budget_of_this_process_holds(tmp_path: Path) -> None:
    away = RedisCache("redis://127.0.0.1:1", connect_seconds=0.2)
    budget = CallBudget(2, WINDOW)
    limits = RedisSourceLimits(away, "x", budget=budget, fallback=LocalSourceLimits(budget=budget))
    browser = Scripted(tmp_path, limits)
    assert len(await refusals([browser], 4)) == 2
    await away.aclose()
    with pytest.raises(SourceUnavailable):
        await RedisSourceLimits(away, "x", budget=budget).take_call()


# --- the cool-down


@pytest.mark.parametrize(
    ("error", "kind", "least", "most"),
    [
        (SourceLoggedOut("X requires a login (/i/jf/onboarding/web)"), SourceLoggedOut, 890, 900),
        (SourceRateLimited("X refuses further searches for now"), SourceRateLimited, 290, 300),
    ],
)
async def test_after_a_refusal_of_x_all_browsers_wait(
    cache: RedisCache, tmp_path: Path, error: SourceError, kind: type[SourceError], least: float, most: float
) -> None:
    one = Scripted(tmp_path / "one", shared_budget(cache, 40), error)
    other = Scripted(tmp_path / "other", shared_budget(cache, 40))
    with pytest.raises(kind):
        await one.search(SALAH)
    with pytest.raises(kind, match=r"no search of X before \d\d:\d\d:\d\d UTC"):
        await other.search(SALAH)
    assert other.searched == []
    cooldown = await shared_budget(cache, 40).cooldown()
    assert cooldown is not None
    assert least < (cooldown.until - datetime.now(UTC)).total_seconds() <= most
    await shared_budget(cache, 40).clear_cooldown()
    assert await other.search(SALAH) == []


@pytest.mark.parametrize(("seconds", "expected"), [(100, 100), (7200, 900), (-60, None)])
async def test_the_retry_time_of_x_is_clamped(
    cache: RedisCache, tmp_path: Path, seconds: float, expected: float | None
) -> None:
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    browser = Scripted(tmp_path, shared_budget(cache, 40), SourceRateLimited.ending(until, "429"))
    with pytest.raises(SourceRateLimited):
        await browser.search(SALAH)
    cooldown = await shared_budget(cache, 40).cooldown()
    left = cooldown and (cooldown.until - datetime.now(UTC)).total_seconds()
    assert left == (expected if expected is None else pytest.approx(expected, abs=5))


async def test_other_failures_start_no_cooldown(cache: RedisCache, tmp_path: Path) -> None:
    browser = Scripted(tmp_path, shared_budget(cache, 40), SourceUnavailable("the page crashed"))
    with pytest.raises(SourceUnavailable):
        await browser.search(SALAH)
    assert await browser.search(SALAH) == []


@pytest.mark.parametrize(
    ("header", "expected"),
    [("1795000000", datetime(2026, 11, 18, 11, 6, 40, tzinfo=UTC)), ("", None), ("soon", None), ("9" * 30, None)],
)
def test_the_header_is_a_time_or_nothing(header: str, expected: datetime | None) -> None:
    assert reset_time(header) == expected


# --- answers that are shared


async def test_the_same_search_under_way_is_one_call_for_many_goals(cache: RedisCache, tmp_path: Path) -> None:
    browser = Scripted(tmp_path, shared_budget(cache, 1), fresh=30)
    later = replace(SALAH, since=START)
    await asyncio.gather(*(browser.search(order) for order in (SALAH, later, SALAH)))
    assert browser.searched == ["Salah LFC"]
    assert await browser.search(SALAH) == []


async def test_a_failure_is_shared_by_waiters_and_not_cached(tmp_path: Path) -> None:
    browser = Scripted(tmp_path, None, SourceUnavailable("the page crashed"), fresh=30)
    answers = await asyncio.gather(*(browser.search(SALAH) for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in answers] == [SourceUnavailable] * 3
    assert await browser.search(SALAH) == []
    assert len(browser.searched) == 2


# --- with a real Chromium


@pytest.mark.asyncio(loop_scope="package")
async def test_the_wall_is_logged_out_and_stops_further_searches(x: SimulatedX, open_service: Opens) -> None:
    x.state.mode = XMode.LOGGED_OUT
    limits = LocalSourceLimits(budget=CallBudget(40, WINDOW))
    async with open_service(limits=limits) as search:
        for _ in range(2):
            answer = await search()
            assert (answer.status_code, answer.json()["error"]["class"]) == (401, "SourceLoggedOut")
            assert "/i/jf/onboarding/web" in answer.json()["error"]["message"]
        assert search.facts()["searches"] == 1, "the second one was not tried"
        await limits.clear_cooldown()
        x.state.mode = XMode.NORMAL
        assert (await search()).status_code == 200


@pytest.mark.asyncio(loop_scope="package")
async def test_a_429_stops_searches_until_the_reset_time(x: SimulatedX, open_service: Opens) -> None:
    x.state.mode = XMode.RATE_LIMITED
    limits = LocalSourceLimits(budget=CallBudget(40, WINDOW))
    async with open_service(limits=limits) as search:
        assert (await search()).status_code == 429
        cooldown = await limits.cooldown()
        assert cooldown is not None
        left = (cooldown.until - datetime.now(UTC)).total_seconds()
        assert 500 < left <= x.state.reset_seconds
        x.state.mode = XMode.NORMAL
        assert (await search()).status_code == 429


@pytest.mark.asyncio(loop_scope="package")
async def test_a_search_scrolls_within_the_budget_and_hides_that_it_is_driven(
    x: SimulatedX, open_service: Opens
) -> None:
    x.posts[:] = [post(ago=second) for second in range(1, 100)]
    limits = LocalSourceLimits(budget=CallBudget(3, WINDOW))
    async with open_service(limits=limits) as search:
        assert len((await search(limit="200")).json()["posts"]) == 60
        assert len(x.state.queries) == 3
        refused = await search()
        assert (refused.status_code, refused.json()["error"]["class"]) == (429, "SourceRateLimited")
        assert "FOOTY_X_CALLS" in refused.json()["error"]["message"]
        async with search.browser.page() as page:
            assert await page.evaluate("navigator.webdriver") is False
