"""What a consumer must know once the matchday is over."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.simulator.script import SideName

StageName = Literal["staging", "active", "completed"]
GoalState = Literal["stable", "withdrawn"]
Pair = tuple[int, int]
"""Home, away."""


@dataclass(frozen=True, slots=True)
class TrueGoal:
    """A goal that showed at some time, as it stands in the end."""

    side: SideName
    player: str | None
    kind: str
    """In the service's words: Normal Goal, Penalty, Own Goal."""
    elapsed: int
    extra: int | None
    state: GoalState
    score_after: Pair | None
    """In the final count; None for a withdrawn goal, which has no place in it."""


@dataclass(frozen=True, slots=True)
class TrueMatch:
    id: int
    home: str
    away: str
    status: str
    stage: StageName
    score: Pair | None
    penalties: Pair | None
    goals: tuple[TrueGoal, ...]


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
