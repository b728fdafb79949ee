"""The numbers that a match can have at all. Adapters check shapes; what is checked here is the sense."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.fixtures.model import Innings, LiveFixture, Minute, Score, Sport
from found_footy.domain.fixtures.statuses import PHASES

MOST_GOALS = 100
"""Of both sides together; wickets end at forty."""
MOST_WICKETS, MOST_BALLS = 10, 5
"""Of one innings, and of an over that is not complete."""
MOST_RUNS = 2000
MOST_INNINGS = 12
"""Four, and super overs."""
LAST_MINUTE, MOST_STOPPAGE = 150, 60
LAST_OVER, LAST_BALL = 500, 9


def impossible_values(live: LiveFixture) -> Iterator[FeedSchemaError]:
    """Each with the name of its field; the first one is enough to refuse the answer."""
    if live.status not in PHASES:
        yield FeedSchemaError("status", live.status, "a status that is known")
    yield from _moment("kickoff", live.kickoff)
    if live.last_event is not None and live.last_event.at is not None:
        yield from _moment("last_event.at", live.last_event.at)
    if (live.home.id, live.home.name) == (live.away.id, live.away.name) and live.score is not None:
        yield FeedSchemaError("teams", live.home.name, "two different teams")
    yield from _score("score", live.score)
    yield from _score("penalties", live.penalties)
    if live.minute is not None:
        yield from _minute("minute", live.minute, live.sport)
    if len(live.goals) > MOST_GOALS:
        yield FeedSchemaError("goals", len(live.goals), f"at most {MOST_GOALS}")
    for goal in live.goals:
        yield from _minute("goals.minute", goal.minute, live.sport)
    if len({innings.number for innings in live.innings}) < len(live.innings):
        yield FeedSchemaError("innings", [innings.number for innings in live.innings], "each number once")
    for innings in live.innings:
        yield from _innings(innings)


def _moment(field: str, at: datetime) -> Iterator[FeedSchemaError]:
    if at.tzinfo is None:
        yield FeedSchemaError(field, at.isoformat(), "a time with its zone")


def _score(field: str, score: Score | None) -> Iterator[FeedSchemaError]:
    if score is not None and not (min(score.home, score.away) >= 0 and score.home + score.away <= MOST_GOALS):
        yield FeedSchemaError(field, str(score), f"from 0 to {MOST_GOALS}")


def _minute(field: str, minute: Minute, sport: Sport) -> Iterator[FeedSchemaError]:
    cricket = sport is Sport.CRICKET
    last, most = (LAST_OVER, LAST_BALL) if cricket else (LAST_MINUTE, MOST_STOPPAGE)
    if (minute.innings is not None) is not cricket:
        yield FeedSchemaError(field, minute.innings, "an innings in cricket, and none in football")
    if not 0 <= minute.elapsed <= last or not 0 <= (minute.extra or 0) <= most:
        yield FeedSchemaError(field, f"{minute.elapsed}+{minute.extra}", f"from 0 to {last}, and {most} beyond")


def _innings(innings: Innings) -> Iterator[FeedSchemaError]:
    limits = {
        "number": (innings.number, 1, MOST_INNINGS),
        "runs": (innings.runs, 0, MOST_RUNS),
        "wickets": (innings.wickets, 0, MOST_WICKETS),
        "overs": (innings.overs, 0, LAST_OVER),
        "balls": (innings.balls, 0, MOST_BALLS),
    }
    for name, (value, least, most) in limits.items():
        if not least <= value <= most:
            yield FeedSchemaError(f"innings.{name}", value, f"from {least} to {most}")
