"""The course of a match: which status it has from when to when, and at which moment a minute is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from found_footy.simulator.notation import Minute
from found_footy.simulator.script import Interruption, Match

LONG_AGO = -(10**9)
"""Before any kick-off, in seconds from the matchday's start."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time with one status; it lasts until the next one starts.

    In a span of play the clock runs from `since` to `until` (stoppage time included) and never shows more
    than `full`, the rest being `extra`. Otherwise it stands at `stands`.
    """

    status: str
    start: int
    stands: Minute | None = None
    base: int = 0
    full: int = 0
    since: int = 0
    until: int = 0

    @property
    def in_play(self) -> bool:
        return self.full > 0

    def clock(self, offset: float) -> Minute | None:
        if not self.in_play:
            return self.stands
        return _minute(self.since + int(offset - self.start) // 60, self.full)

    def moment_of(self, minute: Minute) -> int | None:
        """When this minute is played, if it is in this span."""
        regular = minute.extra is None or minute.elapsed == self.full
        if not (self.in_play and regular and self.base < minute.elapsed <= self.full):
            return None
        if not self.since <= minute.played <= self.until:
            return None
        return self.start + (minute.played - self.since) * 60


@dataclass(frozen=True, slots=True)
class Course:
    """The spans of a match, in order; the last one lasts for good."""

    spans: tuple[Span, ...]
    full_time: int | None = None
    """When the second half is over, whether or not more is to come; None if it is never played out."""
    extra_time: int | None = None
    shootout: int | None = None

    @property
    def final(self) -> Span:
        return self.spans[-1]

    def at(self, offset: float) -> Span:
        return [span for span in self.spans if span.start <= offset][-1]

    def moment_of(self, minute: Minute) -> int | None:
        """The matchday second at which a minute is played; None if it never is."""
        moments = (span.moment_of(minute) for span in self.spans)
        return next((moment for moment in moments if moment is not None), None)

    def start_of(self, status: str) -> int | None:
        return next((span.start for span in self.spans if span.status == status), None)


def course_of(match: Match) -> Course:
    if not match.starts:
        return Course(tuple(_not_played(match)))
    spans = [Span("NS", LONG_AGO)]
    half = match.half_length
    stoppage = (*match.stoppage, 0, 0, 0, 0)
    clock = match.kickoff
    clock = _play(spans, match, "1H", clock, 0, half, stoppage[0])
    if match.abandoned_at is not None and match.abandoned_at.elapsed <= half:
        return Course(tuple(spans))
    spans.append(Span("HT", clock, Minute(half)))
    clock = _play(spans, match, "2H", clock + match.half_time * 60, half, 2 * half, stoppage[1])
    if match.abandoned_at is not None:
        return Course(tuple(spans))
    full_time = clock
    if match.ends == "FT":
        spans.append(Span("FT", clock, Minute(2 * half, stoppage[1] or None)))
        return Course(tuple(spans), full_time=full_time)

    middle, end = 2 * half + match.extra_half_length, 2 * half + 2 * match.extra_half_length
    spans.append(Span("BT", clock, Minute(2 * half)))
    extra_time = clock + match.break_length * 60
    clock = _play(spans, match, "ET", extra_time, 2 * half, middle, stoppage[2])
    spans.append(Span("BT", clock, Minute(middle)))
    clock = _play(spans, match, "ET", clock + match.break_length * 60, middle, end, stoppage[3])
    shootout = None
    if match.ends == "PEN":
        shootout = clock
        spans.append(Span("P", clock, Minute(end)))
        clock += (len(match.shootout) + 1) * 60
    spans.append(Span(match.ends, clock, Minute(end)))
    return Course(tuple(spans), full_time=full_time, extra_time=extra_time, shootout=shootout)


def _not_played(match: Match) -> Iterator[Span]:
    yield Span("NS", LONG_AGO)
    if match.called_off_at is not None:
        yield Span(match.ends, match.called_off_at)


def _play(spans: list[Span], match: Match, status: str, start: int, base: int, full: int, stoppage: int) -> int:
    """Append one half with its interruptions, up to where the match is abandoned; returns its end."""
    since, until = base, full + stoppage
    abandoned = match.abandoned_at
    if abandoned is not None and _within(abandoned, base, full):
        until = min(until, abandoned.played)
    for stop in _stops(match, base, full):
        if not since < stop.minute.played < until:
            continue
        spans.append(Span(status, start, None, base, full, since, stop.minute.played))
        start += (stop.minute.played - since) * 60
        spans.append(Span(stop.status, start, stop.minute))
        start += stop.lasts * 60
        since = stop.minute.played
    spans.append(Span(status, start, None, base, full, since, until))
    start += (until - since) * 60
    if abandoned is not None and _within(abandoned, base, full):
        spans.append(Span("ABD", start, abandoned))
    return start


def _stops(match: Match, base: int, full: int) -> list[Interruption]:
    inside = [stop for stop in match.interruptions if _within(stop.minute, base, full)]
    return sorted(inside, key=lambda stop: stop.minute.order)


def _within(minute: Minute, base: int, full: int) -> bool:
    return base < minute.elapsed <= full


def _minute(played: int, full: int) -> Minute:
    return Minute(played) if played <= full else Minute(full, played - full)
