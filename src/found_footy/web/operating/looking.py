"""Looks at the score feeds through what keeps their facts: the cache, the watchdog's notes, the browser service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from found_footy.domain.feeds.health_values import HealthGrade
from found_footy.domain.operations.feeds_measured import AnswersCounted, BrowserSeen, Cached, HealthKnown, HealthSpan
from found_footy.ports_feeds import FeedCounters, Freshness, MonitorRecords
from found_footy.ports_health import BrowserControl, HealthCache, HealthSample, HealthStore

MOST_RECORDS = 5000
MOST_RECOVERIES = 20
HISTORY = timedelta(hours=6)
SPAN = timedelta(minutes=3)
SAMPLES_SECONDS = 15.0
"""The history of hours need not be read at every look."""
WORST = (HealthGrade.HEALTHY, HealthGrade.RECOVERING, HealthGrade.DEGRADED, HealthGrade.FAILING)


class CacheLook:
    def __init__(
        self, records: MonitorRecords, freshness: Freshness, counters: FeedCounters, health: HealthCache
    ) -> None:
        self._records, self._freshness, self._counters, self._health = records, freshness, counters, health

    async def look(self) -> Cached:
        records, queues, heard, totals, recent, summary = await asyncio.gather(
            self._records.all(),
            self._records.queues(),
            self._freshness.times(),
            self._counters.totals(),
            self._counters.recent(),
            self._health.summary(),
        )
        answers = {
            feed: AnswersCounted(
                each.ok, each.failed, each.navigation_failures, each.seconds, dict(sorted(each.buckets.items()))
            )
            for feed, each in sorted(totals.items())
        }
        return Cached(tuple(records[:MOST_RECORDS]), queues, heard, answers, recent, summary)


class HealthLook:
    def __init__(self, store: HealthStore) -> None:
        self._store = store
        self._spans: tuple[HealthSpan, ...] = ()
        self._spans_until = 0.0

    async def known(self, now: datetime) -> HealthKnown:
        summary = await self._store.summary()
        recoveries = await self._store.recoveries(MOST_RECOVERIES)
        loop = asyncio.get_running_loop()
        if loop.time() >= self._spans_until:
            self._spans = spans(await self._store.samples(now - HISTORY))
            self._spans_until = loop.time() + SAMPLES_SECONDS
        return HealthKnown(summary, self._spans, tuple(recoveries))


def spans(samples: Iterable[HealthSample], length: timedelta = SPAN) -> tuple[HealthSpan, ...]:
    """So many judgements in one that a plot of hours can show them; none hides a bad moment."""
    seconds = length.total_seconds()
    ordered = sorted(samples, key=lambda sample: sample.at)
    grouped = groupby(ordered, key=lambda sample: sample.at.timestamp() // seconds)
    return tuple(_span(list(group)) for _, group in grouped)


def _span(samples: Sequence[HealthSample]) -> HealthSpan:
    return HealthSpan(
        at=samples[0].at,
        grade=max((sample.grade for sample in samples), key=WORST.index),
        median=max(sample.median for sample in samples),
        p95=max(sample.p95 for sample in samples),
        maximum=max(sample.maximum for sample in samples),
    )


class BrowserLook:
    def __init__(self, control: BrowserControl) -> None:
        self._control = control

    async def seen(self) -> BrowserSeen:
        return browser_seen(await self._control.facts())


def browser_seen(facts: Mapping[str, Any]) -> BrowserSeen:
    """What it says of itself; what it does not say, or not as a number, is 0."""
    recycles = facts.get("recycles_total", {})
    return BrowserSeen(
        processes=int(_number(facts.get("processes"))),
        contexts=int(_number(facts.get("contexts"))),
        pages=int(_number(facts.get("pages"))),
        uptime_seconds=_number(facts.get("uptime_seconds")),
        recycles={str(reason)[:40]: int(_number(number)) for reason, number in sorted(recycles.items())[:20]}
        if isinstance(recycles, Mapping)
        else {},
    )


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else 0.0
