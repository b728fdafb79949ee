"""Records the responses of feeds and sources for each match, and seals them into one file when it is over.

During the match they are rows in the database: a poll is one transaction for all matches of a feed, survives a kill,
and is idempotent. The sealed recording is one object, because thousands of tiny ones would cost more than their
content.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from found_footy.discovery.models import Post, SourceReport
from found_footy.discovery.query import SearchQuery
from found_footy.errors import FootyError, ProgramFault
from found_footy.recordings.file_format import pack
from found_footy.recordings.models import (
    AnswerToRecord,
    RecordedError,
    RecordedSearch,
    Recording,
    SnapshotToRecord,
    SourceResult,
    recording_key,
)
from found_footy.recordings.store import RecordingStore
from found_footy.storage.objects.backend import ObjectStore

log = logging.getLogger(__name__)

SEALED_AT_ONCE = 5
PUT_OFF = timedelta(minutes=5)
CONTENT_TYPE = "application/gzip"
LONGEST_MESSAGE = 1000


class MatchRecorder:
    def __init__(self, store: RecordingStore, objects: ObjectStore, rules: Mapping[str, float]) -> None:
        """`rules` are the settings that affect decisions, by name."""
        self._store = store
        self._objects = objects
        self._rules = rules
        self._put_off: dict[int, datetime] = {}
        """Matches that could not be sealed, and when each is retried."""

    async def feed_answers(self, feed: str, answers: Sequence[AnswerToRecord]) -> None:
        """Record all responses of one poll of a feed, in two statements regardless of their number."""
        if not answers:
            return
        try:
            known = await self._store.known_checksums(feed, [answer.feed_id for answer in answers])
            # Compressing a thousand responses would block the event loop.
            new = await asyncio.to_thread(_changed, answers, known)
            await self._store.add_answers(feed, new)
        except FootyError as error:
            _not_recorded(error, "the answer of a feed", feed=feed)

    async def search_answer(
        self,
        event_id: str,
        attempt: int,
        query: SearchQuery,
        reports: Sequence[SourceReport],
        posts: Sequence[Post],
        at: datetime,
    ) -> None:
        search = RecordedSearch(
            event_id,
            attempt,
            at,
            query.players,
            query.teams,
            tuple(SourceResult(report.source, report.found, _recorded(report.error)) for report in reports),
            tuple(posts),
        )
        try:
            await self._store.add_search(search)
        except FootyError as error:
            _not_recorded(error, "a search", event_id=event_id)

    async def seal(self, precedences: Mapping[str, int], now: datetime) -> int:
        """Seal finished matches. A match that fails is skipped for a while, so that it does not block the others."""
        self._put_off = {id_: until for id_, until in self._put_off.items() if until > now}
        sealed = 0
        try:
            for fixture_id in await self._store.to_seal(SEALED_AT_ONCE, without=list(self._put_off)):
                fault = None
                try:
                    sealed += await self._seal(fixture_id, precedences, now)
                except FootyError as error:
                    fault = error
                except (OSError, ValueError, TypeError, RecursionError) as error:
                    fault = ProgramFault(f"{type(error).__name__}: {error}")
                if fault is not None:
                    self._put_off[fixture_id] = now + PUT_OFF
                    _not_recorded(fault, "a match that is over", logging.ERROR, fixture_id=fixture_id)
                    if fault.retryable:
                        break  # a store is unavailable, so the others would fail too
        except FootyError as error:
            _not_recorded(error, "a match that is over")
        return sealed

    async def so_far(self, fixture_id: int, precedences: Mapping[str, int]) -> Recording | None:
        """Return the recording as if the match ended now."""
        recording = await self._store.recording(fixture_id)
        if recording is None:
            return None
        feeds = tuple(replace(feed, precedence=precedences.get(feed.id, feed.precedence)) for feed in recording.feeds)
        return replace(recording, feeds=feeds, rules=dict(self._rules))

    async def _seal(self, fixture_id: int, precedences: Mapping[str, int], now: datetime) -> bool:
        recording = await self.so_far(fixture_id, precedences)
        if recording is None:
            return False
        packed = await asyncio.to_thread(pack, recording)
        key = recording_key(fixture_id)
        with tempfile.TemporaryDirectory(prefix="footy-recording-") as folder:
            path = Path(folder, "recording")
            await asyncio.to_thread(path.write_bytes, packed)
            await self._objects.put(key, path, content_type=CONTENT_TYPE)
        await self._store.sealed(fixture_id, key, len(packed), now)
        log.info(
            f"recorded: {len(recording.answers)} answers, {len(recording.searches)} searches, {len(packed)} bytes",
            extra={"action": "recording_sealed", "fixture_id": fixture_id, "bytes": len(packed)},
        )
        return True


def _changed(answers: Sequence[AnswerToRecord], known: Mapping[int, str]) -> list[SnapshotToRecord]:
    """Return rows for recorded matches. A response equal to the previous one is stored without its body."""
    rows = []
    for answer in answers:
        if answer.feed_id not in known:
            continue
        if answer.snapshot is None:
            assert answer.error is not None
            rows.append(SnapshotToRecord(answer.feed_id, answer.at, _sum(answer.error), error=answer.error))
        else:
            checksum = answer.snapshot.checksum
            body = None if checksum == known[answer.feed_id] else zlib.compress(answer.snapshot.json)
            rows.append(SnapshotToRecord(answer.feed_id, answer.at, checksum, body))
    return rows


def _sum(error: FootyError) -> str:
    return hashlib.sha256(f"{error.kind} {error}".encode(errors="replace")).hexdigest()


def _recorded(error: FootyError | None) -> RecordedError | None:
    return None if error is None else RecordedError(error.kind, str(error)[:LONGEST_MESSAGE])


def _not_recorded(error: FootyError, what: str, level: int = logging.WARNING, **about: object) -> None:
    log.log(level, f"{what} was not recorded: {error}", extra={"action": "not_recorded", "error": error.kind, **about})
