"""What a person has to know: one finding a cause, with what to do about it, and all of them as a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Grade(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    grade: Grade
    what: str
    since: datetime | None
    advice: str
    place: str
    """The part of the page that shows more."""
    event_id: str | None = None
    fixture_id: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    findings: tuple[Finding, ...]

    @property
    def grade(self) -> Grade:
        grades = {finding.grade for finding in self.findings}
        return next((grade for grade in (Grade.FAILED, Grade.DEGRADED) if grade in grades), Grade.OK)

    @property
    def line(self) -> str:
        number = len(self.findings)
        if number == 0:
            return "All well"
        return "1 thing needs you" if number == 1 else f"{number} things need you"


JUDGEMENTS_MISSED = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """What was promised: the settings that judging goes by."""

    poll: timedelta = timedelta(seconds=30)
    search_silence: timedelta = timedelta(seconds=600)
    judgement: timedelta = timedelta(seconds=60)
    """Without a judgement of the feeds' health for so long, nobody watches them."""

    @classmethod
    def of(cls, poll_seconds: float, search_silence_seconds: float, health_seconds: float = 15) -> Limits:
        silence = timedelta(seconds=search_silence_seconds)
        return cls(timedelta(seconds=poll_seconds), silence, judgement_holds(health_seconds))


def judgement_holds(health_seconds: float) -> timedelta:
    """How long a judgement of the feeds' health is believed."""
    return timedelta(seconds=max(60.0, JUDGEMENTS_MISSED * health_seconds))


def spoken(time: timedelta) -> str:
    """`45 s`, `3 min`, `2 h 5 min`, `3 d`."""
    seconds = max(0, round(time.total_seconds()))
    if seconds < 100:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"
    return f"{minutes // (24 * 60)} d"
