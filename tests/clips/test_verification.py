from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.models import Expectation, FrameReading, Proof, parse_score
from found_footy.clips.verification import (
    Verification,
    VerificationReason,
    VerificationStatus,
    clip_minute,
    next_fraction,
    validate_timestamp,
)
from found_footy.fixtures.models import MatchMinute, Score
from found_footy.media.models import RelativeBox

BOX = RelativeBox(0.1, 0.05, 0.2, 0.1)


def seen(clock: str | None = None, **more: Any) -> FrameReading:
    return FrameReading(**{"at": 1.0, "soccer": True, "screen": False, "clock": clock, "box": BOX, **more})


def expected(minute: str, **more: Any) -> Expectation:
    elapsed, _, extra = minute.partition("+")
    return Expectation(MatchMinute(int(elapsed), int(extra) if extra else None), **more)


def judged(minute: str, *readings: FrameReading, **more: Any) -> tuple[str, int | None, str | None]:
    result = validate_timestamp(readings, expected(minute, **more))
    return result.status, result.minute, result.reason


VERIFIED, UNVERIFIED, REJECTED = VerificationStatus.VERIFIED, VerificationStatus.UNVERIFIED, VerificationStatus.REJECTED


@pytest.mark.parametrize(
    ("goal", "clocks", "status", "minute", "reason"),
    [
        ("86", ["85:32", "85:45"], VERIFIED, 85, None),
        ("86", ["83:00", None], VERIFIED, 83, None),  # 3 off
        ("86", ["82:59", None], REJECTED, 82, "wrong minute"),
        ("86", ["89:59", None], VERIFIED, 89, None),
        ("86", ["90:10", None], REJECTED, 90, "wrong minute"),
        ("86", [None, None, None], UNVERIFIED, None, "no clock"),
        ("86", ["LIVE", "HD"], UNVERIFIED, None, "no clock"),
        ("86", [], UNVERIFIED, None, "no clock"),
        ("57", ["2H 12:30", None], VERIFIED, 57, None),
        ("86", ["85:32", "12:00", None], UNVERIFIED, 12, "clocks disagree"),
        ("86", ["85:32", "12:00", "85:40"], VERIFIED, 85, None),
        ("86", ["12:00", "85:32", "12:10"], REJECTED, 12, "wrong minute"),
        ("90+3", ["93:10", None], VERIFIED, 93, None),
        ("90+3", ["90+3:15", None], VERIFIED, 93, None),
        ("90+3", ["90:00 +4 02:17", None], VERIFIED, 92, None),
        ("90+4", ["90:00 +4", None], VERIFIED, 90, None),  # the fourth of four announced minutes
        ("90+7", ["90:00", None], UNVERIFIED, 90, "stoppage time unread"),
        ("90+7", ["FT", None], UNVERIFIED, 90, "stoppage time unread"),
        ("90+9", ["90:00 +4", None], UNVERIFIED, 90, "stoppage time unread"),
        ("80", ["90:00", None], REJECTED, 90, "wrong minute"),
        # a period mark tells stoppage time from the next half
        ("45+2", ["47:10", None], VERIFIED, 47, None),
        ("45+2", ["2H 47:10", None], REJECTED, 47, "wrong minute"),
        ("47", ["1H 47:10", None], REJECTED, 47, "wrong minute"),
        # a clock that lost its first digit in stoppage time
        ("90+2", ["02:36", None], VERIFIED, 92, None),
        ("45+2", ["2:36", None], VERIFIED, 47, None),
        ("90+2", ["12:36", None], REJECTED, 12, "wrong minute"),
        ("88", ["02:36", None], REJECTED, 2, "wrong minute"),
    ],
)
def test_the_clock_decides(
    goal: str, clocks: list[str | None], status: VerificationStatus, minute: int | None, reason: str | None
) -> None:
    assert judged(goal, *map(seen, clocks)) == (status, minute, reason)


