"""Is this clip that goal? What the readings of its frames prove, beside what the feed says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from found_footy.domain.fixtures.model import Score
from found_footy.domain.videos.clock_text import Period
from found_footy.domain.videos.looking import (
    clock_of,
    is_screen,
    is_soccer,
    minute_of,
    stoppage_of,
    without_times_of_day,
)
from found_footy.domain.videos.match_clock import (
    LONGEST_STOPPAGE,
    PERIOD_ENDS,
    MatchClock,
    compute_absolute_minute,
    parse_added_field,
)
from found_footy.domain.videos.readings import Expectation, FrameReading, Proof
from found_footy.domain.videos.team_letters import other_match, turned_around

TOLERANCE = 3
"""Minutes. Feeds count started minutes, clips begin before the goal, and replays come after it."""


class Status(StrEnum):
    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    REJECTED = "rejected"


class Reason(StrEnum):
    NOT_SOCCER = "not soccer"
    FILMED_SCREEN = "filmed screen"
    WRONG_MINUTE = "wrong minute"
    OTHER_TEAMS = "other teams"
    OTHER_SCORE = "other score"
    NO_CLOCK = "no clock"
    CLOCKS_DISAGREE = "clocks disagree"
    STOPPAGE_UNREAD = "stoppage time unread"
    # of a wicket
    NOT_CRICKET = "not cricket"
    WRONG_OVER = "wrong over"
    OTHER_INNINGS = "other innings"
    SCORE_UNREAD = "score unread"


@dataclass(frozen=True, slots=True)
class Verification:
    status: Status
    minute: int | None
    """As the deciding frame's clock shows it; of a wicket the over."""
    reason: Reason | None
    """None where verified."""
    proof: Proof | None
    """None where no frame was read."""


class _Says(StrEnum):
    FITS = "fits"
    OUTSIDE = "outside"
    OPEN = "open"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class _Judged:
    says: _Says
    minute: int | None
    reading: FrameReading


def validate_timestamp(
    readings: Sequence[FrameReading], expectation: Expectation, tolerance: int = TOLERANCE
) -> Verification:
    """Verified only on a clock that fits; rejected only on something that was read. Anything less is unverified."""
    if is_soccer(readings) is False:
        return _result(Status.REJECTED, Reason.NOT_SOCCER, _first(readings), readings, expectation)
    if is_screen(readings) is True:
        return _result(Status.REJECTED, Reason.FILMED_SCREEN, _first(readings), readings, expectation)
    judged = [_judge(reading, expectation, tolerance) for reading in without_times_of_day(readings)]
    status, reason, decisive = _by_clock(judged)
    contradiction = _contradiction(readings, expectation)
    if contradiction is not None and status is not Status.REJECTED:
        status, reason = Status.REJECTED, contradiction
    return _result(status, reason, decisive, readings, expectation)


def _by_clock(judged: Sequence[_Judged]) -> tuple[Status, Reason | None, _Judged | None]:
    kinds = {kind: [each for each in judged if each.says is kind] for kind in _Says}
    fits, outside = kinds[_Says.FITS], kinds[_Says.OUTSIDE]
    if len(fits) > len(outside):
        return Status.VERIFIED, None, fits[0]
    if len(outside) > len(fits):
        return Status.REJECTED, Reason.WRONG_MINUTE, outside[0]
    if fits:
        return Status.UNVERIFIED, Reason.CLOCKS_DISAGREE, outside[0]
    if kinds[_Says.OPEN]:
        return Status.UNVERIFIED, Reason.STOPPAGE_UNREAD, kinds[_Says.OPEN][0]
    return Status.UNVERIFIED, Reason.NO_CLOCK, judged[0] if judged else None


def _judge(reading: FrameReading, expectation: Expectation, tolerance: int) -> _Judged:
    clock, played, expected = clock_of(reading), stoppage_of(reading), expectation.minute.total
    if clock is None:
        # A sub-clock alone is as good as a main clock that lost its first digits.
        alone = MatchClock(played) if played is not None else None
        return _lost_digits(alone, reading, expectation, tolerance) or _Judged(_Says.NOTHING, None, reading)
    minute = compute_absolute_minute(clock, played)
    if minute is not None and abs(minute - expected) <= tolerance:
        return _Judged(_Says.FITS if _same_half(clock, expectation) else _Says.OUTSIDE, minute, reading)
    in_stoppage = clock.minute == expectation.minute.elapsed and bool(expectation.minute.extra)
    if in_stoppage and played is None and clock.stands_at_period_end:
        # The clock tells that stoppage time runs, and only the announced minutes tell how long it may be.
        latest = clock.minute + (_added(reading, clock) or 0)
        return _Judged(_Says.FITS if expected - tolerance <= latest else _Says.OPEN, minute, reading)
    return _lost_digits(clock, reading, expectation, tolerance) or _Judged(_Says.OUTSIDE, minute, reading)


def _lost_digits(
    clock: MatchClock | None, reading: FrameReading, expectation: Expectation, tolerance: int
) -> _Judged | None:
    """02:36 for 92:36. None where that cannot have happened.

    The same text is what the match's third minute shows, so where the score is known, it must have been read as
    well; that it fits is checked with the other evidence.
    """
    goal = expectation.minute
    if clock is None or clock.period is not None or clock.minute > LONGEST_STOPPAGE:
        return None
    announced = _added(reading, clock) is not None
    if goal.elapsed not in PERIOD_ENDS or not (goal.extra or announced):
        return None
    corrected = goal.elapsed + clock.minute
    if abs(corrected - goal.total) > tolerance:
        return None
    supported = expectation.scores is None or reading.score is not None or announced
    return _Judged(_Says.FITS if supported else _Says.OPEN, corrected if supported else None, reading)


def _contradiction(readings: Sequence[FrameReading], expectation: Expectation) -> Reason | None:
    """Only what every frame that can be read denies."""
    names, scores = expectation.names, expectation.scores
    lettered = [reading.teams for reading in readings if reading.teams is not None]
    if names is not None and lettered and all(other_match(teams, names) for teams in lettered):
        return Reason.OTHER_TEAMS
    scored = [reading for reading in readings if reading.score is not None]
    if scores is None or not scored:
        return None
    for reading in scored:
        around = names is not None and reading.teams is not None and turned_around(reading.teams, names)
        assert reading.score is not None
        if (Score(reading.score.away, reading.score.home) if around else reading.score) in scores:
            return None
    return Reason.OTHER_SCORE


def _same_half(clock: MatchClock, expectation: Expectation) -> bool:
    """46 minutes can be the first half's stoppage time or the second half; a period mark tells which."""
    first_half = expectation.minute.elapsed <= PERIOD_ENDS[0]
    return not (
        (clock.period is Period.FIRST_HALF and not first_half) or (clock.period is Period.SECOND_HALF and first_half)
    )


def _added(reading: FrameReading, clock: MatchClock) -> int | None:
    return parse_added_field(reading.added) if reading.added else clock.added


def _first(readings: Sequence[FrameReading]) -> _Judged:
    reading = next((each for each in readings if each.clock), readings[0])
    return _Judged(_Says.NOTHING, minute_of(reading), reading)


def _result(
    status: Status,
    reason: Reason | None,
    decisive: _Judged | None,
    readings: Sequence[FrameReading],
    expectation: Expectation,
) -> Verification:
    if decisive is None:
        return Verification(status, None, reason, None)
    proof = Proof(decisive.reading.at, decisive.reading.box, tuple(readings), expectation)
    return Verification(status, decisive.minute, reason, proof)
