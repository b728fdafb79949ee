"""The scenario format: what a file may say. What must fit together is checked in `checks`.

Durations (`after`, `lasts`, `half_time`, …) are minutes of matchday time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)
from pydantic_core import PydanticCustomError

from found_footy.simulator.clips.kinds import Alteration, BoardStyle, PostKind
from found_footy.simulator.clips.notation import checked_code, checked_height, checked_rate, read_clip
from found_footy.simulator.notation import MinuteOfPlay, Moment

UPCOMING_FROM = 12 * 3600
"""A match that kicks off this long after the start, or later, stays upcoming for the whole matchday."""

SideName = Literal["home", "away"]
GoalKind = Literal["normal", "penalty", "own_goal"]
Ending = Literal["FT", "AET", "PEN", "ABD", "PST", "CANC"]
IncidentKind = Literal[
    "yellow_card", "red_card", "substitution", "missed_penalty", "var_goal_confirmed", "var_penalty_confirmed"
]
FaultKind = Literal[
    "server_error",
    "timeout",
    "truncated",
    "html",
    "rate_limit",
    "wrong_score",
    "bad_schema",
    "unknown_status",
]
Code = Annotated[str, AfterValidator(checked_code)]
MATCH_FAULTS: tuple[FaultKind, ...] = ("wrong_score", "bad_schema", "unknown_status")


class Model(BaseModel):
    """Frozen, and nothing but the fields that it declares."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        # Pydantic's own message for an unknown field does not tell which ones there are.
        for field in data if isinstance(data, dict) else ():
            if field not in cls.model_fields:
                context = {"field": field, "given": data[field], "fields": ", ".join(cls.model_fields)}
                raise PydanticCustomError("unknown_field", "the fields {fields}", context)
        return data


class League(Model):
    id: PositiveInt
    name: str
    country: str
    season: PositiveInt
    round: str


class Team(Model):
    id: PositiveInt
    name: str


class Player(Model):
    id: PositiveInt
    name: str


class Change(Model):
    """A correction `after` so many minutes since the goal first showed; what is left out stays."""

    after: PositiveInt
    player: Player | None = None
    kind: GoalKind | None = None
    minute: MinuteOfPlay | None = None


class Clip(Model):
    """What is posted of a goal: a file, or a dead link. What is left out is chosen by the clip's place in the file."""

    kind: PostKind
    also: tuple[Alteration, ...] = ()
    """How a copy is altered."""
    start: Annotated[float, Field(ge=-12, le=20)] | None = None
    """Seconds from the goal to the clip's first picture."""
    length: Annotated[float, Field(ge=3, le=36)] | None = None
    height: Annotated[int, AfterValidator(checked_height)] | None = None
    fps: Annotated[int, AfterValidator(checked_rate)] | None = None
    kbit: Annotated[int, Field(ge=100, le=8000)] | None = None
    """Kilobits of picture a second."""
    after: NonNegativeInt = 1
    """When it is posted."""


PostedClip = Annotated[Clip, BeforeValidator(read_clip)]


class Broadcast(Model):
    """How the match looks on the screen; what is left out follows from the names."""

    style: BoardStyle | None = None
    codes: tuple[Code, Code] | None = None
    """The teams' letters on the scoreboard: home, away."""


class Goal(Model):
    """A goal. `side` is the side that it counts for, also for an own goal; no `player` means unknown yet."""

    minute: MinuteOfPlay
    side: SideName
    kind: GoalKind = "normal"
    player: Player | None = None
    assist: Player | None = None
    changes: tuple[Change, ...] = ()
    cancelled_after: PositiveInt | None = None
    """The VAR takes it back: the event goes, the score too, and a Var event comes."""
    flickers: tuple[PositiveInt, ...] = ()
    """Minutes after its first showing at which the event is gone for one minute; the score stays."""
    clips: tuple[PostedClip, ...] | None = None
    """What is posted of it; None for a usual choice."""


class Incident(Model):
    """What a consumer has to leave alone. `other` is the one who goes off in a substitution."""

    minute: MinuteOfPlay
    side: SideName
    kind: IncidentKind
    player: Player
    other: Player | None = None


class Kick(Model):
    """One kick of the shoot-out; there is one every minute."""

    side: SideName
    player: Player
    scored: bool


class Interruption(Model):
    """Play stops at a minute and goes on after `lasts` minutes."""

    minute: MinuteOfPlay
    lasts: PositiveInt
    status: Literal["SUSP", "INT"] = "SUSP"


class Match(Model):
    id: PositiveInt
    league: str
    """A key of the scenario's `leagues`."""
    home: Team
    away: Team
    kickoff: Moment
    half_length: PositiveInt = 45
    half_time: PositiveInt = 15
    extra_half_length: PositiveInt = 15
    break_length: PositiveInt = 1
    """Before extra time, and between its halves."""
    stoppage: tuple[NonNegativeInt, ...] = (0, 0)
    """Added minutes of each half: two numbers, or four with extra time."""
    ends: Ending = "FT"
    abandoned_at: MinuteOfPlay | None = None
    called_off_at: Moment | None = None
    """When a postponed (PST) or cancelled (CANC) match is called off."""
    interruptions: tuple[Interruption, ...] = ()
    goals: tuple[Goal, ...] = ()
    incidents: tuple[Incident, ...] = ()
    shootout: tuple[Kick, ...] = ()
    broadcast: Broadcast = Broadcast()

    @property
    def starts(self) -> bool:
        """Whether it kicks off within the matchday."""
        return self.called_off_at is None and self.kickoff < UPCOMING_FROM

    def team(self, side: SideName) -> Team:
        return self.home if side == "home" else self.away


class Fault(Model):
    """Something wrong with the feed's answers, from a moment on, for a number of polls.

    A fault of one match lasts for that many polls that ask for the match.
    """

    at: Moment
    kind: FaultKind
    polls: PositiveInt = 1
    match: PositiveInt | None = None
    seconds: PositiveInt | None = None
    """For `timeout`: how long, in real seconds, the request is held."""


class Limits(Model):
    """The plan's limits, in requests."""

    per_day: PositiveInt = 150_000
    per_minute: PositiveInt = 1_200


class RecordingSource(Model):
    """A folder of recorded answers, relative to the scenario file."""

    espn: Path


class Scenario(Model):
    """A matchday: either scripted matches or a recording."""

    title: str = ""
    leagues: dict[str, League] = Field(default_factory=dict)
    matches: tuple[Match, ...] = ()
    faults: tuple[Fault, ...] = ()
    limits: Limits = Limits()
    recording: RecordingSource | None = None

    def league_of(self, match: Match) -> League:
        return self.leagues[match.league]
