"""What a consumer must have stored when the matchday is over."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from footy_simulator.scenario import SideName
from found_footy.fixtures.models import GOAL, Phase, Sport, phase_of

StageName = Literal["staging", "active", "completed"]
GoalState = Literal["stable", "withdrawn"]
Pair = tuple[int, int]
"""Home, away."""


@dataclass(frozen=True, slots=True)
class ExpectedEvent:
    """Final state of a goal or wicket that was ever visible."""

    side: SideName
    player: str | None
    kind: str
    """As in our models: Normal Goal, Penalty, Own Goal; Caught, Bowled, …"""
    elapsed: int
    extra: int | None
    state: GoalState
    score_after: Pair | None
    """Final score after it; None for a withdrawn goal."""
    also: tuple[str, ...] = ()
    """Other spellings of the player's name."""
    type: str = GOAL
    innings: int | None = None
    """Wickets only; then `elapsed` and `extra` are over and ball."""


@dataclass(frozen=True, slots=True)
class ExpectedMatch:
    """In cricket, `score` counts the wickets taken by each side, and `goals` are those wickets."""

    id: int
    home: str
    away: str
    status: str
    stage: StageName
    score: Pair | None
    penalties: Pair | None
    goals: tuple[ExpectedEvent, ...]
    sport: str = Sport.FOOTBALL.value
    home_also: tuple[str, ...] = ()
    """Names of the side in other feeds."""
    away_also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedOutcome:
    matches: tuple[ExpectedMatch, ...]

    def match(self, match_id: int) -> ExpectedMatch:
        return next(match for match in self.matches if match.id == match_id)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def stage_of(status: str) -> StageName:
    phase = phase_of(status)
    if phase.is_over:
        return "completed"
    return "staging" if phase in (Phase.UPCOMING, Phase.POSTPONED) else "active"


def count(running: Pair, side: SideName) -> Pair:
    """The score after one more goal of this side."""
    home, away = running
    return (home + 1, away) if side == "home" else (home, away + 1)
