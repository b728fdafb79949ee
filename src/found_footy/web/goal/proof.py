"""The proof of a clip as the page shows it: what was read in which picture, beside what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from found_footy.domain.fixtures.model import Score, Side
from found_footy.domain.videos.readings import Box, Expectation, FrameReading, Proof, WicketExpected
from found_footy.domain.videos.verification import Reason

SIDE = 1000.0
"""The width of every picture in the units of its drawings."""
MARGIN = 8.0
"""Between the clock and the box around it."""
ZOOM_SHAPE = 0.3
"""Height by width of the enlarged clock."""

UNVERIFIED: Mapping[str | None, str] = {
    Reason.NO_CLOCK: "No match clock could be read in the pictures that were looked at",
    Reason.CLOCKS_DISAGREE: "The pictures show clocks that contradict each other",
    Reason.SCORE_UNREAD: "The overs fit, and the score beside them could not be read",
    Reason.STOPPAGE_UNREAD: "The clock stands at the end of a half, and nothing tells how long stoppage time has run",
    None: "None of its pictures could be read",
}


@dataclass(frozen=True, slots=True)
class Rectangle:
    x: float
    y: float
    width: float
    height: float

    def __str__(self) -> str:
        """As a view box."""
        return f"{self.x:g} {self.y:g} {self.width:g} {self.height:g}"


@dataclass(frozen=True, slots=True)
class PictureView:
    """One picture that was looked at."""

    at: float
    read: str
    """`22:41 · LIV 0–0 MCI`"""
    signs: tuple[str, ...]
    """What speaks against it."""
    decided: bool
    box: Rectangle | None


@dataclass(frozen=True, slots=True)
class ProofView:
    verdict: str
    at: float
    height: float
    """Of the picture, in the units of the drawings."""
    box: Rectangle | None
    zoom: Rectangle | None
    read: tuple[tuple[str, str, str], ...]
    """What it is, what was read, what was expected."""
    pictures: tuple[PictureView, ...]


def proof_view(video: Mapping[str, Any], proof: Proof, tolerance: int) -> ProofView:
    """`video` is as it stands in an event's document."""
    height = SIDE * video["height"] / max(1, video["width"])
    deciding = next((each for each in proof.readings if each.at == proof.at), None)
    box = _rectangle(proof.box, height)
    sport = "cricket" if proof.expectation.wicket else "football"
    return ProofView(
        verdict=verdict(video["timestamp_verified"], video["reason"], proof, tolerance),
        at=proof.at,
        height=round(height, 1),
        box=box,
        zoom=_zoom(box, height),
        read=_compared(deciding, proof, tolerance),
        pictures=tuple(
            PictureView(each.at, words(each), _signs(each, sport), each.at == proof.at, _rectangle(each.box, height))
            for each in proof.readings
        ),
    )


def verdict(verified: bool, reason: str | None, proof: Proof | None, tolerance: int) -> str:
    if not verified:
        return f"{UNVERIFIED.get(reason, reason)}."
    if proof and proof.expectation.wicket:
        read = next((words(each) for each in proof.readings if each.at == proof.at), "")
        return f"The broadcast’s scoreboard shows {read}, which fits the wicket at {proof.expectation.minute}."
    clock = next((clock_words(each) for each in proof.readings if each.at == proof.at), "") if proof else ""
    shown = f"shows {clock}" if clock else "fits"
    goal = f" of the goal’s {proof.expectation.minute}" if proof else " of the goal"
    return f"The broadcast’s clock {shown}, within {tolerance} minutes{goal}."


def words(reading: FrameReading) -> str:
    home, away = reading.teams or (reading.batting or "", "")
    score = f"{home} {score_words(reading.score)} {away}".strip() if reading.score or reading.teams else ""
    return " · ".join(part for part in (clock_words(reading), score) if part) or "nothing could be read"


def clock_words(reading: FrameReading) -> str:
    return " ".join(part for part in (reading.clock, reading.stoppage_clock, reading.added) if part)


def score_words(score: Score | None) -> str:
    return f"{score.home}–{score.away}" if score else "–"


def _signs(reading: FrameReading, sport: str) -> tuple[str, ...]:
    signs = [] if reading.soccer else [f"no {sport} to be seen"]
    return (*signs, "a filmed screen") if reading.screen else tuple(signs)


def _compared(reading: FrameReading | None, proof: Proof, tolerance: int) -> tuple[tuple[str, str, str], ...]:
    expected = proof.expectation
    if expected.wicket is not None:
        return _compared_wicket(reading, expected, expected.wicket)
    rows = [("Clock", clock_words(reading) if reading else "", f"{expected.minute} ± {tolerance} min")]
    if expected.names is not None:
        teams = " – ".join(reading.teams) if reading and reading.teams else ""
        rows.append(("Teams", teams, " – ".join(expected.names)))
    if expected.scores is not None:
        before, after = expected.scores
        read = score_words(reading.score) if reading and reading.score else ""
        rows.append(("Score", read, f"{score_words(before)} or {score_words(after)}"))
    return tuple(rows)


def _compared_wicket(
    reading: FrameReading | None, expected: Expectation, wicket: WicketExpected
) -> tuple[tuple[str, str, str], ...]:
    rows = [("Overs", (reading.clock if reading else None) or "", f"{expected.minute} ± 1 over")]
    if expected.names is not None:
        at_bat = expected.names[0 if wicket.batting is Side.HOME else 1]
        rows.append(("Batting", (reading.batting if reading else None) or "", at_bat))
    if wicket.after is not None:
        read = score_words(reading.score) if reading and reading.score else ""
        rows.append(("Score", read, f"{wicket.before} or {wicket.after} wickets"))
    return tuple(rows)


def _rectangle(box: Box | None, height: float) -> Rectangle | None:
    """Never outside of the picture, whatever a vision model says."""
    if box is None:
        return None
    left, right = sorted((_inside(box.left * SIDE - MARGIN, SIDE), _inside(box.right * SIDE + MARGIN, SIDE)))
    top, bottom = sorted((_inside(box.top * height - MARGIN, height), _inside(box.bottom * height + MARGIN, height)))
    return Rectangle(round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1))


def _zoom(box: Rectangle | None, height: float) -> Rectangle | None:
    """The clock and what stands around it, which is mostly the teams and the score."""
    if box is None:
        return None
    width = min(SIDE, max(box.width * 4, box.height / ZOOM_SHAPE * 1.6, 200.0), height / ZOOM_SHAPE)
    tall = width * ZOOM_SHAPE
    x = _inside(box.x + box.width / 2 - width / 2, SIDE - width)
    y = _inside(box.y + box.height / 2 - tall / 2, height - tall)
    return Rectangle(round(x, 1), round(y, 1), round(width, 1), round(tall, 1))


def _inside(value: float, most: float) -> float:
    return min(max(0.0, value), max(0.0, most))
