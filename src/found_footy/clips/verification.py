"""Clip verification: which frames to read, and what their readings prove about a goal or a wicket."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations, pairwise

from found_footy.clips.cricket_scoreboard import BALLS_PER_OVER, balls_bowled, is_code, parse_overs, possible_wickets
from found_footy.clips.match_clock import (
    MAX_STOPPAGE_MINUTES,
    PERIOD_ENDS,
    MatchClock,
    MatchPeriod,
    compute_absolute_minute,
    has_short_mark,
    parse_added_field,
    parse_clock_field,
    parse_stoppage_clock_field,
    times_with_seconds,
)
from found_footy.clips.models import Expectation, FrameReading, Proof, WicketExpectation
from found_footy.clips.team_codes import (
    CodeMatch,
    is_other_match,
    is_possibly_misread,
    is_swapped,
    match_code,
    matches_teams,
)
from found_footy.fixtures.models import Score, Side, Sport

FRACTIONS = (0.25, 0.75, 0.5)
"""Positions of the frames, as shares of the clip's duration; the last is the tie-breaker."""
MORE_FRACTIONS = (0.1, 0.4, 0.6, 0.9)
"""Further positions if no scoreboard is found: some clips show it only part of the time."""
MAX_CLOCK_DRIFT_MINUTES = 2
"""Minutes by which the clock can advance within a clip of at most 60 seconds, plus one."""
MAX_BALL_DRIFT = 3
"""Balls by which a cricket scoreboard can advance within one clip."""
MIN_CLOCK_CHANGE_SECONDS = 1.2
"""Seconds after which a match clock must have advanced."""
MIN_BOARD_CHANGE_SECONDS = 2.5
"""The same for a clock with teams or a score, which slow motion may freeze."""
CLOCK_JITTER_SECONDS = 1.5
"""Seconds by which the advance of a clock may differ from that of the video: clocks show whole seconds."""
MIN_GAME_SPEED, MAX_SPEED_RATIO = 2.0, 1.5
"""A clock that runs at least this many times faster than the video, at a nearly constant rate, is a video game's."""


def next_fraction(readings: Sequence[FrameReading], sport: Sport = Sport.FOOTBALL) -> float | None:
    """Return the position of the next frame to read, or None if there is enough evidence.

    Two clocks are enough if they agree. The middle frame decides if two frames have none, one, or two that disagree; if
    there is still no agreement, four more are tried, because a clock in a single frame may be misread.
    """
    fractions = FRACTIONS + MORE_FRACTIONS
    if len(readings) < 2:
        return fractions[len(readings)]
    cricket = sport is Sport.CRICKET
    moment_of, max_drift = (_ball_with_score, MAX_BALL_DRIFT) if cricket else (minute_of, MAX_CLOCK_DRIFT_MINUTES)
    usable = readings if cricket else drop_stopped_clocks(readings)
    found = [reading for reading in usable if moment_of(reading) is not None]
    moments = [moment for reading in found if (moment := moment_of(reading)) is not None]
    if len(readings) > 2:
        if cricket:
            is_sufficient = len(found) > 1 or any(_has_board(reading) for reading in found)
        else:
            # Two clocks that count down are another sport's, or one of them is misread.
            counts_down = len(found) == 2 and _counts_down(usable)
            is_sufficient = len(found) > 1 and _agree_with_each_other(moments) and not counts_down
        return None if is_sufficient or len(readings) == len(fractions) else fractions[len(readings)]
    is_alone = _is_bare_clock(found) if cricket else len(found) == 1
    is_unclear = is_screen(readings) is None or not any(reading.soccer for reading in readings) or is_alone
    if is_unclear or not moments or max(moments) - min(moments) > max_drift:
        return FRACTIONS[2]
    speeds = clock_speeds(readings)
    return FRACTIONS[2] if any(speed < 0 or speed > MIN_GAME_SPEED for speed in speeds) else None


def minute_of(reading: FrameReading) -> int | None:
    return compute_absolute_minute(clock_of(reading), stoppage_of(reading))


