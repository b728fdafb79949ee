"""A goal, or a wicket, as its search, its proof and its upload need to know it. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from found_footy.domain.discovery.wickets import cricket_names
from found_footy.domain.fixtures.model import GOAL, WICKET, Innings, Kind, League, Minute, Score, Side, Sport, Team
from found_footy.domain.videos.readings import Expectation, WicketExpected


@dataclass(frozen=True, slots=True)
class SoughtGoal:
    id: str
    fixture_id: int
    side: Side
    player: str | None
    kind: Kind
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
    type: str = GOAL
    assist: str | None = None
    """Of a wicket the bowler."""
    innings: tuple[Innings, ...] = ()
    """Of the match, as far as it is known."""

    @property
    def sport(self) -> Sport:
        return Sport.CRICKET if self.type == WICKET else Sport.FOOTBALL

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
        if self.sport is Sport.CRICKET:
            return Expectation(self.minute, self.home.name, self.away.name, wicket=self._wicket)
        return Expectation(self.minute, self.home.name, self.away.name, self.before, self.after)

    @property
    def _wicket(self) -> WicketExpected:
        """The score counts the wickets of the whole match; a scoreboard those of the innings."""
        batting = Side.AWAY if self.side is Side.HOME else Side.HOME
        number = self.minute.innings
        earlier = [each for each in self.innings if number is not None and each.number < number]
        taken = sum(each.wickets for each in earlier if each.batting is batting)
        # In the first two innings each side bats once; later on the earlier innings must be known.
        known = number is not None and (number <= 2 or len(earlier) == number - 1)
        before, after = self.before.of(self.side) - taken, self.after.of(self.side) - taken
        known = known and 0 <= before < after <= 10
        return WicketExpected(
            batting,
            before if known else None,
            after if known else None,
            self.home.short,
            self.away.short,
        )

    def names(self, side: Side) -> tuple[str, ...]:
        """What a team is searched by; its own name where nothing better is known.

        Nobody looks up what cricket teams are called: a country's other names are its football team's.
        """
        if self.sport is Sport.CRICKET:
            return cricket_names(self.home if side is Side.HOME else self.away)
        aliases, team = (self.home_aliases, self.home) if side is Side.HOME else (self.away_aliases, self.away)
        return aliases or (team.name,)
