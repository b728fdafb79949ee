"""The feeds' health over the last hours, as numbers that a picture is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from found_footy.domain.operations.feeds_measured import HealthSpan
from found_footy.domain.operations.findings import spoken
from found_footy.web.operating.looking import HISTORY, SPAN

WIDTH, HEIGHT = 360.0, 100.0
ROOM = 1.5
"""The top of the plot, in the ages at which the feeds fail; what is older touches it."""


AGES: Mapping[str, Callable[[HealthSpan], float]] = {
    "max": lambda span: span.maximum,
    "p95": lambda span: span.p95,
    "median": lambda span: span.median,
}
"""The lines from the top one down."""


@dataclass(frozen=True, slots=True)
class Block:
    """A time of one grade."""

    x: float
    width: float
    grade: str
    began: datetime
    ended: datetime

    @property
    def said(self) -> str:
        return f"{self.grade} from {self.began:%H:%M} to {self.ended:%H:%M} UTC"


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    path: str
    """As an SVG path has it; empty where there is nothing to draw."""


@dataclass(frozen=True, slots=True)
class Threshold:
    y: float
    said: str


@dataclass(frozen=True, slots=True)
class HealthPlot:
    blocks: tuple[Block, ...]
    lines: tuple[Line, ...]
    thresholds: tuple[Threshold, ...]
    said: str
    """For those who do not see it."""


def health_plot(spans: Sequence[HealthSpan], now: datetime, fresh_seconds: float, failing_seconds: float) -> HealthPlot:
    shown = [span for span in spans if now - HISTORY < span.at <= now]
    top = ROOM * failing_seconds
    return HealthPlot(
        blocks=_blocks(shown, now),
        lines=tuple(
            Line(name, "".join(_path(part, now, top, age) for part in _parts(shown))) for name, age in AGES.items()
        ),
        thresholds=(
            Threshold(_y(failing_seconds, top), f"failing at {spoken(timedelta(seconds=failing_seconds))}"),
            Threshold(_y(fresh_seconds, top), f"degraded at {spoken(timedelta(seconds=fresh_seconds))}"),
        ),
        said=_said(shown),
    )


def _blocks(spans: Sequence[HealthSpan], now: datetime) -> tuple[Block, ...]:
    """Neighbours of one grade are one block."""
    blocks: list[Block] = []
    for span in spans:
        ended = min(now, span.at + SPAN)
        last = blocks[-1] if blocks else None
        if last is not None and last.grade == span.grade and span.at - last.ended < SPAN:
            blocks[-1] = _block(last.began, ended, last.grade, now)
        else:
            blocks.append(_block(span.at, ended, str(span.grade), now))
    return tuple(blocks)


def _block(began: datetime, ended: datetime, grade: str, now: datetime) -> Block:
    x = _x(began, now)
    return Block(x, max(1.0, round(_x(ended, now) - x, 2)), grade, began, ended)


def _parts(spans: Sequence[HealthSpan]) -> list[list[HealthSpan]]:
    """A line is not drawn over a time that nobody judged."""
    parts: list[list[HealthSpan]] = []
    for span in spans:
        if parts and span.at - parts[-1][-1].at <= 2 * SPAN:
            parts[-1].append(span)
        else:
            parts.append([span])
    return parts


def _path(spans: Sequence[HealthSpan], now: datetime, top: float, age: Callable[[HealthSpan], float]) -> str:
    points = [(_x(span.at, now), _y(age(span), top)) for span in spans]
    if len(points) == 1:
        points.append((points[0][0] + 1, points[0][1]))  # a moment alone is seen as well
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _x(at: datetime, now: datetime) -> float:
    return round(max(0.0, WIDTH * (1 - (now - at) / HISTORY)), 2)


def _y(seconds: float, top: float) -> float:
    return round(HEIGHT * (1 - min(1.0, max(0.0, seconds) / top)), 2)


def _said(spans: Sequence[HealthSpan]) -> str:
    if not spans:
        return "No judgement of the last 6 hours is known"
    worst = max(spans, key=lambda span: span.maximum)
    last = spans[-1]
    return (
        f"Ages of the matches over the last 6 hours. Last: median {spoken(timedelta(seconds=last.median))}, "
        f"p95 {spoken(timedelta(seconds=last.p95))}, oldest {spoken(timedelta(seconds=last.maximum))}. "
        f"Highest: {spoken(timedelta(seconds=worst.maximum))} at {worst.at:%H:%M} UTC"
    )
