"""Feed data in Redis: counters, freshness, negative cache, monitoring records and snapshots."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate, zip_longest
from typing import Any

from found_footy.errors import CacheFull, CacheUnavailable, FootyError
from found_footy.feeds.alignment import to_fixture_ids
from found_footy.feeds.models import (
    BatchAnswers,
    CachedSnapshot,
    FeedListing,
    FeedReport,
    FeedTotals,
    MatchMonitoringRecord,
    MatchPosition,
    MatchPriority,
    MonitoredFixture,
    MonitoringState,
    NewSnapshot,
    OpenFeed,
    feed_match_id,
)
from found_footy.feeds.poll_state import is_paused, resume
from found_footy.feeds.reconcile import FixtureReports
from found_footy.feeds.scheduling import PollPace
from found_footy.feeds.snapshot import decode
from found_footy.fixtures.models import PHASES, MatchMinute, Team
from found_footy.storage import redis as read
from found_footy.storage.limits import LeaseSemaphore
from found_footy.storage.redis import Command, RedisCache, Word, chunks, load_script

COUNT_ANSWERS = load_script(__package__, "count_answers")
EXPECT_MATCHES = load_script(__package__, "expect_matches")
SAVE_SNAPSHOT = load_script(__package__, "save_snapshot")

FEED_NAMES = "feed_names"

MATCHES_PER_TRANSACTION = 60
"""Each match takes one command for its record; snapshots and indexes take one per batch."""


# --- Operator switches. If the cache is lost, the feeds file decides again.


SWITCH = "domain_config"
LISTED = "feed_listed"
"""Time at which a feed last listed the matches of the current day."""


class FeedSwitches:
    """Feeds that an operator enabled or disabled at run time."""

    def __init__(self, cache: RedisCache | None) -> None:
        """Without a cache, no switch can be read or set."""
        self._cache = cache

    async def switched(self) -> Mapping[str, bool]:
        """Return the switches by feed: True for on, False for off."""
        if self._cache is None:
            return {}
        feeds = await self._cache.members(self._cache.key(FEED_NAMES))
        keys = self._cache.keys(SWITCH, feeds)
        found = {
            feed: read.readable(key, text, lambda fields: read.boolean(fields, "enabled"))
            for feed, key, text in zip(feeds, keys, await self._cache.values(keys), strict=True)
        }
        return {feed: on for feed, on in found.items() if on is not None}

    async def switch(self, feed: str, on: bool | None) -> None:
        """Switch a feed on or off; None removes the switch, so that the file decides."""
        if self._cache is None:
            raise CacheUnavailable("switches require a cache, and none is configured")
        key = self._cache.key(SWITCH, feed)
        if on is None:
            await self._cache.run("DEL", key, self._cache.key(LISTED, feed))
            return
        await self._cache.run_all(
            [
                ("SET", key, read.dump({"enabled": on})),
                ("SADD", self._cache.key(FEED_NAMES), feed),
                ("DEL", self._cache.key(LISTED, feed)),  # list the matches as soon as the feed is switched on
            ],
            atomic=True,
        )


# --- Per-feed counters: successes, failures, request durations. Shared by all workers.


TOTALS, RECENT = "feed_totals", "feed_recent"

BOUNDS = (0.1, 0.25, 0.5, 1.0, 3.0, 5.0, 10.0, 15.0, 30.0, 45.0, math.inf)
"""Upper bounds of the duration histogram, in seconds."""
SLOT_SECONDS, SLOTS = 30, 10
"""Five minutes."""


class FeedCounters:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def note(
        self, feed: str, *, ok: int = 0, failed: int = 0, seconds: Sequence[float] = (), navigation_failures: int = 0
    ) -> None:
        command = self.command(feed, ok=ok, failed=failed, seconds=seconds, navigation_failures=navigation_failures)
        await self._cache.run(*command)

    def command(
        self, feed: str, *, ok: int, failed: int, seconds: Sequence[float], navigation_failures: int
    ) -> Command:
        durations = [max(0.0, duration) for duration in seconds if math.isfinite(duration)]
        buckets = Counter(f"le:{BOUNDS[bisect_left(BOUNDS, duration)]}" for duration in durations)
        fields: list[Word] = ["navigation_failures", navigation_failures, "seconds", repr(sum(durations))]
        fields += [word for pair in buckets.items() for word in pair]
        keys = [self._cache.key(TOTALS, feed), self._cache.key(RECENT, feed), self._cache.key(FEED_NAMES)]
        return ("EVAL", COUNT_ANSWERS, len(keys), *keys, feed, SLOT_SECONDS, SLOTS, ok, failed, *fields)

    async def totals(self) -> Mapping[str, FeedTotals]:
        feeds = await self._cache.members(self._cache.key(FEED_NAMES))
        counted = await self._cache.hashes(self._cache.keys(TOTALS, feeds))
        return {feed: _totals(fields) for feed, fields in zip(feeds, counted, strict=True) if fields}

    async def recent(self) -> Mapping[str, tuple[int, int]]:
        feeds = await self._cache.members(self._cache.key(FEED_NAMES))
        oldest = int(await self._cache.seconds_since_epoch()) // SLOT_SECONDS - SLOTS + 1
        counted = await self._cache.hashes(self._cache.keys(RECENT, feeds))
        return {feed: _recent_counts(fields, oldest) for feed, fields in zip(feeds, counted, strict=True) if fields}


def _totals(fields: Mapping[str, str]) -> FeedTotals:
    counts = accumulate(_number(fields, f"le:{bound}") for bound in BOUNDS)
    return FeedTotals(
        ok=int(_number(fields, "ok")),
        failed=int(_number(fields, "failed")),
        navigation_failures=int(_number(fields, "navigation_failures")),
        seconds=_number(fields, "seconds"),
        buckets={bound: int(count) for bound, count in zip(BOUNDS, counts, strict=True)},
    )


def _recent_counts(fields: Mapping[str, str], oldest: int) -> tuple[int, int]:
    sums = Counter[str]()
    for field in fields:
        slot, _, outcome = field.partition(":")
        if slot.isdecimal() and int(slot) >= oldest:
            sums[outcome] += int(_number(fields, field))
    return sums["ok"], sums["failed"]


def _number(fields: Mapping[str, str], name: str) -> float:
    """Return a field as a number, or 0 if it is missing or invalid: readers handle counter resets."""
    try:
        number = float(fields.get(name, "0"))
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


# --- Freshness index: time of the last report for each fixture, oldest first.


log = logging.getLogger(__name__)

INDEX, INTERVALS = "freshness_index", "poll_intervals"


MAX_INTERVAL_SECONDS = 24 * 3600.0


class FreshnessIndex:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def expect(self, since: Mapping[int, datetime], intervals: Mapping[int, timedelta] | None = None) -> None:
        """Set the active fixtures and, where known, their poll intervals.

        A fixture that is missing from the index, because it is new or the index was lost, starts at its time in
        `since`, which comes from the database.
        """
        poll_intervals = intervals or {}
        words = [
            word
            for fixture_id, at in since.items()
            for word in (
                fixture_id,
                at.timestamp(),
                poll_intervals[fixture_id].total_seconds() if fixture_id in poll_intervals else "",
            )
        ]
        await self._cache.run_script(EXPECT_MATCHES, [self._cache.key(INDEX), self._cache.key(INTERVALS)], words)

    async def intervals(self) -> Mapping[int, timedelta]:
        """Return the poll intervals of active fixtures; those without one are polled in every cycle.

        An interval is longer than `FOOTY_POLL_SECONDS` while all feeds of the fixture save their quota. Freshness is
        measured against it.
        """
        (fields,) = await self._cache.hashes([self._cache.key(INTERVALS)])
        seconds = {int(id_): _number(fields, id_) for id_ in fields if id_.isdecimal()}
        return {id_: timedelta(seconds=each) for id_, each in seconds.items() if 0 < each <= MAX_INTERVAL_SECONDS}

    async def record(self, fixture_ids: Sequence[int], at: datetime) -> None:
        for command in self.commands(fixture_ids, at):
            await self._cache.run(*command)

    def commands(self, fixture_ids: Sequence[int], at: datetime) -> list[Command]:
        """Commands that update expected fixtures only, and never to an earlier time."""
        if not fixture_ids:
            return []
        pairs = [word for fixture_id in fixture_ids for word in (at.timestamp(), fixture_id)]
        return [("ZADD", self._cache.key(INDEX), "XX", "GT", *pairs)]

    async def times(self) -> Mapping[int, datetime]:
        words = await self._cache.run("ZRANGE", self._cache.key(INDEX), 0, -1, "WITHSCORES")
        found = {}
        for member, score in zip(words[::2], words[1::2], strict=True):
            try:
                found[int(member)] = datetime.fromtimestamp(float(score), UTC)
            except (ValueError, OverflowError, OSError):
                extra = {"action": "cache_value_dropped", "key": INDEX}
                log.warning("dropped an entry of %s from the cache", INDEX, extra=extra)
        return found


# --- Pace of each feed: the interval at which its live matches are polled.


PACE = "feed_pace"
PACE_SECONDS = 600
"""Lifetime of a stored pace; each poll of the feed renews it."""


class PollPaces:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def save(self, feed: str, pace: PollPace) -> None:
        seconds = None if pace.interval is None else pace.interval.total_seconds()
        text = read.dump({"interval": seconds, "reason": pace.reason})
        await self._cache.run("SET", self._cache.key(PACE, feed), text, "EX", PACE_SECONDS)

    async def load(self, feeds: Sequence[str]) -> Mapping[str, PollPace]:
        """Return the current paces; feeds that were not polled recently are omitted."""
        keys = self._cache.keys(PACE, feeds)
        texts = await self._cache.values(keys)
        found = {feed: read.readable(key, text, _pace) for feed, key, text in zip(feeds, keys, texts, strict=True)}
        return {feed: pace for feed, pace in found.items() if pace is not None}

    async def all(self) -> Mapping[str, PollPace]:
        return await self.load(await self._cache.members(self._cache.key(FEED_NAMES)))


def _pace(fields: read.Fields) -> PollPace:
    seconds, reason = read.optional_number(fields, "interval"), read.string(fields, "reason")
    if seconds is not None and not 0 < seconds <= MAX_INTERVAL_SECONDS:
        raise read.InvalidValue("interval is out of range")
    return PollPace(None if seconds is None else timedelta(seconds=seconds), bool(reason), reason)


# --- When each feed last listed its matches.


LISTED_SECONDS = 24 * 3600


class ListingTimes:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def save(self, feed: str, at: datetime) -> None:
        text = read.dump({"at": at.timestamp()})
        await self._cache.run("SET", self._cache.key(LISTED, feed), text, "EX", LISTED_SECONDS)

    async def load(self, feed: str) -> datetime | None:
        key = self._cache.key(LISTED, feed)
        (text,) = await self._cache.values([key])
        return read.readable(key, text, lambda fields: read.timestamp(fields, "at"))


# --- Negative cache: matches missing from a feed's answer.


NEGATIVE = "negative_cache"
SECONDS = 60


class NegativeCache:
    def __init__(self, cache: RedisCache, *, seconds: float = SECONDS) -> None:
        self._cache = cache
        self._milliseconds = max(1, round(seconds * 1000))

    async def note(self, match_ids: Sequence[str]) -> None:
        await self._cache.run_all(self.commands(match_ids))

    def commands(self, match_ids: Sequence[str]) -> list[Command]:
        return [("SET", key, "1", "PX", self._milliseconds) for key in self._cache.keys(NEGATIVE, match_ids)]

    async def among(self, match_ids: Sequence[str]) -> frozenset[str]:
        marks = await self._cache.values(self._cache.keys(NEGATIVE, match_ids))
        return frozenset(name for name, mark in zip(match_ids, marks, strict=True) if mark is not None)


# --- Monitoring records and queue depths.


MONITOR, PAUSED = "match_monitor", "paused_matches"
INDEX_RECORDS = "monitor_index"
"""Index of all records by time of their last update."""
QUEUE = "feed_queue"

RECORD_SECONDS = 7 * 24 * 3600
"""Lifetime of the record of a match that is no longer polled; each poll extends it."""
ARCHIVED_SECONDS = 24 * 3600
QUEUE_SECONDS = 60


class MonitoringRecords:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def load(self, match_ids: Sequence[str]) -> Mapping[str, MatchMonitoringRecord]:
        texts = await self._cache.values(self._cache.keys(MONITOR, match_ids))
        found = {}
        for match_id, text in zip(match_ids, texts, strict=True):
            record = read.readable(self._cache.key(MONITOR, match_id), text, _record)
            if record is not None and record.match_id == match_id:
                found[match_id] = record
        return found

    async def save(self, records: Sequence[MatchMonitoringRecord]) -> None:
        for chunk in chunks(records, MATCHES_PER_TRANSACTION):
            await self._cache.run_all(self.commands(chunk), atomic=True)

    def commands(self, records: Sequence[MatchMonitoringRecord]) -> list[Command]:
        """Commands that save records: one per record, and one per batch for each of the two indexes."""
        if not records:
            return []
        index, paused = self._cache.key(INDEX_RECORDS), self._cache.key(PAUSED)
        tracked = [record for record in records if record.state is not MonitoringState.ARCHIVED]
        archived = [record.match_id for record in records if record.state is MonitoringState.ARCHIVED]
        paused_ids = [record.match_id for record in records if record.state is MonitoringState.PAUSED]
        unpaused_ids = [record.match_id for record in records if record.state is not MonitoringState.PAUSED]
        index_entries = [word for record in tracked for word in (_last_touched(record).timestamp(), record.match_id)]
        commands: list[Command] = [self._save_command(record) for record in records]
        commands += [("ZADD", index, *index_entries)] if index_entries else []
        commands += [("ZREM", index, *archived)] if archived else []
        commands += [("SADD", paused, *paused_ids)] if paused_ids else []
        commands += [("SREM", paused, *unpaused_ids)] if unpaused_ids else []
        return commands

    async def all(self) -> Sequence[MatchMonitoringRecord]:
        """Return all records, least recently updated first. Removes expired records from the index."""
        index = self._cache.key(INDEX_RECORDS)
        names = [name.decode(errors="replace") for name in await self._cache.run("ZRANGE", index, 0, -1)]
        found = await self.load(names)
        expired = [name for name in names if name not in found]
        for chunk in chunks(expired):
            await self._cache.run_all([("ZREM", index, *chunk), ("SREM", self._cache.key(PAUSED), *chunk)])
        return [found[name] for name in names if name in found]

    async def paused(self) -> Sequence[str]:
        """Return the match ids that are paused, such as espn_401."""
        return await self._cache.members(self._cache.key(PAUSED))

    async def end_pauses(self, now: datetime) -> int:
        found = await self.load(await self.paused())
        ended = [resume(record, now) for record in found.values() if is_paused(record, now)]
        await self.save(ended)
        return len(ended)

    async def note_queue(self, feed: str, depths: Mapping[MatchPriority, int], origin: str) -> None:
        depths_by_name = {priority.name.lower(): depths.get(priority, 0) for priority in MatchPriority}
        text = read.dump({**depths_by_name, "origin": origin})
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
        stored = {feed: queue for feed, queue in found.items() if queue is not None}
        semaphore = LeaseSemaphore(self._cache)
        active = await asyncio.gather(
            *(semaphore.holders(origin or feed, feed) for feed, (_, origin) in stored.items())
        )
        return {feed: {**stored[feed][0], "active": number} for feed, number in zip(stored, active, strict=True)}

    def _save_command(self, record: MatchMonitoringRecord) -> Command:
        seconds = ARCHIVED_SECONDS if record.state is MonitoringState.ARCHIVED else RECORD_SECONDS
        return ("SET", self._cache.key(MONITOR, record.match_id), read.dump(_fields(record)), "EX", seconds)


def _last_touched(record: MatchMonitoringRecord) -> datetime:
    return max(at for at in (record.created_at, record.updated_at, record.asked_at) if at is not None)


def _fields(record: MatchMonitoringRecord) -> read.Fields:
    def seconds(name: str) -> float | None:
        moment = getattr(record, name)
        return None if moment is None else float(moment.timestamp())

    return {
        "match_id": record.match_id,
        "domain_id": record.feed,
        "feed_id": record.feed_id,
        "state": record.state,
        "priority_state": record.priority.name,
        "created_at": seconds("created_at"),
        "last_update_time": seconds("updated_at"),
        "asked_at": seconds("asked_at"),
        "consecutive_failure_count": record.consecutive_failures,
        "paused": record.state is MonitoringState.PAUSED,
        "pause_until": seconds("paused_until"),
        "completed_at": seconds("completed_at"),
        "total_scrapes": record.total,
        "total_failures": record.total_failures,
        "error": record.error,
        "metadata": {"match_title": record.title},
        "position": None if record.position is None else _position_fields(record.position),
    }


def _record(fields: read.Fields) -> MatchMonitoringRecord:
    return MatchMonitoringRecord(
        feed=read.string(fields, "domain_id"),
        feed_id=read.integer(fields, "feed_id"),
        state=read.one_of(fields, "state", MonitoringState),
        priority=_priority(read.string(fields, "priority_state")),
        created_at=read.timestamp(fields, "created_at"),
        updated_at=read.optional_timestamp(fields, "last_update_time"),
        asked_at=read.optional_timestamp(fields, "asked_at"),
        consecutive_failures=read.integer(fields, "consecutive_failure_count"),
        paused_until=read.optional_timestamp(fields, "pause_until"),
        total=read.integer(fields, "total_scrapes"),
        total_failures=read.integer(fields, "total_failures"),
        error=read.optional_string(fields, "error"),
        title=read.string(read.mapping(fields, "metadata"), "match_title"),
        completed_at=read.optional_timestamp(fields, "completed_at"),
        position=_position(fields),
    )


def _position_fields(position: MatchPosition) -> read.Fields:
    minute = position.minute
    return {
        "status": position.status,
        "kickoff": position.kickoff.timestamp(),
        "home": [position.home.id, position.home.name],
        "away": [position.away.id, position.away.name],
        "minute": None if minute is None else [minute.elapsed, minute.extra, minute.innings],
        "overs": position.overs,
    }


def _position(fields: read.Fields) -> MatchPosition | None:
    """Return the stored position, or None if it is missing or invalid: the next answer is then not compared."""
    found = fields.get("position")
    if not isinstance(found, dict):
        return None
    try:
        (home_id, home), (away_id, away) = found["home"], found["away"]
        position = MatchPosition(
            status=read.string(found, "status"),
            kickoff=read.timestamp(found, "kickoff"),
            home=Team(int(home_id), str(home)),
            away=Team(int(away_id), str(away)),
            minute=None if found["minute"] is None else MatchMinute(*_validated_numbers(found["minute"], 3)),
            overs=tuple((int(number), int(overs)) for number, overs in found["overs"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
    return position if position.status in PHASES else None


def _validated_numbers(found: Any, length: int) -> tuple[Any, ...]:
    numbers = tuple(found)
    if (
        len(numbers) != length
        or type(numbers[0]) is not int
        or any(type(number) not in (int, type(None)) for number in numbers)
    ):
        raise ValueError("not a minute")
    return numbers


def _priority(name: str) -> MatchPriority:
    try:
        return MatchPriority[name]
    except KeyError as error:
        raise read.InvalidValue("unknown priority_state") from error


def _queue(fields: read.Fields) -> tuple[Mapping[str, int], str]:
    waiting = {name: read.integer(fields, name) for name in (priority.name.lower() for priority in MatchPriority)}
    return waiting, read.string(fields, "origin")


# --- Snapshots: the latest answer of each feed for each match, the reconciled one of each fixture, and the few before.


LATEST, HISTORY, SEQUENCE = "match_latest", "match_history", "match_sequence"

RECONCILED_TTL = timedelta(hours=24)
HISTORY_TTL = timedelta(hours=1)
HISTORY_LENGTH = 5
HISTORY_BYTES = 64 * 1024
"""Maximum size of a match's history; larger snapshots shorten it."""
SNAPSHOTS_PER_CALL = 20
"""Snapshots per call of the script, during which Redis serves no other client."""
MAX_BYTES = 512 * 1024
"""Maximum size of a snapshot. A match takes a few kilobytes; a larger one is an error of the feed."""
_PAYLOAD = b',"normalized_payload":'
_COMPRESSION = 1
"""zlib level. Compression shrinks the JSON to a quarter; the fastest level is nearly as good as the best."""


