"""Mapping of feed ids to fixture ids. Two feeds may use the same number for different matches, teams or players."""

from __future__ import annotations

import zlib
from dataclasses import replace

from found_footy.errors import FeedSchemaError
from found_footy.feeds.models import FeedReport, FixtureIdentity
from found_footy.fixtures.models import Innings, LiveFixture, LiveGoal, Player, Score, Side, Team, Toss

ID_SPAN = 10**12
"""Larger than any id that a feed uses."""
MAX_FEEDS = 8999
"""Keeps all ids below 2**53, the largest exact integer in JavaScript."""


def id_offset(feed: str, *, is_primary: bool) -> int:
    """Return the offset added to a feed's ids: 0 for the primary feed, whose ids are used unchanged."""
    return 0 if is_primary else ID_SPAN * (1 + zlib.crc32(feed.encode()) % MAX_FEEDS)


def to_fixture_ids(live: LiveFixture, offset: int) -> LiveFixture:
    """Return the match with all ids shifted by the feed's offset, for a fixture created by this feed."""
    if not offset:
        return live
    return replace(
        live,
        id=_to_fixture_id(live.id, offset),
        league=replace(live.league, id=_to_fixture_id(live.league.id, offset)),
        home=_team(live.home, offset),
        away=_team(live.away, offset),
        goals=tuple(_goal(goal, offset) for goal in live.goals),
    )


def _to_fixture_id(id_: int, offset: int) -> int:
    if not 0 <= id_ < ID_SPAN:
        raise FeedSchemaError("id", id_, f"a number below {ID_SPAN}")
    return id_ + offset


def _team(team: Team, offset: int) -> Team:
    return replace(team, id=_to_fixture_id(team.id, offset))


def _person(person: Player, offset: int) -> Player:
    return person if person.id is None else replace(person, id=_to_fixture_id(person.id, offset))


def _goal(goal: LiveGoal, offset: int) -> LiveGoal:
    return replace(goal, player=_person(goal.player, offset), assist=_person(goal.assist, offset))


# --- Align a feed's report with the fixture: fixture ids, team names and home side.


OPPOSITE = {Side.HOME: Side.AWAY, Side.AWAY: Side.HOME}


def align_to_fixture(match: FixtureIdentity, report: FeedReport) -> LiveFixture:
    live = report.live
    if report.founding and not report.swapped:
        home, away = _with_short_name(match.home, live.home), _with_short_name(match.away, live.away)
        return replace(live, id=match.id, home=home, away=away)
    home, away = (live.away, live.home) if report.swapped else (live.home, live.away)
    return replace(
        live,
        id=match.id,
        home=_with_short_name(match.home, home),
        away=_with_short_name(match.away, away),
        score=_score(live.score, swapped=report.swapped),
        penalties=_score(live.penalties, swapped=report.swapped),
        goals=tuple(_align_goal(goal, report) for goal in live.goals),
        innings=tuple(_innings(innings, swapped=report.swapped) for innings in live.innings),
        toss=_toss(live.toss, swapped=report.swapped),
    )


def _with_short_name(team: Team, reported: Team) -> Team:
    return replace(team, short=reported.short) if team.short is None and reported.short else team


def _side(side: Side, *, swapped: bool) -> Side:
    return OPPOSITE[side] if swapped else side


def _score(score: Score | None, *, swapped: bool) -> Score | None:
    return Score(score.away, score.home) if swapped and score is not None else score


def _innings(innings: Innings, *, swapped: bool) -> Innings:
    return replace(innings, batting=_side(innings.batting, swapped=swapped))


def _toss(toss: Toss | None, *, swapped: bool) -> Toss | None:
    return None if toss is None else replace(toss, winner=_side(toss.winner, swapped=swapped))


def _align_goal(goal: LiveGoal, report: FeedReport) -> LiveGoal:
    side = _side(goal.side, swapped=report.swapped)
    if report.founding:
        return replace(goal, side=side)
    return replace(goal, side=side, player=_without_id(goal.player), assist=_without_id(goal.assist))


def _without_id(person: Player) -> Player:
    """Drop the player id: ids are comparable only within the feed that created the fixture."""
    return Player(None, person.name)