def balls_of(reading: FrameReading) -> int | None:
    """Balls bowled in the innings."""
    return parse_overs(reading.clock) if reading.clock else None


def _ball_with_score(reading: FrameReading) -> int | None:
    """Ball of a reading with a score; overs without a score do not prove a wicket, so another frame is read."""
    return balls_of(reading) if reading.score is not None else None


def _has_board(reading: FrameReading) -> bool:
    """Whether the clock belongs to a scoreboard: a bare one may be a time of day."""
    return reading.teams is not None or reading.score is not None


def _is_bare_clock(found: Sequence[FrameReading]) -> bool:
    return len(found) == 1 and found[0].score is None and found[0].teams is None


def is_screen(readings: Sequence[FrameReading]) -> bool | None:
    """Majority of the frames; None for a tie."""
    filmed = sum(reading.screen for reading in readings)
    return None if 2 * filmed == len(readings) else 2 * filmed > len(readings)


def shows_sport(readings: Sequence[FrameReading]) -> bool | None:
    """True if any frame shows the sport, False if every frame clearly does not; None without evidence either way."""
    if any(reading.soccer for reading in readings):
        return True
    return False if readings and all(reading.soccer is False for reading in readings) else None


def clip_minute(readings: Sequence[FrameReading]) -> int | None:
    """Minute of a clip without an expectation: the one that most frames support, the first one on a tie."""
    minutes = [minute for reading in drop_stopped_clocks(readings) if (minute := minute_of(reading)) is not None]
    support = [sum(abs(minute - other) <= MAX_CLOCK_DRIFT_MINUTES for other in minutes) for minute in minutes]
    return minutes[support.index(max(support))] if minutes else None


def drop_stopped_clocks(readings: Sequence[FrameReading]) -> list[FrameReading]:
    """Drop clocks that do not advance, except at a period's end. A football clock never stops: a stopped one without
    teams is a time of day or a caption, one with teams is another sport's or a still image.
    """
    return [
        replace(reading, clock=None, box=None) if _is_stopped(reading, readings) else reading for reading in readings
    ]


def _is_stopped(reading: FrameReading, readings: Sequence[FrameReading]) -> bool:
    """A scoreboard must be stopped in every frame; for a bare clock, one unchanged frame is enough."""
    clock, has_board = clock_of(reading), _has_board(reading)
    if clock is None or clock.second is None or clock.is_stopped_at_period_end:
        return False
    min_gap = MIN_BOARD_CHANGE_SECONDS if has_board else MIN_CLOCK_CHANGE_SECONDS
    is_same = [
        other == clock
        for each in readings
        if abs(each.at - reading.at) >= min_gap and (other := clock_of(each)) is not None
        if _has_board(each) is has_board
    ]
    return bool(is_same) and (all(is_same) if has_board else any(is_same))


def clock_of(reading: FrameReading) -> MatchClock | None:
    return parse_clock_field(reading.clock) if reading.clock else None


def stoppage_of(reading: FrameReading) -> int | None:
    return parse_stoppage_clock_field(reading.stoppage_clock) if reading.stoppage_clock else None


def match_second(reading: FrameReading) -> int | None:
    """Match clock in seconds: 22:41 is 1361, and 45:00 with +2:17 is 2837. None without running seconds."""
    clock = clock_of(reading)
    if clock is None or clock.mark is not None:
        return None
    if clock.minute in PERIOD_ENDS and not clock.second:
        texts = (reading.stoppage_clock or "", reading.clock or "")
        played = [time for text in texts for time in times_with_seconds(text) if time.minute <= MAX_STOPPAGE_MINUTES]
        return (clock.minute + played[0].minute) * 60 + (played[0].second or 0) if played else None
    return clock.minute * 60 + clock.second if clock.second is not None else None