def test_the_fields_of_a_frozen_clock_are_put_together() -> None:
    assert judged("90+7", seen("90:00", added="+8", stoppage_clock="06:40")) == (VERIFIED, 96, None)
    assert judged("90+7", seen("90:00", added="+8", stoppage_clock="01:40")) == (REJECTED, 91, "wrong minute")
    assert judged("90+2", seen(None, stoppage_clock="02:17")) == (VERIFIED, 92, None)


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ({"clock": "23:34"}, {"clock": "23:34"}, UNVERIFIED),  # a time of day
        ({"clock": "23:34"}, {"clock": "23:37"}, VERIFIED),
        ({"clock": "23:34", "teams": ("ARS", "CHE")}, {"clock": "23:34", "teams": ("ARS", "CHE")}, VERIFIED),
        ({"clock": "23:34"}, {"clock": "23:34", "at": 2.0}, VERIFIED),  # too close to tell
        ({"clock": "23:34"}, {"clock": None}, VERIFIED),
    ],
)
def test_a_bare_clock_that_stands_still_is_a_time_of_day(
    first: dict[str, Any], second: dict[str, Any], status: VerificationStatus
) -> None:
    result = validate_timestamp([seen(**first), seen(**{"at": 4.0, **second})], expected("24"))
    assert result.status is status


SCORES = {"score_before": Score(2, 1), "score_after": Score(3, 1)}


def test_a_lost_digit_wants_the_score_where_it_is_known() -> None:
    """02:36 is also what the third minute shows."""
    assert judged("90+2", seen("02:36"), **SCORES) == (UNVERIFIED, None, "stoppage time unread")
    assert judged("90+2", seen("02:36", added="+4"), **SCORES) == (VERIFIED, 92, None)
    assert judged("90+2", seen("02:36", score=Score(2, 1)), **SCORES) == (VERIFIED, 92, None)
    assert judged("90+2", seen("02:36", score=Score(0, 0)), **SCORES) == (REJECTED, 92, "other score")


@pytest.mark.parametrize(
    ("votes", "screens", "status", "reason"),
    [
        ([True, True], [False, False], VERIFIED, None),
        ([False, False], [False, False], REJECTED, "not soccer"),
        ([True, False, True], [False, False, False], VERIFIED, None),
        ([True, False, False], [False, False, False], REJECTED, "not soccer"),
        ([True, True], [True, True], REJECTED, "filmed screen"),
        ([True, True, True], [True, False, True], REJECTED, "filmed screen"),
        ([True, True, True], [True, False, False], VERIFIED, None),
        ([True, False], [False, False], VERIFIED, None),  # undecided: the clock decides
    ],
)
def test_most_frames_decide_what_is_shown(
    votes: list[bool], screens: list[bool], status: VerificationStatus, reason: str | None
) -> None:
    frames = [seen("67:00", soccer=soccer, screen=screen) for soccer, screen in zip(votes, screens, strict=True)]
    result = validate_timestamp(frames, expected("67"))
    assert (result.status, result.reason) == (status, reason)


NAMES = {"home": "Real Madrid", "away": "Sevilla"}
GOAL = {"score_before": Score(0, 0), "score_after": Score(0, 1)}


@pytest.mark.parametrize(
    ("readings", "status", "reason"),
    [
        ([{"teams": ("RMA", "SEV"), "score": Score(0, 0)}], VERIFIED, None),
        ([{"teams": ("RMA", "SEV"), "score": Score(0, 1)}], VERIFIED, None),
        ([{"teams": ("RMA", "SEV"), "score": Score(2, 0)}], REJECTED, "other score"),
        ([{"teams": ("ARS", "CHE"), "score": Score(0, 0)}], REJECTED, "other teams"),
        ([{"teams": ("RMA", "BAR")}], VERIFIED, None),
        ([{"teams": ("SEV", "RMA"), "score": Score(1, 0)}], VERIFIED, None),  # the visitors stand left
        ([{"teams": ("ARS", "CHE")}, {"teams": ("RMA", "SEV")}], VERIFIED, None),  # one frame was misread
        ([{"score": Score(2, 0)}, {"score": Score(0, 1)}], VERIFIED, None),
        ([{}, {}], VERIFIED, None),
    ],
)
def test_only_a_clear_contradiction_refutes(
    readings: list[dict[str, Any]], status: VerificationStatus, reason: str | None
) -> None:
    frames = [seen("67:00", **fields) for fields in readings]
    result = validate_timestamp(frames, expected("67", **NAMES, **GOAL))
    assert (result.status, result.reason, result.minute) == (status, reason, 67)


