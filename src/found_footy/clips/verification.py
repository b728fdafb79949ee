"""Clip verification: which frames to read, and what their readings prove about a goal or a wicket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from found_footy.clips.cricket_scoreboard import BALLS_PER_OVER, balls_bowled, is_code, parse_overs, possible_wickets
from found_footy.clips.match_clock import (
    MAX_STOPPAGE_MINUTES,
    PERIOD_ENDS,
    MatchClock,
    MatchPeriod,
    compute_absolute_minute,
    parse_added_field,
    parse_clock_field,
    parse_stoppage_clock_field,
)
from found_footy.clips.models import Expectation, FrameReading, Proof, WicketExpectation
from found_footy.clips.team_codes import CodeMatch, is_other_match, is_swapped, match_code
from found_footy.fixtures.models import Score, Side, Sport

FRACTIONS = (0.25, 0.75, 0.5)
"""Positions of the frames, as shares of the clip's duration; the last is the tie-breaker."""
MAX_CLOCK_DRIFT_MINUTES = 2
"""Minutes by which the clock can advance within a clip of at most 60 seconds, plus one."""
MAX_BALL_DRIFT = 3
"""Balls by which a cricket scoreboard can advance within one clip."""
MIN_CLOCK_CHANGE_SECONDS = 1.2
"""Seconds after which a match clock must have advanced."""


def next_fraction(readings: Sequence[FrameReading], sport: Sport = Sport.FOOTBALL) -> float | None:
    """Position of the next frame to read, or None if there is enough evidence.

    Two frames are enough if they agree. The middle frame decides between two that disagree, and is the last attempt to
    find a clock if neither has one.
    """
    if len(readings) < 2:
        return FRACTIONS[len(readings)]
    if len(readings) > 2:
        return None
    first, second = readings
    moment_of, far = (
        (_ball_with_score, MAX_BALL_DRIFT) if sport is Sport.CRICKET else (minute_of, MAX_CLOCK_DRIFT_MINUTES)
    )
    moments = [moment for reading in readings if (moment := moment_of(reading)) is not None]
    disagree = first.soccer != second.soccer or first.screen != second.screen
    return FRACTIONS[2] if disagree or not moments or max(moments) - min(moments) > far else None


def minute_of(reading: FrameReading) -> int | None:
    return compute_absolute_minute(clock_of(reading), stoppage_of(reading))


def balls_of(reading: FrameReading) -> int | None:
    """Balls bowled in the innings."""
    return parse_overs(reading.clock) if reading.clock else None


def _ball_with_score(reading: FrameReading) -> int | None:
    """Ball of a reading with a score; overs without a score do not prove a wicket, so another frame is read."""
    return balls_of(reading) if reading.score is not None else None


def is_soccer(readings: Sequence[FrameReading]) -> bool | None:
    """Majority of the frames; None for a tie."""
    return _majority([reading.soccer for reading in readings])


def is_screen(readings: Sequence[FrameReading]) -> bool | None:
    return _majority([reading.screen for reading in readings])


def clip_minute(readings: Sequence[FrameReading]) -> int | None:
    """Minute of a clip without an expectation: the one most frames support, the first of them if they differ."""
    minutes = [minute for reading in drop_times_of_day(readings) if (minute := minute_of(reading)) is not None]
    support = [sum(abs(minute - other) <= MAX_CLOCK_DRIFT_MINUTES for other in minutes) for minute in minutes]
    return minutes[support.index(max(support))] if minutes else None


def drop_times_of_day(readings: Sequence[FrameReading]) -> list[FrameReading]:
    """Drop stopped clocks without teams, except at a period's end: they show the time of day in a studio or street."""
    clocks = [clock_of(reading) for reading in readings]
    kept = []
    for reading, clock in zip(readings, clocks, strict=True):
        bare = clock is not None and clock.second is not None and reading.teams is None and reading.score is None
        others = [
            other
            for later, other in zip(readings, clocks, strict=True)
            if other is not None and abs(later.at - reading.at) >= MIN_CLOCK_CHANGE_SECONDS
        ]
        still = bool(others) and all(other == clock for other in others)
        at_end = clock is not None and clock.stands_at_period_end
        kept.append(replace(reading, clock=None, box=None) if bare and still and not at_end else reading)
    return kept


def clock_of(reading: FrameReading) -> MatchClock | None:
    return parse_clock_field(reading.clock) if reading.clock else None


def stoppage_of(reading: FrameReading) -> int | None:
    return parse_stoppage_clock_field(reading.stoppage_clock) if reading.stoppage_clock else None


def _majority(votes: Sequence[bool]) -> bool | None:
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)


# --- Goals: what the readings prove, compared with the feed.