def clock_speeds(readings: Sequence[FrameReading]) -> list[float]:
    """Seconds by which the clock advances per second of video, between consecutive readings. A broadcast has 1, or any
    other value across a cut; clocks that agree with the video to the second count as exactly 1.
    """
    timed = [(reading.at, second) for reading in readings if (second := match_second(reading)) is not None]
    speeds = []
    for (start, first), (end, second) in pairwise(sorted(timed)):
        video, clock = end - start, second - first
        if video >= MIN_CLOCK_CHANGE_SECONDS:
            speeds.append(1.0 if abs(clock - video) <= CLOCK_JITTER_SECONDS else clock / video)
    return speeds


def is_other_sport(readings: Sequence[FrameReading]) -> bool:
    """Whether the scoreboard is another sport's: most of its readings name quarters, overs or the like, or its clock
    counts down. A single mark may be misread, and two clocks may be a goal and a replay of an earlier moment.
    """
    marked = _has_other_sports_marks(readings) and _count_marks(readings) > 1
    counts_down = _counts_down(readings) and len(clock_speeds(readings)) > 1
    return marked or counts_down


def may_be_other_sport(readings: Sequence[FrameReading]) -> bool:
    return _has_other_sports_marks(readings) or _counts_down(readings)


def _has_other_sports_marks(readings: Sequence[FrameReading]) -> bool:
    marked = _count_marks(readings)
    return marked > 0 and 2 * marked >= sum(reading.clock is not None for reading in readings)


def _count_marks(readings: Sequence[FrameReading]) -> int:
    return sum(reading.other_sport is not None for reading in readings)


def _counts_down(readings: Sequence[FrameReading]) -> bool:
    speeds = clock_speeds(readings)
    return bool(speeds) and all(-1.5 < speed < -0.5 for speed in speeds)


# --- Goals: what the readings prove, compared with the feed.


TOLERANCE_MINUTES = 3
"""Minutes. Feeds count started minutes, clips begin before the goal, and replays follow it."""
PERIOD_STARTS = (45, 90, 105)
"""Minutes at which a clock that restarts with each period shows 00:00 again."""
MIN_POST_DELAY_MINUTES = 30
"""A post that is this many minutes younger than a moment does not show that moment."""
MIN_LATE_SCORE = 2
"""Total goals that rule out the first minutes of a match, for all practical purposes."""


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
    PERIOD_UNREAD = "period unread"
    SPORT_UNCLEAR = "sport unclear"
    VIDEO_GAME = "video game"
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
    """None if verified. On an unverified clip, what prevented the proof."""
    proof: Proof | None
    """None if no frame was read."""


class _Vote(StrEnum):
    MATCH = "match"
    MISMATCH = "mismatch"
    UNDECIDED = "undecided"
    NO_EVIDENCE = "no evidence"


@dataclass(frozen=True, slots=True)
class _FrameVerdict:
    vote: _Vote
    reading: FrameReading
    minute: int | None = None
    reason: VerificationReason | None = None
    """Set for a mismatch or an undecided vote."""


_Decision = tuple[VerificationStatus, VerificationReason | None, _FrameVerdict | None]


def verify_readings(
    readings: Sequence[FrameReading], expectation: Expectation, tolerance: int = TOLERANCE_MINUTES
) -> Verification:
    """Verify a goal or a wicket from the readings alone.

    Pure: given the readings of a stored proof (`Proof.readings`) and a corrected expectation, it returns the new result
    without the file or an engine.
    """
    if expectation.wicket is not None:
        return validate_wicket(readings, expectation)
    return validate_timestamp(readings, expectation, tolerance)


