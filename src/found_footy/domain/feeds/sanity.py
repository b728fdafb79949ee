"""Whether an answer can be: numbers that no match has, a clock that is off, a match that goes back in time.

An answer is held against the feed's own last good one. A refused answer does not take that one's place, so a feed
that stays with its word is heard again once the old one is older than REMEMBERED: the caller hands over nothing
that is older. A score that goes down is no fault; goals are taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from found_footy.domain.errors import FeedError, FeedSchemaError, FeedTimeWrong
from found_footy.domain.feeds.possible_values import impossible_values
from found_footy.domain.fixtures.identity import minutes_apart
from found_footy.domain.fixtures.model import LiveFixture, Minute
from found_footy.domain.fixtures.statuses import PHASES, Phase

REMEMBERED = timedelta(minutes=3)
"""So long the last good answer speaks against one that goes back in time."""
EARLY = timedelta(minutes=30)
"""No match starts that long before its time: the time is wrong, or the feed's clock."""
AHEAD = timedelta(minutes=5)
"""What has happened cannot lie further in the future than clocks differ."""
CORRECTED_MINUTES = 3
"""Feeds set their clocks back by so much without meaning anything by it."""
CORRECTED_OVERS = 1
ZONES_APART = 14
"""Hours between a time and the same time taken for another zone's, at most."""

_RANKS = {
    **dict.fromkeys(["NS", "TBD"], 0),
    "1H": 1,
    "HT": 2,
    "2H": 3,
    **dict.fromkeys(["ET", "BT"], 4),  # a break in extra time has extra time on both sides
    "P": 5,
    **dict.fromkeys(["FT", "AET", "PEN", "RESULT", "DRAW", "TIE"], 6),
}
"""The order of a match. Statuses that are not here may come before and after any."""

_GOES_ON = frozenset([("FT", "ET"), ("FT", "BT"), ("FT", "P"), ("AET", "P")])
"""After the end of the regular time a match may go on."""

_TAKEN_BACK = frozenset([("HT", "1H"), ("2H", "HT"), ("FT", "2H"), ("AET", "ET"), ("PEN", "P"), ("P", "ET")])
"""A whistle that the feed heard too early. An old answer looks the same, but its clock is behind."""


def check_answer(previous: LiveFixture | None, new: LiveFixture, now: datetime) -> FeedError | None:
    """What is wrong with it, or None. `now` is the feed's time: for a recording, when it was recorded."""
    return next(_problems(previous, new, now), None)


def _problems(previous: LiveFixture | None, new: LiveFixture, now: datetime) -> Iterator[FeedError]:
    yield from impossible_values(new)
    yield from _wrong_clock(new, now)
    if previous is not None:
        yield from _gone_back(previous, new)


def _wrong_clock(new: LiveFixture, now: datetime) -> Iterator[FeedError]:
    phase = PHASES[new.status]
    early = new.kickoff - now
    if phase is Phase.IN_PLAY and early > EARLY:
        yield FeedTimeWrong(f"in play ({new.status}), {_minutes(early)} minutes before its kick-off")
    if phase is Phase.FINISHED and early > timedelta(0):
        yield FeedTimeWrong(f"finished ({new.status}), {_minutes(early)} minutes before its kick-off")
    at = new.last_event.at if new.last_event else None
    if at is not None and at - now > AHEAD:
        yield FeedTimeWrong(f"its last event is {_minutes(at - now)} minutes in the future")


def _gone_back(previous: LiveFixture, new: LiveFixture) -> Iterator[FeedError]:
    begun = PHASES[previous.status] in (Phase.IN_PLAY, Phase.FINISHED)
    if begun and {previous.home.id, previous.away.id} != {new.home.id, new.away.id}:
        expected = f"{previous.home.name} - {previous.away.name}, as before"
        yield FeedSchemaError("teams", f"{new.home.name} - {new.away.name}", expected)
    if begun and PHASES[new.status] in (Phase.IN_PLAY, Phase.FINISHED):
        hours = _whole_hours(new.kickoff - previous.kickoff)
        if hours:
            yield FeedTimeWrong(f"its kick-off moved by {hours:+d} hours while it is played")
    if _status_goes_back(previous, new):
        yield FeedTimeWrong(f"went back from {_moment(previous)} to {_moment(new)}")
    if previous.status == new.status and _clock_goes_back(previous.minute, new.minute):
        yield FeedTimeWrong(f"went back from {_moment(previous)} to {_moment(new)}")
    for old in previous.innings:
        for innings in new.innings:
            if innings.number == old.number and old.overs - innings.overs > CORRECTED_OVERS:
                yield FeedTimeWrong(f"innings {old.number} went back from over {old.overs} to {innings.overs}")


def _status_goes_back(previous: LiveFixture, new: LiveFixture) -> bool:
    step = (previous.status, new.status)
    before, after = PHASES[previous.status], PHASES[new.status]
    if step in _GOES_ON or (previous.status == "TIE" and after is Phase.IN_PLAY):
        return False  # a super over
    if step in _TAKEN_BACK:
        known = previous.minute is not None and new.minute is not None
        return not known or _clock_goes_back(previous.minute, new.minute)
    if before is Phase.FINISHED and after in (Phase.IN_PLAY, Phase.UPCOMING):
        return True
    if before is Phase.IN_PLAY and after is Phase.UPCOMING:
        return True
    ranks = _RANKS.get(previous.status), _RANKS.get(new.status)
    return ranks[0] is not None and ranks[1] is not None and ranks[1] < ranks[0]


def _clock_goes_back(before: Minute | None, after: Minute | None) -> bool:
    if before is None or after is None:
        return False
    if before.innings is not None and after.innings is not None:
        back = (before.innings - after.innings, before.elapsed - after.elapsed)
        return back[0] > 0 or (back[0] == 0 and back[1] > CORRECTED_OVERS)
    return before.order > after.order and minutes_apart(before, after) > CORRECTED_MINUTES


def _whole_hours(shift: timedelta) -> int:
    hours, rest = divmod(shift, timedelta(hours=1))
    return hours if not rest and 0 < abs(hours) <= ZONES_APART else 0


def _moment(live: LiveFixture) -> str:
    return f"{live.status} {live.minute}" if live.minute else live.status


def _minutes(span: timedelta) -> int:
    return int(span.total_seconds() // 60)
