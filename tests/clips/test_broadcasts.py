"""Verdicts on real broadcasts: each file is read once, and all verdicts are drawn from its readings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from found_footy.clips.frame_selection import read_clip
from found_footy.clips.models import Expectation, FrameReading
from found_footy.clips.ocr_vision import OcrVision
from found_footy.clips.verification import Verification, clip_minute, is_screen, shows_sport, validate_timestamp
from found_footy.fixtures.models import MatchMinute, Score
from found_footy.media.ocr import OcrEngine
from tests.support.recorded import recorded

pytestmark = pytest.mark.timeout(300)

MINUTES = [MatchMinute(elapsed) for elapsed in range(121)]
MINUTES += [MatchMinute(end, extra) for end in (45, 90) for extra in range(1, 10)]


@dataclass(frozen=True, slots=True)
class Broadcast:
    minute: int
    """In the middle of the clip, counted from kick-off."""
    home: str
    away: str
    before: Score
    after: Score
    folder: str = "broadcasts"

    def expectations(self, minute: MatchMinute) -> list[Expectation]:
        """With the minute alone, with the teams, and with the score as well."""
        return [
            Expectation(minute),
            Expectation(minute, self.home, self.away),
            Expectation(minute, self.home, self.away, self.before, self.after),
        ]


CLOCKS = {
    "est-pat-2T-04m": Broadcast(49, "Estudiantes L.P.", "Patronato", Score(1, 0), Score(2, 0)),
    "ger-ita-77m": Broadcast(77, "Germany", "Italy", Score(5, 0), Score(5, 1)),
    "riv-boc-67m": Broadcast(67, "River Plate", "Boca Juniors", Score(0, 1), Score(1, 1)),
    "riv-boc-sub-1-3": Broadcast(67, "River Plate", "Boca Juniors", Score(0, 1), Score(1, 1)),
    "riv-boc-sub-8-12": Broadcast(67, "River Plate", "Boca Juniors", Score(0, 1), Score(1, 1)),
    "rma-gir-47m": Broadcast(48, "Real Madrid", "Girona", Score(1, 1), Score(2, 1)),
    "ath-bar-20m-240p": Broadcast(20, "Athletic Club", "Barcelona", Score(0, 0), Score(0, 1)),
    "slb-fcp-60m-right": Broadcast(60, "Benfica", "FC Porto", Score(0, 0), Score(1, 0)),
    "nor-mci-03m": Broadcast(3, "Norwich", "Manchester City", Score(0, 0), Score(1, 0)),
    "juv-udi-40m": Broadcast(40, "Juventus", "Udinese", Score(0, 0), Score(1, 0)),
    "avl-tot-70m-crop": Broadcast(70, "Aston Villa", "Tottenham", Score(0, 3), Score(0, 4)),
    "estancia-brassavola-47m": Broadcast(47, "Estancia", "Brassavola", Score(0, 0), Score(1, 0)),
    "zsc-asc-85m": Broadcast(85, "Zamalek", "Al Ahly", Score(1, 1), Score(2, 1), "football"),
    "kra-oly-27m": Broadcast(27, "Krasnodar", "Olympiakos Piraeus", Score(1, 1), Score(2, 1), "football"),
    "rma-sev-04m": Broadcast(4, "Real Madrid", "Sevilla", Score(0, 0), Score(1, 0), "football"),
}
NO_PROOF = {
    "fieldhockey-ind-gbr-q3": ("India", "Great Britain"),
    "nba-gsw-lal-1st": ("Golden State Warriors", "Los Angeles Lakers"),
    "cricket-aus-overs182": ("Australia", "India"),
    "phone-laptop-tv-wallclock": ("Real Madrid", "Barcelona"),
    "mad-che-portrait-cut-clock": ("Real Madrid", "Chelsea"),
    "bar-ala-fulltime-banner": ("Barcelona", "Alaves"),
    "bar-lyon-noclock": ("Barcelona", "Lyon"),
    "barca-stands-phone-240p": ("Barcelona", "Real Madrid"),
    "ang-psg-noclock": ("Angers", "Paris Saint Germain"),
    "ars-tot-portrait-goalA": ("Arsenal", "Tottenham"),
}
GAME = Broadcast(6, "Essen", "Fortuna", Score(0, 0), Score(1, 0))

Readings = Callable[[str, str], tuple[FrameReading, ...]]


@pytest.fixture(scope="module")
def readings(ocr_engine: OcrEngine) -> Readings:
    cache: dict[str, tuple[FrameReading, ...]] = {}

    def read(folder: str, name: str) -> tuple[FrameReading, ...]:
        path = recorded("video", folder, f"{name}.{'webm' if name == 'bar-lyon-noclock' else 'mp4'}")
        if name not in cache:
            cache[name] = asyncio.run(read_clip(OcrVision(ocr_engine), path)).readings
        return cache[name]

    return read


def verdict(result: Verification) -> tuple[str, str | None]:
    return result.status, result.reason


@pytest.mark.parametrize("name", CLOCKS)
def test_a_broadcast_with_a_clock_verifies_at_its_own_minute_and_at_none_ten_or_more_away(
    readings: Readings, name: str
) -> None:
    shown = CLOCKS[name]
    frames = readings(shown.folder, name)
    for expectation in shown.expectations(MatchMinute(shown.minute)):
        assert verdict(validate_timestamp(frames, expectation)) == ("verified", None), expectation
    wrong = [
        str(minute)
        for minute in MINUTES
        if abs(minute.total - shown.minute) >= 10
        for expectation in shown.expectations(minute)
        if validate_timestamp(frames, expectation).status == "verified"
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "teams", "score"),
    [
        ("zsc-asc-85m", ("ZSC", "ASC"), Score(1, 1)),
        ("kra-oly-27m", ("KRA", "OLY"), Score(1, 1)),  # beside the aggregate in brackets
        ("rma-sev-04m", ("RMA", "SEV"), Score(0, 0)),
        ("slb-fcp-60m-right", ("SL Benfica", "FC Porto"), Score(0, 0)),
        ("est-pat-2T-04m", ("EST", "PAT"), Score(1, 0)),
        ("riv-boc-sub-1-3", ("RIVERPLATE", "BOCAJUNIORS"), Score(0, 1)),
    ],
)
def test_teams_and_score_are_read(readings: Readings, name: str, teams: tuple[str, str], score: Score) -> None:
    shown = CLOCKS[name]
    frames = readings(shown.folder, name)
    assert (clip_minute(frames), shows_sport(frames), is_screen(frames)) == (shown.minute, True, False)
    assert {frame.teams for frame in frames if frame.teams} == {teams}
    assert {frame.score for frame in frames if frame.score} == {score}


@pytest.mark.parametrize("name", NO_PROOF)
def test_footage_without_a_football_clock_is_never_verified(readings: Readings, name: str) -> None:
    frames = readings("broadcasts", name)
    for minute in MINUTES:
        for expectation in (Expectation(minute), Expectation(minute, *NO_PROOF[name])):
            assert validate_timestamp(frames, expectation).status != "verified", minute


def test_a_video_game_verifies_only_where_no_teams_are_given(readings: Readings) -> None:
    frames = readings("broadcasts", "fifa23-game")
    alone, *with_teams = GAME.expectations(MatchMinute(GAME.minute))
    assert verdict(validate_timestamp(frames, alone)) == ("verified", None)
    for expectation in with_teams:
        assert validate_timestamp(frames, expectation).status != "verified"


@pytest.mark.parametrize(
    ("name", "soccer"),
    [
        ("fieldhockey-ind-gbr-q3", False),
        ("nba-gsw-lal-1st", False),
        ("cricket-aus-overs182", False),
        ("rma-gir-47m", True),
        ("bar-lyon-noclock", True),
        ("barca-stands-phone-240p", True),
    ],
)
def test_not_soccer_needs_evidence_of_something_else(readings: Readings, name: str, soccer: bool) -> None:
    result = validate_timestamp(readings("broadcasts", name), Expectation(MatchMinute(30)))
    assert (result.reason != "not soccer") is soccer


@pytest.mark.parametrize(
    ("home", "away", "before", "after", "expected"),
    [
        ("Arsenal", "Liverpool", Score(1, 1), Score(2, 1), ("unverified", "other teams")),
        ("Zamalek", "Al Ahly", Score(4, 4), Score(5, 4), ("unverified", "other score")),
    ],
)
def test_a_board_seen_in_one_frame_does_not_reject_for_its_teams_or_score(
    readings: Readings, home: str, away: str, before: Score, after: Score, expected: tuple[str, str]
) -> None:
    expectation = Expectation(MatchMinute(85), home, away, before, after)
    assert verdict(validate_timestamp(readings("football", "zsc-asc-85m"), expectation)) == expected
