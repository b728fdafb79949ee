"""Is this clip that wicket? What the scoreboards in its frames prove, beside what the feed says.

A wicket is told by the side at the bat, the over and ball, and the wickets that have fallen: one fewer before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from found_footy.domain.fixtures.model import Side
from found_footy.domain.videos.cricket_board import is_code, wickets_possible
from found_footy.domain.videos.looking import balls_of, is_screen, is_soccer
from found_footy.domain.videos.overs_text import BALLS_AN_OVER, balls_bowled
from found_footy.domain.videos.readings import Expectation, FrameReading, Proof, WicketExpected
from found_footy.domain.videos.team_letters import Fit, fit, other_match
from found_footy.domain.videos.verification import Reason, Status, Verification

TOLERANCE = BALLS_AN_OVER
"""Balls. Clips begin before the wicket, replays come after it, and feeds are a ball off now and then."""
JUST_BEFORE = 1
"""Balls. While the scoreboard still shows one wicket fewer, it must stand right before the wicket's ball: further back
it may be the clip of the wicket before."""


class _Says(StrEnum):
    FITS = "fits"
    OUTSIDE = "outside"
    OPEN = "open"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class _Judged:
    says: _Says
    reading: FrameReading
    reason: Reason | None = None


def validate_wicket(readings: Sequence[FrameReading], expectation: Expectation) -> Verification:
    """Verified only on overs and wickets that fit; rejected only on something that was read."""
    wicket = expectation.wicket
    assert wicket is not None
    if is_soccer(readings) is False:
        return _result(Status.REJECTED, Reason.NOT_CRICKET, _first(readings), readings, expectation)
    if is_screen(readings) is True:
        return _result(Status.REJECTED, Reason.FILMED_SCREEN, _first(readings), readings, expectation)
    ball = balls_bowled(expectation.minute.elapsed, expectation.minute.extra or 0)
    judged = [_judge(reading, ball, wicket) for reading in readings]
    status, reason, decisive = _by_score(judged)
    contradiction = _contradiction(readings, expectation, wicket)
    if contradiction is not None:
        status, reason = Status.REJECTED, contradiction
    return _result(status, reason, decisive, readings, expectation)


def _by_score(judged: Sequence[_Judged]) -> tuple[Status, Reason | None, FrameReading | None]:
    kinds = {kind: [each for each in judged if each.says is kind] for kind in _Says}
    fits, outside, open_ = kinds[_Says.FITS], kinds[_Says.OUTSIDE], kinds[_Says.OPEN]
    if fits and not outside:
        return Status.VERIFIED, None, fits[0].reading
    if len(outside) > len(fits) + len(open_):
        return Status.REJECTED, outside[0].reason, outside[0].reading
    # Unlike a goal's clock, one frame that denies it is enough for a doubt: two wickets can fall within three balls.
    if outside:
        return Status.UNVERIFIED, Reason.CLOCKS_DISAGREE, outside[0].reading
    if open_:
        return Status.UNVERIFIED, open_[0].reason, open_[0].reading
    return Status.UNVERIFIED, Reason.NO_CLOCK, judged[0].reading if judged else None


def _judge(reading: FrameReading, ball: int, wicket: WicketExpected) -> _Judged:
    shown = balls_of(reading)
    fallen = wickets_possible(reading.score) if reading.score is not None else frozenset()
    if shown is None and not fallen:
        return _Judged(_Says.NOTHING, reading)
    if shown is not None and abs(shown - ball) > TOLERANCE:
        return _Judged(_Says.OUTSIDE, reading, Reason.WRONG_OVER)
    known = {number for number in (wicket.before, wicket.after) if number is not None}
    if known and fallen and not fallen & known:
        return _Judged(_Says.OUTSIDE, reading, Reason.OTHER_SCORE)
    if shown is None:
        return _Judged(_Says.OPEN, reading, Reason.NO_CLOCK)
    if wicket.after in fallen or (wicket.before in fallen and ball - JUST_BEFORE <= shown <= ball):
        return _Judged(_Says.FITS, reading)
    return _Judged(_Says.OPEN, reading, Reason.SCORE_UNREAD if not fallen else Reason.CLOCKS_DISAGREE)


def _contradiction(readings: Sequence[FrameReading], expectation: Expectation, wicket: WicketExpected) -> Reason | None:
    """Only what every frame that can be read denies."""
    names = expectation.names
    if names is None:
        return None
    at_bat = [reading.batting for reading in readings if reading.batting is not None]
    own, other = _both(wicket.batting, names, wicket)
    if at_bat and not any(_can_be(letters, own) for letters in at_bat):
        if any(_can_be(letters, other) for letters in at_bat):
            return Reason.OTHER_INNINGS
        # A name that is written out may be a bowler's, whose figures look like a score.
        if all(is_code(letters) for letters in at_bat):
            return Reason.OTHER_TEAMS
    pairs = [reading.teams for reading in readings if reading.teams is not None]
    if pairs and all(other_match(pair, names) and not _known_codes(pair, wicket) for pair in pairs):
        return Reason.OTHER_TEAMS
    return None


@dataclass(frozen=True, slots=True)
class _Team:
    name: str
    code: str | None


def _both(batting: Side, names: tuple[str, str], wicket: WicketExpected) -> tuple[_Team, _Team]:
    home, away = _Team(names[0], wicket.home_code), _Team(names[1], wicket.away_code)
    return (home, away) if batting is Side.HOME else (away, home)


def _can_be(letters: str, team: _Team) -> bool:
    """Also where nothing can be compared: that denies nothing."""
    if team.code is not None and letters.casefold() == team.code.casefold():
        return True
    return fit(letters, team.name) in (None, Fit.LOOSE, Fit.YES)


def _known_codes(pair: tuple[str, str], wicket: WicketExpected) -> bool:
    codes = {code.casefold() for code in (wicket.home_code, wicket.away_code) if code}
    return any(letters.casefold() in codes for letters in pair)


def _first(readings: Sequence[FrameReading]) -> FrameReading:
    return next((each for each in readings if each.score is not None), readings[0])


def _result(
    status: Status,
    reason: Reason | None,
    decisive: FrameReading | None,
    readings: Sequence[FrameReading],
    expectation: Expectation,
) -> Verification:
    if decisive is None:
        return Verification(status, None, reason, None)
    shown = balls_of(decisive)
    over = None if shown is None else shown // BALLS_AN_OVER
    proof = Proof(decisive.at, decisive.box, tuple(readings), expectation)
    return Verification(status, over, reason, proof)
