"""API-Football v3.

A paid key asks for twenty matches per request (`ids=`). A free key is refused there and works within its means: one
match per request (`id=`), days from yesterday to tomorrow, 100 requests a day. Which one it is shows in the stated day
limit, in `/status`, and in the first refusal under `errors.plan`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from found_footy.adapters.feeds.api_football_schema import FEED, fixture_id_of, parse_fixture
from found_footy.adapters.feeds.http import FeedHttp, Turn, at_once
from found_footy.adapters.feeds.retrying import BUDGET_SECONDS, Deadline, with_retries
from found_footy.domain.errors import (
    FeedBusy,
    FeedError,
    FeedMalformed,
    FeedPlanRefused,
    FeedQuotaExhausted,
    FeedRateLimited,
    FeedRejected,
    FeedSchemaError,
    FeedUnauthorized,
    FootyError,
)
from found_footy.domain.feeds.quota import Quota, may_ask_this_minute
from found_footy.domain.feeds.retry import RetryRules
from found_footy.domain.fixtures.model import LiveFixture
from found_footy.ports import FeedAnswer

log = logging.getLogger(__name__)

IDS_PER_REQUEST = 20
FREE_DAY_LIMIT = 100
"""Requests a day of a free key."""
FREE_PLAN = "free"
FREE_DAYS = timedelta(days=1)
"""How far from today a free key may ask."""
PARALLEL_REQUESTS = 4
MAX_PAGES = 50

ERRORS: dict[str, type[FeedError]] = {
    "rateLimit": FeedRateLimited,
    "requests": FeedQuotaExhausted,
    "token": FeedUnauthorized,
    "access": FeedUnauthorized,
    "plan": FeedPlanRefused,
}
"""Keys of the `errors` object that the service sends inside an HTTP 200."""


class ApiFootball:
    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float,
        now: Callable[[], datetime],
        retry: RetryRules | None = None,
        turn: Turn = at_once,
        name: str = FEED,
        budget: float = BUDGET_SECONDS,
    ) -> None:
        self._http = FeedHttp(base_url, timeout, {"x-apisports-key": key}, self._read_quota, turn=turn, now=now)
        self._retry = retry or RetryRules()
        self._now = now
        self._name = name
        self._budget = budget
        self._quota: Quota | None = None
        self._refused_ids = False
        """Whether the service refused `ids=`, or named the plan "Free"."""
        self._slots = asyncio.Semaphore(PARALLEL_REQUESTS)

    @property
    def name(self) -> str:
        return self._name

    @property
    def quota(self) -> Quota | None:
        return self._quota

    @property
    def is_free(self) -> bool:
        limit = self._quota.day_limit if self._quota else None
        return self._refused_ids or (limit is not None and limit <= FREE_DAY_LIMIT)

    @property
    def ids_per_request(self) -> int:
        return 1 if self.is_free else IDS_PER_REQUEST

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        return -(-fixtures // self.ids_per_request)

    async def fixtures_on(self, day: date) -> FeedAnswer:
        """Nothing for a day that a free plan does not cover: that is no failure of the days that it does."""
        today = self._now().astimezone(UTC).date()
        if self.is_free and abs(day - today) > FREE_DAYS:
            log.info(f"{day} is not covered by the free plan of API-Football", extra={"action": "feed_day_not_covered"})
            return FeedAnswer()
        try:
            items = await self._retried({"date": day.isoformat()}, Deadline(self._budget))
        except FeedPlanRefused as error:
            if _covers(str(error), day, today):
                raise
            log.info(f"{day} is not covered by the plan: {error}", extra={"action": "feed_day_not_covered"})
            return FeedAnswer()
        return self._answer(items, ())

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        ids = list(dict.fromkeys(ids))
        size = self.ids_per_request
        batches = [ids[i : i + size] for i in range(0, len(ids), size)]
        deadline = Deadline(self._budget)
        answers = await asyncio.gather(*(self._batch(batch, deadline) for batch in batches))
        failures = {id_: error for answer in answers for id_, error in answer.failures.items()}
        return FeedAnswer(
            fixtures=tuple(fixture for answer in answers for fixture in answer.fixtures),
            failures=failures,
            unknown=tuple(id_ for answer in answers for id_ in answer.unknown),
        )

    async def check(self) -> str:
        body = await self._get("/status", {}, Deadline(self._budget))
        response = body["response"]
        match response:
            case {"requests": {"current": current, "limit_day": limit}}:
                plan = _plan(response)
                self._refused_ids = self._refused_ids or plan.casefold() == FREE_PLAN
                used = f"{current} of {limit} requests used today"
                if self.is_free:
                    return f"{used} (free plan: one match per request, yesterday to tomorrow)"
                return f"{used} ({plan} plan)" if plan else used
        raise FeedSchemaError("response.requests", response, "the requests of the day and their limit")

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _batch(self, ids: Sequence[int], deadline: Deadline) -> FeedAnswer:
        if self.is_free:
            return await self._singly(ids, deadline)
        try:
            return self._answer(await self._retried(_by_ids(ids), deadline), ids)
        except FeedPlanRefused as error:
            self._refused_ids = True
            log.warning(f"{error}; asking for one match per request", extra={"action": "feed_plan_free"})
            return await self._singly(ids, deadline)
        except FeedError as error:
            if len(ids) == 1 or not error.retryable or isinstance(error, FeedRateLimited | FeedBusy):
                return FeedAnswer(failures=dict.fromkeys(ids, error))
            return await self._halves(ids, error, deadline)

    async def _singly(self, ids: Sequence[int], deadline: Deadline) -> FeedAnswer:
        async def one(id_: int) -> FeedAnswer:
            try:
                return self._answer(await self._retried({"id": str(id_)}, deadline), [id_])
            except FeedError as error:
                return FeedAnswer(failures={id_: error})

        answers = await asyncio.gather(*(one(id_) for id_ in ids))
        return FeedAnswer(
            fixtures=tuple(fixture for answer in answers for fixture in answer.fixtures),
            failures={id_: error for answer in answers for id_, error in answer.failures.items()},
            unknown=tuple(id_ for answer in answers for id_ in answer.unknown),
        )

    async def _halves(self, ids: Sequence[int], error: FeedError, deadline: Deadline) -> FeedAnswer:
        """One fixture can break the answer for the nineteen that were asked for together with it.

        Where both halves fail, the feed itself is taken to be down: looking further would only hammer it.
        """
        middle = len(ids) // 2
        halves = (ids[:middle], ids[middle:])
        results = await asyncio.gather(*(self._once(half, deadline) for half in halves))
        if all(isinstance(result, FeedError) for result in results):
            return FeedAnswer(failures=dict.fromkeys(ids, error))
        parts = []
        for half, result in zip(halves, results, strict=True):
            if isinstance(result, FeedAnswer):
                parts.append(result)
            elif len(half) == 1:
                parts.append(FeedAnswer(failures={half[0]: result}))
            else:
                parts.append(await self._halves(half, result, deadline))
        return FeedAnswer(
            fixtures=parts[0].fixtures + parts[1].fixtures,
            failures={**parts[0].failures, **parts[1].failures},
            unknown=parts[0].unknown + parts[1].unknown,
        )

    async def _once(self, ids: Sequence[int], deadline: Deadline) -> FeedAnswer | FeedError:
        try:
            return self._answer(await self._items(_by_ids(ids), deadline), ids)
        except FeedError as error:
            return error

    async def _retried(self, params: Mapping[str, str], deadline: Deadline) -> list[Any]:
        return await with_retries(lambda: self._items(params, deadline), self._retry, deadline)

    async def _items(self, params: Mapping[str, str], deadline: Deadline) -> list[Any]:
        body = await self._get("/fixtures", params, deadline)
        items = _listed(body)
        for page in range(2, _pages(body) + 1):
            items = [*items, *_listed(await self._get("/fixtures", {**params, "page": str(page)}, deadline))]
        return items

    async def _get(self, path: str, params: Mapping[str, str], deadline: Deadline) -> dict[str, Any]:
        async with self._slots:
            # Asked when it is our turn: an answer that came while we waited may have told that the minute is used up.
            if not may_ask_this_minute(self._quota, self._now()):
                raise FeedRateLimited("the requests of this minute are used up")
            body = await self._http.get(path, params, deadline)
        if not isinstance(body, dict):
            raise FeedMalformed(f"{path} sent JSON that is no object")
        if errors := body.get("errors"):
            raise _vendor_error(errors)
        if "response" not in body:
            raise FeedMalformed(f"{path} sent JSON without a response")
        return body

    def _answer(self, items: Sequence[Any], asked: Sequence[int]) -> FeedAnswer:
        return _answer(items, asked, self._name)

    def _read_quota(self, headers: Mapping[str, str]) -> None:
        def number(name: str) -> int | None:
            text = headers.get(name, "")
            return int(text) if text.isdecimal() else None

        quota = Quota(
            read_at=self._now(),
            day_limit=number("x-ratelimit-requests-limit"),
            day_remaining=number("x-ratelimit-requests-remaining"),
            minute_limit=number("x-ratelimit-limit"),
            minute_remaining=number("x-ratelimit-remaining"),
        )
        # An answer that tells nothing, such as a proxy's, takes nothing back of what the one before told.
        if quota != Quota(quota.read_at):
            self._quota = quota


def _plan(status: Mapping[str, Any]) -> str:
    match status.get("subscription"):
        case {"plan": str(plan)}:
            return plan[:40]
    return ""


def _covers(refusal: str, day: date, today: date) -> bool:
    """Whether the plan should cover the day: a refusal names its window, `try from 2026-11-17 to 2026-11-19`."""
    window = re.search(r"from (\d{4}-\d{2}-\d{2}) to (\d{4}-\d{2}-\d{2})", refusal, re.ASCII)
    if window is None:
        return abs(day - today) <= FREE_DAYS
    return window[1] <= day.isoformat() <= window[2]


def _by_ids(ids: Sequence[int]) -> dict[str, str]:
    return {"ids": "-".join(str(id_) for id_ in ids)}


def _listed(body: Mapping[str, Any]) -> list[Any]:
    items = body["response"]
    if not isinstance(items, list):
        raise FeedMalformed(f"/fixtures sent {type(items).__name__} as its response, not a list")
    return items


def _pages(body: Mapping[str, Any]) -> int:
    match body.get("paging"):
        case None | []:  # PHP writes an empty object as a list
            return 1
        case {"total": int(total)}:
            return min(total, MAX_PAGES)
        case other:
            raise FeedMalformed(f"/fixtures sent the paging {other!r:.80}")


def _vendor_error(errors: Any) -> FeedError:
    if isinstance(errors, dict):
        key, text = min(errors.items(), key=lambda error: error[0] not in ERRORS)
        return ERRORS.get(str(key), FeedRejected)(f"{key}: {text}")
    return FeedRejected(str(errors))


def _answer(items: Sequence[Any], asked: Sequence[int], feed: str) -> FeedAnswer:
    fixtures: dict[int, LiveFixture] = {}
    failures: dict[int, FootyError] = {}
    for item in items:
        try:
            fixture = parse_fixture(item, feed)
        except FootyError as error:
            # Without an id nobody can be told; the fixture then shows as left out of the answer.
            if (id_ := fixture_id_of(item)) is not None:
                failures[id_] = error
            continue
        if fixture.id in fixtures:
            failures[fixture.id] = FeedSchemaError("fixture.id", fixture.id, "each fixture once in an answer")
        fixtures[fixture.id] = fixture
    good = {id_: fixture for id_, fixture in fixtures.items() if id_ not in failures}
    if not asked:
        return FeedAnswer(tuple(good.values()), failures)
    return FeedAnswer(
        fixtures=tuple(good[id_] for id_ in asked if id_ in good),
        failures={id_: error for id_, error in failures.items() if id_ in set(asked)},
        unknown=tuple(id_ for id_ in asked if id_ not in good and id_ not in failures),
    )