def validate_timestamp(
    readings: Sequence[FrameReading], expectation: Expectation, tolerance: int = TOLERANCE_MINUTES
) -> Verification:
    """Verify only on a matching clock; reject only on contradicting evidence. Everything else is unverified."""
    usable = drop_stopped_clocks(readings)
    football = _shows_football(usable, expectation)
    decision: _Decision
    if is_other_sport(readings) or football is False:
        decision = VerificationStatus.REJECTED, VerificationReason.NOT_SOCCER, _first_verdict(readings)
    elif is_screen(readings) is True:
        decision = VerificationStatus.REJECTED, VerificationReason.FILMED_SCREEN, _first_verdict(readings)
    else:
        verdicts = [_frame_verdict(reading, expectation, tolerance) for reading in usable]
        decision = _decide_by_clock(verdicts, expectation)
        status, _, decisive_exchange = decision
        if status is not VerificationStatus.REJECTED:
            contradiction = _contradiction(readings, expectation, status)
            doubt = (
                _reason_for_doubt(readings, expectation, football) if status is VerificationStatus.VERIFIED else None
            )
            if contradiction is not None:
                decision = *contradiction, decisive_exchange
            elif doubt is not None:
                decision = VerificationStatus.UNVERIFIED, doubt, decisive_exchange
    return _result(decision, readings, expectation)


def _shows_football(readings: Sequence[FrameReading], expectation: Expectation) -> bool | None:
    """Whether a pitch or the match's own scoreboard is visible. A scoreboard outweighs the colours: close-ups and
    celebrations show no grass. None without evidence either way.
    """
    seen = shows_sport(readings)
    if seen:
        return True
    boards = [reading for reading in readings if clock_of(reading) is not None and _has_board(reading)]
    if any(_is_match_board(reading, expectation) for reading in boards):
        return True
    is_running = 1.0 in clock_speeds(readings)
    if expectation.names is None and expectation.scores is None and is_running:
        # Without anything to compare, the complete board must be read twice, and its clock must count up.
        complete = Counter((board.teams, board.score) for board in boards if board.teams and board.score)
        return True if any(count > 1 for count in complete.values()) else None
    return None if boards or is_running else seen


def _is_match_board(reading: FrameReading, expectation: Expectation) -> bool:
    if expectation.names is not None and reading.teams is not None:
        return matches_teams(reading.teams, expectation.names)
    return _score_matches(reading, expectation) is True


def _decide_by_clock(verdicts: Sequence[_FrameVerdict], expectation: Expectation) -> _Decision:
    by_vote = {vote: [each for each in verdicts if each.vote is vote] for vote in _Vote}
    matching, mismatching, undecided = by_vote[_Vote.MATCH], by_vote[_Vote.MISMATCH], by_vote[_Vote.UNDECIDED]
    if len(matching) > len(mismatching) + sum(_shows_another_clock(each, matching) for each in undecided):
        return VerificationStatus.VERIFIED, None, matching[0]
    if len(mismatching) > len(matching) + len(undecided) and _is_certain(verdicts, mismatching, expectation):
        return VerificationStatus.REJECTED, VerificationReason.WRONG_MINUTE, mismatching[0]
    if mismatching:
        reason = VerificationReason.CLOCKS_DISAGREE if matching or undecided else VerificationReason.WRONG_MINUTE
        return VerificationStatus.UNVERIFIED, reason, mismatching[0]
    if undecided:
        return VerificationStatus.UNVERIFIED, undecided[0].reason, undecided[0]
    return VerificationStatus.UNVERIFIED, VerificationReason.NO_CLOCK, verdicts[0] if verdicts else None


def _shows_another_clock(undecided: _FrameVerdict, matching: Sequence[_FrameVerdict]) -> bool:
    """Whether a clock that may have restarted is not the one that matches: 03:18 beside a misread 103:17."""
    clocks = [clock for each in matching if (clock := clock_of(each.reading)) is not None]
    own = clock_of(undecided.reading)
    if undecided.reason is not VerificationReason.PERIOD_UNREAD or own is None or not clocks:
        return False
    # A mark, which is read once per clip, has moved the other clock to its period.
    starts = {clock: (0, *PERIOD_STARTS) if clock.period is not None else (0,) for clock in clocks}
    return not any(
        abs(own.minute + start - clock.minute) <= MAX_CLOCK_DRIFT_MINUTES for clock in clocks for start in starts[clock]
    )


