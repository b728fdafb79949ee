"""Search queries, shared by all sources."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from found_footy.discovery.aliases import select_aliases
from found_footy.discovery.models import OPERATORS, TargetGoal
from found_footy.discovery.player_names import player_search_names
from found_footy.fixtures.models import GoalKind, Side, Sport, Team
from found_footy.text import folded, unique


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A post must name the scorer, if known, and a team. Names are spelled as people write them."""

    players: tuple[str, ...]
    teams: tuple[str, ...]
    words: tuple[str, ...] = ()
    """If not empty, a post must also contain one of these."""
    sport: Sport = Sport.FOOTBALL
    """Selects where to search in sources that separate sports."""

    @property
    def text(self) -> str:
        """The query in the syntax of X and Bluesky: `(Florian OR Wirtz) (LFC OR Liverpool)`."""
        return " ".join(group for words in self._groups if (group := _group(words)))

    def texts(self, max_length: int, max_texts: int = 2) -> list[str]:
        """Return at most `max_texts` texts of at most `max_length` characters that together cover as many names as fit.

        Names are ordered by usefulness. If one text is too long, the teams are split over several; names that do not
        fit are dropped, players last.
        """
        if query_length(self.text) <= max_length:
            return [self.text]
        for players in range(len(self.players), -1, -1):
            shortened = replace(self, players=self.players[:players])
            groups: list[tuple[str, ...]] = []
            for team in self.teams:
                if groups and query_length(replace(shortened, teams=(*groups[-1], team)).text) <= max_length:
                    groups[-1] = (*groups[-1], team)
                elif query_length(replace(shortened, teams=(team,)).text) <= max_length and len(groups) < max_texts:
                    groups.append((team,))
            if groups or (not self.teams and query_length(shortened.text) <= max_length):
                return [replace(shortened, teams=group).text for group in groups or [()] if shortened.players or group]
        return []

    def matches(self, text: str) -> bool:
        """Whether a text satisfies the query, for sources without a search function."""
        normalized = f" {folded(text)} "
        return all(any(_normalized_word(word) in normalized for word in words) for words in self._groups if words)

    @property
    def _groups(self) -> tuple[tuple[str, ...], ...]:
        return self.players, self.teams, self.words


def query_length(text: str) -> int:
    """Length in UTF-16 code units, as X counts: most emoji are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@lru_cache(maxsize=1024)
def _normalized_word(word: str) -> str:
    """Return the word, normalized and between spaces. Cached: the same few words are matched against many titles."""
    return f" {folded(word)} "


def _group(words: tuple[str, ...]) -> str:
    terms = [term for word in words if (term := _term(word))]
    return f"({' OR '.join(terms)})" if len(terms) > 1 else "".join(terms)


def _term(word: str) -> str:
    """Quote everything but a single word, so that hyphens, colons and operators are plain text."""
    cleaned = " ".join(_QUOTES.sub(" ", word).split())
    is_plain_word = re.fullmatch(r"\w+", cleaned) and cleaned.casefold() not in OPERATORS
    return cleaned if is_plain_word or not cleaned else f'"{cleaned}"'


_QUOTES = re.compile('["“”„‟«»＂\x00-\x1f\x7f]')
"""Quotation marks and control characters, which a query must not contain."""


# --- Query for a goal.


MAX_QUERY_LENGTH = 400
"""Maximum characters of a query; X accepts about 500."""


def goal_query(player: str | None, aliases: Sequence[str], other: Sequence[str] = ()) -> SearchQuery:
    """Build the query for a goal; without a scorer it names only the teams.

    `aliases` belong to the team that the goal counts for. The scorer of an own goal plays for the `other` team and
    posts name either, so both teams' aliases are interleaved.
    """
    players = player_search_names(player)
    teams = tuple(dict.fromkeys(_interleave(aliases, other)))
    while len(teams) > 1 and len(SearchQuery(players, teams).text) > MAX_QUERY_LENGTH:
        teams = teams[:-1]
    return SearchQuery(players, teams)


def _interleave(aliases: Iterable[str], other: Iterable[str]) -> Iterator[str]:
    for pair in itertools.zip_longest(aliases, other):
        yield from (name for name in pair if name is not None)


# --- Query for a wicket.


DISMISSAL_WORDS = ("wicket", "out", "bowled", "caught", "catch", "lbw", "stumped", "dismissed", "gone")
"""Match `run out` and `clean bowled` as well."""
_CODE = re.compile(r"[A-Z]{2,5}")


def cricket_team_names(team: Team) -> tuple[str, ...]:
    """Return the team's name and its abbreviation, which is common in posts and hashtags."""
    code = (team.short,) if team.short and _CODE.fullmatch(team.short) else ()
    return unique([*(select_aliases(team.name, ()) or (team.name,)), *code])


def wicket_query(
    batter: str | None, bowler: str | None, batting: Sequence[str], fielding: Sequence[str]
) -> SearchQuery:
    """Build the query for a wicket: one of the two players, one of the two teams, and a word for a dismissal.

    Without a known batter the players are left out, because the bowler alone would match all of his other wickets.
    """
    batter_names = player_search_names(batter)
    players = unique([*batter_names, *player_search_names(bowler)]) if batter_names else ()
    interleaved = itertools.chain.from_iterable(itertools.zip_longest(batting, fielding))
    teams = unique(name for name in interleaved if name is not None)
    query = SearchQuery(players, teams, DISMISSAL_WORDS, Sport.CRICKET)
    while len(teams) > 1 and len(query.text) > MAX_QUERY_LENGTH:
        teams = teams[:-1]
        query = SearchQuery(players, teams, DISMISSAL_WORDS, Sport.CRICKET)
    return query


# --- Query for a goal or a wicket.


def build_query(goal: TargetGoal) -> SearchQuery:
    """Build the query from scorer and team. Own goals and wickets use both teams, because posts name either."""
    own_goal = goal.kind is GoalKind.OWN_GOAL
    other = Side.AWAY if goal.side is Side.HOME else Side.HOME
    if goal.sport is Sport.CRICKET:
        return wicket_query(
            goal.player, goal.assist, team_search_names(goal, other), team_search_names(goal, goal.side)
        )
    return goal_query(
        goal.player, team_search_names(goal, goal.side), team_search_names(goal, other) if own_goal else ()
    )


def team_search_names(goal: TargetGoal, side: Side) -> tuple[str, ...]:
    """Return the names to search for a team: its aliases, or its name if it has none.

    Cricket teams have no aliases: a country's other names in Wikidata are those of its football team.
    """
    aliases, team = (goal.home_aliases, goal.home) if side is Side.HOME else (goal.away_aliases, goal.away)
    if goal.sport is Sport.CRICKET:
        return cricket_team_names(team)
    return aliases or (team.name,)