def test_a_contradiction_refutes_a_clip_without_a_clock_too() -> None:
    assert judged("67", seen(None, teams=("ARS", "CHE")), **NAMES) == (REJECTED, None, "other teams")


def test_what_the_feed_does_not_say_refutes_nothing() -> None:
    assert judged("67", seen("67:00", teams=("ARS", "CHE"), score=Score(4, 4))) == (VERIFIED, 67, None)
    assert judged("67", seen("67:00", score=Score(4, 4)), score_after=Score(0, 1)) == (VERIFIED, 67, None)


@pytest.mark.parametrize(
    ("readings", "fraction"),
    [
        ([], 0.25),
        ([seen("67:00")], 0.75),
        ([seen("67:00"), seen("67:20")], None),
        ([seen("67:00"), seen(None)], None),
        ([seen(None), seen(None)], 0.5),  # a last chance
        ([seen("67:00"), seen("12:20")], 0.5),
        ([seen("67:00"), seen("67:20", soccer=False)], 0.5),
        ([seen("67:00", screen=True), seen("67:20")], 0.5),
        ([seen(None), seen(None), seen(None)], None),
    ],
)
def test_the_middle_is_looked_at_only_to_decide(readings: list[FrameReading], fraction: float | None) -> None:
    assert next_fraction(readings) == fraction


@pytest.mark.parametrize(
    ("clocks", "minute"),
    [([], None), (["85:32", None], 85), (["12:00", "85:32", "85:50"], 85), (["85:59", "86:10"], 85)],
)
def test_a_clips_minute_is_what_most_frames_say(clocks: list[str | None], minute: int | None) -> None:
    assert clip_minute([seen(clock) for clock in clocks]) == minute


def test_the_proof_names_the_deciding_frame_and_survives_json() -> None:
    frames = [seen(None, at=6.5), seen("67:20", at=19.5, teams=("RMA", "SEV"), score=Score(0, 0))]
    proof = validate_timestamp(frames, expected("67", **NAMES, **GOAL)).proof
    assert proof is not None
    assert (proof.at, proof.box) == (19.5, BOX)
    assert Proof.from_json(json.loads(json.dumps(proof.to_json()))) == proof


clocks = st.one_of(st.none(), st.text(max_size=8), st.from_regex(r"[0-9]{1,2}:[0-5][0-9]", fullmatch=True))
readings = st.builds(
    FrameReading,
    at=st.floats(0, 60),
    soccer=st.booleans(),
    screen=st.booleans(),
    clock=clocks,
    added=clocks,
    stoppage_clock=clocks,
)


@given(st.lists(readings, max_size=3), st.integers(0, 130), st.one_of(st.none(), st.integers(0, 20)))
def test_verified_always_means_a_minute_within_tolerance_or_a_clock_standing_at_the_periods_end(
    frames: list[FrameReading], elapsed: int, extra: int | None
) -> None:
    result = validate_timestamp(frames, Expectation(MatchMinute(elapsed, extra)))
    assert isinstance(result, Verification)
    assert (result.reason is None) == (result.status is VerificationStatus.VERIFIED)
    if result.status is VerificationStatus.VERIFIED:
        assert result.minute is not None
        assert abs(result.minute - elapsed - (extra or 0)) <= 3 or result.minute == elapsed
    if result.reason is VerificationReason.WRONG_MINUTE:
        assert result.status is VerificationStatus.REJECTED


@pytest.mark.parametrize("text", ["", "2", "2:1", "a-b", "-1-0", "²-1"])
def test_a_score_is_two_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="is not a score"):
        parse_score(text)
