"""What a wicket is searched by: who is out and who bowled, both teams, and the words that people have for it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from found_footy.domain.discovery.aliases import LONGEST_QUERY, choose_aliases
from found_footy.domain.discovery.players import search_names
from found_footy.domain.discovery.query import SearchQuery, unique
from found_footy.domain.fixtures.model import Sport, Team

WORDS = ("wicket", "out", "bowled", "caught", "catch", "lbw", "stumped", "dismissed", "gone")
"""`run out` and `clean bowled` are found by one of them."""
_CODE = re.compile(r"[A-Z]{2,5}")


def cricket_names(team: Team) -> tuple[str, ...]:
    """The team's name, and its letters, which posts and hashtags are full of."""
    code = (team.short,) if team.short and _CODE.fullmatch(team.short) else ()
    return unique([*(choose_aliases(team.name, ()) or (team.name,)), *code])


def wicket_query(
    batter: str | None, bowler: str | None, batting: Sequence[str], fielding: Sequence[str]
) -> SearchQuery:
    """A post names one of the two players and one of the two teams, and says that somebody is out.

    Where nobody knows who is out, the bowler alone would find all of his other wickets: then the teams must do.
    """
    known = search_names(batter)
    players = unique([*known, *search_names(bowler)]) if known else ()
    both = itertools.chain.from_iterable(itertools.zip_longest(batting, fielding))
    teams = unique(name for name in both if name is not None)
    query = SearchQuery(players, teams, WORDS, Sport.CRICKET)
    while len(teams) > 1 and len(query.text) > LONGEST_QUERY:
        teams = teams[:-1]
        query = SearchQuery(players, teams, WORDS, Sport.CRICKET)
    return query
