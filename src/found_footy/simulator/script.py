"""The scenario format: what a file may say. What must fit together is checked in `checks`.

Durations (`after`, `lasts`, `half_time`, …) are minutes of matchday time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt

from found_footy.simulator.clip_script import PostedClip
from found_footy.simulator.clips.kinds import BoardStyle
from found_footy.simulator.clips.notation import checked_code
from found_footy.simulator.cricket_script import CricketMatch
from found_footy.simulator.feed_script import Fault, Feeds, Limits
from found_footy.simulator.notation import MinuteOfPlay, Moment
from found_footy.simulator.script_model import Model
from found_footy.simulator.services_script import Services

UPCOMING_FROM = 12 * 3600
"""A match that kicks off this long after the start, or later, stays upcoming for the whole matchday."""

SideName = Literal["home", "away"]
GoalKind = Literal["normal", "penalty", "own_goal"]
Ending = Literal["FT", "AET", "PEN", "ABD", "PST", "CANC"]
IncidentKind = Literal[
    "yellow_card", "red_card", "substitution", "missed_penalty", "var_goal_confirmed", "var_penalty_confirmed"
]
Code = Annotated[str, AfterValidator(checked_code)]


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


class RecordingSource(Model):
    """A folder of recorded answers, relative to the scenario file."""

    espn: Path


class Scenario(Model):
    """A matchday: either scripted matches or a recording."""

    title: str = ""
    leagues: dict[str, League] = Field(default_factory=dict)
    matches: tuple[Match, ...] = ()
    cricket: tuple[CricketMatch, ...] = ()
    faults: tuple[Fault, ...] = ()
    """Of API-Football; the other feeds have their own."""
    feeds: Feeds = Feeds()
    """Who else tells of the matchday."""
    limits: Limits = Limits()
    services: Services = Services()
    """Refusals and outages of the outside services; by default they behave as in late 2026."""
    recording: RecordingSource | None = None

    @property
    def football(self) -> Scenario:
        """The same without cricket, which only shows to those who have a browser."""
        return self.model_copy(update={"cricket": ()})

    @property
    def all_matches(self) -> list[Match | CricketMatch]:
        return [*self.matches, *self.cricket]

    def league_of(self, match: Match) -> League:
        return self.leagues[match.league]