def _is_certain(
    verdicts: Sequence[_FrameVerdict], mismatching: Sequence[_FrameVerdict], expectation: Expectation
) -> bool:
    """Whether a misread clock is ruled out: at least half of the frames show a clock, and two agree or the whole
    scoreboard around one is readable. A bare clock in a single frame may also be a time of day.
    """
    if 2 * sum(each.vote is not _Vote.NO_EVIDENCE for each in verdicts) < len(verdicts):
        return False
    minutes = [each.minute for each in mismatching if each.minute is not None]
    if len(minutes) > 1:
        return _agree_with_each_other(minutes)
    boards = [each.reading for each in mismatching if each.reading.score is not None]
    names = expectation.names
    return any(board.teams is not None and (names is None or matches_teams(board.teams, names)) for board in boards)


def _agree_with_each_other(minutes: Sequence[int]) -> bool:
    """Whether any two clocks agree, or there are fewer than two; otherwise the scoreboard is misread."""
    pairs = list(combinations(minutes, 2))
    return not pairs or any(abs(one - other) <= MAX_CLOCK_DRIFT_MINUTES for one, other in pairs)


def _frame_verdict(reading: FrameReading, expectation: Expectation, tolerance: int) -> _FrameVerdict:
    clock, played, expected = clock_of(reading), stoppage_of(reading), expectation.minute.total
    if clock is None:
        # A sub-clock alone is equivalent to a main clock that lost its first digits.
        alone = MatchClock(played) if played is not None else None
        return _restore_missing_digits(alone, reading, expectation, tolerance) or _FrameVerdict(
            _Vote.NO_EVIDENCE, reading
        )
    minute = compute_absolute_minute(clock, played)
    if minute is None:
        return _FrameVerdict(_Vote.NO_EVIDENCE, reading)
    if abs(minute - expected) <= tolerance:
        return _FrameVerdict(_Vote.MATCH if _is_same_half(clock, expectation) else _Vote.MISMATCH, reading, minute)
    in_stoppage = clock.minute == expectation.minute.elapsed and bool(expectation.minute.extra)
    if in_stoppage and played is None and clock.is_stopped_at_period_end:
        # The clock shows that stoppage time is running; only the announced minutes limit its length.
        latest = clock.minute + (_announced_minutes(reading, clock) or 0)
        if expected - tolerance <= latest:
            return _FrameVerdict(_Vote.MATCH, reading, minute)
        return _FrameVerdict(_Vote.UNDECIDED, reading, minute, VerificationReason.STOPPAGE_UNREAD)
    corrected = _restore_missing_digits(clock, reading, expectation, tolerance)
    if corrected is not None:
        return corrected
    if _may_have_restarted(clock, minute, expectation, tolerance) or _has_doubtful_mark(
        reading, expectation, tolerance
    ):
        return _FrameVerdict(_Vote.UNDECIDED, reading, minute, VerificationReason.PERIOD_UNREAD)
    return _FrameVerdict(_Vote.MISMATCH, reading, minute)


def _may_have_restarted(clock: MatchClock, minute: int, expectation: Expectation, tolerance: int) -> bool:
    """Whether the clock would match if it restarted with the period and its period mark is unreadable."""
    elapsed, expected = expectation.minute.elapsed, expectation.minute.total
    starts = [start for start in PERIOD_STARTS if start < elapsed]
    return clock.period is None and any(abs(minute + start - expected) <= tolerance for start in starts)


def _has_doubtful_mark(reading: FrameReading, expectation: Expectation, tolerance: int) -> bool:
    """Whether the clock would match without its period mark, which may be a fragment of another text."""
    if reading.clock is None or not has_short_mark(reading.clock):
        return False
    times = times_with_seconds(reading.clock)
    return any(abs(time.minute - expectation.minute.total) <= tolerance for time in times)


