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

from found_footy.config import Settings
from found_footy.discovery.models import Post, SourceReport
from found_footy.discovery.query import SearchQuery
from found_footy.errors import FootyError, InternalFault
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
from found_footy.text import shorten

log = logging.getLogger(__name__)

MAX_SEALED = 5
RETRY_DELAY = timedelta(minutes=5)
CONTENT_TYPE = "application/gzip"


class MatchRecorder:
    def __init__(self, store: RecordingStore, objects: ObjectStore, rules: Mapping[str, float]) -> None:
        """`rules` are the settings that affect decisions, by name."""
        self._store = store
        self._objects = objects
        self._rules = rules
        self._retry_at: dict[int, datetime] = {}
        """Matches that could not be sealed, and when each is retried."""

    async def record_poll(self, feed: str, answers: Sequence[AnswerToRecord]) -> None:
        """Record all responses of one poll of a feed, in two statements regardless of their number."""
        if not answers:
            return
        try:
            known = await self._store.known_checksums(feed, [answer.feed_id for answer in answers])
            # Compressing a thousand responses would block the event loop.
            new = await asyncio.to_thread(_select_changed, answers, known)
            await self._store.add_answers(feed, new)
        except FootyError as error:
            _log_not_recorded(error, "response of a feed", feed=feed)

    async def record_search(
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
            tuple(SourceResult(report.source, report.found, _recorded_error(report.error)) for report in reports),
            tuple(posts),
        )
        try:
            await self._store.add_search(search)
        except FootyError as error:
            _log_not_recorded(error, "search", event_id=event_id)

    async def seal_finished(self, precedences: Mapping[str, int], now: datetime) -> int:
        """Seal finished matches. A match that fails is skipped for a while, so that it does not block the others."""
        self._retry_at = {id_: until for id_, until in self._retry_at.items() if until > now}
        sealed = 0
        try:
            for fixture_id in await self._store.finished_matches(MAX_SEALED, without=list(self._retry_at)):
                failure = None
                try:
                    sealed += await self._seal(fixture_id, precedences, now)
                except FootyError as error:
                    failure = error
                except (OSError, ValueError, TypeError, RecursionError) as error:
                    failure = InternalFault(f"{type(error).__name__}: {error}")
                if failure is not None:
                    self._retry_at[fixture_id] = now + RETRY_DELAY
                    _log_not_recorded(failure, "finished match", logging.ERROR, fixture_id=fixture_id)
                    if failure.retryable:
                        break  # a store is unavailable, so the others would fail too
        except FootyError as error:
            _log_not_recorded(error, "finished match")
        return sealed

    async def current_recording(self, fixture_id: int, precedences: Mapping[str, int]) -> Recording | None:
        """Return the recording as if the match ended now."""
        recording = await self._store.recording(fixture_id)
        if recording is None:
            return None
        feeds = tuple(replace(feed, precedence=precedences.get(feed.id, feed.precedence)) for feed in recording.feeds)
        return replace(recording, feeds=feeds, rules=dict(self._rules))

    async def _seal(self, fixture_id: int, precedences: Mapping[str, int], now: datetime) -> bool:
        recording = await self.current_recording(fixture_id, precedences)
        if recording is None:
            return False
        packed = await asyncio.to_thread(pack, recording)
        key = recording_key(fixture_id)
        with tempfile.TemporaryDirectory(prefix="footy-recording-") as folder:
            path = Path(folder, "recording")
            await asyncio.to_thread(path.write_bytes, packed)
            await self._objects.put(key, path, content_type=CONTENT_TYPE)
        await self._store.mark_sealed(fixture_id, key, len(packed), now)
        log.info(
            f"recorded {len(recording.answers)} responses, {len(recording.searches)} searches, {len(packed)} bytes",
            extra={"action": "recording_sealed", "fixture_id": fixture_id, "bytes": len(packed)},
        )
        return True


def _select_changed(answers: Sequence[AnswerToRecord], known: Mapping[int, str]) -> list[SnapshotToRecord]:
    """Return rows for recorded matches. A response equal to the previous one is stored without its body."""
    rows = []
    for answer in answers:
        if answer.feed_id not in known:
            continue
        if answer.snapshot is None:
            assert answer.error is not None
            rows.append(SnapshotToRecord(answer.feed_id, answer.at, _error_checksum(answer.error), error=answer.error))
        else:
            checksum = answer.snapshot.checksum
            body = None if checksum == known[answer.feed_id] else zlib.compress(answer.snapshot.json)
            rows.append(SnapshotToRecord(answer.feed_id, answer.at, checksum, body))
    return rows


def _error_checksum(error: FootyError) -> str:
    return hashlib.sha256(f"{error.kind} {error}".encode(errors="replace")).hexdigest()


def _recorded_error(error: FootyError | None) -> RecordedError | None:
    return None if error is None else RecordedError(error.kind, shorten(str(error)))


def _log_not_recorded(error: FootyError, what: str, level: int = logging.WARNING, **about: object) -> None:
    log.log(level, f"{what} not recorded: {error}", extra={"action": "not_recorded", "error": error.kind, **about})


def recorded_rules(settings: Settings) -> dict[str, float]:
    """Return the settings that affect how a goal is handled; a replay needs the same values."""
    names = (
        "poll_seconds",
        "feed_patience_seconds",
        "debounce_polls",
        "drop_polls",
        "over_polls",
        "same_goal_minutes",
        "search_attempts",
        "search_attempts_most",
        "search_seconds",
        "search_gap_seconds",
        "post_age_seconds",
        "candidates",
    )
    return {name: float(getattr(settings, name)) for name in names}
