"""Our ids for what a feed lists. Two feeds use the same numbers for different matches, teams and players."""

from __future__ import annotations

import zlib
from dataclasses import replace

from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.fixtures.model import LiveFixture, LiveGoal, Person, Team

SPAN = 10**12
"""More than any feed counts to."""
SPACES = 8999
"""So many that all ids stay below 2**53, which is where JavaScript ends."""


def id_space(feed: str, *, own: bool) -> int:
    """What is added to a feed's ids to make them ours: nothing for the one feed whose ids are ours."""
    return 0 if own else SPAN * (1 + zlib.crc32(feed.encode()) % SPACES)


def in_our_ids(live: LiveFixture, space: int) -> LiveFixture:
    """The same match, founded by this feed: all its ids become ours."""
    if not space:
        return live
    return replace(
        live,
        id=_ours(live.id, space),
        league=replace(live.league, id=_ours(live.league.id, space)),
        home=_team(live.home, space),
        away=_team(live.away, space),
        goals=tuple(_goal(goal, space) for goal in live.goals),
    )


def _ours(id_: int, space: int) -> int:
    if not 0 <= id_ < SPAN:
        raise FeedSchemaError("id", id_, f"a number below {SPAN}")
    return id_ + space


def _team(team: Team, space: int) -> Team:
    return replace(team, id=_ours(team.id, space))


def _person(person: Person, space: int) -> Person:
    return person if person.id is None else replace(person, id=_ours(person.id, space))


def _goal(goal: LiveGoal, space: int) -> LiveGoal:
    return replace(goal, player=_person(goal.player, space), assist=_person(goal.assist, space))