class SnapshotCache:
    """Stores each snapshot as its number, a line break, and compressed JSON whose last field is the payload."""

    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def save(self, snapshots: Sequence[NewSnapshot]) -> None:
        """Store each snapshot under the next number of its match; an unchanged payload only extends the expiry."""
        await self.save_or_shed(lambda: self._cache.run_all(self.commands(snapshots)))

    async def save_or_shed(self, save: Callable[[], Awaitable[object]]) -> None:
        """Save; if the cache is full and does not evict, drop all histories and try once more."""
        try:
            await save()
        except CacheFull as error:
            dropped = await self._drop_histories()
            log.warning("%s; dropped %d histories", error, dropped, extra={"action": "cache_shed", "count": dropped})
            await save()

    async def _drop_histories(self) -> int:
        dropped, cursor = 0, 0
        while True:
            cursor, keys = await self._cache.run("SCAN", cursor, "MATCH", self._cache.key(HISTORY, "*"), "COUNT", 1000)
            dropped += await self._cache.run("UNLINK", *keys) if keys else 0
            if int(cursor) == 0:
                return dropped

    def commands(self, snapshots: Sequence[NewSnapshot]) -> list[Command]:
        sha = hashlib.sha1(SAVE_SNAPSHOT.encode(), usedforsecurity=False).hexdigest()
        calls = [(snapshot, value) for snapshot in snapshots if (value := _value(snapshot)) is not None]
        commands: list[Command] = []
        for chunk in chunks(calls, SNAPSHOTS_PER_CALL):
            keys = [key for snapshot, _ in chunk for key in self._keys(snapshot)]
            arguments = [word for snapshot, value in chunk for word in _arguments(snapshot, value)]
            commands.append(("EVALSHA", sha, len(keys), *keys, *arguments))
        return [("SCRIPT LOAD", SAVE_SNAPSHOT), *commands] if commands else []

    async def load(self, match_ids: Sequence[str]) -> Mapping[str, CachedSnapshot]:
        """Return unexpired snapshots. A feed's snapshot lives as long as it is fresh, a reconciled one for a day."""
        found = {}
        for match_id, value in zip(
            match_ids, await self._cache.values(self._cache.keys(LATEST, match_ids)), strict=True
        ):
            snapshot = _readable(self._cache.key(LATEST, match_id), value, match_id)
            if snapshot is not None:
                found[match_id] = snapshot
        return found

    async def newer_than(self, since: Mapping[str, datetime | None]) -> list[str]:
        """Return the ids of the matches with a snapshot after the given time, or with any if there is none."""
        keys = self._cache.keys(SEQUENCE, list(since))
        times = await self._cache.run_all([("HGET", key, "at") for key in keys])
        found = dict(zip(since, times, strict=True))
        return [
            match_id
            for match_id, after in since.items()
            if (at := found[match_id]) is not None
            and at.isdigit()
            and (after is None or int(at) > _microseconds(after))
        ]

    async def history(self, match_id: str) -> Sequence[CachedSnapshot]:
        """Return the last five snapshots, newest first."""
        key = self._cache.key(HISTORY, match_id)
        values = await self._cache.run("LRANGE", key, 0, HISTORY_LENGTH - 1)
        found = [_readable(key, value, match_id) for value in values]
        return [snapshot for snapshot in found if snapshot is not None]

    def _keys(self, snapshot: NewSnapshot) -> list[str]:
        return [self._cache.key(pattern, snapshot.match_id) for pattern in (LATEST, HISTORY, SEQUENCE)]


