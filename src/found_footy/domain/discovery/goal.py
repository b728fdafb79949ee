"""A goal as its search, its proof and its upload need to know it. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from found_footy.domain.fixtures.model import GoalKind, League, Minute, Score, Side, Team
from found_footy.domain.videos.readings import Expectation


@dataclass(frozen=True, slots=True)
class SoughtGoal:
    id: str
    fixture_id: int
    side: Side
    player: str | None
    kind: GoalKind
    minute: Minute
    before: Score
    after: Score
    home: Team
    away: Team
    league: League
    home_aliases: tuple[str, ...] = ()
    """Empty where nobody has looked them up."""
    away_aliases: tuple[str, ...] = ()
    stable: bool = True
    removed_at: datetime | None = None
    complete: bool = False

    @property
    def wanted(self) -> bool:
        """Whether it is worth any more work."""
        return self.stable and self.removed_at is None

    @property
    def team(self) -> Team:
        """The side that it counts for."""
        return self.home if self.side is Side.HOME else self.away

    @property
    def expectation(self) -> Expectation:
        """What a clip of it must show."""
        return Expectation(self.minute, self.home.name, self.away.name, self.before, self.after)

    def names(self, side: Side) -> tuple[str, ...]:
        """What a team is searched by; its own name where nothing better is known."""
        aliases, team = (self.home_aliases, self.home) if side is Side.HOME else (self.away_aliases, self.away)
        return aliases or (team.name,)
