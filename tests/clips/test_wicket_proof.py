"""A clip is a wicket's only where the side at the bat, the over and the wickets fit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.filters import REJECTION_BY_VERDICT
from found_footy.clips.models import Expectation, FrameReading, Proof, RejectionReason, WicketExpectation, parse_score
from found_footy.clips.verification import VerificationStatus, next_fraction, validate_wicket
from found_footy.discovery.models import TargetGoal
from found_footy.fixtures.models import WICKET, Innings, League, MatchMinute, Score, Side, Sport, Team, WicketKind
from found_footy.media.models import RelativeBox

VERIFIED, UNVERIFIED, REJECTED = VerificationStatus.VERIFIED, VerificationStatus.UNVERIFIED, VerificationStatus.REJECTED
EXPECTED = Expectation(
    MatchMinute(12, 3, 1),
    "India",
    "Australia",
    wicket=WicketExpectation(Side.HOME, 2, 3, home_code="IND", away_code="AUS"),
)
"""The third wicket falls at 12.3; India bat."""


def seen(text: str | None, **more: Any) -> FrameReading:
    """`IND 95-3 12.3`; a `-` for what could not be read."""
    batting, score, overs = (text or "- - -").split()
    fields = {
        "at": 1.0,
        "soccer": True,
        "screen": False,
        "clock": None if overs == "-" else overs,
        "score": None if score == "-" else parse_score(score),
        "batting": None if batting == "-" else batting,
    }
    return FrameReading(**{**fields, **more})


@pytest.mark.parametrize(
    ("frames", "status", "over", "reason"),
    [
        (["IND 95-2 12.2", "IND 95-3 12.3"], VERIFIED, 12, None),
        (["IND 95-3 12.3", None], VERIFIED, 12, None),
        (["IND 3-95 12.3", None], VERIFIED, 12, None),
        (["- 95-3 12.3", None], VERIFIED, 12, None),
        (["IND 96-3 13.3", None], VERIFIED, 13, None),  # a replay one over later
        (["IND 96-3 13.4", None], REJECTED, 13, "wrong over"),
        (["IND 95-2 12.2", "IND 95-2 12.2"], VERIFIED, 12, None),  # the scoreboard has not caught up
        (["IND 95-2 12.3", None], VERIFIED, 12, None),
        (["IND 91-2 11.4", None], UNVERIFIED, 11, "clocks disagree"),  # may be the wicket before
        (["IND 95-2 12.4", None], UNVERIFIED, 12, "clocks disagree"),  # by then it has fallen
        # another wicket
        (["IND 95-4 12.3", "IND 95-4 12.4"], REJECTED, 12, "other score"),
        (["IND 60-2 8.1", "IND 60-2 8.1"], REJECTED, 8, "wrong over"),
        (["IND 94-1 12.1", "IND 94-2 12.2"], UNVERIFIED, 12, "clocks disagree"),  # the one before falls
        (["IND 94-1 12.1", "IND 94-1 12.1", "IND 94-2 12.2"], REJECTED, 12, "other score"),
        # somebody else
        (["AUS 95-3 12.3", "AUS 95-3 12.3"], REJECTED, 12, "other innings"),
        (["PAK 95-3 12.3", "PAK 95-3 12.3"], REJECTED, 12, "other teams"),
        (["PAK 95-3 12.3", "IND 95-3 12.3"], VERIFIED, 12, None),  # one was misread
        # not enough
        (["IND - 12.3", None], UNVERIFIED, 12, "score unread"),
        (["IND 95-3 -", None], UNVERIFIED, None, "no clock"),
        (["IND 95-5 -", "IND 95-5 -"], REJECTED, None, "other score"),
        ([None, None, None], UNVERIFIED, None, "no clock"),
        ([], UNVERIFIED, None, "no clock"),
    ],
)
def test_overs_wickets_and_side_decide(
    frames: list[str | None], status: VerificationStatus, over: int | None, reason: str | None
) -> None:
    result = validate_wicket([seen(frame) for frame in frames], EXPECTED)
    assert (result.status, result.minute, result.reason) == (status, over, reason)


def test_a_bowlers_figures_do_not_make_it_another_match() -> None:
    result = validate_wicket([seen("STARC 3-23 12.3"), seen("STARC 3-23 12.3")], EXPECTED)
    assert result.reason != "other teams"


@pytest.mark.parametrize(
    ("frames", "reason", "loss"),
    [
        ([{"soccer": False}, {"soccer": False}], "not cricket", RejectionReason.NOT_CRICKET),
        ([{"screen": True}, {"screen": True}], "filmed screen", RejectionReason.FILMED_SCREEN),
        ([{"soccer": False}, {}], None, None),  # one yes, one no
    ],
)
def test_a_clip_without_cricket_is_rejected(
    frames: list[dict[str, bool]], reason: str | None, loss: RejectionReason | None
) -> None:
    result = validate_wicket([seen("IND 95-3 12.3", **more) for more in frames], EXPECTED)
    assert (result.status is REJECTED, result.reason) == (reason is not None, reason)
    assert loss is None or (result.reason is not None and REJECTION_BY_VERDICT[result.reason] is loss)


@pytest.mark.parametrize(
    ("teams", "status"), [(("IND", "AUS"), VERIFIED), (("AUS", "IND"), VERIFIED), (("ENG", "PAK"), REJECTED)]
)
def test_both_sides_on_the_board(teams: tuple[str, str], status: VerificationStatus) -> None:
    assert validate_wicket([seen("- 95-3 12.3", teams=teams)] * 2, EXPECTED).status is status


def test_a_team_code_need_not_resemble_the_name() -> None:
    wicket = WicketExpectation(Side.HOME, 2, 3, home_code="HUR", away_code="REN")
    expected = Expectation(MatchMinute(12, 3, 1), "Hobart", "Melbourne", wicket=wicket)
    assert validate_wicket([seen("HUR 95-3 12.3")] * 2, expected).status is VERIFIED
    assert validate_wicket([seen("REN 95-3 12.3")] * 2, expected).reason == "other innings"


def test_without_the_wickets_of_the_innings_nothing_is_verified() -> None:
    expected = Expectation(MatchMinute(12, 3, 3), "India", "Australia", wicket=WicketExpectation(Side.HOME))
    assert validate_wicket([seen("IND 95-3 12.3")] * 2, expected).status is UNVERIFIED


READINGS = st.builds(
    FrameReading,
    at=st.floats(0, 60),
    soccer=st.booleans(),
    screen=st.booleans(),
    clock=st.none() | st.sampled_from(["12.3", "13", "4.1", "67:23", "x"]),
    score=st.none() | st.builds(Score, st.integers(0, 300), st.integers(0, 300)),
    batting=st.none() | st.sampled_from(["IND", "AUS", "PAK", "?"]),
    box=st.none() | st.just(RelativeBox(0.1, 0.8, 0.3, 0.9)),
)


@given(st.lists(READINGS, max_size=3))
def test_a_stored_proof_gives_the_same_verdict(readings: list[FrameReading]) -> None:
    result = validate_wicket(readings, EXPECTED)
    assert (result.reason is None) == (result.status is VERIFIED)
    if result.proof is not None:
        again = Proof.from_json(json.loads(json.dumps(result.proof.to_json())))
        assert again == result.proof
        assert validate_wicket(again.readings, again.expectation) == result


@pytest.mark.parametrize(
    ("frames", "more"),
    [
        (["IND 95-2 12.2", "IND 95-3 12.3"], False),
        (["IND 95-2 12.2", None], False),
        (["IND - 12.2", None], True),  # overs without a score prove nothing
        ([None, None], True),
        (["IND 95-2 12.2", "IND 41-2 6.1"], True),
    ],
)
def test_a_third_frame_is_read_where_two_are_not_enough(frames: list[str | None], more: bool) -> None:
    assert (next_fraction([seen(frame) for frame in frames], Sport.CRICKET) is not None) is more


def sought(innings: int, before: int, *earlier: Innings) -> TargetGoal:
    """A wicket for Australia, who have taken so many in the match."""
    return TargetGoal(
        id="1_2_3_Wicket_1",
        fixture_id=1,
        side=Side.AWAY,
        player="Virat Kohli",
        kind=WicketKind.CAUGHT,
        minute=MatchMinute(12, 3, innings),
        before=Score(0, before),
        after=Score(0, before + 1),
        home=Team(1, "India", "IND"),
        away=Team(2, "Australia", "AUS"),
        league=League(1, "Series"),
        type=WICKET,
        innings=earlier,
    )


FIRST, SECOND = Innings(1, Side.HOME, 300, 10, over=True), Innings(2, Side.AWAY, 280, 10, over=True)


@pytest.mark.parametrize(
    ("goal", "wickets"),
    [
        (sought(1, 2), (2, 3)),
        (sought(2, 2), (2, 3)),
        (sought(3, 12, FIRST, SECOND), (2, 3)),  # the second innings of the side
        (sought(3, 12), (None, None)),
        (sought(3, 12, SECOND), (None, None)),
        (sought(3, 25, FIRST, SECOND), (None, None)),  # more than there are
    ],
)
def test_a_scoreboard_counts_the_wickets_of_one_innings(goal: TargetGoal, wickets: tuple[int | None, ...]) -> None:
    expected = goal.expectation.wicket
    assert expected is not None
    assert (expected.before, expected.after) == wickets
    assert (expected.batting, expected.home_code) == (Side.HOME, "IND")
    assert goal.expectation.scores is None
