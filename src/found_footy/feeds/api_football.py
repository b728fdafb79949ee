"""API-Football: goal kinds, parser and client. The other feeds map their goals onto its vocabulary."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from found_footy.errors import (
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
from found_footy.feeds.http import FeedClient, Permit, unlimited
from found_footy.feeds.models import FeedAnswer, Quota, compact, venue_name
from found_footy.feeds.scheduling import minute_quota_left
from found_footy.feeds.validation import MAX_GOALS, parse_kickoff, require_storable
from found_footy.fixtures.models import (
    GoalKind,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Score,
    Side,
    Team,
    phase_of,
)
from found_footy.json_reader import MAX_TEXT, JsonReader, storable_text
from found_footy.runtime.retry import BUDGET_SECONDS, Deadline, RetryRules, with_retries

SHOOTOUT = "Penalty Shootout"
MISSED = "Missed Penalty"


def goal_kind(type_: str, detail: str, comments: str | None) -> GoalKind | None:
    """Return the kind of goal, or None for other entries: a card, a missed penalty, a shoot-out kick."""
    if type_ != "Goal" or detail == MISSED or comments == SHOOTOUT:
        return None
    try:
        return GoalKind(detail)
    except ValueError:
        allowed = ", ".join([*GoalKind, MISSED])
        raise FeedSchemaError("events.detail", detail, f"one of {allowed}") from None


# --- Strict parser of API-Football's fixture objects: an invalid field is reported by name, never guessed.


FEED = "api_football"
RAW_FIELDS = ("fixture", "league", "teams", "goals", "score", "events")
"""Stored sections. Line-ups and statistics are large and unused."""

Text = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(storable_text)]
Id = Annotated[int, Field(gt=0, lt=2**53)]
Count = Annotated[int, Field(ge=0, le=200)]
Clock = Annotated[int, Field(ge=0, le=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _Status(_Strict):
    short: Text
    elapsed: Clock | None = None
    extra: Clock | None = None


class _Fixture(_Strict):
    id: Id
    date: Text
    status: _Status


class _League(_Strict):
    id: Id
    name: Text
    country: Text | None = None
    season: Annotated[int, Field(ge=0, le=9999)] | None = None
    round: Text | None = None


class _ApiTeam(_Strict):
    id: Id
    name: Text


class _Teams(_Strict):
    home: _ApiTeam
    away: _ApiTeam


class _ApiGoals(_Strict):
    home: Count | None = None
    away: Count | None = None

    def score(self) -> Score | None:
        return None if self.home is None or self.away is None else Score(self.home, self.away)


class _Score(_Strict):
    penalty: _ApiGoals = _ApiGoals()


class _Time(_Strict):
    elapsed: Clock
    extra: Clock | None = None


class _ApiPerson(_Strict):
    id: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    name: Text | None = None

    def person(self) -> Player:
        return Player(self.id or None, self.name or None)


class _Event(_Strict):
    time: _Time
    team: _ApiTeam
    player: _ApiPerson = _ApiPerson()
    assist: _ApiPerson = _ApiPerson()
    type: Text
    detail: Text
    comments: Text | None = None


class _ApiFixture(_Strict):
    fixture: _Fixture
    league: _League
    teams: _Teams
    goals: _ApiGoals
    score: _Score = _Score()
    events: list[dict[str, Any]] = []


def parse_fixture(item: Any, feed: str = FEED) -> LiveFixture:
    """Parse a fixture. Raises FeedSchemaError or UnknownStatus with the invalid field."""
    parsed = _validate(_ApiFixture, item, "")
    phase_of(parsed.fixture.status.short)
    events = [
        _validate(_Event, event, f"events.{index}.")
        for index, event in enumerate(parsed.events)
        if event.get("type") == "Goal"  # cards and substitutions are not validated
    ]
    home, away = parsed.teams.home, parsed.teams.away
    goals = []
    for event in events:
        kind = goal_kind(event.type, event.detail, event.comments)
        if kind is None:
            continue
        if event.team.id not in (home.id, away.id):
            raise FeedSchemaError("events.team.id", event.team.id, f"{home.id} or {away.id}")
        goals.append(
            LiveGoal(
                side=Side.HOME if event.team.id == home.id else Side.AWAY,
                minute=MatchMinute(event.time.elapsed, event.time.extra or None),
                player=event.player.person(),
                kind=kind,
                assist=event.assist.person(),
            )
        )
    if len(goals) > MAX_GOALS:
        raise FeedSchemaError("events", len(goals), f"at most {MAX_GOALS} goals")
    status = parsed.fixture.status
    document = JsonReader(item)
    return LiveFixture(
        id=parsed.fixture.id,
        feed=feed,
        status=status.short,
        kickoff=parse_kickoff("fixture.date", parsed.fixture.date),
        league=League(**parsed.league.model_dump()),
        home=Team(home.id, home.name, document.display_text("teams", "home", "code")),
        away=Team(away.id, away.name, document.display_text("teams", "away", "code")),
        score=parsed.goals.score(),
        penalties=parsed.score.penalty.score(),
        minute=None if status.elapsed is None else MatchMinute(status.elapsed, status.extra or None),
        goals=tuple(goals),
        raw=require_storable({key: item[key] for key in RAW_FIELDS if key in item}),
        venue=venue_name(
            document.display_text("fixture", "venue", "name"), document.display_text("fixture", "venue", "city")
        ),
        last_event=_last_event(document, len(parsed.events)),
        metadata=compact(
            referee=document.display_text("fixture", "referee"),
            round=document.display_text("league", "round"),
            phase=document.display_text("fixture", "status", "long"),
        ),
    )


def _last_event(document: JsonReader, count: int) -> LastEvent | None:
    """Return the last entry of the event list: a goal, a card, a substitution."""
    entry = ("events", count - 1)
    type_ = document.display_text(*entry, "type") if count else None
    if type_ is None:
        return None
    elapsed, extra = document.display_text(*entry, "time", "elapsed"), document.display_text(*entry, "time", "extra")
    minute = f"{elapsed}+{extra}'" if elapsed and extra else f"{elapsed}'" if elapsed else None
    parts = (minute, document.display_text(*entry, "detail"), document.display_text(*entry, "player", "name"))
    team = document.display_text(*entry, "team", "name")
    return LastEvent(type_.lower(), " ".join(word for word in (*parts, team and f"({team})") if word))


def fixture_id_of(item: Any) -> int | None:
    """Return the fixture id of an invalid item, if it can be read."""
    match item:
        case {"fixture": {"id": int(number)}} if not isinstance(number, bool):
            return number
    return None


_Model = TypeVar("_Model", bound=BaseModel)


def _validate(model: type[_Model], value: Any, prefix: str) -> _Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = prefix + ".".join(str(part) for part in first["loc"])
        expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        if first["type"] == "missing":
            raise FeedSchemaError(field or "fixture", "nothing", "a value") from error
        raise FeedSchemaError(field or "fixture", first["input"], expected) from error


# --- API-Football v3.


log = logging.getLogger(__name__)

IDS_PER_REQUEST = 20
FREE_DAY_LIMIT = 100
"""Requests per day of a free key."""
FREE_PLAN = "free"
FREE_DAYS = timedelta(days=1)
"""Days before and after today that a free key covers."""
PARALLEL_REQUESTS = 4
MAX_PAGES = 50

ERRORS: dict[str, type[FeedError]] = {
    "rateLimit": FeedRateLimited,
    "requests": FeedQuotaExhausted,
    "token": FeedUnauthorized,
    "access": FeedUnauthorized,
    "plan": FeedPlanRefused,
}
"""Error classes by key of the `errors` object, which the service sends with HTTP 200."""


class ApiFootball:
    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float,
        now: Callable[[], datetime],
        retry: RetryRules | None = None,
        permit: Permit = unlimited,
        name: str = FEED,
        budget: float = BUDGET_SECONDS,
    ) -> None:
        self._http = FeedClient(base_url, timeout, {"x-apisports-key": key}, self._read_quota, permit=permit, now=now)
        self._retry = retry or RetryRules()
        self._now = now
        self._name = name
        self._budget = budget
        self._quota: Quota | None = None
        self._is_free_plan = False
        """Whether the service refused `ids=` or reported the free plan."""
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
        return self._is_free_plan or (limit is not None and limit <= FREE_DAY_LIMIT)

    @property
    def ids_per_request(self) -> int:
        return 1 if self.is_free else IDS_PER_REQUEST

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        return -(-fixtures // self.ids_per_request)

    async def fixtures_on(self, day: date) -> FeedAnswer:
        """Return the fixtures of a day; empty if the free plan does not cover it, so that other days still succeed."""
        today = self._now().astimezone(UTC).date()
        if self.is_free and abs(day - today) > FREE_DAYS:
            log.info(f"{day} is not covered by the free plan of API-Football", extra={"action": "feed_day_not_covered"})
            return FeedAnswer()
        try:
            items = await self._request_with_retries({"date": day.isoformat()}, Deadline(self._budget))
        except FeedPlanRefused as error:
            if _is_covered(str(error), day, today):
                raise
            log.info(f"{day} is not covered by the plan: {error}", extra={"action": "feed_day_not_covered"})
            return FeedAnswer()
        return self._to_answer(items, ())

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        ids = list(dict.fromkeys(ids))
        size = self.ids_per_request
        batches = [ids[i : i + size] for i in range(0, len(ids), size)]
        deadline = Deadline(self._budget)
        answers = await asyncio.gather(*(self._request_batch(batch, deadline) for batch in batches))
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
                plan = _plan_name(response)
                self._is_free_plan = self._is_free_plan or plan.casefold() == FREE_PLAN
                used = f"{current} of {limit} requests used today"
                if self.is_free:
                    return f"{used} (free plan: one match per request, yesterday to tomorrow)"
                return f"{used} ({plan} plan)" if plan else used
        raise FeedSchemaError("response.requests", response, "the requests of the day and their limit")

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _request_batch(self, ids: Sequence[int], deadline: Deadline) -> FeedAnswer:
        if self.is_free:
            return await self._request_singly(ids, deadline)
        try:
            return self._to_answer(await self._request_with_retries(_by_ids(ids), deadline), ids)
        except FeedPlanRefused as error:
            self._is_free_plan = True
            log.warning(f"{error}; requesting one match at a time", extra={"action": "feed_plan_free"})
            return await self._request_singly(ids, deadline)
        except FeedError as error:
            if len(ids) == 1 or not error.retryable or isinstance(error, FeedRateLimited | FeedBusy):
                return FeedAnswer(failures=dict.fromkeys(ids, error))
            return await self._request_halves(ids, error, deadline)

    async def _request_singly(self, ids: Sequence[int], deadline: Deadline) -> FeedAnswer:
        async def request(id_: int) -> FeedAnswer:
            try:
                return self._to_answer(await self._request_with_retries({"id": str(id_)}, deadline), [id_])
            except FeedError as error:
                return FeedAnswer(failures={id_: error})

        answers = await asyncio.gather(*(request(id_) for id_ in ids))
        return FeedAnswer(
            fixtures=tuple(fixture for answer in answers for fixture in answer.fixtures),
            failures={id_: error for answer in answers for id_, error in answer.failures.items()},
            unknown=tuple(id_ for answer in answers for id_ in answer.unknown),
        )

    async def _request_halves(self, ids: Sequence[int], error: FeedError, deadline: Deadline) -> FeedAnswer:
        """Retry the ids in two halves, because one invalid fixture can break a batch of twenty.

        If both halves fail, the feed is considered down and is not queried further.
        """
        middle = len(ids) // 2
        halves = (ids[:middle], ids[middle:])
        results = await asyncio.gather(*(self._request_once(half, deadline) for half in halves))
        if all(isinstance(result, FeedError) for result in results):
            return FeedAnswer(failures=dict.fromkeys(ids, error))
        parts = []
        for half, result in zip(halves, results, strict=True):
            if isinstance(result, FeedAnswer):
                parts.append(result)
            elif len(half) == 1:
                parts.append(FeedAnswer(failures={half[0]: result}))
            else:
                parts.append(await self._request_halves(half, result, deadline))
        return FeedAnswer(
            fixtures=parts[0].fixtures + parts[1].fixtures,
            failures={**parts[0].failures, **parts[1].failures},
            unknown=parts[0].unknown + parts[1].unknown,
        )

    async def _request_once(self, ids: Sequence[int], deadline: Deadline) -> FeedAnswer | FeedError:
        try:
            return self._to_answer(await self._request_items(_by_ids(ids), deadline), ids)
        except FeedError as error:
            return error

    async def _request_with_retries(self, params: Mapping[str, str], deadline: Deadline) -> list[Any]:
        return await with_retries(lambda: self._request_items(params, deadline), self._retry, deadline)

    async def _request_items(self, params: Mapping[str, str], deadline: Deadline) -> list[Any]:
        body = await self._get("/fixtures", params, deadline)
        items = _list_of_items(body)
        for page in range(2, _page_count(body) + 1):
            items = [*items, *_list_of_items(await self._get("/fixtures", {**params, "page": str(page)}, deadline))]
        return items

    async def _get(self, path: str, params: Mapping[str, str], deadline: Deadline) -> dict[str, Any]:
        async with self._slots:
            # Checked after waiting for the slot: another response may have used up the minute's quota meanwhile.
            if not minute_quota_left(self._quota, self._now()):
                raise FeedRateLimited("the minute's request quota is exhausted")
            body = await self._http.get(path, params, deadline)
        if not isinstance(body, dict):
            raise FeedMalformed(f"{path} returned JSON that is not an object")
        if errors := body.get("errors"):
            raise _vendor_error(errors)
        if "response" not in body:
            raise FeedMalformed(f"{path} returned JSON without a response")
        return body

    def _to_answer(self, items: Sequence[Any], requested: Sequence[int]) -> FeedAnswer:
        return _to_answer(items, requested, self._name)

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
        # Ignore responses without rate-limit headers, such as a proxy's.
        if quota != Quota(quota.read_at):
            self._quota = quota


def _plan_name(status: Mapping[str, Any]) -> str:
    match status.get("subscription"):
        case {"plan": str(plan)}:
            return plan[:40]
    return ""


def _is_covered(refusal: str, day: date, today: date) -> bool:
    """Return whether the plan covers the day. A refusal names its window: `try from 2026-11-17 to 2026-11-19`."""
    window = re.search(r"from (\d{4}-\d{2}-\d{2}) to (\d{4}-\d{2}-\d{2})", refusal, re.ASCII)
    if window is None:
        return abs(day - today) <= FREE_DAYS
    return window[1] <= day.isoformat() <= window[2]


def _by_ids(ids: Sequence[int]) -> dict[str, str]:
    return {"ids": "-".join(str(id_) for id_ in ids)}


def _list_of_items(body: Mapping[str, Any]) -> list[Any]:
    items = body["response"]
    if not isinstance(items, list):
        raise FeedMalformed(f"/fixtures returned {type(items).__name__} as its response instead of a list")
    return items


def _page_count(body: Mapping[str, Any]) -> int:
    match body.get("paging"):
        case None | []:  # PHP encodes an empty object as a list
            return 1
        case {"total": int(total)}:
            return min(total, MAX_PAGES)
        case other:
            raise FeedMalformed(f"/fixtures returned invalid paging {other!r:.80}")


def _vendor_error(errors: Any) -> FeedError:
    if isinstance(errors, dict):
        key, text = min(errors.items(), key=lambda error: error[0] not in ERRORS)
        return ERRORS.get(str(key), FeedRejected)(f"{key}: {text}")
    return FeedRejected(str(errors))


def _to_answer(items: Sequence[Any], requested: Sequence[int], feed: str) -> FeedAnswer:
    fixtures: dict[int, LiveFixture] = {}
    failures: dict[int, FootyError] = {}
    for item in items:
        try:
            fixture = parse_fixture(item, feed)
        except FootyError as error:
            # Failures are keyed by id; without one, the fixture counts as missing from the answer.
            if (id_ := fixture_id_of(item)) is not None:
                failures[id_] = error
            continue
        if fixture.id in fixtures:
            failures[fixture.id] = FeedSchemaError("fixture.id", fixture.id, "each fixture once in an answer")
        fixtures[fixture.id] = fixture
    valid = {id_: fixture for id_, fixture in fixtures.items() if id_ not in failures}
    if not requested:
        return FeedAnswer(tuple(valid.values()), failures)
    return FeedAnswer(
        fixtures=tuple(valid[id_] for id_ in requested if id_ in valid),
        failures={id_: error for id_, error in failures.items() if id_ in set(requested)},
        unknown=tuple(id_ for id_ in requested if id_ not in valid and id_ not in failures),
    )
