"""Plausibility checks for one answer: impossible values, wrong clock, regression against the last good answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from found_footy.errors import FeedError, FeedSchemaError, FeedTimeWrong
from found_footy.feeds.models import MatchPosition
from found_footy.fixtures.identity import minutes_apart
from found_footy.fixtures.models import PHASES, Innings, LiveFixture, MatchMinute, Phase, Score, Sport
from found_footy.json_reader import STORABLE, JsonReader

MAX_GOALS = 60
"""Maximum number of goals, or of wickets: four innings have at most forty."""

LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def parse_kickoff(field: str, text: str) -> datetime:
    return JsonReader(text, field).timestamp()


def require_storable(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the document. Raises FeedSchemaError for values that PostgreSQL cannot store, even escaped in JSON."""
    try:
        text = json.dumps(raw, ensure_ascii=False, allow_nan=False)
    except ValueError as error:  # Python parses NaN and 1e999 as numbers; JSON has neither
        raise FeedSchemaError("raw", "NaN or an infinite number", "finite numbers") from error
    if "\\u0000" in text or LONE_SURROGATE.search(text):
        raise FeedSchemaError("raw", "valid Unicode", STORABLE)
    return raw


# --- Range checks. Adapters validate the shape of an answer, these its values.


MAX_TOTAL_GOALS = 100
"""Both sides together; a match has at most forty wickets."""
MAX_WICKETS, MAX_BALLS = 10, 5
"""Of one innings, and of an incomplete over."""
MAX_RUNS = 2000
MAX_INNINGS = 12
"""Four innings and super overs."""
MAX_MINUTE, MAX_STOPPAGE = 150, 60
MAX_OVER, MAX_BALL = 500, 9


def find_impossible_values(live: LiveFixture) -> Iterator[FeedSchemaError]:
    """Yield an error with the field name for each impossible value; the first one rejects the answer."""
    if live.status not in PHASES:
        yield FeedSchemaError("status", live.status, "a known status")
    yield from _moment("kickoff", live.kickoff)
    if live.last_event is not None and live.last_event.at is not None:
        yield from _moment("last_event.at", live.last_event.at)
    if (live.home.id, live.home.name) == (live.away.id, live.away.name) and live.score is not None:
        yield FeedSchemaError("teams", live.home.name, "two different teams")
    yield from _score("score", live.score)
    yield from _score("penalties", live.penalties)
    if live.minute is not None:
        yield from _minute("minute", live.minute, live.sport)
    if len(live.goals) > MAX_TOTAL_GOALS:
        yield FeedSchemaError("goals", len(live.goals), f"at most {MAX_TOTAL_GOALS}")
    for goal in live.goals:
        yield from _minute("goals.minute", goal.minute, live.sport)
    if len({innings.number for innings in live.innings}) < len(live.innings):
        yield FeedSchemaError("innings", [innings.number for innings in live.innings], "each number once")
    for innings in live.innings:
        yield from _innings(innings)


def _moment(field: str, at: datetime) -> Iterator[FeedSchemaError]:
    if at.tzinfo is None:
        yield FeedSchemaError(field, at.isoformat(), "a time with a time zone")


def _score(field: str, score: Score | None) -> Iterator[FeedSchemaError]:
    if score is not None and not (min(score.home, score.away) >= 0 and score.home + score.away <= MAX_TOTAL_GOALS):
        yield FeedSchemaError(field, str(score), f"from 0 to {MAX_TOTAL_GOALS}")


def _minute(field: str, minute: MatchMinute, sport: Sport) -> Iterator[FeedSchemaError]:
    cricket = sport is Sport.CRICKET
    max_elapsed, max_extra = (MAX_OVER, MAX_BALL) if cricket else (MAX_MINUTE, MAX_STOPPAGE)
    if (minute.innings is not None) is not cricket:
        yield FeedSchemaError(field, minute.innings, "an innings in cricket, and none in football")
    if not 0 <= minute.elapsed <= max_elapsed or not 0 <= (minute.extra or 0) <= max_extra:
        yield FeedSchemaError(field, f"{minute.elapsed}+{minute.extra}", f"0 to {max_elapsed} plus at most {max_extra}")


def _innings(innings: Innings) -> Iterator[FeedSchemaError]:
    limits = {
        "number": (innings.number, 1, MAX_INNINGS),
        "runs": (innings.runs, 0, MAX_RUNS),
        "wickets": (innings.wickets, 0, MAX_WICKETS),
        "overs": (innings.overs, 0, MAX_OVER),
        "balls": (innings.balls, 0, MAX_BALLS),
    }
    for name, (value, minimum, maximum) in limits.items():
        if not minimum <= value <= maximum:
            yield FeedSchemaError(f"innings.{name}", value, f"from {minimum} to {maximum}")


# --- Plausibility: impossible values, wrong clock, regression.


COMPARE_WINDOW = timedelta(minutes=3)
"""Maximum age of a good answer that a new one must not regress from."""
MAX_EARLY_START = timedelta(minutes=30)
"""No match starts earlier than this: the kick-off or the feed's clock is wrong."""
MAX_CLOCK_SKEW = timedelta(minutes=5)
"""Maximum time by which a past event may seem to be in the future."""
MAX_CLOCK_CORRECTION_MINUTES = 3
"""Feeds may set the match clock back by this much as a normal correction."""
MAX_CLOCK_CORRECTION_OVERS = 1
MAX_ZONE_OFFSET_HOURS = 14
"""Maximum error, in hours, of a time in the wrong time zone."""

