"""The report of `footy health`: the last judgement, each feed, stale matches, recoveries."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from found_footy.domain.errors import CacheUnavailable
from found_footy.domain.feeds.freshness import arrived, stale
from found_footy.domain.feeds.health_values import HealthGrade, HealthSummary, Recovery
from found_footy.domain.feeds.monitoring import MonitorRecord
from found_footy.domain.operations.feed_answers import missing_answers, shown_grade
from found_footy.domain.operations.feeds_measured import FeedUse
from found_footy.domain.operations.findings import judgement_holds
from found_footy.feed_registry import DeclaredFeed
from found_footy.ops.health_measuring import is_paused
from found_footy.ports_feeds import FeedCounters, Freshness, MonitorRecords
from found_footy.ports_health import HealthCache, HealthStore

MOST_STALE = 20
MOST_RECOVERIES = 5


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
    """Of the last five minutes."""
    matches: int = 0
    failing: int = 0
    """Matches whose last request failed."""
    paused: int = 0
    error: str | None = None
    """The last one of a match that still fails."""


@dataclass(frozen=True, slots=True)
class StaleMatch:
    fixture_id: int
    title: str
    seconds: float


@dataclass(frozen=True, slots=True)
class HealthReport:
    at: datetime
    summary: HealthSummary | None
    judged: bool
    """Whether somebody judges; else the summary is what was once."""
    feeds: tuple[FeedLine, ...]
    stale: tuple[StaleMatch, ...]
    recoveries: tuple[Recovery, ...]
    notes: tuple[str, ...] = ()
    no_data: str = ""
    """Why the grade says nothing, such as that no feed has answered yet; empty if the feeds answer."""

    @property
    def good(self) -> bool:
        """Whether nothing has to be done. Data that is old, or that nobody judges, is not good."""
        return self.grade in (HealthGrade.HEALTHY, HealthGrade.DEGRADED)

    @property
    def grade(self) -> str:
        return shown_grade(self.summary if self.judged else None, self.no_data)

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(asdict(self))
        judged_seconds = max(0.0, (self.at - self.summary.generated_at).total_seconds()) if self.summary else None
        return document | {"good": self.good, "grade": self.grade, "judged_seconds": judged_seconds}


def plain(value: Any) -> Any:
    """A value that JSON can hold: times as ISO texts."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


class ReportStore(HealthStore, Protocol):
    async def titles(self, fixture_ids: Sequence[int]) -> Mapping[int, str]: ...

    async def feed_uses(self) -> Sequence[FeedUse]:
        """When each feed was last asked and answered."""


@dataclass(frozen=True, slots=True)
class Reporting:
    store: ReportStore
    cache: HealthCache
    freshness: Freshness
    records: MonitorRecords
    counters: FeedCounters
    stale_seconds: float
    judgement_seconds: float
    lag: timedelta

    async def report(self, declared: Sequence[DeclaredFeed], now: datetime) -> HealthReport:
        """Raises StoreUnavailable. Without the cache, the report holds what the database knows."""
        notes = []
        heard = await self.store.active()
        following = bool(heard)
        uses = {use.feed: use for use in await self.store.feed_uses()}
        records: Sequence[MonitorRecord] = ()
        recent: Mapping[str, tuple[int, int]] = {}
        summary = None
        try:
            summary = await self.cache.summary()
            times, records, recent = await asyncio.gather(
                self.freshness.times(), self.records.all(), self.counters.recent()
            )
            heard = arrived(times, heard, self.lag)
        except CacheUnavailable as error:
            notes.append(f"the cache does not answer: {error}")
        summary = summary or await self.store.summary()
        old = stale(heard, now, self.stale_seconds)[:MOST_STALE]
        titles = await self.store.titles([match for match, _ in old])
        return HealthReport(
            at=now,
            summary=summary,
            judged=summary is not None and now - summary.generated_at <= judgement_holds(self.judgement_seconds),
            feeds=tuple(feed_line(each, records, recent, uses.get(each.source.id), now) for each in declared),
            stale=tuple(StaleMatch(match, titles.get(match, ""), age) for match, age in old),
            recoveries=tuple(await self.store.recoveries(MOST_RECOVERIES)),
            notes=tuple(notes),
            no_data=missing_answers(
                [uses[each.source.id] for each in declared if each.on and not each.lacks and each.source.id in uses],
                now,
                following=following,
            ),
        )


def feed_line(
    declared: DeclaredFeed,
    records: Sequence[MonitorRecord],
    recent: Mapping[str, tuple[int, int]],
    use: FeedUse | None,
    now: datetime,
) -> FeedLine:
    source = declared.source
    own = [record for record in records if record.feed == source.id]
    failing = [record for record in own if record.failures_in_a_row]
    last = max(failing, key=lambda record: record.asked_at or record.created_at, default=None)
    ok, failed = recent.get(source.id, (0, 0))
    answers = [record.updated_at for record in own if record.updated_at]
    if use is not None and use.answered_at is not None:
        answers.append(use.answered_at)
    return FeedLine(
        id=source.id,
        adapter=source.adapter,
        precedence=source.precedence,
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