def _arguments(snapshot: NewSnapshot, value: bytes) -> list[Word]:
    ttl = max(1, _milliseconds(snapshot.ttl))
    sequence_ttl = max(ttl, _milliseconds(RECONCILED_TTL))
    at = _microseconds(snapshot.created_at)
    fresh_for = _milliseconds(snapshot.fresh_for)
    checksum = snapshot.body.checksum
    length = max(1, min(HISTORY_LENGTH, HISTORY_BYTES // len(value)))
    return [at, checksum, ttl, fresh_for, _milliseconds(HISTORY_TTL), length, sequence_ttl, value]


def _value(snapshot: NewSnapshot) -> bytes | None:
    header = {
        "match_id": snapshot.match_id,
        "domain_id": snapshot.domain_id,
        "created_at": snapshot.created_at.timestamp(),
        "provenance": snapshot.provenance,
        "checksum": snapshot.body.checksum,
    }
    text = read.dump(header).encode().removesuffix(b"}") + _PAYLOAD + snapshot.body.json + b"}"
    if len(text) > MAX_BYTES:
        log.error(
            "snapshot of %s not cached: %d bytes, at most %d",
            snapshot.match_id,
            len(text),
            MAX_BYTES,
            extra={"action": "snapshot_rejected", "match_id": snapshot.match_id},
        )
        return None
    return zlib.compress(text, _COMPRESSION)


def _readable(key: str, value: bytes | None, match_id: str) -> CachedSnapshot | None:
    """Return the decoded snapshot, or None if it is missing or invalid."""
    if value is None:
        return None
    try:
        return _snapshot(value, match_id)
    except read.InvalidValue as error:
        log.warning("dropped %s from the cache: %s", key, error, extra={"action": "cache_value_dropped", "key": key})
        return None


def _snapshot(value: bytes, match_id: str) -> CachedSnapshot:
    number, _, compressed = value.partition(b"\n")
    if not number.isdigit() or len(number) > 15:
        raise read.InvalidValue("no sequence number")
    try:
        text = zlib.decompressobj().decompress(compressed, MAX_BYTES + 1)
    except zlib.error as error:
        raise read.InvalidValue("not compressed") from error
    fields = read.load(text)
    found = CachedSnapshot(
        match_id=read.string(fields, "match_id"),
        domain_id=read.string(fields, "domain_id"),
        payload=read.mapping(fields, "normalized_payload"),
        created_at=read.timestamp(fields, "created_at"),
        sequence=int(number),
        checksum=read.string(fields, "checksum"),
        provenance=read.mapping(fields, "provenance"),
    )
    if found.match_id != match_id:
        raise read.InvalidValue("belongs to another match")
    # The payload is the last field, so its checksum is computed from the stored bytes without re-encoding.
    if found.checksum != hashlib.sha256(text.partition(_PAYLOAD)[2].removesuffix(b"}")).hexdigest():
        raise read.InvalidValue("checksum mismatch")
    return found


def _microseconds(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)


def _milliseconds(time: timedelta) -> int:
    return round(time.total_seconds() * 1000)


# --- The feed cache as a whole, and the writes of one batch of answers.


class FeedCache:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache
        self.snapshots = SnapshotCache(cache)
        self.records = MonitoringRecords(cache)
        self.freshness = FreshnessIndex(cache)
        self.paces = PollPaces(cache)
        self.listed = ListingTimes(cache)
        self.counters = FeedCounters(cache)
        self.missing = NegativeCache(cache)

    async def save_answers(self, answers: BatchAnswers) -> None:
        """Save a batch of answers: one round trip and one transaction per 60 matches."""
        closing = [
            *self.freshness.commands(answers.reported_fixtures, answers.at),
            *self.missing.commands(answers.missing),
            self.counters.command(
                answers.feed,
                ok=len(answers.snapshots),
                failed=len(answers.records) - len(answers.snapshots),
                seconds=[answers.seconds],
                navigation_failures=answers.navigation_failures,
            ),
        ]
        snapshots = chunks(answers.snapshots, MATCHES_PER_TRANSACTION)
        records = chunks(answers.records, MATCHES_PER_TRANSACTION)
        parts = [
            [*self.snapshots.commands(snapshot_chunk), *self.records.commands(record_chunk)]
            for snapshot_chunk, record_chunk in zip_longest(snapshots, records, fillvalue=())
        ]
        if not parts:
            parts = [[]]
        parts[-1] += closing
        for part in parts:
            await self.snapshots.save_or_shed(partial(self._cache.run_all, part, atomic=True))

    async def load_reports(
        self, feeds: Sequence[OpenFeed], matches: Sequence[MonitoredFixture]
    ) -> list[FixtureReports]:
        """Return the reports of fixtures for which at least one of the feeds has a fresh answer."""
        enabled = {each.id: each for each in feeds}
        listings = [(match, listing) for match in matches for listing in match.listings if listing.feed in enabled]
        fresh = await self.snapshots.load([feed_match_id(listing.feed, listing.feed_id) for _, listing in listings])

        def decode_all() -> list[FixtureReports]:
            reports: dict[int, list[FeedReport]] = {}
            for match, listing in listings:
                snapshot = fresh.get(feed_match_id(listing.feed, listing.feed_id))
                report = _report(snapshot, listing, enabled[listing.feed]) if snapshot is not None else None
                if report is not None:
                    reports.setdefault(match.id, []).append(report)
            return [FixtureReports(match, tuple(reports[match.id])) for match in matches if match.id in reports]

        # In a thread: decoding thousands of matches takes seconds, and heartbeats must continue.
        return await asyncio.to_thread(decode_all)

    async def load_new_reports(
        self, feeds: Sequence[OpenFeed], since: Sequence[tuple[MonitoredFixture, datetime | None]]
    ) -> list[FixtureReports]:
        """Return the reports of fixtures with an answer after the given time. Others are not decoded."""
        enabled = {each.id for each in feeds}
        times = {
            feed_match_id(listing.feed, listing.feed_id): after
            for match, after in since
            for listing in match.listings
            if listing.feed in enabled
        }
        newer = set(await self.snapshots.newer_than(times))
        matches = [
            match
            for match, _ in since
            if any(feed_match_id(each.feed, each.feed_id) in newer for each in match.listings)
        ]
        after = {match.id: at for match, at in since}
        found = await self.load_reports(feeds, matches) if matches else []
        return [each for each in found if each.is_newer_than(after[each.match.id])]


def _report(snapshot: CachedSnapshot, listing: FeedListing, opened: OpenFeed) -> FeedReport | None:
    try:
        live = decode(snapshot.payload)
        if listing.founding:
            live = to_fixture_ids(live, opened.id_offset)
    except FootyError as error:
        log.error(str(error), extra={"action": "snapshot_unreadable", "feed": listing.feed, "error": error.kind})
        return None
    return FeedReport(
        feed=opened.id,
        precedence=opened.source.precedence,
        live=live,
        at=snapshot.created_at,
        swapped=listing.swapped,
        founding=listing.founding,
        vendor=opened.vendor,
    )