def _restore_missing_digits(
    clock: MatchClock | None, reading: FrameReading, expectation: Expectation, tolerance: int
) -> _FrameVerdict | None:
    """Correct 02:36 to 92:36; None if that is impossible. The verdict is undecided unless something rules out the third
    minute of the match, which shows the same text.
    """
    goal = expectation.minute
    if clock is None or clock.period is not None or clock.minute > MAX_STOPPAGE_MINUTES:
        return None
    announced = _announced_minutes(reading, clock) is not None
    if goal.elapsed not in PERIOD_ENDS or not (goal.extra or announced):
        return None
    corrected = goal.elapsed + clock.minute
    if abs(corrected - goal.total) > tolerance:
        return None
    score_matches = _score_matches(reading, expectation)
    if score_matches is False:
        return _FrameVerdict(_Vote.MISMATCH, reading, clock.minute)
    late_score = (
        score_matches is True
        and reading.score is not None
        and reading.score.home + reading.score.away >= MIN_LATE_SCORE
    )
    posted = expectation.posted_after_minutes
    if announced or late_score or (posted is not None and posted >= clock.minute + MIN_POST_DELAY_MINUTES):
        return _FrameVerdict(_Vote.MATCH, reading, corrected)
    return _FrameVerdict(_Vote.UNDECIDED, reading, None, VerificationReason.STOPPAGE_UNREAD)


def _contradiction(
    readings: Sequence[FrameReading], expectation: Expectation, status: VerificationStatus
) -> tuple[VerificationStatus, VerificationReason] | None:
    """Return the status that follows if every readable frame contradicts the teams or the score; None otherwise.

    A single frame may show a banner or a misread advertising board, so a rejection needs two. Unknown team codes that
    may be misread reject only with a contradicting score, and no codes outweigh a matching clock and score: they may be
    unusual or in another alphabet. A score alone never rejects a clip with a matching clock: the feed's may be wrong.
    """
    names, clock_matches = expectation.names, status is VerificationStatus.VERIFIED
    score_matches = [each for reading in readings if (each := _score_matches(reading, expectation)) is not None]
    with_teams = [reading for reading in readings if reading.teams is not None]
    if names is not None and with_teams and all(is_other_match(each.teams, names) for each in with_teams if each.teams):
        pairs = Counter(reading.teams for reading in with_teams)
        is_repeated = max(pairs.values()) > 1 or sum(reading.score is not None for reading in with_teams) > 1
        is_other_score = len(score_matches) > 1 and not any(score_matches)
        is_unambiguous = is_other_score or not any(
            is_possibly_misread(each.teams, names) for each in with_teams if each.teams
        )
        clocks_agree = _agree_with_each_other(
            [minute for reading in readings if (minute := minute_of(reading)) is not None]
        )
        is_certain = (
            is_repeated
            and is_unambiguous
            and clocks_agree
            and not (clock_matches and score_matches and all(score_matches))
        )
        return _rejected_if(is_certain), VerificationReason.OTHER_TEAMS
    if score_matches and not any(score_matches):
        return _rejected_if(len(score_matches) > 1 and not clock_matches), VerificationReason.OTHER_SCORE
    return None


def _rejected_if(is_certain: bool) -> VerificationStatus:
    return VerificationStatus.REJECTED if is_certain else VerificationStatus.UNVERIFIED


def _reason_for_doubt(
    readings: Sequence[FrameReading], expectation: Expectation, football: bool | None
) -> VerificationReason | None:
    """Return why a clip with a matching clock is not verified after all; None if it is."""
    if football is None or may_be_other_sport(readings):
        return VerificationReason.SPORT_UNCLEAR
    found = [reading for reading in drop_stopped_clocks(readings) if clock_of(reading) is not None]
    if _is_bare_clock(found) and len(readings) > len(FRACTIONS):
        return VerificationReason.NO_CLOCK
    speeds = clock_speeds(readings)
    is_fast = len(speeds) > 1 and min(speeds) >= MIN_GAME_SPEED and max(speeds) <= MAX_SPEED_RATIO * min(speeds)
    is_game = is_fast or any(reading.video_game for reading in readings)
    return VerificationReason.VIDEO_GAME if is_game and expectation.names is not None else None


