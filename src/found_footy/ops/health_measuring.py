"""What the watchdog judges by: when each match was last heard of, whoever says what of itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from found_footy.domain.errors import CacheUnavailable
from found_footy.domain.feeds.freshness import arrived, unsaved
from found_footy.domain.feeds.health import Measured
from found_footy.domain.feeds.monitoring import MatchLife, MonitorRecord
from found_footy.ports_feeds import FeedCounters, Freshness, MonitorRecords
from found_footy.ports_health import HealthStore

CACHE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Measuring:
    store: HealthStore
    freshness: Freshness
    records: MonitorRecords
    counters: FeedCounters
    lag: timedelta
    """How long after it was heard an answer is saved, at most."""

    async def measured(self, now: datetime) -> Measured:
        """Raises StoreUnavailable: without the database nobody knows what there is to be heard of."""
        active = await self.store.active()
        try:
            async with asyncio.timeout(CACHE_SECONDS):
                return await self._with_cache(active, now)
        except CacheUnavailable as error:
            return _by_database(active, str(error))
        except TimeoutError:
            return _by_database(active, f"no answer within {CACHE_SECONDS:g} s")

    async def _with_cache(self, active: Mapping[int, datetime], now: datetime) -> Measured:
        heard, records, recent, queues = await asyncio.gather(
            self.freshness.times(), self.records.all(), self.counters.recent(), self.records.queues()
        )
        waiting = total(queues.values())
        return Measured(
            heard=arrived(heard, active, self.lag),
            unsaved=unsaved(heard, active, self.lag),
            last_success=max((each.updated_at for each in records if each.updated_at), default=None),
            queue={name: number for name, number in waiting.items() if name != "active"},
            active=waiting.get("active", 0),
            ok=sum(ok for ok, _ in recent.values()),
            failed=sum(failed for _, failed in recent.values()),
            paused=tuple(sorted(each.match_id for each in records if is_paused(each, now))),
        )


def is_paused(record: MonitorRecord, now: datetime) -> bool:
    return record.life is MatchLife.PAUSED and (record.paused_until is None or record.paused_until > now)


def total(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    summed = dict.fromkeys(("live", "imminent", "completed"), 0)
    for part in parts:
        for name, number in part.items():
            summed[name] = summed.get(name, 0) + number
    return summed


def _by_database(active: Mapping[int, datetime], said: str) -> Measured:
    note = f"the cache does not answer, so the ages are those of the database ({said[:200]})"
    return Measured(heard=active, last_success=max(active.values(), default=None), notes=(note,))