TOLERANCE_MINUTES = 3
"""Minutes. Feeds count started minutes, clips begin before the goal, and replays follow it."""


class VerificationStatus(StrEnum):
    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    REJECTED = "rejected"


class VerificationReason(StrEnum):
    NOT_SOCCER = "not soccer"
    FILMED_SCREEN = "filmed screen"
    WRONG_MINUTE = "wrong minute"
    OTHER_TEAMS = "other teams"
    OTHER_SCORE = "other score"
    NO_CLOCK = "no clock"
    CLOCKS_DISAGREE = "clocks disagree"
    STOPPAGE_UNREAD = "stoppage time unread"
    # Wickets.
    NOT_CRICKET = "not cricket"
    WRONG_OVER = "wrong over"
    OTHER_INNINGS = "other innings"
    SCORE_UNREAD = "score unread"


@dataclass(frozen=True, slots=True)
class Verification:
    status: VerificationStatus
    minute: int | None
    """Minute on the deciding frame's clock; for a wicket, the over."""
    reason: VerificationReason | None
    """None if verified."""
    proof: Proof | None
    """None if no frame was read."""


class _Vote(StrEnum):
    FITS = "fits"
    OUTSIDE = "outside"
    OPEN = "open"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class _FrameVerdict:
    says: _Vote
    minute: int | None
    reading: FrameReading


def validate_timestamp(
    readings: Sequence[FrameReading], expectation: Expectation, tolerance: int = TOLERANCE_MINUTES
) -> Verification:
    """Verify only on a matching clock; reject only on contradicting evidence. Everything else is unverified."""
    if is_soccer(readings) is False:
        return _result(
            VerificationStatus.REJECTED, VerificationReason.NOT_SOCCER, _first(readings), readings, expectation
        )
    if is_screen(readings) is True:
        return _result(
            VerificationStatus.REJECTED, VerificationReason.FILMED_SCREEN, _first(readings), readings, expectation
        )
    judged = [_frame_verdict(reading, expectation, tolerance) for reading in drop_times_of_day(readings)]
    status, reason, decisive = _decide_by_clock(judged)
    contradiction = _contradiction(readings, expectation)
    if contradiction is not None and status is not VerificationStatus.REJECTED:
        status, reason = VerificationStatus.REJECTED, contradiction
    return _result(status, reason, decisive, readings, expectation)


def _decide_by_clock(
    judged: Sequence[_FrameVerdict],
) -> tuple[VerificationStatus, VerificationReason | None, _FrameVerdict | None]:
    kinds = {kind: [each for each in judged if each.says is kind] for kind in _Vote}
    fits, outside = kinds[_Vote.FITS], kinds[_Vote.OUTSIDE]
    if len(fits) > len(outside):
        return VerificationStatus.VERIFIED, None, fits[0]
    if len(outside) > len(fits):
        return VerificationStatus.REJECTED, VerificationReason.WRONG_MINUTE, outside[0]
    if fits:
        return VerificationStatus.UNVERIFIED, VerificationReason.CLOCKS_DISAGREE, outside[0]
    if kinds[_Vote.OPEN]:
        return VerificationStatus.UNVERIFIED, VerificationReason.STOPPAGE_UNREAD, kinds[_Vote.OPEN][0]
    return VerificationStatus.UNVERIFIED, VerificationReason.NO_CLOCK, judged[0] if judged else None


def _frame_verdict(reading: FrameReading, expectation: Expectation, tolerance: int) -> _FrameVerdict:
    clock, played, expected = clock_of(reading), stoppage_of(reading), expectation.minute.total
    if clock is None:
        # A sub-clock alone is equivalent to a main clock that lost its first digits.
        alone = MatchClock(played) if played is not None else None
        return _with_missing_digits(alone, reading, expectation, tolerance) or _FrameVerdict(
            _Vote.NOTHING, None, reading
        )
    minute = compute_absolute_minute(clock, played)
    if minute is not None and abs(minute - expected) <= tolerance:
        return _FrameVerdict(_Vote.FITS if _same_half(clock, expectation) else _Vote.OUTSIDE, minute, reading)
    in_stoppage = clock.minute == expectation.minute.elapsed and bool(expectation.minute.extra)
    if in_stoppage and played is None and clock.stands_at_period_end:
        # The clock shows that stoppage time is running; only the announced minutes limit its length.
        latest = clock.minute + (_added(reading, clock) or 0)
        return _FrameVerdict(_Vote.FITS if expected - tolerance <= latest else _Vote.OPEN, minute, reading)
    return _with_missing_digits(clock, reading, expectation, tolerance) or _FrameVerdict(_Vote.OUTSIDE, minute, reading)


