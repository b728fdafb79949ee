"""Score feeds on the operations page, and the provenance page of one match."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.feeds.models import MatchMonitoringRecord, Quota
from found_footy.feeds.poll_state import is_paused
from found_footy.operations.findings import is_persistent
from found_footy.operations.models import (
    FeedDeclaration,
    FeedUse,
    FieldConflict,
    HealthLimits,
    HealthSpan,
    LiveMatch,
    MatchFeed,
    Measurement,
    Recovery,
    RecoveryAction,
)
from found_footy.operations.probe import HISTORY, SPAN
from found_footy.text import format_duration
from found_footy.web.api.fixtures import FieldValues, MatchFeeds, feeds
from found_footy.web.api.parameters import FixtureId
from found_footy.web.rendering import NO_STORE, preferences, render
from found_footy.web.services import ServicesDep, WebServices

Hides = Callable[[int], bool]


# --- Health of the feeds over the last hours, as plot data.


WIDTH, HEIGHT = 360.0, 100.0
HEADROOM = 1.5
"""Top of the plot, as a multiple of the age at which feeds fail; higher values are clipped."""


AGES: Mapping[str, Callable[[HealthSpan], float]] = {
    "max": lambda span: span.maximum,
    "p95": lambda span: span.p95,
    "median": lambda span: span.median,
}
"""Lines from top to bottom."""


@dataclass(frozen=True, slots=True)
class Block:
    """Period with one grade."""

    x: float
    width: float
    grade: str
    began: datetime
    ended: datetime

    @property
    def text(self) -> str:
        return f"{self.grade} from {self.began:%H:%M} to {self.ended:%H:%M} UTC"


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    path: str
    """SVG path; empty if there is nothing to draw."""


@dataclass(frozen=True, slots=True)
class Threshold:
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class HealthPlot:
    blocks: tuple[Block, ...]
    lines: tuple[Line, ...]
    thresholds: tuple[Threshold, ...]
    text: str
    """Text alternative for screen readers."""


def health_plot(spans: Sequence[HealthSpan], now: datetime, fresh_seconds: float, failing_seconds: float) -> HealthPlot:
    recent = [span for span in spans if now - HISTORY < span.at <= now]
    top = HEADROOM * failing_seconds
    return HealthPlot(
        blocks=_blocks(recent, now),
        lines=tuple(
            Line(name, "".join(_path(part, now, top, age) for part in _parts(recent))) for name, age in AGES.items()
        ),
        thresholds=(
            Threshold(_y(failing_seconds, top), f"failing at {format_duration(timedelta(seconds=failing_seconds))}"),
            Threshold(_y(fresh_seconds, top), f"degraded at {format_duration(timedelta(seconds=fresh_seconds))}"),
        ),
        text=_alt_text(recent),
    )


def _blocks(spans: Sequence[HealthSpan], now: datetime) -> tuple[Block, ...]:
    """Merge adjacent periods of the same grade."""
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
    """Split at gaps, so that no line is drawn over a period without checks."""
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
        points.append((points[0][0] + 1, points[0][1]))  # keep a single point visible
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _x(at: datetime, now: datetime) -> float:
    return round(max(0.0, WIDTH * (1 - (now - at) / HISTORY)), 2)


def _y(seconds: float, top: float) -> float:
    return round(HEIGHT * (1 - min(1.0, max(0.0, seconds) / top)), 2)


def _alt_text(spans: Sequence[HealthSpan]) -> str:
    if not spans:
        return "No health data for the last 6 hours"
    worst = max(spans, key=lambda span: span.maximum)
    last = spans[-1]
    return (
        f"Ages of the matches over the last 6 hours. Last: median {format_duration(timedelta(seconds=last.median))}, "
        f"p95 {format_duration(timedelta(seconds=last.p95))}, "
        f"oldest {format_duration(timedelta(seconds=last.maximum))}. "
        f"Highest: {format_duration(timedelta(seconds=worst.maximum))} at {worst.at:%H:%M} UTC"
    )


# --- Values of the feeds' JSON, and observations around a recovery, as short table texts.


MAX_VALUE_LENGTH = 120
_ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}")
MAX_FACTS = 8
ACTIONS = {
    RecoveryAction.BROWSER_RECYCLE: "browser restarted",
    RecoveryAction.SOFT_RESTART: "poller restarted",
    RecoveryAction.MANUAL_TRIGGER: "restarted manually",
}
OMITTED_FACTS = frozenset({"last_success", "active"})
"""Observations that only repeat others."""
SIDES = (("home", "away"), ("team_a", "team_b"))


def format_value(value: Any) -> str:
    """`2–1` for a score, `2026-11-19 05:26 UTC` for a time, the items of a list of strings; otherwise JSON."""
    if isinstance(value, str):
        return _short(_format_time(value) or value)
    if value is None:
        return "nothing"
    if isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value):
        return f"{value[0]}–{value[1]}"
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return _short(", ".join(value))
    if isinstance(value, Mapping):
        for home, away in SIDES:
            if set(value) == {home, away} and not isinstance(value[home], Mapping | list):
                return f"{format_value(value[home])}–{format_value(value[away])}"
    return _short(json.dumps(value, ensure_ascii=False, default=str))


def _format_time(text: str) -> str | None:
    """None if the text is not a time in ISO format."""
    if not _ISO_TIME.match(text):
        return None
    try:
        at = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None
    return f"{at:%Y-%m-%d %H:%M} UTC" if at.second == 0 else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _short(text: str) -> str:
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"


@dataclass(frozen=True, slots=True)
class RecoveryRow:
    at: datetime
    action: str
    trigger: str
    facts: tuple[tuple[str, str, str], ...]
    """Observations: name, value before, value after."""
    steps: tuple[tuple[str, bool, str], ...]
    """Steps of the last attempt: part, whether it succeeded, and its message."""
    attempts: int
    outcome: str
    duration: str
    healthy_after: str


def recovery_row(recovery: Recovery) -> RecoveryRow:
    before, after = _flat(recovery.before), _flat(recovery.after)
    attempts = _listed(recovery.after.get("attempts"))
    healthy_after = f"healthy after {format_duration(recovery.healthy_at - recovery.at)}" if recovery.healthy_at else ""
    return RecoveryRow(
        at=recovery.at,
        action=ACTIONS[recovery.action],
        trigger=recovery.trigger,
        facts=tuple(
            (name.replace("_", " "), before.get(name, "–"), after.get(name, "–"))
            for name in list({**before, **after})[:MAX_FACTS]
        ),
        steps=tuple(
            (str(step.get("name", "")), bool(step.get("ok")), _short(str(step.get("said", ""))))
            for step in _listed(attempts[-1].get("steps") if attempts else None)[:MAX_FACTS]
        ),
        attempts=len(attempts),
        outcome=str(recovery.outcome) if recovery.outcome else "running",
        duration="" if recovery.seconds is None else format_seconds(recovery.seconds),
        healthy_after=healthy_after,
    )


def format_seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else format_duration(timedelta(seconds=seconds))


def _flat(facts: Mapping[str, Any]) -> dict[str, str]:
    """Scalar facts by name; of the ages, the two most useful."""
    flat = {name: _plain(value) for name, value in facts.items() if isinstance(value, str | int | float)}
    ages = facts.get("freshness")
    if isinstance(ages, Mapping):
        for name, key in (("oldest", "maximum"), ("median", "median")):
            if isinstance(ages.get(key), int | float):
                flat[name] = format_duration(timedelta(seconds=ages[key]))
    for name in [name for name in flat if name in OMITTED_FACTS]:
        del flat[name]
    return flat


def _plain(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else format_value(value)


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list | tuple) else []


# --- Score feeds of the operations page: texts, and bars as numbers. Pure functions.


MAX_PAUSED = 40
MAX_CONFLICTS = 20


@dataclass(frozen=True, slots=True)
class FeedChip:
    """A live match at one of its feeds."""

    feed: str
    state: str
    """ok, late, paused, failing, off or unknown."""
    text: str
    more: str
    """Details, for a tooltip."""


@dataclass(frozen=True, slots=True)
class FeedRow:
    feed: str
    state: str
    """ok, failed, off or quiet."""
    label: str
    adapter: str
    precedence: int | None
    last_request: str
    success_ratio: str
    matches: int
    problem: str
    quota: Quota | None
    switch: str | None
    """on, off or auto; None if the feed is not declared here."""

    @property
    def quota_width(self) -> float | None:
        if self.quota is None or not self.quota.day_limit or self.quota.day_remaining is None:
            return None
        return round(min(100.0, 100 * self.quota.day_remaining / self.quota.day_limit), 1)


@dataclass(frozen=True, slots=True)
class PausedRow:
    title: str
    feed: str
    failures: int
    until: datetime | None
    next_attempt: str
    problem: str


@dataclass(frozen=True, slots=True)
class ConflictRow:
    fixture_id: int
    match: str
    field: str
    values: tuple[tuple[str, str, bool], ...]
    """Feed, its value, and whether that value is used."""
    duration_text: str
    polls: int
    is_ongoing: bool


def feed_chips(match: LiveMatch, measured: Measurement, limit: timedelta) -> tuple[FeedChip, ...]:
    """In order of trust, if known."""
    declared = {each.feed: each for each in measured.declared or ()}
    ordered = sorted(match.listings, key=lambda each: (-_precedence(declared.get(each.feed)), each.feed))
    return tuple(_feed_chip(each, declared.get(each.feed), measured, limit) for each in ordered)


def _precedence(declared: FeedDeclaration | None) -> int:
    return declared.precedence if declared else -1


def _feed_chip(
    listing: MatchFeed, declared: FeedDeclaration | None, measured: Measurement, limit: timedelta
) -> FeedChip:
    record = measured.cached.record(listing.feed, listing.feed_id) if measured.cached else None
    notes = [
        f"feed id {listing.feed_id}",
        "primary feed of the match" if listing.founding else "",
        "home and away swapped" if listing.swapped else "",
        f"precedence {declared.precedence}" if declared else "",
        record.error or "" if record else "",
    ]
    state, text = _feed_status(record, declared, measured, limit)
    return FeedChip(listing.feed, state, text, "; ".join(note for note in notes if note))


def _feed_status(
    record: MatchMonitoringRecord | None, declared: FeedDeclaration | None, measured: Measurement, limit: timedelta
) -> tuple[str, str]:
    now = measured.at
    if declared is not None and not declared.usable:
        return "off", "off"
    if record is None:
        return "unknown", "no request yet" if measured.cached else "unknown"
    if is_paused(record, now):
        left = f", again in {format_duration(record.paused_until - now)}" if record.paused_until else ""
        return "paused", f"paused{left}"
    age = format_duration(now - record.updated_at) if record.updated_at else "never"
    if record.consecutive_failures:
        return "failing", f"{age}, {record.consecutive_failures} failed"
    if record.updated_at is None:
        return "unknown", "no data yet"
    return ("late" if now - record.updated_at > limit else "ok"), age


def feed_rows(measured: Measurement) -> tuple[FeedRow, ...]:
    """Declared feeds; if their file cannot be read, all feeds ever polled."""
    used = {feed.feed: feed for feed in (measured.recorded.feeds if measured.recorded else ())}
    listed = Counter(
        each.feed for match in (measured.recorded.matches if measured.recorded else ()) for each in match.listings
    )
    if measured.declared is None:
        return tuple(_feed_row(name, None, feed, listed[name], measured) for name, feed in sorted(used.items()))
    return tuple(
        _feed_row(each.feed, each, used.get(each.feed), listed[each.feed], measured) for each in measured.declared
    )


def _feed_row(
    name: str, declared: FeedDeclaration | None, use: FeedUse | None, matches: int, measured: Measurement
) -> FeedRow:
    state, label = _feed_state(declared, use)
    recent = measured.cached.recent.get(name) if measured.cached else None
    problem = declared.lacks if declared and declared.on and declared.lacks else use.error if use and use.error else ""
    if declared is not None and not declared.on:
        problem = ""
    return FeedRow(
        feed=name,
        state=state,
        label=label,
        adapter=declared.adapter if declared else "",
        precedence=declared.precedence if declared else None,
        last_request=f"last request {format_duration(measured.at - use.asked_at)} ago" if use else "no request yet",
        success_ratio=f"{recent[0]} of {sum(recent)} requests succeeded" if recent and sum(recent) else "",
        matches=matches,
        problem=problem,
        quota=use.quota if use else None,
        switch=None if declared is None else {None: "auto", True: "on", False: "off"}[declared.switched],
    )


def _feed_state(declared: FeedDeclaration | None, use: FeedUse | None) -> tuple[str, str]:
    if declared is not None and not declared.on:
        return "off", "off"
    if declared is not None and declared.lacks:
        return "failed", "not configured"
    if use is None:
        return "quiet", "idle"
    return ("failed", "failing") if use.error else ("ok", "ok")


def paused_rows(measured: Measurement) -> tuple[PausedRow, ...]:
    records = measured.cached.records if measured.cached else ()
    paused = [each for each in records if is_paused(each, measured.at)]
    ordered = sorted(paused, key=lambda each: (each.paused_until or measured.at, each.match_id))
    return tuple(_paused_row(each, measured.at) for each in ordered[:MAX_PAUSED])


def _paused_row(record: MatchMonitoringRecord, now: datetime) -> PausedRow:
    until = record.paused_until
    next_attempt = "at the next poll" if until is None or until <= now else f"in {format_duration(until - now)}"
    title = record.title or record.match_id
    return PausedRow(title, record.feed, record.consecutive_failures, until, next_attempt, record.error or "")


def conflict_rows(measured: Measurement, limits: HealthLimits, hides: Hides) -> tuple[ConflictRow, ...]:
    """Values of a match with hidden scores stay hidden."""
    disputes = measured.recorded.disputes if measured.recorded else ()
    return tuple(_dispute_row(each, measured, limits, hides(each.fixture_id)) for each in disputes[:MAX_CONFLICTS])


def _dispute_row(dispute: FieldConflict, measured: Measurement, limits: HealthLimits, hidden: bool) -> ConflictRow:
    values = tuple(
        (feed, "hidden" if hidden else format_value(value), feed == dispute.chosen)
        for feed, value in sorted(dispute.reported.items(), key=lambda item: (item[0] != dispute.chosen, item[0]))
    )
    duration_text = format_duration(dispute.last_at - dispute.first_at)
    is_ongoing = is_persistent(dispute, measured, limits)
    return ConflictRow(
        dispute.fixture_id,
        f"{dispute.home} – {dispute.away}",
        dispute.field,
        values,
        duration_text,
        dispute.polls,
        is_ongoing,
    )


# --- `/operations/match/{id}`: for each field of a match, the feed it is from, its time, and the values of other feeds.


router = APIRouter(include_in_schema=False)

FIELDS = ("status", "score", "clock", "minute", "innings", "events", "goals", "kickoff", "toss", "venue", "last_event")
"""First fields, in this order; all others follow by name."""


@router.get("/operations/match/{fixture_id}")
async def page(request: Request, services: ServicesDep, fixture_id: FixtureId) -> HTMLResponse:
    return render(request, "match_provenance.html", await _values(request, services, fixture_id), headers=NO_STORE)


@router.get("/operations/match/{fixture_id}/fragment")
async def fragment(request: Request, services: ServicesDep, fixture_id: FixtureId) -> HTMLResponse:
    values = await _values(request, services, fixture_id)
    return render(request, "parts/match_provenance.html", values, headers=NO_STORE)


async def _values(request: Request, services: WebServices, fixture_id: int) -> dict[str, Any]:
    hidden = preferences(request).hides(fixture_id)
    provenance = await feeds(services, fixture_id)
    match = await services.scores.provenance.of_fixture(fixture_id)
    now = services.now()
    return {
        "match": match,
        "provenance": provenance,
        "fields": [] if hidden else _ordered(provenance),
        "hidden": hidden,
        "format_value": lambda value: "hidden" if hidden else format_value(value),
        "age": lambda at: format_duration(now - at),
    }


def _ordered(provenance: MatchFeeds) -> list[tuple[str, FieldValues]]:
    positions = {name: place for place, name in enumerate(FIELDS)}
    return sorted(provenance.fields.items(), key=lambda item: (positions.get(item[0], len(FIELDS)), item[0]))
