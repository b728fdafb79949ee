"""The health service: measures the system, assesses it, and derives what `footy health` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from found_footy.config import Settings, percent_by_name
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority
from found_footy.feeds.poll_state import is_paused
from found_footy.operations.feed_health import persisted_updates, stale
from found_footy.operations.findings import assess
from found_footy.operations.models import (
    CoverageObjective,
    FeedDeclaration,
    FeedUse,
    HealthLimits,
    HealthReport,
    Measurement,
)
from found_footy.operations.probe import SystemProbe

MAX_STALE = 20
MAX_RECOVERIES = 5


class HealthService:
    """Builds the report that every health surface renders."""

    def __init__(self, probe: SystemProbe, limits: HealthLimits) -> None:
        self._probe = probe
        self._limits = limits

    async def report(self, now: datetime) -> HealthReport:
        return assess(await self._probe.measure(now), self._limits)

    async def readiness(self) -> list[str]:
        """Return the problems that prevent this process from serving requests."""
        return await self._probe.readiness()


@dataclass(frozen=True, slots=True)
class FeedLine:
    id: str
    adapter: str
    precedence: int
    on: bool
    switched: bool | None
    lacks: str
    last_answer: datetime | None = None
    ok: int = 0
    failed: int = 0
    """Failed responses of the last five minutes."""
    matches: int = 0
    failing: int = 0
    """Matches whose last request failed."""
    paused: int = 0
    error: str | None = None
    """Last error of a match that still fails, or of the feed."""


@dataclass(frozen=True, slots=True)
class StaleMatch:
    fixture_id: int
    title: str
    seconds: float


def feed_lines(measured: Measurement) -> tuple[FeedLine, ...]:
    records = measured.cached.records if measured.cached else ()
    recent = measured.cached.recent if measured.cached else {}
    uses = {use.feed: use for use in measured.recorded.feeds} if measured.recorded else {}
    return tuple(
        _feed_line(each, records, recent, uses.get(each.feed), measured.at) for each in measured.declared or ()
    )


def _feed_line(
    declared: FeedDeclaration,
    records: Sequence[MatchMonitoringRecord],
    recent: Mapping[str, tuple[int, int]],
    use: FeedUse | None,
    now: datetime,
) -> FeedLine:
    own = [record for record in records if record.feed == declared.feed]
    failing = [record for record in own if record.consecutive_failures]
    last = max(failing, key=lambda record: record.asked_at or record.created_at, default=None)
    ok, failed = recent.get(declared.feed, (0, 0))
    answers = [record.updated_at for record in own if record.updated_at]
    if use is not None and use.answered_at is not None:
        answers.append(use.answered_at)
    return FeedLine(
        id=declared.feed,
        adapter=declared.adapter,
        precedence=declared.precedence,
        on=declared.on,
        switched=declared.switched,
        lacks=declared.lacks,
        last_answer=max(answers, default=None),
        ok=ok,
        failed=failed,
        matches=len(own),
        failing=len(failing),
        paused=sum(is_paused(record, now) for record in own),
        error=last.error if last else use.error if use else None,
    )


def match_updates(report: HealthReport) -> Mapping[int, datetime]:
    """Return the last update of each live match, as the watchdog counts it: one that is not saved in time is none.

    Without the cache, the last saved poll counts; without the database, the last response.
    """
    recorded, cached = report.measured.recorded, report.measured.cached
    if recorded is None:
        return cached.last_updates if cached else {}
    saved = {match.fixture_id: match.since for match in recorded.matches}
    return persisted_updates(cached.last_updates, saved, report.limits.save_lag) if cached else saved


def stale_ages(report: HealthReport) -> list[tuple[int, float]]:
    """Return the live matches without a recent update, with its age in seconds, oldest first."""
    cached, limits = report.measured.cached, report.limits
    intervals = cached.intervals if cached else {}
    return stale(match_updates(report), report.at, limits.stale.total_seconds(), intervals, limits.poll)


def stale_matches(report: HealthReport) -> tuple[StaleMatch, ...]:
    """Return the stalest matches for display."""
    recorded = report.measured.recorded
    titles = {match.fixture_id: f"{match.home} – {match.away}" for match in recorded.matches} if recorded else {}
    return tuple(StaleMatch(match, titles.get(match, ""), age) for match, age in stale_ages(report)[:MAX_STALE])


def queue_depth(queues: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Count waiting requests of all feeds by priority."""
    depth = Counter({priority.name.lower(): 0 for priority in MatchPriority})
    for each in queues.values():
        depth.update({name: number for name, number in each.items() if name in depth})
    return dict(depth)


def notes(report: HealthReport) -> tuple[str, ...]:
    """Return notes on unreachable engines that make the report incomplete."""
    return tuple(
        f"the {engine.name} does not respond: {engine.detail or engine.summary}"
        for engine in report.measured.engines
        if engine.state == "failed" and engine.name in ("database", "cache")
    )


def health_document(report: HealthReport) -> dict[str, Any]:
    """Return the JSON document of `footy health`."""
    measured = report.measured
    recoveries = measured.health.recoveries[:MAX_RECOVERIES] if measured.health else ()
    document: dict[str, Any] = _json(
        {
            "at": report.at,
            "summary": asdict(measured.summary) if measured.summary else None,
            "judged": report.state is not None,
            "feeds": [asdict(line) for line in feed_lines(measured)],
            "stale": [asdict(match) for match in stale_matches(report)],
            "recoveries": [asdict(recovery) for recovery in recoveries],
            "notes": notes(report),
            "no_data": report.no_data,
            "good": report.is_working,
            "grade": report.feeds_grade,
            "judged_seconds": measured.judged_seconds,
            "system": report.grade,
            "findings": [asdict(finding) for finding in report.findings],
        }
    )
    return document


def _json(value: Any) -> Any:
    """Convert times to ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _json(part) for key, part in value.items()}
    return [_json(part) for part in value] if isinstance(value, list | tuple) else value


def health_limits(settings: Settings) -> HealthLimits:
    limits = HealthLimits.from_seconds(
        poll=settings.poll_seconds,
        search_silence=settings.search_silence_seconds,
        health=settings.health_seconds,
        stale=settings.stale_seconds,
        feed_patience=settings.feed_patience_seconds,
    )
    return replace(limits, coverage=coverage_objective(settings))


def coverage_objective(settings: Settings) -> CoverageObjective:
    return CoverageObjective(
        within=timedelta(minutes=settings.coverage_minutes),
        share=settings.coverage_percent / 100,
        shares={league: percent / 100 for league, percent in percent_by_name(settings.coverage_leagues).items()},
    )
