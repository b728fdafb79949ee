"""What was seen in a frame, what the feed says should be seen, and the two side by side as a proof. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from found_footy.domain.fixtures.model import Minute, Score, Side


@dataclass(frozen=True, slots=True)
class Box:
    """A place in the picture, in shares of its width and height, so that it holds for every rendition."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class FrameReading:
    """The answers about one frame. None where nothing can be read, which is never the same as a "no"."""

    at: float
    """Seconds from the clip's start."""
    soccer: bool
    """It shows the sport that is looked for: football, or cricket for a wicket."""
    screen: bool
    """Somebody films a screen."""
    clock: str | None = None
    """In cricket the overs, as 12.3."""
    added: str | None = None
    stoppage_clock: str | None = None
    teams: tuple[str, str] | None = None
    """Left and right, as written."""
    score: Score | None = None
    """In cricket runs and wickets, in the order in which they are written."""
    box: Box | None = None
    """Where the clock stands; in cricket the score."""
    batting: str | None = None
    """The side at the bat, as written; only in cricket."""

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        fields["teams"] = list(self.teams) if self.teams else None
        fields["score"] = str(self.score) if self.score else None
        if self.batting is None:
            del fields["batting"]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> FrameReading:
        teams, score, box = fields["teams"], fields["score"], fields["box"]
        return cls(
            at=fields["at"],
            soccer=fields["soccer"],
            screen=fields["screen"],
            clock=fields["clock"],
            added=fields["added"],
            stoppage_clock=fields["stoppage_clock"],
            teams=(teams[0], teams[1]) if teams else None,
            score=parse_score(score) if score else None,
            box=Box(**box) if box else None,
            batting=fields.get("batting"),
        )


@dataclass(frozen=True, slots=True)
class WicketExpected:
    """What else the feed says of a wicket. What it does not say is None, and proves and refutes nothing."""

    batting: Side
    before: int | None = None
    """Wickets that have fallen in this innings."""
    after: int | None = None
    home_code: str | None = None
    away_code: str | None = None
    """As the feed shortens the names: IND, AUS."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> WicketExpected:
        return cls(**{**fields, "batting": Side(fields["batting"])})


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the feed says of the goal. Names and scores are optional: without them they prove and refute nothing."""

    minute: Minute
    home: str | None = None
    away: str | None = None
    score_before: Score | None = None
    score_after: Score | None = None
    wicket: WicketExpected | None = None
    """Of a wicket, whose minute is an over and a ball, and which has no scores."""

    @property
    def names(self) -> tuple[str, str] | None:
        return (self.home, self.away) if self.home and self.away else None

    @property
    def scores(self) -> tuple[Score, Score] | None:
        return (self.score_before, self.score_after) if self.score_before and self.score_after else None

    def to_json(self) -> dict[str, Any]:
        before, after = self.score_before, self.score_after
        of_wicket = {"innings": self.minute.innings, "wicket": self.wicket.to_json()} if self.wicket else {}
        return {
            "elapsed": self.minute.elapsed,
            "extra": self.minute.extra,
            "home": self.home,
            "away": self.away,
            "score_before": str(before) if before else None,
            "score_after": str(after) if after else None,
            **of_wicket,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Expectation:
        before, after = fields["score_before"], fields["score_after"]
        return cls(
            minute=Minute(fields["elapsed"], fields["extra"], fields.get("innings")),
            home=fields["home"],
            away=fields["away"],
            score_before=parse_score(before) if before else None,
            score_after=parse_score(after) if after else None,
            wicket=WicketExpected.from_json(fields["wicket"]) if fields.get("wicket") else None,
        )


@dataclass(frozen=True, slots=True)
class Proof:
    """Enough to show to a person, and to judge again, without the clip."""

    at: float
    """The frame that decided, in seconds from the clip's start."""
    box: Box | None
    readings: tuple[FrameReading, ...]
    expectation: Expectation

    def to_json(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "box": asdict(self.box) if self.box else None,
            "readings": [reading.to_json() for reading in self.readings],
            "expectation": self.expectation.to_json(),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Proof:
        return cls(
            at=fields["at"],
            box=Box(**fields["box"]) if fields["box"] else None,
            readings=tuple(FrameReading.from_json(reading) for reading in fields["readings"]),
            expectation=Expectation.from_json(fields["expectation"]),
        )


def parse_score(text: str) -> Score:
    """`2-1`. Raises ValueError."""
    home, dash, away = text.partition("-")
    if not (dash and home.strip().isdecimal() and away.strip().isdecimal()):
        raise ValueError(f"{text!r} is no score; write it as 2-1")
    return Score(int(home), int(away))
