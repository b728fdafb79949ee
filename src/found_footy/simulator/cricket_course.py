"""The course of a cricket match: which status it has from when to when, and which ball is bowled at a moment."""

from __future__ import annotations

from dataclasses import dataclass

from found_footy.simulator.course import LONG_AGO
from found_footy.simulator.cricket_script import CricketMatch, Innings


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time with one status; it lasts until the next one starts.

    In a stretch of play the balls after `since` are bowled, up to `until`, one every `pace` seconds.
    """

    status: str
    start: float
    innings: int
    """The place of the innings in the script; -1 before the first."""
    since: int = 0
    until: int = 0
    pace: float = 0.0
    day: int = 1

    def balls(self, offset: float) -> int:
        """How many balls of the innings have been bowled. The first comes after its time, not at the start."""
        if not self.pace:
            return self.since
        # A hair more, since a division of floats may end just below the whole number that it means.
        return min(self.since + int((offset - self.start) / self.pace + 1e-9), self.until)

    def moment_of(self, ball: int) -> float | None:
        if not self.pace or not self.since < ball <= self.until:
            return None
        return self.start + (ball - self.since) * self.pace


@dataclass(frozen=True, slots=True)
class CricketCourse:
    stretches: tuple[Stretch, ...]

    @property
    def final(self) -> Stretch:
        return self.stretches[-1]

    def at(self, offset: float) -> Stretch:
        return [stretch for stretch in self.stretches if stretch.start <= offset][-1]

    def moment_of(self, innings: int, ball: int) -> float | None:
        """The matchday second at which a ball is bowled; None if it never is."""
        moments = (stretch.moment_of(ball) for stretch in self.stretches if stretch.innings == innings)
        return next((moment for moment in moments if moment is not None), None)


def cricket_course(match: CricketMatch) -> CricketCourse:
    stretches = [Stretch("NS", LONG_AGO, -1)]
    clock, day, last = float(match.start), 1, len(match.innings) - 1
    for place, innings in enumerate(match.innings):
        clock, day = _play(stretches, place, innings, clock, day)
        if place < last:
            stretches.append(_still(innings.then.status, clock, place, innings, day))
            clock += innings.then.lasts * 60
            day += innings.then.status == "STUMPS"
    stretches.append(_still(match.ends, clock, last, match.innings[last], day))
    return CricketCourse(tuple(stretches))


def _play(stretches: list[Stretch], place: int, innings: Innings, clock: float, day: int) -> tuple[float, int]:
    """Append one innings with its breaks; returns when it ends, and on which day."""
    total, since = innings.overs.count, 0
    pace = innings.lasts * 60 / total
    for pause in sorted(innings.breaks, key=lambda pause: pause.after.count):
        until = pause.after.count
        if until > since:
            stretches.append(Stretch("LIVE", clock, place, since, until, pace, day))
            clock += (until - since) * pace
        stretches.append(Stretch(pause.status, clock, place, until, until, day=day))
        clock += pause.lasts * 60
        day += pause.status == "STUMPS"
        since = until
    stretches.append(Stretch("LIVE", clock, place, since, total, pace, day))
    return clock + (total - since) * pace, day


def _still(status: str, start: float, place: int, innings: Innings, day: int) -> Stretch:
    total = innings.overs.count
    return Stretch(status, start, place, total, total, day=day)
