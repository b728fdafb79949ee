"""A goal or wicket with the fields that search, verification and upload need."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from found_footy.clips.models import Expectation, WicketExpectation
from found_footy.discovery.query import cricket_names
from found_footy.fixtures.models import GOAL, WICKET, Innings, Kind, League, MatchMinute, Score, Side, Sport, Team


@dataclass(frozen=True, slots=True)
class SoughtGoal:
    id: str
    fixture_id: int
    side: Side
    player: str | None
    kind: Kind
    minute: MatchMinute
    before: Score
    after: Score
    home: Team
    away: Team
    league: League
    home_aliases: tuple[str, ...] = ()
    """Empty if not resolved yet."""
    away_aliases: tuple[str, ...] = ()
    stable: bool = True
    removed_at: datetime | None = None
    complete: bool = False
    type: str = GOAL
    assist: str | None = None
    """The bowler, for a wicket."""
    innings: tuple[Innings, ...] = ()
    """Known innings of the match."""

    @property
    def sport(self) -> Sport:
        return Sport.CRICKET if self.type == WICKET else Sport.FOOTBALL

    @property
    def wanted(self) -> bool:
        """Whether the goal is stable and not withdrawn."""
        return self.stable and self.removed_at is None

    @property
    def team(self) -> Team:
        """The team that the goal counts for."""
        return self.home if self.side is Side.HOME else self.away

    @property
    def expectation(self) -> Expectation:
        """What a clip of the goal must show."""
        if self.sport is Sport.CRICKET:
            return Expectation(self.minute, self.home.name, self.away.name, wicket=self._wicket)
        return Expectation(self.minute, self.home.name, self.away.name, self.before, self.after)

    @property
    def _wicket(self) -> WicketExpectation:
        """Convert match wickets to innings wickets: the score counts the whole match, a scoreboard the innings."""
        batting = Side.AWAY if self.side is Side.HOME else Side.HOME
        number = self.minute.innings
        earlier = [each for each in self.innings if number is not None and each.number < number]
        taken = sum(each.wickets for each in earlier if each.batting is batting)
        # Each side bats once in the first two innings; after that, all earlier innings must be known.
        known = number is not None and (number <= 2 or len(earlier) == number - 1)
        before, after = self.before.of(self.side) - taken, self.after.of(self.side) - taken
        known = known and 0 <= before < after <= 10
        return WicketExpectation(
            batting,
            before if known else None,
            after if known else None,
            self.home.short,
            self.away.short,
        )

    def names(self, side: Side) -> tuple[str, ...]:
        """Return the names to search a team by, or its own name without aliases.

        Cricket teams have no aliases: a country's other names in Wikidata are those of its football team.
        """
        if self.sport is Sport.CRICKET:
            return cricket_names(self.home if side is Side.HOME else self.away)
        aliases, team = (self.home_aliases, self.home) if side is Side.HOME else (self.away_aliases, self.away)
        return aliases or (team.name,)