def _score_matches(reading: FrameReading, expectation: Expectation) -> bool | None:
    """Whether the score is the one before or after the goal; None if it is unknown or unreadable."""
    score, scores, names = reading.score, expectation.scores, expectation.names
    if score is None or scores is None:
        return None
    swapped = names is not None and reading.teams is not None and is_swapped(reading.teams, names)
    return (Score(score.away, score.home) if swapped else score) in scores


def _is_same_half(clock: MatchClock, expectation: Expectation) -> bool:
    """Whether the clock's period mark, if any, agrees with the goal's period. Minute 46 exists in both halves, and
    minute 93 in the second half and in extra time.
    """
    elapsed = expectation.minute.elapsed
    match clock.period:
        case MatchPeriod.FIRST_HALF:
            return elapsed <= PERIOD_ENDS[0]
        case MatchPeriod.SECOND_HALF:
            return elapsed > PERIOD_ENDS[0]
        case MatchPeriod.EXTRA_TIME | MatchPeriod.EXTRA_SECOND:
            return elapsed > PERIOD_ENDS[1]
    return True


def _announced_minutes(reading: FrameReading, clock: MatchClock) -> int | None:
    return parse_added_field(reading.added) if reading.added else clock.added


def _first_verdict(readings: Sequence[FrameReading]) -> _FrameVerdict:
    reading = next((each for each in readings if each.clock), readings[0])
    return _FrameVerdict(_Vote.NO_EVIDENCE, reading, minute_of(reading))


def _result(decision: _Decision, readings: Sequence[FrameReading], expectation: Expectation) -> Verification:
    status, reason, decisive_exchange = decision
    if decisive_exchange is None:
        return Verification(status, None, reason, None)
    proof = Proof(decisive_exchange.reading.at, decisive_exchange.reading.box, tuple(readings), expectation)
    return Verification(status, decisive_exchange.minute, reason, proof)


# --- Wickets: what the readings prove, compared with the feed.


TOLERANCE_BALLS = BALLS_PER_OVER
"""Balls. Clips begin before the wicket, replays follow it, and feeds are sometimes a ball off."""
MAX_BALLS_BEFORE = 1
"""Balls. A scoreboard without the wicket must be this close to the wicket's ball; otherwise the clip may show the
previous wicket.
"""


def validate_wicket(readings: Sequence[FrameReading], expectation: Expectation) -> Verification:
    """Verify only on matching overs and wickets; reject only on contradicting evidence."""
    wicket = expectation.wicket
    assert wicket is not None
    decision: _Decision
    if shows_sport(readings) is False:
        decision = VerificationStatus.REJECTED, VerificationReason.NOT_CRICKET, _first_with_score(readings)
    elif is_screen(readings) is True:
        decision = VerificationStatus.REJECTED, VerificationReason.FILMED_SCREEN, _first_with_score(readings)
    else:
        ball = balls_bowled(expectation.minute.elapsed, expectation.minute.extra or 0)
        decision = _decide_by_score([_wicket_verdict(reading, ball, wicket) for reading in readings])
        contradiction = _wicket_contradiction(readings, expectation, wicket)
        if contradiction is not None:
            decision = VerificationStatus.REJECTED, contradiction, decision[2]
    return _result(decision, readings, expectation)


def _decide_by_score(verdicts: Sequence[_FrameVerdict]) -> _Decision:
    by_vote = {vote: [each for each in verdicts if each.vote is vote] for vote in _Vote}
    matching, mismatching, undecided = by_vote[_Vote.MATCH], by_vote[_Vote.MISMATCH], by_vote[_Vote.UNDECIDED]
    if matching and not mismatching:
        return VerificationStatus.VERIFIED, None, matching[0]
    if len(mismatching) > len(matching) + len(undecided):
        return VerificationStatus.REJECTED, mismatching[0].reason, mismatching[0]
    # In contrast to goals, one contradicting frame leaves the clip unverified: two wickets can fall within three balls.
    if mismatching:
        return VerificationStatus.UNVERIFIED, VerificationReason.CLOCKS_DISAGREE, mismatching[0]
    if undecided:
        return VerificationStatus.UNVERIFIED, undecided[0].reason, undecided[0]
    return VerificationStatus.UNVERIFIED, VerificationReason.NO_CLOCK, verdicts[0] if verdicts else None