def _with_missing_digits(
    clock: MatchClock | None, reading: FrameReading, expectation: Expectation, tolerance: int
) -> _FrameVerdict | None:
    """Correct 02:36 to 92:36; None if that is impossible.

    The third minute of the match shows the same text, so if the score is known, it must have been read too; the score
    itself is checked with the other evidence.
    """
    goal = expectation.minute
    if clock is None or clock.period is not None or clock.minute > MAX_STOPPAGE_MINUTES:
        return None
    announced = _added(reading, clock) is not None
    if goal.elapsed not in PERIOD_ENDS or not (goal.extra or announced):
        return None
    corrected = goal.elapsed + clock.minute
    if abs(corrected - goal.total) > tolerance:
        return None
    supported = expectation.scores is None or reading.score is not None or announced
    return _FrameVerdict(_Vote.FITS if supported else _Vote.OPEN, corrected if supported else None, reading)


def _contradiction(readings: Sequence[FrameReading], expectation: Expectation) -> VerificationReason | None:
    """Contradiction shared by every readable frame."""
    names, scores = expectation.names, expectation.scores
    lettered = [reading.teams for reading in readings if reading.teams is not None]
    if names is not None and lettered and all(is_other_match(teams, names) for teams in lettered):
        return VerificationReason.OTHER_TEAMS
    scored = [reading for reading in readings if reading.score is not None]
    if scores is None or not scored:
        return None
    for reading in scored:
        around = names is not None and reading.teams is not None and is_swapped(reading.teams, names)
        assert reading.score is not None
        if (Score(reading.score.away, reading.score.home) if around else reading.score) in scores:
            return None
    return VerificationReason.OTHER_SCORE


def _same_half(clock: MatchClock, expectation: Expectation) -> bool:
    """46 minutes can be stoppage time of the first half or the second half; a period mark decides."""
    first_half = expectation.minute.elapsed <= PERIOD_ENDS[0]
    return not (
        (clock.period is MatchPeriod.FIRST_HALF and not first_half)
        or (clock.period is MatchPeriod.SECOND_HALF and first_half)
    )


def _added(reading: FrameReading, clock: MatchClock) -> int | None:
    return parse_added_field(reading.added) if reading.added else clock.added


def _first(readings: Sequence[FrameReading]) -> _FrameVerdict:
    reading = next((each for each in readings if each.clock), readings[0])
    return _FrameVerdict(_Vote.NOTHING, minute_of(reading), reading)


def _result(
    status: VerificationStatus,
    reason: VerificationReason | None,
    decisive: _FrameVerdict | None,
    readings: Sequence[FrameReading],
    expectation: Expectation,
) -> Verification:
    if decisive is None:
        return Verification(status, None, reason, None)
    proof = Proof(decisive.reading.at, decisive.reading.box, tuple(readings), expectation)
    return Verification(status, decisive.minute, reason, proof)


# --- Wickets: what the readings prove, compared with the feed.


TOLERANCE_BALLS = BALLS_PER_OVER
"""Balls. Clips begin before the wicket, replays follow it, and feeds are sometimes a ball off."""
MAX_BALLS_BEFORE = 1
"""Balls. While the scoreboard still shows one wicket fewer, it must be directly before the wicket's ball: further back
the clip may show the previous wicket.
"""


@dataclass(frozen=True, slots=True)
class _WicketVerdict:
    says: _Vote
    reading: FrameReading
    reason: VerificationReason | None = None


def validate_wicket(readings: Sequence[FrameReading], expectation: Expectation) -> Verification:
    """Verify only on matching overs and wickets; reject only on contradicting evidence."""
    wicket = expectation.wicket
    assert wicket is not None
    if is_soccer(readings) is False:
        return _wicket_result(
            VerificationStatus.REJECTED,
            VerificationReason.NOT_CRICKET,
            _first_with_score(readings),
            readings,
            expectation,
        )
    if is_screen(readings) is True:
        return _wicket_result(
            VerificationStatus.REJECTED,
            VerificationReason.FILMED_SCREEN,
            _first_with_score(readings),
            readings,
            expectation,
        )
    ball = balls_bowled(expectation.minute.elapsed, expectation.minute.extra or 0)
    judged = [_wicket_verdict(reading, ball, wicket) for reading in readings]
    status, reason, decisive = _decide_by_score(judged)
    contradiction = _wicket_contradiction(readings, expectation, wicket)
    if contradiction is not None:
        status, reason = VerificationStatus.REJECTED, contradiction
    return _wicket_result(status, reason, decisive, readings, expectation)


