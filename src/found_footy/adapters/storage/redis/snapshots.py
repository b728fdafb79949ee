"""The latest word of each feed on each match, and the few before it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from found_footy.adapters.storage.redis import json_values as read
from found_footy.adapters.storage.redis.cache import RedisCache, Word
from found_footy.domain.feeds.deltas import checksum
from found_footy.domain.feeds.snapshot import Snapshot
from found_footy.ports_feeds import NewSnapshot

log = logging.getLogger(__name__)

LATEST, HISTORY = "match_latest", "match_history"
KNOWN = "match_known"
"""As `match_latest`, and stays when its time is over."""
SEQUENCE = "match_sequence"

KNOWN_LASTS = timedelta(hours=24)
HISTORY_LASTS = timedelta(hours=1)
HISTORY_LENGTH = 5
MAX_BYTES = 512 * 1024
"""A match is a few thousand bytes; more than this is a feed gone wrong, and would fill the cache."""


class RedisSnapshots:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def keep(self, snapshots: Sequence[NewSnapshot]) -> None:
        calls = [self._call(snapshot, body) for snapshot in snapshots if (body := _body(snapshot)) is not None]
        await self._cache.run_scripts("keep_snapshot", calls)

    async def fresh(self, match_ids: Sequence[str]) -> Mapping[str, Snapshot]:
        return await self._read(LATEST, match_ids)

    async def last_known(self, match_ids: Sequence[str]) -> Mapping[str, Snapshot]:
        return await self._read(KNOWN, match_ids)

    async def history(self, match_id: str) -> Sequence[Snapshot]:
        key = self._cache.key(HISTORY, match_id)
        texts = await self._cache.run("LRANGE", key, 0, HISTORY_LENGTH - 1)
        found = [read.readable(key, text, _snapshot_of(match_id)) for text in texts]
        return [snapshot for snapshot in found if snapshot is not None]

    async def _read(self, pattern: str, match_ids: Sequence[str]) -> Mapping[str, Snapshot]:
        texts = await self._cache.values(self._cache.keys(pattern, match_ids))
        found = {}
        for match_id, text in zip(match_ids, texts, strict=True):
            snapshot = read.readable(self._cache.key(pattern, match_id), text, _snapshot_of(match_id))
            if snapshot is not None:
                found[match_id] = snapshot
        return found

    def _call(self, snapshot: NewSnapshot, body: tuple[str, str]) -> tuple[Sequence[str], Sequence[Word]]:
        keys = [self._cache.key(pattern, snapshot.match_id) for pattern in (LATEST, KNOWN, HISTORY, SEQUENCE)]
        lasts = max(1, _milliseconds(snapshot.lasts))
        known = max(lasts, _milliseconds(KNOWN_LASTS))
        moment = round(snapshot.created_at.timestamp() * 1_000_000)
        checked, text = body
        return keys, [moment, checked, lasts, known, _milliseconds(HISTORY_LASTS), HISTORY_LENGTH, text]


def _body(snapshot: NewSnapshot) -> tuple[str, str] | None:
    """Its checksum, and its JSON from the second field on."""
    try:
        checked = checksum(snapshot.payload)
        text = read.dump(
            {
                "match_id": snapshot.match_id,
                "domain_id": snapshot.domain_id,
                "normalized_payload": snapshot.payload,
                "created_at": snapshot.created_at.timestamp(),
                "provenance": snapshot.provenance,
                "checksum": checked,
            }
        )
    except ValueError:
        _say_refused(snapshot, "it has numbers in it that are none")
        return None
    if len(text) > MAX_BYTES:
        _say_refused(snapshot, f"it has {len(text)} bytes")
        return None
    return checked, text.removeprefix("{")


def _say_refused(snapshot: NewSnapshot, why: str) -> None:
    log.error(
        "no snapshot of %s was kept: %s",
        snapshot.match_id,
        why,
        extra={"action": "snapshot_refused", "match_id": snapshot.match_id},
    )


def _snapshot_of(match_id: str) -> Callable[[read.Fields], Snapshot]:
    def snapshot(fields: read.Fields) -> Snapshot:
        payload = read.mapping(fields, "normalized_payload")
        found = Snapshot(
            match_id=read.string(fields, "match_id"),
            domain_id=read.string(fields, "domain_id"),
            payload=payload,
            created_at=read.moment(fields, "created_at"),
            sequence=read.whole(fields, "sequence_number"),
            checksum=read.string(fields, "checksum"),
            provenance=read.mapping(fields, "provenance"),
        )
        if found.match_id != match_id:
            raise read.Broken("it is of another match")
        if found.checksum != _checksum(payload):
            raise read.Broken("its checksum does not fit")
        return found

    return snapshot


def _checksum(payload: Mapping[str, Any]) -> str:
    try:
        return checksum(payload)
    except (ValueError, RecursionError) as error:
        raise read.Broken("it has no checksum") from error


def _milliseconds(time: timedelta) -> int:
    return round(time.total_seconds() * 1000)