def _wicket_verdict(reading: FrameReading, ball: int, wicket: WicketExpectation) -> _FrameVerdict:
    shown, over = balls_of(reading), _over_of(reading)
    fallen = possible_wickets(reading.score) if reading.score is not None else frozenset()
    if shown is None and not fallen:
        return _FrameVerdict(_Vote.NO_EVIDENCE, reading)
    if shown is not None and abs(shown - ball) > TOLERANCE_BALLS:
        return _FrameVerdict(_Vote.MISMATCH, reading, over, VerificationReason.WRONG_OVER)
    expected = {number for number in (wicket.before, wicket.after) if number is not None}
    if expected and fallen and not fallen & expected:
        return _FrameVerdict(_Vote.MISMATCH, reading, over, VerificationReason.OTHER_SCORE)
    if shown is None:
        return _FrameVerdict(_Vote.UNDECIDED, reading, over, VerificationReason.NO_CLOCK)
    if wicket.after in fallen or (wicket.before in fallen and ball - MAX_BALLS_BEFORE <= shown <= ball):
        return _FrameVerdict(_Vote.MATCH, reading, over)
    reason = VerificationReason.SCORE_UNREAD if not fallen else VerificationReason.CLOCKS_DISAGREE
    return _FrameVerdict(_Vote.UNDECIDED, reading, over, reason)


def _over_of(reading: FrameReading) -> int | None:
    balls = balls_of(reading)
    return None if balls is None else balls // BALLS_PER_OVER


def _wicket_contradiction(
    readings: Sequence[FrameReading], expectation: Expectation, wicket: WicketExpectation
) -> VerificationReason | None:
    """Contradiction shared by every readable frame."""
    names = expectation.names
    if names is None:
        return None
    at_bat = [reading.batting for reading in readings if reading.batting is not None]
    batting, fielding = _batting_and_fielding(wicket.batting, names, wicket)
    if at_bat and not any(_may_stand_for(letters, batting) for letters in at_bat):
        if any(_may_stand_for(letters, fielding) for letters in at_bat):
            return VerificationReason.OTHER_INNINGS
        # A full name may be a bowler's, whose figures look like a score.
        if all(is_code(letters) for letters in at_bat):
            return VerificationReason.OTHER_TEAMS
    pairs = [reading.teams for reading in readings if reading.teams is not None]
    if pairs and all(is_other_match(pair, names) and not _has_feed_code(pair, wicket) for pair in pairs):
        return VerificationReason.OTHER_TEAMS
    return None


@dataclass(frozen=True, slots=True)
class _ExpectedTeam:
    name: str
    code: str | None


def _batting_and_fielding(
    batting: Side, names: tuple[str, str], wicket: WicketExpectation
) -> tuple[_ExpectedTeam, _ExpectedTeam]:
    home, away = _ExpectedTeam(names[0], wicket.home_code), _ExpectedTeam(names[1], wicket.away_code)
    return (home, away) if batting is Side.HOME else (away, home)


def _may_stand_for(letters: str, team: _ExpectedTeam) -> bool:
    """Whether the letters may stand for the team. True if they cannot be compared: that is not a contradiction."""
    if team.code is not None and letters.casefold() == team.code.casefold():
        return True
    return match_code(letters, team.name) in (None, CodeMatch.LOOSE, CodeMatch.YES)


def _has_feed_code(pair: tuple[str, str], wicket: WicketExpectation) -> bool:
    codes = {code.casefold() for code in (wicket.home_code, wicket.away_code) if code}
    return any(letters.casefold() in codes for letters in pair)


def _first_with_score(readings: Sequence[FrameReading]) -> _FrameVerdict:
    reading = next((each for each in readings if each.score is not None), readings[0])
    return _FrameVerdict(_Vote.NO_EVIDENCE, reading, _over_of(reading))
