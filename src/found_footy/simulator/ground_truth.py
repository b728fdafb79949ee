"""What a consumer must know once the matchday is over."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from found_footy.domain.fixtures.model import GOAL, Sport
from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.simulator.script import SideName

StageName = Literal["staging", "active", "completed"]
GoalState = Literal["stable", "withdrawn"]
Pair = tuple[int, int]
"""Home, away."""


@dataclass(frozen=True, slots=True)
class TrueGoal:
    """A goal or a wicket that showed at some time, as it stands in the end."""

    side: SideName
    player: str | None
    kind: str
    """In the words of our model: Normal Goal, Penalty, Own Goal; Caught, Bowled, …"""
    elapsed: int
    extra: int | None
    state: GoalState
    score_after: Pair | None
    """In the final count; None for a withdrawn goal, which has no place in it."""
    also: tuple[str, ...] = ()
    """Other spellings of the player's name."""
    type: str = GOAL
    innings: int | None = None
    """Of a wicket, whose `elapsed` and `extra` are its over and ball."""


@dataclass(frozen=True, slots=True)
class TrueMatch:
    """In cricket the score counts the wickets that each side has taken, and those are its goals."""

    id: int
    home: str
    away: str
    status: str
    stage: StageName
    score: Pair | None
    penalties: Pair | None
    goals: tuple[TrueGoal, ...]
    sport: str = Sport.FOOTBALL.value
    home_also: tuple[str, ...] = ()
    """What other feeds call the side."""
    away_also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroundTruth:
    matches: tuple[TrueMatch, ...]

    def match(self, match_id: int) -> TrueMatch:
        return next(match for match in self.matches if match.id == match_id)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def stage_of(status: str) -> StageName:
    phase = phase_of(status)
    if phase.is_over:
        return "completed"
    return "staging" if phase in (Phase.UPCOMING, Phase.POSTPONED) else "active"


def count(running: Pair, side: SideName) -> Pair:
    """The score after one more goal."""
    home, away = running
    return (home + 1, away) if side == "home" else (home, away + 1)