def _decide_by_score(
    judged: Sequence[_WicketVerdict],
) -> tuple[VerificationStatus, VerificationReason | None, FrameReading | None]:
    kinds = {kind: [each for each in judged if each.says is kind] for kind in _Vote}
    fits, outside, open_ = kinds[_Vote.FITS], kinds[_Vote.OUTSIDE], kinds[_Vote.OPEN]
    if fits and not outside:
        return VerificationStatus.VERIFIED, None, fits[0].reading
    if len(outside) > len(fits) + len(open_):
        return VerificationStatus.REJECTED, outside[0].reason, outside[0].reading
    # Unlike a goal's clock, one contradicting frame is enough to leave the clip unverified: two wickets can fall within
    # three balls.
    if outside:
        return VerificationStatus.UNVERIFIED, VerificationReason.CLOCKS_DISAGREE, outside[0].reading
    if open_:
        return VerificationStatus.UNVERIFIED, open_[0].reason, open_[0].reading
    return VerificationStatus.UNVERIFIED, VerificationReason.NO_CLOCK, judged[0].reading if judged else None


def _wicket_verdict(reading: FrameReading, ball: int, wicket: WicketExpectation) -> _WicketVerdict:
    shown = balls_of(reading)
    fallen = possible_wickets(reading.score) if reading.score is not None else frozenset()
    if shown is None and not fallen:
        return _WicketVerdict(_Vote.NOTHING, reading)
    if shown is not None and abs(shown - ball) > TOLERANCE_BALLS:
        return _WicketVerdict(_Vote.OUTSIDE, reading, VerificationReason.WRONG_OVER)
    known = {number for number in (wicket.before, wicket.after) if number is not None}
    if known and fallen and not fallen & known:
        return _WicketVerdict(_Vote.OUTSIDE, reading, VerificationReason.OTHER_SCORE)
    if shown is None:
        return _WicketVerdict(_Vote.OPEN, reading, VerificationReason.NO_CLOCK)
    if wicket.after in fallen or (wicket.before in fallen and ball - MAX_BALLS_BEFORE <= shown <= ball):
        return _WicketVerdict(_Vote.FITS, reading)
    return _WicketVerdict(
        _Vote.OPEN, reading, VerificationReason.SCORE_UNREAD if not fallen else VerificationReason.CLOCKS_DISAGREE
    )


def _wicket_contradiction(
    readings: Sequence[FrameReading], expectation: Expectation, wicket: WicketExpectation
) -> VerificationReason | None:
    """Contradiction shared by every readable frame."""
    names = expectation.names
    if names is None:
        return None
    at_bat = [reading.batting for reading in readings if reading.batting is not None]
    own, other = _both(wicket.batting, names, wicket)
    if at_bat and not any(_can_be(letters, own) for letters in at_bat):
        if any(_can_be(letters, other) for letters in at_bat):
            return VerificationReason.OTHER_INNINGS
        # A full name may be a bowler's, whose figures look like a score.
        if all(is_code(letters) for letters in at_bat):
            return VerificationReason.OTHER_TEAMS
    pairs = [reading.teams for reading in readings if reading.teams is not None]
    if pairs and all(is_other_match(pair, names) and not _known_codes(pair, wicket) for pair in pairs):
        return VerificationReason.OTHER_TEAMS
    return None


@dataclass(frozen=True, slots=True)
class _Team:
    name: str
    code: str | None


def _both(batting: Side, names: tuple[str, str], wicket: WicketExpectation) -> tuple[_Team, _Team]:
    home, away = _Team(names[0], wicket.home_code), _Team(names[1], wicket.away_code)
    return (home, away) if batting is Side.HOME else (away, home)


def _can_be(letters: str, team: _Team) -> bool:
    """True also if nothing can be compared: that is not a contradiction."""
    if team.code is not None and letters.casefold() == team.code.casefold():
        return True
    return match_code(letters, team.name) in (None, CodeMatch.LOOSE, CodeMatch.YES)


def _known_codes(pair: tuple[str, str], wicket: WicketExpectation) -> bool:
    codes = {code.casefold() for code in (wicket.home_code, wicket.away_code) if code}
    return any(letters.casefold() in codes for letters in pair)


def _first_with_score(readings: Sequence[FrameReading]) -> FrameReading:
    return next((each for each in readings if each.score is not None), readings[0])


def _wicket_result(
    status: VerificationStatus,
    reason: VerificationReason | None,
    decisive: FrameReading | None,
    readings: Sequence[FrameReading],
    expectation: Expectation,
) -> Verification:
    if decisive is None:
        return Verification(status, None, reason, None)
    shown = balls_of(decisive)
    over = None if shown is None else shown // BALLS_PER_OVER
    proof = Proof(decisive.at, decisive.box, tuple(readings), expectation)
    return Verification(status, over, reason, proof)
