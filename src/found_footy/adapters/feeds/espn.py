"""ESPN's public scoreboard (soccer). It needs no key, has no batch by ids, and tells no quota."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from found_footy.adapters.feeds.http import FeedHttp, RetryRule, with_retries
from found_footy.adapters.feeds.limits import MAX_GOALS, MAX_TEXT, STORABLE, parse_kickoff, storable, storable_text
from found_footy.domain.errors import FeedError, FeedMalformed, FeedSchemaError, FootyError, UnknownStatus
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.fixtures.model import (
    GoalKind,
    League,
    LiveFixture,
    LiveGoal,
    Minute,
    Person,
    Score,
    Side,
    Team,
)
from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.ports import FeedAnswer

FEED = "espn"
MAX_COUNT = 200
"""Goals of one side, or kicks in a shoot-out."""

STATUSES = {
    "STATUS_SCHEDULED": "NS",
    "STATUS_FIRST_HALF": "1H",
    "STATUS_HALFTIME": "HT",
    "STATUS_SECOND_HALF": "2H",
    "STATUS_IN_PROGRESS": "LIVE",
    "STATUS_END_OF_REGULATION": "BT",
    "STATUS_OVERTIME": "ET",
    "STATUS_EXTRA_TIME": "ET",
    "STATUS_HALFTIME_ET": "BT",
    "STATUS_END_OF_EXTRATIME": "BT",
    "STATUS_SHOOTOUT": "P",
    "STATUS_FULL_TIME": "FT",
    "STATUS_FINAL": "FT",
    "STATUS_FINAL_AET": "AET",
    "STATUS_FINAL_PEN": "PEN",
    "STATUS_POSTPONED": "PST",
    "STATUS_DELAYED": "INT",
    "STATUS_RAIN_DELAY": "INT",
    "STATUS_SUSPENDED": "SUSP",
    "STATUS_ABANDONED": "ABD",
    "STATUS_CANCELED": "CANC",
    "STATUS_FORFEIT": "WO",
}


class Espn:
    def __init__(
        self,
        base_url: str,
        leagues: Sequence[str],
        *,
        timeout: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        retry: RetryRule | None = None,
    ) -> None:
        self._http = FeedHttp(base_url, timeout)
        self._now = now
        self._leagues = tuple(leagues)
        self._retry = retry or RetryRule()

    @property
    def name(self) -> str:
        return FEED

    @property
    def quota(self) -> Quota | None:
        return None

    def requests_for(self, fixtures: int) -> int:
        return len(self._leagues)

    async def fixtures_on(self, day: date) -> FeedAnswer:
        answer = await self._scoreboards({"dates": f"{day:%Y%m%d}"})
        if answer.errors and not answer.fixtures:
            raise answer.errors[0]
        return answer

    async def fixtures_by_ids(self, ids: Sequence[int]) -> FeedAnswer:
        ids = list(dict.fromkeys(ids))
        # Without dates the scoreboard drops a match at midnight, whether it has ended or not.
        today = self._now().date()
        yesterday, tomorrow = today - timedelta(days=1), today + timedelta(days=1)
        answer = await self._scoreboards({"dates": f"{yesterday:%Y%m%d}-{tomorrow:%Y%m%d}"})
        wanted = set(ids)
        fixtures = tuple(fixture for fixture in answer.fixtures if fixture.id in wanted)
        failures = {id_: error for id_, error in answer.failures.items() if id_ in wanted}
        rest = [id_ for id_ in ids if id_ not in failures and id_ not in {fixture.id for fixture in fixtures}]
        if answer.errors:  # they may be in the league that failed
            return FeedAnswer(fixtures, {**failures, **dict.fromkeys(rest, answer.errors[0])}, errors=answer.errors)
        return FeedAnswer(fixtures, failures, tuple(rest))

    async def check(self) -> str:
        answer = await self._scoreboards({})
        if answer.errors:
            raise answer.errors[0]
        return f"{len(answer.fixtures)} matches on the scoreboard of {', '.join(self._leagues)}"

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _scoreboards(self, params: Mapping[str, str]) -> FeedAnswer:
        answers = await asyncio.gather(*(self._scoreboard(league, params) for league in self._leagues))
        fixtures = {fixture.id: fixture for answer in answers for fixture in answer.fixtures}
        return FeedAnswer(
            fixtures=tuple(fixtures.values()),
            # Two leagues may list the same match, and one of them may have it wrong.
            failures={id_: e for answer in answers for id_, e in answer.failures.items() if id_ not in fixtures},
            errors=tuple(error for answer in answers for error in answer.errors),
        )

    async def _scoreboard(self, league: str, params: Mapping[str, str]) -> FeedAnswer:
        path = f"/apis/site/v2/sports/soccer/{league}/scoreboard"
        try:
            return parse_scoreboard(await with_retries(lambda: self._http.get(path, params), self._retry))
        except FeedError as error:
            return FeedAnswer(errors=(error,))


def parse_scoreboard(body: Any) -> FeedAnswer:
    if not isinstance(body, dict) or not isinstance(body.get("events"), list):
        raise FeedMalformed("the scoreboard has no list of events")
    fixtures: dict[int, LiveFixture] = {}
    failures: dict[int, FootyError] = {}
    for event in body["events"]:
        try:
            fixture = _fixture(event, _Reader(body.get("leagues"), "leagues"))
        except FootyError as error:
            # Without an id nobody can be told; the fixture then shows as left out of the answer.
            if (id_ := _id_of(event)) is not None:
                failures[id_] = error
            continue
        if fixture.id in fixtures:
            failures[fixture.id] = FeedSchemaError("id", fixture.id, "each fixture once in an answer")
        fixtures[fixture.id] = fixture
    return FeedAnswer(tuple(each for id_, each in fixtures.items() if id_ not in failures), failures)


def _id_of(event: Any) -> int | None:
    try:
        return _Reader(event)["id"].number()
    except FeedSchemaError:
        return None


class _Reader:
    """Walks into a document and names the place where it does not fit."""

    def __init__(self, value: Any, path: str = "") -> None:
        self.value = value
        self.path = path

    def __getitem__(self, key: str | int) -> _Reader:
        path = f"{self.path}.{key}" if self.path else str(key)
        try:
            return _Reader(self.value[key], path)
        except (KeyError, IndexError, TypeError):
            raise FeedSchemaError(path, "nothing", "a value") from None

    def get(self, key: str) -> Any:
        return self.value.get(key) if isinstance(self.value, dict) else None

    def text(self) -> str:
        if not isinstance(self.value, str) or len(self.value) > MAX_TEXT:
            raise FeedSchemaError(self.path, self.value, f"a text of at most {MAX_TEXT} characters")
        try:
            return storable_text(self.value)
        except ValueError:
            raise FeedSchemaError(self.path, self.value, STORABLE) from None

    def number(self, most: int = 10**15) -> int:
        """ESPN writes ids and scores as text."""
        text = str(self.value) if isinstance(self.value, str | int) else ""
        if isinstance(self.value, bool) or not text.isdecimal() or len(text) > 15 or int(text) > most:
            raise FeedSchemaError(self.path, self.value, f"a whole number up to {most}")
        return int(text)

    def items(self) -> list[_Reader]:
        if not isinstance(self.value, list) or len(self.value) > 500:
            raise FeedSchemaError(self.path, self.value, "a list")
        return [_Reader(item, f"{self.path}.{index}") for index, item in enumerate(self.value)]


def _fixture(raw: Any, leagues: _Reader) -> LiveFixture:
    event = _Reader(raw)
    game = event["competitions"][0]
    sides = {side["homeAway"].text(): side for side in game["competitors"].items()}
    if set(sides) != {"home", "away"}:
        raise FeedSchemaError("competitors.homeAway", sorted(sides), "home and away")
    teams = {Side(name): Team(side["id"].number(), side["team"]["displayName"].text()) for name, side in sides.items()}
    vendor_status = game["status"]["type"]["name"].text()
    if vendor_status not in STATUSES:
        raise UnknownStatus(f"status {vendor_status!r} of ESPN is not known")
    status = STATUSES[vendor_status]
    waits = phase_of(status) in (Phase.UPCOMING, Phase.POSTPONED)
    begun = not waits and game["status"]["type"].get("state") != "pre"
    details = game["details"].items() if game.get("details") else []
    goals = tuple(_goal(detail, teams) for detail in details if _counts(detail))
    if len(goals) > MAX_GOALS:
        raise FeedSchemaError("competitions.0.details", len(goals), f"at most {MAX_GOALS} goals")
    league = leagues[0]
    shootout = all(side.get("shootoutScore") is not None for side in sides.values())
    return LiveFixture(
        id=event["id"].number(),
        feed=FEED,
        status=status,
        kickoff=parse_kickoff("date", event["date"].text()),
        league=League(league["id"].number(), league["name"].text(), season=_season(event)),
        home=teams[Side.HOME],
        away=teams[Side.AWAY],
        score=_score(sides, "score") if begun else None,
        penalties=_score(sides, "shootoutScore") if shootout else None,
        minute=_minute(game["status"]["displayClock"]) if begun else None,
        goals=goals,
        raw=storable({"event": _slim(raw)}),
    )


def _score(sides: Mapping[str, _Reader], field: str) -> Score:
    return Score(sides["home"][field].number(MAX_COUNT), sides["away"][field].number(MAX_COUNT))


def _season(event: _Reader) -> int | None:
    told = isinstance(season := event.get("season"), dict) and season.get("year") is not None
    return event["season"]["year"].number(9999) if told else None


def _counts(detail: _Reader) -> bool:
    return detail.get("scoringPlay") is True and detail.get("shootout") is not True


def _goal(detail: _Reader, teams: Mapping[Side, Team]) -> LiveGoal:
    team = detail["team"]["id"].number()
    side = next((side for side, each in teams.items() if each.id == team), None)
    if side is None:
        raise FeedSchemaError(f"{detail.path}.team.id", team, "one of the two sides")
    if detail.get("ownGoal") is True:
        kind = GoalKind.OWN_GOAL
    else:
        kind = GoalKind.PENALTY if detail.get("penaltyKick") is True else GoalKind.NORMAL
    athletes = detail["athletesInvolved"].items() if detail.get("athletesInvolved") else []
    player = _person(athletes[0]) if athletes else Person()
    return LiveGoal(side=side, minute=_minute(detail["clock"]["displayValue"]), player=player, kind=kind)


def _person(athlete: _Reader) -> Person:
    """Either may be missing: the other still tells who it is."""
    return Person(
        athlete["id"].number() if athlete.get("id") is not None else None,
        athlete["displayName"].text() if athlete.get("displayName") is not None else None,
    )


def _minute(clock: _Reader) -> Minute:
    """67', or 90'+5'."""
    match = re.fullmatch(r"(\d{1,3})'?(?:\+(\d{1,2})'?)?", clock.text())
    if match is None:
        raise FeedSchemaError(clock.path, clock.value, "a minute such as 67' or 90'+5'")
    return Minute(int(match[1]), int(match[2]) if match[2] else None)


def _slim(raw: Any) -> dict[str, Any]:
    """Tickets, odds and links are most of the document, and none of our business."""
    game = raw["competitions"][0]
    kept = {key: game[key] for key in ("status", "details") if key in game}
    kept["competitors"] = [
        {key: side[key] for key in ("id", "homeAway", "score", "shootoutScore") if key in side}
        for side in game["competitors"]
    ]
    return {"id": raw["id"], "date": raw["date"], "shortName": raw.get("shortName"), "competitions": [kept]}