_RANKS = {
    **dict.fromkeys(["NS", "TBD"], 0),
    "1H": 1,
    "HT": 2,
    "2H": 3,
    **dict.fromkeys(["ET", "BT"], 4),  # extra time precedes and follows its break
    "P": 5,
    **dict.fromkeys(["FT", "AET", "PEN", "RESULT", "DRAW", "TIE"], 6),
}
"""Order of statuses. Those not listed may precede or follow any other."""

CONTINUATIONS = frozenset([("FT", "ET"), ("FT", "BT"), ("FT", "P"), ("AET", "P")])
"""A match may continue after regular time."""

CORRECTIONS = frozenset([("HT", "1H"), ("2H", "HT"), ("FT", "2H"), ("AET", "ET"), ("PEN", "P"), ("P", "ET")])
"""Corrections of a whistle reported too early. An outdated answer looks the same, but its clock is behind."""


def position_of(live: LiveFixture) -> MatchPosition:
    overs = tuple((innings.number, innings.overs) for innings in live.innings)
    return MatchPosition(live.status, live.kickoff, live.home, live.away, live.minute, overs)


def find_problem(previous: MatchPosition | None, new: LiveFixture, now: datetime) -> FeedError | None:
    """Return the first problem, or None. `now` is the feed's time: for a recording, when it was recorded."""
    return next(_find_problems(previous, new, now), None)


def _find_problems(previous: MatchPosition | None, new: LiveFixture, now: datetime) -> Iterator[FeedError]:
    yield from find_impossible_values(new)
    yield from _find_clock_errors(new, now)
    if previous is not None:
        yield from _find_regressions(previous, new)


def _find_clock_errors(new: LiveFixture, now: datetime) -> Iterator[FeedError]:
    phase = PHASES[new.status]
    early = new.kickoff - now
    if phase is Phase.IN_PLAY and early > MAX_EARLY_START:
        yield FeedTimeWrong(f"in play ({new.status}) {_minutes(early)} minutes before kick-off")
    if phase is Phase.FINISHED and early > timedelta(0):
        yield FeedTimeWrong(f"finished ({new.status}) {_minutes(early)} minutes before kick-off")
    at = new.last_event.at if new.last_event else None
    if at is not None and at - now > MAX_CLOCK_SKEW:
        yield FeedTimeWrong(f"the last event is {_minutes(at - now)} minutes in the future")


def _find_regressions(previous: MatchPosition, new: LiveFixture) -> Iterator[FeedError]:
    has_started = PHASES[previous.status] in (Phase.IN_PLAY, Phase.FINISHED)
    if has_started and {previous.home.id, previous.away.id} != {new.home.id, new.away.id}:
        expected = f"{previous.home.name} - {previous.away.name}, as before"
        yield FeedSchemaError("teams", f"{new.home.name} - {new.away.name}", expected)
    if has_started and PHASES[new.status] in (Phase.IN_PLAY, Phase.FINISHED):
        hours = _whole_hours(new.kickoff - previous.kickoff)
        if hours:
            yield FeedTimeWrong(f"the kick-off moved by {hours:+d} hours during play")
    if _has_status_regressed(previous, new):
        yield FeedTimeWrong(f"match state regressed from {_format(previous)} to {_format(new)}")
    if previous.status == new.status and _has_clock_regressed(previous.minute, new.minute):
        yield FeedTimeWrong(f"match state regressed from {_format(previous)} to {_format(new)}")
    before = dict(previous.overs)
    for innings in new.innings:
        overs = before.get(innings.number, 0)
        if overs - innings.overs > MAX_CLOCK_CORRECTION_OVERS:
            yield FeedTimeWrong(f"innings {innings.number} regressed from over {overs} to {innings.overs}")


def _has_status_regressed(previous: MatchPosition, new: LiveFixture) -> bool:
    step = (previous.status, new.status)
    before, after = PHASES[previous.status], PHASES[new.status]
    if step in CONTINUATIONS or (previous.status == "TIE" and after is Phase.IN_PLAY):
        return False  # a super over
    if step in CORRECTIONS:
        has_clocks = previous.minute is not None and new.minute is not None
        return not has_clocks or _has_clock_regressed(previous.minute, new.minute)
    if before is Phase.FINISHED and after in (Phase.IN_PLAY, Phase.UPCOMING):
        return True
    if before is Phase.IN_PLAY and after is Phase.UPCOMING:
        return True
    ranks = _RANKS.get(previous.status), _RANKS.get(new.status)
    return ranks[0] is not None and ranks[1] is not None and ranks[1] < ranks[0]


def _has_clock_regressed(before: MatchMinute | None, after: MatchMinute | None) -> bool:
    if before is None or after is None:
        return False
    if before.innings is not None and after.innings is not None:
        regression = (before.innings - after.innings, before.elapsed - after.elapsed)
        return regression[0] > 0 or (regression[0] == 0 and regression[1] > MAX_CLOCK_CORRECTION_OVERS)
    return before.order > after.order and minutes_apart(before, after) > MAX_CLOCK_CORRECTION_MINUTES


def _whole_hours(shift: timedelta) -> int:
    hours, rest = divmod(shift, timedelta(hours=1))
    return hours if not rest and 0 < abs(hours) <= MAX_ZONE_OFFSET_HOURS else 0


def _format(at: MatchPosition | LiveFixture) -> str:
    return f"{at.status} {at.minute}" if at.minute else at.status


def _minutes(span: timedelta) -> int:
    return int(span.total_seconds() // 60)
