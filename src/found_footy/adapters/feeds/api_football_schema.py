"""API-Football's fixture objects, read strictly: a field that does not fit is named, never guessed."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from found_footy.adapters.feeds.limits import MAX_GOALS, MAX_TEXT, parse_kickoff, storable, storable_text
from found_footy.adapters.feeds.telling import place, told
from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.feeds.document import Reader
from found_footy.domain.fixtures.goals import goal_kind
from found_footy.domain.fixtures.model import (
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    Minute,
    Person,
    Score,
    Side,
    Team,
)
from found_footy.domain.fixtures.statuses import phase_of

FEED = "api_football"
KEPT = ("fixture", "league", "teams", "goals", "score", "events")
"""Line-ups and statistics are large, and nobody asks for them."""

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


class _Team(_Strict):
    id: Id
    name: Text


class _Teams(_Strict):
    home: _Team
    away: _Team


class _Goals(_Strict):
    home: Count | None = None
    away: Count | None = None

    def score(self) -> Score | None:
        return None if self.home is None or self.away is None else Score(self.home, self.away)


class _Score(_Strict):
    penalty: _Goals = _Goals()


class _Time(_Strict):
    elapsed: Clock
    extra: Clock | None = None


class _Person(_Strict):
    id: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    name: Text | None = None

    def person(self) -> Person:
        return Person(self.id or None, self.name or None)


class _Event(_Strict):
    time: _Time
    team: _Team
    player: _Person = _Person()
    assist: _Person = _Person()
    type: Text
    detail: Text
    comments: Text | None = None


class _Item(_Strict):
    fixture: _Fixture
    league: _League
    teams: _Teams
    goals: _Goals
    score: _Score = _Score()
    events: list[dict[str, Any]] = []


def parse_fixture(item: Any, feed: str = FEED) -> LiveFixture:
    """A fixture as the feed sent it, or a FeedSchemaError or UnknownStatus that says what is wrong with it."""
    parsed = _validated(_Item, item, "")
    phase_of(parsed.fixture.status.short)
    events = [
        _validated(_Event, event, f"events.{index}.")
        for index, event in enumerate(parsed.events)
        if event.get("type") == "Goal"  # cards and substitutions are not ours to judge
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
                minute=Minute(event.time.elapsed, event.time.extra or None),
                player=event.player.person(),
                kind=kind,
                assist=event.assist.person(),
            )
        )
    if len(goals) > MAX_GOALS:
        raise FeedSchemaError("events", len(goals), f"at most {MAX_GOALS} goals")
    status = parsed.fixture.status
    document = Reader(item)
    return LiveFixture(
        id=parsed.fixture.id,
        feed=feed,
        status=status.short,
        kickoff=parse_kickoff("fixture.date", parsed.fixture.date),
        league=League(**parsed.league.model_dump()),
        home=Team(home.id, home.name, document.said("teams", "home", "code")),
        away=Team(away.id, away.name, document.said("teams", "away", "code")),
        score=parsed.goals.score(),
        penalties=parsed.score.penalty.score(),
        minute=None if status.elapsed is None else Minute(status.elapsed, status.extra or None),
        goals=tuple(goals),
        raw=storable({key: item[key] for key in KEPT if key in item}),
        venue=place(document.said("fixture", "venue", "name"), document.said("fixture", "venue", "city")),
        last_event=_last_event(document, len(parsed.events)),
        metadata=told(
            referee=document.said("fixture", "referee"),
            round=document.said("league", "round"),
            phase=document.said("fixture", "status", "long"),
        ),
    )


def _last_event(document: Reader, count: int) -> LastEvent | None:
    """The last entry of the list, whatever it is: a goal, a card, a substitution."""
    entry = ("events", count - 1)
    type_ = document.said(*entry, "type") if count else None
    if type_ is None:
        return None
    elapsed, extra = document.said(*entry, "time", "elapsed"), document.said(*entry, "time", "extra")
    minute = f"{elapsed}+{extra}'" if elapsed and extra else f"{elapsed}'" if elapsed else None
    words = (minute, document.said(*entry, "detail"), document.said(*entry, "player", "name"))
    team = document.said(*entry, "team", "name")
    return LastEvent(type_.lower(), " ".join(word for word in (*words, team and f"({team})") if word))


def fixture_id_of(item: Any) -> int | None:
    """Whom a broken answer is about, if that much can be read."""
    match item:
        case {"fixture": {"id": int(number)}} if not isinstance(number, bool):
            return number
    return None


_Model = TypeVar("_Model", bound=BaseModel)


def _validated(model: type[_Model], value: Any, prefix: str) -> _Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = prefix + ".".join(str(part) for part in first["loc"])
        expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        if first["type"] == "missing":
            raise FeedSchemaError(field or "fixture", "nothing", "a value") from error
        raise FeedSchemaError(field or "fixture", first["input"], expected) from error
