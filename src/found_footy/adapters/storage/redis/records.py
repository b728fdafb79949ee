"""How the asking for each match at each feed goes, and what waits to be asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from found_footy.adapters.storage.redis import json_values as read
from found_footy.adapters.storage.redis.cache import Command, RedisCache, chunks
from found_footy.adapters.storage.redis.feed_names import FEED_NAMES
from found_footy.adapters.storage.redis.turns import under_way
from found_footy.domain.feeds.lives import is_paused, pause_ended
from found_footy.domain.feeds.monitoring import MatchLife, MonitorRecord, Priority

MONITOR, PAUSED = "match_monitor", "paused_matches"
INDEX = "monitor_index"
"""All records that there are, by when they were last touched."""
QUEUE = "feed_queue"

RECORD_SECONDS = 7 * 24 * 3600
"""Of a match that nobody asks for any more; each look at a match renews it."""
ARCHIVED_SECONDS = 24 * 3600
QUEUE_SECONDS = 60
_TOGETHER = 80
"""Records that are saved in one transaction."""


class RedisMonitorRecords:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def load(self, match_ids: Sequence[str]) -> Mapping[str, MonitorRecord]:
        texts = await self._cache.values(self._cache.keys(MONITOR, match_ids))
        found = {}
        for match_id, text in zip(match_ids, texts, strict=True):
            record = read.readable(self._cache.key(MONITOR, match_id), text, _record)
            if record is not None and record.match_id == match_id:
                found[match_id] = record
        return found

    async def save(self, records: Sequence[MonitorRecord]) -> None:
        for chunk in chunks(records, _TOGETHER):
            await self._cache.run_all([command for one in chunk for command in self._saving(one)], together=True)

    async def all(self) -> Sequence[MonitorRecord]:
        """The longest untouched first. What the cache has forgotten leaves the index here."""
        index = self._cache.key(INDEX)
        names = [name.decode(errors="replace") for name in await self._cache.run("ZRANGE", index, 0, -1)]
        found = await self.load(names)
        lost = [name for name in names if name not in found]
        for chunk in chunks(lost):
            await self._cache.run_all([("ZREM", index, *chunk), ("SREM", self._cache.key(PAUSED), *chunk)])
        return [found[name] for name in names if name in found]

    async def paused(self) -> Sequence[str]:
        """Matches at feeds, such as espn_401."""
        return await self._cache.members(self._cache.key(PAUSED))

    async def end_pauses(self, now: datetime) -> int:
        found = await self.load(await self.paused())
        ended = [pause_ended(record, now) for record in found.values() if is_paused(record, now)]
        await self.save(ended)
        return len(ended)

    async def note_queue(self, feed: str, depths: Mapping[Priority, int], origin: str) -> None:
        waiting = {priority.name.lower(): depths.get(priority, 0) for priority in Priority}
        text = read.dump({**waiting, "origin": origin})
        await self._cache.run_all(
            [
                ("SET", self._cache.key(QUEUE, feed), text, "EX", QUEUE_SECONDS),
                ("SADD", self._cache.key(FEED_NAMES), feed),
            ]
        )

    async def queues(self) -> Mapping[str, Mapping[str, int]]:
        feeds = await self._cache.members(self._cache.key(FEED_NAMES))
        texts = await self._cache.values(self._cache.keys(QUEUE, feeds))
        found = {
            feed: read.readable(self._cache.key(QUEUE, feed), text, _queue)
            for feed, text in zip(feeds, texts, strict=True)
        }
        noted = {feed: queue for feed, queue in found.items() if queue is not None}
        active = await asyncio.gather(*(under_way(self._cache, feed, origin) for feed, (_, origin) in noted.items()))
        return {feed: {**noted[feed][0], "active": number} for feed, number in zip(noted, active, strict=True)}

    def _saving(self, record: MonitorRecord) -> list[Command]:
        name = record.match_id
        key, index, paused = self._cache.key(MONITOR, name), self._cache.key(INDEX), self._cache.key(PAUSED)
        archived = record.life is MatchLife.ARCHIVED
        touched = max(one for one in (record.created_at, record.updated_at, record.asked_at) if one is not None)
        return [
            ("SET", key, read.dump(_fields(record)), "EX", ARCHIVED_SECONDS if archived else RECORD_SECONDS),
            ("ZREM", index, name) if archived else ("ZADD", index, touched.timestamp(), name),
            ("SADD" if record.life is MatchLife.PAUSED else "SREM", paused, name),
        ]


def _fields(record: MonitorRecord) -> read.Fields:
    def seconds(name: str) -> float | None:
        moment = getattr(record, name)
        return None if moment is None else float(moment.timestamp())

    return {
        "match_id": record.match_id,
        "domain_id": record.feed,
        "feed_id": record.feed_id,
        "life": record.life,
        "priority_state": record.priority.name,
        "created_at": seconds("created_at"),
        "last_update_time": seconds("updated_at"),
        "asked_at": seconds("asked_at"),
        "consecutive_failure_count": record.failures_in_a_row,
        "paused": record.life is MatchLife.PAUSED,
        "pause_until": seconds("paused_until"),
        "completed_at": seconds("completed_at"),
        "total_scrapes": record.total,
        "total_failures": record.total_failures,
        "error": record.error,
        "metadata": {"match_title": record.title},
    }


def _record(fields: read.Fields) -> MonitorRecord:
    return MonitorRecord(
        feed=read.string(fields, "domain_id"),
        feed_id=read.whole(fields, "feed_id"),
        life=read.one_of(fields, "life", MatchLife),
        priority=_priority(read.string(fields, "priority_state")),
        created_at=read.moment(fields, "created_at"),
        updated_at=read.maybe_moment(fields, "last_update_time"),
        asked_at=read.maybe_moment(fields, "asked_at"),
        failures_in_a_row=read.whole(fields, "consecutive_failure_count"),
        paused_until=read.maybe_moment(fields, "pause_until"),
        total=read.whole(fields, "total_scrapes"),
        total_failures=read.whole(fields, "total_failures"),
        error=read.maybe_string(fields, "error"),
        title=read.string(read.mapping(fields, "metadata"), "match_title"),
        completed_at=read.maybe_moment(fields, "completed_at"),
    )


def _priority(name: str) -> Priority:
    try:
        return Priority[name]
    except KeyError as error:
        raise read.Broken("priority_state is none of those that there are") from error


def _queue(fields: read.Fields) -> tuple[Mapping[str, int], str]:
    waiting = {name: read.whole(fields, name) for name in (priority.name.lower() for priority in Priority)}
    return waiting, read.string(fields, "origin")
