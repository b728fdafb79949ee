"""Proof of a clip: readings of each checked frame next to the expected values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from found_footy.clips.models import Expectation, FrameReading, Proof, WicketExpectation
from found_footy.clips.verification import VerificationReason
from found_footy.fixtures.documents import ClipDocument, ProofDocument
from found_footy.fixtures.models import Score, Side
from found_footy.media.models import RelativeBox

SIDE = 1000.0
"""Width of every frame in SVG units."""
MARGIN = 8.0
"""Margin between the clock and its box."""
ZOOM_SHAPE = 0.3
"""Aspect ratio of the enlarged clock, height by width."""

UNVERIFIED: Mapping[str | None, str] = {
    VerificationReason.NO_CLOCK: "No match clock was readable in the checked frames",
    VerificationReason.CLOCKS_DISAGREE: "The frames show contradicting clocks",
    VerificationReason.SCORE_UNREAD: "The overs match, but the score is unreadable",
    VerificationReason.PERIOD_UNREAD: "The clock restarts with the half, and its period mark could not be read",
    VerificationReason.SPORT_UNCLEAR: "The clock matches, but no frame shows the pitch or a scoreboard",
    VerificationReason.VIDEO_GAME: "The clock matches, but the clip looks like a video game",
    VerificationReason.OTHER_TEAMS: "The clock matches, but the scoreboard shows other teams",
    VerificationReason.OTHER_SCORE: "The clock matches, but the score differs",
    VerificationReason.WRONG_MINUTE: "A clock without a scoreboard shows a different minute",
    VerificationReason.STOPPAGE_UNREAD: "The clock has stopped at the end of a half; stoppage time could not be read",
    None: "No frame was readable",
}


@dataclass(frozen=True, slots=True)
class Rectangle:
    x: float
    y: float
    width: float
    height: float

    def __str__(self) -> str:
        """As an SVG viewBox."""
        return f"{self.x:g} {self.y:g} {self.width:g} {self.height:g}"


@dataclass(frozen=True, slots=True)
class FrameView:
    """One checked frame."""

    at: float
    read: str
    """`22:41 · LIV 0–0 MCI`"""
    warnings: tuple[str, ...]
    """Evidence against the goal."""
    decided: bool
    box: Rectangle | None


@dataclass(frozen=True, slots=True)
class ProofView:
    verification: str
    at: float
    height: float
    """Height of the frame, in SVG units."""
    box: Rectangle | None
    zoom: Rectangle | None
    read: tuple[tuple[str, str, str], ...]
    """Label, reading, expectation."""
    pictures: tuple[FrameView, ...]


def read_proof(document: ProofDocument) -> Proof:
    return Proof.from_json(document.model_dump())


def proof_view(video: ClipDocument, proof: Proof, tolerance: int) -> ProofView:
    height = SIDE * video.height / max(1, video.width)
    deciding = next((each for each in proof.readings if each.at == proof.at), None)
    box = _rectangle(proof.box, height)
    sport = "cricket" if proof.expectation.wicket else "football"
    return ProofView(
        verification=verification_text(video.timestamp_verified, video.reason, proof, tolerance),
        at=proof.at,
        height=round(height, 1),
        box=box,
        zoom=_zoom(box, height),
        read=_compared(deciding, proof, tolerance),
        pictures=tuple(
            FrameView(
                each.at, reading_text(each), _warnings(each, sport), each.at == proof.at, _rectangle(each.box, height)
            )
            for each in proof.readings
        ),
    )


def verification_text(verified: bool, reason: str | None, proof: Proof | None, tolerance: int) -> str:
    if not verified:
        return f"{UNVERIFIED.get(reason, reason)}."
    if proof and proof.expectation.wicket:
        read = next((reading_text(each) for each in proof.readings if each.at == proof.at), "")
        return f"The broadcast’s scoreboard shows {read}, which matches the wicket at {proof.expectation.minute}."
    clock = next((clock_reading_text(each) for each in proof.readings if each.at == proof.at), "") if proof else ""
    clock_text = f"shows {clock}" if clock else "fits"
    goal = f" of the goal’s {proof.expectation.minute}" if proof else " of the goal"
    return f"The broadcast’s clock {clock_text}, within {tolerance} minutes{goal}."


def reading_text(reading: FrameReading) -> str:
    home, away = reading.teams or (reading.batting or "", "")
    score = f"{home} {score_text(reading.score)} {away}".strip() if reading.score or reading.teams else ""
    return " · ".join(part for part in (clock_reading_text(reading), score) if part) or "nothing readable"


def clock_reading_text(reading: FrameReading) -> str:
    return " ".join(part for part in (reading.clock, reading.stoppage_clock, reading.added) if part)


def score_text(score: Score | None) -> str:
    return f"{score.home}–{score.away}" if score else "–"


def _warnings(reading: FrameReading, sport: str) -> tuple[str, ...]:
    warnings = [f"no {sport} visible"] if reading.soccer is False else []
    return (*warnings, "a filmed screen") if reading.screen else tuple(warnings)


def _compared(reading: FrameReading | None, proof: Proof, tolerance: int) -> tuple[tuple[str, str, str], ...]:
    expected = proof.expectation
    if expected.wicket is not None:
        return _compared_wicket(reading, expected, expected.wicket)
    rows = [("Clock", clock_reading_text(reading) if reading else "", f"{expected.minute} ± {tolerance} min")]
    if expected.names is not None:
        teams = " – ".join(reading.teams) if reading and reading.teams else ""
        rows.append(("Teams", teams, " – ".join(expected.names)))
    if expected.scores is not None:
        before, after = expected.scores
        read = score_text(reading.score) if reading and reading.score else ""
        rows.append(("Score", read, f"{score_text(before)} or {score_text(after)}"))
    return tuple(rows)


def _compared_wicket(
    reading: FrameReading | None, expected: Expectation, wicket: WicketExpectation
) -> tuple[tuple[str, str, str], ...]:
    rows = [("Overs", (reading.clock if reading else None) or "", f"{expected.minute} ± 1 over")]
    if expected.names is not None:
        at_bat = expected.names[0 if wicket.batting is Side.HOME else 1]
        rows.append(("Batting", (reading.batting if reading else None) or "", at_bat))
    if wicket.after is not None:
        read = score_text(reading.score) if reading and reading.score else ""
        rows.append(("Score", read, f"{wicket.before} or {wicket.after} wickets"))
    return tuple(rows)


def _rectangle(box: RelativeBox | None, height: float) -> Rectangle | None:
    """Rectangle clamped to the frame, whatever a vision model returns."""
    if box is None:
        return None
    left, right = sorted((_clamp(box.left * SIDE - MARGIN, SIDE), _clamp(box.right * SIDE + MARGIN, SIDE)))
    top, bottom = sorted((_clamp(box.top * height - MARGIN, height), _clamp(box.bottom * height + MARGIN, height)))
    return Rectangle(round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1))


def _zoom(box: Rectangle | None, height: float) -> Rectangle | None:
    """Clock and surroundings, usually with the teams and the score."""
    if box is None:
        return None
    width = min(SIDE, max(box.width * 4, box.height / ZOOM_SHAPE * 1.6, 200.0), height / ZOOM_SHAPE)
    zoom_height = width * ZOOM_SHAPE
    x = _clamp(box.x + box.width / 2 - width / 2, SIDE - width)
    y = _clamp(box.y + box.height / 2 - zoom_height / 2, height - zoom_height)
    return Rectangle(round(x, 1), round(y, 1), round(width, 1), round(zoom_height, 1))


def _clamp(value: float, upper: float) -> float:
    return min(max(0.0, value), max(0.0, upper))
