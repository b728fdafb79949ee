"""What the readings of a clip prove about a goal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.models import Expectation, FrameReading, Proof, parse_score
from found_footy.clips.verification import (
    FRACTIONS,
    MORE_FRACTIONS,
    Verification,
    VerificationReason,
    VerificationStatus,
    clip_minute,
    next_fraction,
    validate_timestamp,
    verify_readings,
)
from found_footy.fixtures.models import MatchMinute, Score
from found_footy.media.models import RelativeBox

BOX = RelativeBox(0.1, 0.05, 0.2, 0.1)
VERIFIED, UNVERIFIED, REJECTED = VerificationStatus.VERIFIED, VerificationStatus.UNVERIFIED, VerificationStatus.REJECTED
TEAMS = ("RMA", "SEV")
NAMES = {"home": "Real Madrid", "away": "Sevilla"}
GOAL = {"score_before": Score(0, 0), "score_after": Score(0, 1)}
LATE_GOAL = {"score_before": Score(2, 1), "score_after": Score(3, 1)}


def reading(clock: str | None = None, **more: Any) -> FrameReading:
    return FrameReading(**{"at": 1.0, "soccer": True, "screen": False, "clock": clock, "box": BOX, **more})


def expected(minute: str, **more: Any) -> Expectation:
    elapsed, _, extra = minute.partition("+")
    return Expectation(MatchMinute(int(elapsed), int(extra) if extra else None), **more)


def verdict(minute: str, *readings: FrameReading, **more: Any) -> tuple[str, int | None, str | None]:
    result = validate_timestamp(readings, expected(minute, **more))
    return result.status, result.minute, result.reason


@pytest.mark.parametrize(
    ("goal", "clocks", "status", "minute", "reason"),
    [
        ("86", ["85:32", "85:45"], VERIFIED, 85, None),
        ("86", ["83:00", None], VERIFIED, 83, None),  # 3 off
        ("86", ["82:59", "82:59"], REJECTED, 82, "wrong minute"),
        ("86", ["89:59", None], VERIFIED, 89, None),
        ("86", ["90:10", "90:10"], REJECTED, 90, "wrong minute"),
        ("86", [None, None, None], UNVERIFIED, None, "no clock"),
        ("86", ["LIVE", "HD"], UNVERIFIED, None, "no clock"),
        ("86", [], UNVERIFIED, None, "no clock"),
        ("57", ["2H 12:30", None], VERIFIED, 57, None),
        ("86", ["85:32", "12:00", None], UNVERIFIED, 12, "clocks disagree"),
        ("86", ["85:32", "12:00", "85:40"], VERIFIED, 85, None),
        ("86", ["12:00", "85:32", "12:10"], REJECTED, 12, "wrong minute"),
        ("86", ["12:00", "35:32", "62:10"], UNVERIFIED, 12, "wrong minute"),  # misread, as in a mirrored copy
        ("86", ["85:32", None, None, None], UNVERIFIED, 85, "no clock"),  # a bare one in one frame of many
        ("86", ["85:32", None, None, "85:40"], VERIFIED, 85, None),
        ("90+3", ["93:10", None], VERIFIED, 93, None),
        ("90+3", ["90+3:15", None], VERIFIED, 93, None),
        ("90+3", ["90:00 +4 02:17", None], VERIFIED, 92, None),
        ("90+4", ["90:00 +4", None], VERIFIED, 90, None),  # the fourth of four announced minutes
        ("90+7", ["90:00", None], UNVERIFIED, 90, "stoppage time unread"),
        ("90+9", ["90:00 +4", None], UNVERIFIED, 90, "stoppage time unread"),
        ("80", ["90:00", "90:00"], REJECTED, 90, "wrong minute"),
        # a period mark distinguishes stoppage time from the next half
        ("45+2", ["47:10", None], VERIFIED, 47, None),
        ("45+2", ["2H 47:10", "2H 47:10"], REJECTED, 47, "wrong minute"),
        ("47", ["1H 47:10", "1H 47:10"], REJECTED, 47, "wrong minute"),
        ("90+4", ["ET 93:10", "ET 93:10"], REJECTED, 93, "wrong minute"),
        ("94", ["ET 93:10", "ET 93:10"], VERIFIED, 93, None),
    ],
)
def test_the_clock_decides(
    goal: str, clocks: list[str | None], status: VerificationStatus, minute: int | None, reason: str | None
) -> None:
    assert verdict(goal, *map(reading, clocks)) == (status, minute, reason)


@pytest.mark.parametrize("off", [-7, -6, -5, -4, 4, 5, 6, 7])
def test_a_clock_four_to_seven_minutes_off_is_another_moment(off: int) -> None:
    clocks = [reading(f"{63 + off}:1{second}", teams=TEAMS) for second in (0, 5)]
    assert verdict("63", *clocks, **NAMES, **GOAL) == (REJECTED, 63 + off, "wrong minute")


@pytest.mark.parametrize(
    ("readings", "status"),
    [
        ([reading("12:00")], UNVERIFIED),  # a bare clock in one frame may be misread, or a time of day
        ([reading("12:00"), reading(None), reading(None)], UNVERIFIED),
        ([reading("12:00"), reading("12:10")], REJECTED),
        ([reading("12:00"), reading("12:10"), reading(None), reading(None)], REJECTED),
        # most frames are unreadable, so the others may be misread in the same way
        ([reading("12:00"), reading("12:10"), reading(None), reading(None), reading(None)], UNVERIFIED),
        ([reading("55:01"), reading("12:00")], UNVERIFIED),  # misread twice
        # a scoreboard, unless it is itself misread
        ([reading("12:00", teams=TEAMS, score=Score(0, 0))], REJECTED),
        ([reading("12:00", teams=TEAMS, score=Score(0, 0)), reading(None), reading(None)], UNVERIFIED),
        ([reading("12:00", teams=TEAMS)], UNVERIFIED),
        ([reading("12:00", teams=("RMA", "BEY"), score=Score(0, 0))], UNVERIFIED),
    ],
)
def test_a_wrong_minute_rejects_only_on_a_whole_scoreboard_or_two_readings(
    readings: list[FrameReading], status: VerificationStatus
) -> None:
    result = validate_timestamp(readings, expected("86", **NAMES))
    assert (result.status, result.reason) == (status, "wrong minute")


@pytest.mark.parametrize(
    ("goal", "clock", "status", "reason"),
    [
        # with a readable mark the clock has one meaning
        ("49", "2T 04:55", VERIFIED, None),
        ("49", "2.HZ 04:55", VERIFIED, None),
        ("4", "2T 04:55", REJECTED, "wrong minute"),
        ("49", "1T 04:55", REJECTED, "wrong minute"),
        ("98", "ET 08:12", VERIFIED, None),
        # a few letters of another box may be a fragment of BET
        ("4", "ET 03:14", UNVERIFIED, "period unread"),
        ("4", "ST 03:14", UNVERIFIED, "period unread"),
        ("80", "ST 03:14", REJECTED, "wrong minute"),
        # without one it may have restarted with the half, with extra time, or with its second half
        ("49", "04:55", UNVERIFIED, "period unread"),
        ("5", "04:55", VERIFIED, None),
        ("90+2", "46:30", UNVERIFIED, "period unread"),
        ("98", "08:12", UNVERIFIED, "period unread"),
        ("108", "03:10", UNVERIFIED, "period unread"),
        ("80", "04:55", REJECTED, "wrong minute"),
        ("45+4", "04:55", UNVERIFIED, "stoppage time unread"),
    ],
)
def test_a_clock_that_may_have_restarted_with_the_period_does_not_reject(
    goal: str, clock: str, status: VerificationStatus, reason: str | None
) -> None:
    result = validate_timestamp([reading(clock, teams=TEAMS), reading(clock, teams=TEAMS)], expected(goal, **NAMES))
    assert (result.status, result.reason) == (status, reason)


@pytest.mark.parametrize("goal", ["44", "45", "45+2", "88", "90", "90+7", "20"])
@pytest.mark.parametrize(
    "clock", ["HT", "FT", "FULL TIME", "HT 45:00", "FT 90+4", "AET", "PENS", "2-1 FT", "INTERVALO"]
)
def test_a_period_end_card_verifies_no_minute(clock: str, goal: str) -> None:
    assert verdict(goal, reading(clock, teams=TEAMS), reading(clock)) == (UNVERIFIED, None, "no clock")


def test_the_fields_of_a_frozen_clock_are_combined() -> None:
    assert verdict("90+7", reading("90:00", added="+8", stoppage_clock="06:40")) == (VERIFIED, 96, None)
    outside = reading("90:00", added="+8", stoppage_clock="01:40", teams=TEAMS)
    assert verdict("90+7", outside, outside) == (REJECTED, 91, "wrong minute")
    assert verdict("45+3", reading("45:00", stoppage_clock="02:17")) == (VERIFIED, 47, None)
    assert verdict("90+2", reading(None, stoppage_clock="02:17"), posted_after_minutes=112) == (VERIFIED, 92, None)


@pytest.mark.parametrize(
    ("goal", "clock", "more", "status", "minute", "reason"),
    [
        # the feed's minute and a fresh post exclude the third minute of the match
        ("90+3", {"clock": "02:36"}, {"posted_after_minutes": 110}, VERIFIED, 92, None),
        ("45+2", {"clock": "2:36"}, {"posted_after_minutes": 48}, VERIFIED, 47, None),
        ("90+3", {"clock": "02:36"}, {"posted_after_minutes": 110, **LATE_GOAL}, VERIFIED, 92, None),
        # so do an announcement, and a score that nobody has in the third minute
        ("90+3", {"clock": "02:36", "added": "+4"}, {}, VERIFIED, 92, None),
        ("90+3", {"clock": "02:36", "score": Score(2, 1)}, LATE_GOAL, VERIFIED, 92, None),
        # without any of them, both are possible
        ("90+3", {"clock": "02:36"}, {}, UNVERIFIED, None, "stoppage time unread"),
        ("90+3", {"clock": "02:36"}, LATE_GOAL, UNVERIFIED, None, "stoppage time unread"),
        ("90+3", {"clock": "02:36"}, {"posted_after_minutes": 6}, UNVERIFIED, None, "stoppage time unread"),
        ("90+3", {"clock": "02:36", "score": Score(0, 0)}, GOAL, UNVERIFIED, None, "stoppage time unread"),
        # another score is the third minute
        ("90+3", {"clock": "02:36", "score": Score(0, 0)}, LATE_GOAL, REJECTED, 2, "wrong minute"),
        # no correction
        ("90+3", {"clock": "12:36", "teams": TEAMS}, {"posted_after_minutes": 110}, REJECTED, 12, "wrong minute"),
        ("88", {"clock": "02:36", "teams": TEAMS}, {"posted_after_minutes": 110}, REJECTED, 2, "wrong minute"),
        ("90+3", {"clock": "06:10", "teams": TEAMS}, {"posted_after_minutes": 110}, VERIFIED, 96, None),
        ("90+3", {"clock": "07:10", "teams": TEAMS}, {"posted_after_minutes": 110}, REJECTED, 7, "wrong minute"),
    ],
)
def test_a_stoppage_clock_without_its_first_digits_is_corrected_where_the_early_minute_is_excluded(
    goal: str,
    clock: dict[str, Any],
    more: dict[str, Any],
    status: VerificationStatus,
    minute: int | None,
    reason: str | None,
) -> None:
    assert verdict(goal, reading(**clock), reading(**clock), **more) == (status, minute, reason)


@pytest.mark.parametrize("minute", range(1, 7))
def test_the_first_minutes_of_the_match_never_verify_a_stoppage_goal_without_a_post(minute: int) -> None:
    early = [reading(f"0{minute}:1{second}", teams=TEAMS, score=Score(0, 0)) for second in (0, 5)]
    for goal in ("45+3", "90+3"):
        assert verdict(goal, *early, **NAMES, **GOAL)[0] == UNVERIFIED
        assert verdict(goal, *early, **NAMES, **LATE_GOAL)[0] == REJECTED


def test_a_misread_clock_is_outvoted_by_the_same_clock_without_its_wrong_digit() -> None:
    frames = [reading("103:17", at=0.5), reading("03:18", at=1.5), reading("03:18", at=1.0)]
    assert verdict("3", *frames, **NAMES) == (VERIFIED, 3, None)
    assert verdict("106", *frames, **NAMES)[0] == UNVERIFIED, "03:18 may be extra time's, and 103:17 is not the same"
    marked = [reading("2T 04:55", at=0.5), reading("04:57", at=2.5), reading("04:59", at=4.5)]
    assert verdict("49", *marked, **NAMES) == (VERIFIED, 49, None), "the mark is read once"


def test_a_caption_that_shows_a_time_outvotes_no_scoreboard() -> None:
    caption = [reading("10:45", at=5.0), reading("10:45", at=10.0)]
    board = reading("85:39", at=2.0, teams=TEAMS, score=Score(0, 0))
    assert verdict("86", board, *caption, **NAMES, **GOAL) == (VERIFIED, 85, None)
    assert verdict("11", board, *caption, **NAMES, **GOAL) == (UNVERIFIED, 85, "wrong minute")


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ({"clock": "23:34"}, {"clock": "23:34"}, UNVERIFIED),  # a time of day
        ({"clock": "23:34"}, {"clock": "23:37"}, VERIFIED),
        ({"clock": "23:34", "teams": TEAMS}, {"clock": "23:34", "teams": TEAMS}, UNVERIFIED),  # a still image
        ({"clock": "23:34"}, {"clock": "23:34", "at": 2.0}, VERIFIED),  # too close
        ({"clock": "23:34", "teams": TEAMS}, {"clock": "23:34", "teams": TEAMS, "at": 3.0}, VERIFIED),  # slow motion
        ({"clock": "23:34"}, {"clock": None}, VERIFIED),
    ],
)
def test_a_frozen_clock_is_not_a_match_clock(
    first: dict[str, Any], second: dict[str, Any], status: VerificationStatus
) -> None:
    result = validate_timestamp([reading(**first), reading(**{"at": 4.0, **second})], expected("24"))
    assert result.status is status


BOARD = {"teams": TEAMS, "score": Score(0, 0)}


@pytest.mark.parametrize(
    ("frames", "more", "status", "reason"),
    [
        # a pitch in one frame is enough
        ([{"soccer": False}, {"soccer": True}, {"soccer": False}], {}, VERIFIED, None),
        # the match's own scoreboard outweighs the colours
        ([{"soccer": None, **BOARD}, {"soccer": None, **BOARD}], NAMES, VERIFIED, None),
        ([{"soccer": False, **BOARD}, {"soccer": False}], NAMES | GOAL, VERIFIED, None),
        ([{"soccer": False, "score": Score(0, 0)}, {"soccer": False}], NAMES | GOAL, VERIFIED, None),
        # with nothing to compare, a complete one that counts up
        ([{"soccer": None, **BOARD}, {"soccer": None, "at": 7.0, "clock": "67:06", **BOARD}], {}, VERIFIED, None),
        ([{"soccer": None, **BOARD}, {"soccer": None, **BOARD}], {}, UNVERIFIED, "sport unclear"),
        ([{"soccer": None, "clock": "67:00"}], {}, UNVERIFIED, "sport unclear"),
        # another board, or none, beside no pitch
        ([{"soccer": None, "teams": ("GSW", "LAL")}, {"soccer": None}], NAMES, UNVERIFIED, "other teams"),
        ([{"soccer": False}, {"soccer": False}], {}, REJECTED, "not soccer"),
        ([{"soccer": False, "clock": None}, {"soccer": False, "clock": None}], {}, REJECTED, "not soccer"),
        ([{"soccer": False, "clock": None}, {"soccer": None, "clock": None}], {}, UNVERIFIED, "no clock"),
        # another sport's board
        ([{"other_sport": "Q3", **BOARD}, {"other_sport": "Q3", **BOARD}], NAMES, REJECTED, "not soccer"),
        ([{**BOARD}, {**BOARD}, {"other_sport": "Q3", **BOARD}], NAMES, VERIFIED, None),  # misread once
        ([{"clock": None}, {"other_sport": "Q3", **BOARD}], NAMES, UNVERIFIED, "sport unclear"),
        # counts down
        (
            [{"clock": "11:14"}, {"clock": "11:12", "at": 3.0}, {"clock": "11:10", "at": 5.0}],
            {},
            REJECTED,
            "not soccer",
        ),
        ([{"clock": "11:14"}, {"clock": "11:10", "at": 5.0}], {}, UNVERIFIED, "sport unclear"),  # or a replay
        ([{"clock": "67:14"}, {"clock": "66:20", "at": 5.0}], {}, VERIFIED, None),  # a replay of an earlier moment
    ],
)
def test_not_soccer_is_decided_on_evidence(
    frames: list[dict[str, Any]], more: dict[str, Any], status: VerificationStatus, reason: str | None
) -> None:
    readings = [reading(**{"clock": "67:00", **fields}) for fields in frames]
    goal = "11" if any(str(fields.get("clock")).startswith("11") for fields in frames) else "67"
    result = validate_timestamp(readings, expected(goal, **more))
    assert (result.status, result.reason) == (status, reason)


@pytest.mark.parametrize(
    ("screens", "status", "reason"),
    [
        ([True, True], REJECTED, "filmed screen"),
        ([True, False, True], REJECTED, "filmed screen"),
        ([True, False, False], VERIFIED, None),
        ([True, False], VERIFIED, None),
    ],
)
def test_most_frames_decide_whether_a_screen_was_filmed(
    screens: list[bool], status: VerificationStatus, reason: str | None
) -> None:
    result = validate_timestamp([reading("67:00", screen=screen) for screen in screens], expected("67"))
    assert (result.status, result.reason) == (status, reason)


@pytest.mark.parametrize(
    ("clocks", "menu", "names", "reason"),
    [
        (["66:10", "66:15", "66:20"], False, NAMES, None),
        (["66:00", "66:35", "67:10"], False, NAMES, "video game"),  # seven times as fast, all the time
        (["66:00", "66:35", "67:10"], False, {}, None),
        (["66:00", "66:35", "66:40"], False, NAMES, None),  # one cut
        (["66:10", "66:15"], True, NAMES, "video game"),
        (["66:10", "66:15"], True, {}, None),
    ],
)
def test_signs_of_a_video_game_prevent_the_proof_where_the_teams_are_known(
    clocks: list[str], menu: bool, names: dict[str, str], reason: str | None
) -> None:
    frames = [reading(clock, at=5.0 * number, video_game=menu) for number, clock in enumerate(clocks)]
    result = validate_timestamp(frames, expected("67", **names))
    assert (result.status, result.reason) == (UNVERIFIED if reason else VERIFIED, reason)


@pytest.mark.parametrize(
    ("readings", "status", "reason"),
    [
        ([{"teams": TEAMS, "score": Score(0, 0)}], VERIFIED, None),
        ([{"teams": TEAMS, "score": Score(0, 1)}], VERIFIED, None),
        ([{"teams": ("RMA", "BAR")}], VERIFIED, None),
        ([{"teams": ("SEV", "RMA"), "score": Score(1, 0)}], VERIFIED, None),  # the away team on the left
        ([{"teams": ("ARS", "CHE")}, {"teams": TEAMS}], VERIFIED, None),  # one frame was misread
        ([{"score": Score(2, 0)}, {"score": Score(0, 1)}], VERIFIED, None),
        ([{}, {}], VERIFIED, None),
        # a score alone never rejects a clip whose clock fits
        ([{"teams": TEAMS, "score": Score(2, 0)}], UNVERIFIED, "other score"),
        ([{"score": Score(2, 0)}, {"score": Score(2, 0)}], UNVERIFIED, "other score"),
        # letters read once may be a banner's, or a misread advertising board with digits
        ([{"teams": ("ARS", "CHE"), "score": Score(0, 0)}], UNVERIFIED, "other teams"),
        ([{"teams": ("ES", "WORO"), "score": Score(0, 5)}, {}], UNVERIFIED, "other teams"),
        (
            [{"teams": ("ARS", "CHE"), "score": Score(2, 0)}, {"teams": ("ARS", "CRE"), "score": Score(2, 0)}],
            REJECTED,
            "other teams",
        ),
        ([{"teams": ("HMA", "BEY")}, {"teams": ("HMA", "BEY")}], UNVERIFIED, "other teams"),  # one letter from RMA
        ([{"teams": ("HMA", "BEY"), "score": Score(2, 2)}] * 2, REJECTED, "other teams"),  # and another score
        # codes of another alphabet, or unknown ones, beside a clock and a score that fit
        ([{"teams": ("3EH", "UCKA"), "score": Score(0, 0)}] * 2, UNVERIFIED, "other teams"),
        ([{"teams": ("3EH", "UCKA"), "score": Score(0, 0)}, {"teams": ("3EH", "UCKA")}], UNVERIFIED, "other teams"),
        ([{"teams": ("ARS", "CHE")}, {"teams": ("ARS", "CHE")}], REJECTED, "other teams"),
        ([{"teams": ("ARS", "CHE")}], UNVERIFIED, "other teams"),
        ([{"teams": ("ARS", "CHE")}, {"teams": ("ARS", "CHE"), "clock": "21:14"}], UNVERIFIED, "other teams"),
        ([{"teams": ("ARS", "CHE")}, {"teams": ("ADS", "HERE")}], UNVERIFIED, "other teams"),
    ],
)
def test_only_a_clear_contradiction_rejects(
    readings: list[dict[str, Any]], status: VerificationStatus, reason: str | None
) -> None:
    frames = [reading(**{"clock": "67:00", **fields}) for fields in readings]
    result = validate_timestamp(frames, expected("67", **NAMES, **GOAL))
    assert (result.status, result.reason) == (status, reason)


def test_a_contradiction_rejects_a_clip_without_a_clock_too() -> None:
    other = reading(None, teams=("ARS", "CHE"))
    assert verdict("67", other, other, **NAMES) == (REJECTED, None, "other teams")
    wrong = reading(None, score=Score(4, 4))
    assert verdict("67", wrong, wrong, **GOAL) == (REJECTED, None, "other score")
    assert verdict("67", wrong, **GOAL) == (UNVERIFIED, None, "other score")


def test_fields_that_the_feed_lacks_reject_nothing() -> None:
    assert verdict("67", reading("67:00", teams=("ARS", "CHE"), score=Score(4, 4))) == (VERIFIED, 67, None)
    assert verdict("67", reading("67:00", score=Score(4, 4)), score_after=Score(0, 1)) == (VERIFIED, 67, None)


def test_stored_readings_are_judged_again_when_the_feed_corrects_the_goal() -> None:
    frames = [reading("67:00", at=5.0, **BOARD), reading("67:10", at=15.0, other_sport=None, **BOARD)]
    rejected = verify_readings(frames, expected("55", **NAMES, **GOAL))
    assert rejected.status is REJECTED
    assert rejected.proof is not None
    stored = Proof.from_json(json.loads(json.dumps(rejected.proof.to_json())))
    assert verify_readings(stored.readings, expected("67", **NAMES, **GOAL)).status is VERIFIED


@pytest.mark.parametrize(
    ("readings", "fraction"),
    [
        ([], 0.25),
        ([reading("67:00")], 0.75),
        ([reading("67:00"), reading("67:20")], None),
        ([reading("67:00", score=Score(0, 0)), reading(None)], 0.5),
        ([reading("67:00"), reading(None)], 0.5),
        ([reading("67:00"), reading("67:20", soccer=False)], None),
        # the middle frame decides
        ([reading(None), reading(None)], 0.5),
        ([reading("67:00"), reading("12:20")], 0.5),
        ([reading("67:00", soccer=None), reading("67:20", soccer=False)], 0.5),
        ([reading("67:00", screen=True), reading("67:20")], 0.5),
        ([reading("11:14", at=1.0), reading("11:10", at=5.0)], 0.5),  # counts down
        ([reading("66:00", at=1.0), reading("67:10", at=11.0)], 0.5),  # runs fast
        # without a scoreboard, more frames are tried
        ([reading(None)] * 3, 0.1),
        ([reading("20:45"), reading(None), reading(None)], 0.1),
        ([reading("20:45", at=1.0), reading("20:45", at=9.0)], 0.5),  # stands still
        ([reading("67:00"), reading("67:20"), reading(None)], None),
        ([reading(None)] * 6, 0.9),
        ([reading(None)] * 7, None),
        # one clock may be misread, with its scoreboard around it as well
        ([reading("80:42", teams=TEAMS), reading(None), reading(None)], 0.1),
        ([reading("80:42", score=Score(0, 0)), reading(None), reading(None), reading("60:37")], 0.4),
        ([reading("80:42"), reading("60:37"), reading("60:40")], None),
        # two that count down: another sport's, or one of them is misread
        ([reading("40:35", at=12.0), reading("40:38", at=9.6), reading(None)], 0.1),
        ([reading("40:35", at=12.0), reading("40:38", at=9.6), reading("40:40", at=14.4)], None),
        ([reading("11:14", at=1.0), reading("11:10", at=5.0), reading("11:12", at=3.0)], None),
    ],
)
def test_more_frames_are_read_only_while_evidence_is_missing(
    readings: list[FrameReading], fraction: float | None
) -> None:
    assert next_fraction(readings) == fraction


def test_a_scoreboard_in_a_sixth_of_the_clip_is_in_a_sampled_frame() -> None:
    places = sorted(FRACTIONS + MORE_FRACTIONS)
    assert max(after - before for before, after in zip([0.0, *places], [*places, 1.0], strict=True)) <= 1 / 6


@pytest.mark.parametrize(
    ("clocks", "minute"),
    [([], None), (["85:32", None], 85), (["12:00", "85:32", "85:50"], 85), (["85:59", "86:10"], 85)],
)
def test_most_frames_decide_the_minute_of_a_clip(clocks: list[str | None], minute: int | None) -> None:
    assert clip_minute([reading(clock) for clock in clocks]) == minute


def test_a_proof_names_the_deciding_frame_and_survives_json() -> None:
    frames = [reading(None, at=6.5, soccer=None, video_game=True), reading("67:20", at=19.5, other_sport="Q1", **BOARD)]
    proof = validate_timestamp([*frames, reading("67:25")], expected("67", posted_after_minutes=81.5, **NAMES)).proof
    assert proof is not None
    assert (proof.at, proof.box) == (19.5, BOX)
    assert Proof.from_json(json.loads(json.dumps(proof.to_json()))) == proof


clocks = st.one_of(st.none(), st.text(max_size=8), st.from_regex(r"[0-9]{1,2}:[0-5][0-9]", fullmatch=True))
any_reading = st.builds(
    FrameReading,
    at=st.floats(0, 60),
    soccer=st.one_of(st.none(), st.booleans()),
    screen=st.booleans(),
    clock=clocks,
    added=clocks,
    stoppage_clock=clocks,
)


@given(st.lists(any_reading, max_size=7), st.integers(0, 130), st.one_of(st.none(), st.integers(0, 20)))
def test_a_verified_clip_shows_a_minute_within_tolerance_or_a_clock_at_the_periods_end(
    frames: list[FrameReading], elapsed: int, extra: int | None
) -> None:
    result = validate_timestamp(frames, Expectation(MatchMinute(elapsed, extra)))
    assert isinstance(result, Verification)
    assert (result.reason is None) == (result.status is VerificationStatus.VERIFIED)
    if result.status is VerificationStatus.VERIFIED:
        assert result.minute is not None
        assert abs(result.minute - elapsed - (extra or 0)) <= 3 or result.minute == elapsed
    if result.status is VerificationStatus.REJECTED:
        assert result.reason in (
            VerificationReason.WRONG_MINUTE,
            VerificationReason.NOT_SOCCER,
            VerificationReason.FILMED_SCREEN,
        )


@pytest.mark.parametrize("text", ["", "2", "2:1", "a-b", "-1-0", "²-1"])
def test_a_score_is_two_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="invalid score"):
        parse_score(text)
