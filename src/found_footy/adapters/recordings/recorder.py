"""Keeps what feeds and sources say of each match, and makes one file of it when the match is over.

Rows in the database while it is on: a poll is one transaction for all matches of a feed, survives any kill, and a
retried poll changes nothing. One object in the end: thousands of tiny ones would cost more than what is in them.
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

from found_footy.domain.discovery.posts import Post
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.errors import FootyError, ProgramFault
from found_footy.domain.feeds.unified import payload_of
from found_footy.domain.fixtures.model import LiveFixture
from found_footy.domain.recordings.keys import recording_key
from found_footy.domain.recordings.packing import canonical, pack
from found_footy.domain.recordings.recording import RecordedError, RecordedSearch, Recording, SourceAnswer
from found_footy.ports import ObjectStore, SourceReport
from found_footy.ports_recording import NewAnswer, RecordingStore

log = logging.getLogger(__name__)

SEALED_AT_ONCE = 5
PUT_OFF = timedelta(minutes=5)
CONTENT_TYPE = "application/gzip"
LONGEST_MESSAGE = 1000


class StoreRecorder:
    def __init__(self, store: RecordingStore, objects: ObjectStore, rules: Mapping[str, float]) -> None:
        """`rules` are the settings that decide, by name."""
        self._store = store
        self._objects = objects
        self._rules = rules
        self._put_off: dict[int, datetime] = {}
        """Matches that could not be sealed, and until when each of them is left alone."""

    async def feed_answers(
        self, feed: str, answers: Sequence[LiveFixture], failures: Mapping[int, FootyError], at: datetime
    ) -> None:
        try:
            known = await self._store.known_checksums(feed, [*(live.id for live in answers), *failures])
            # A feed may answer for a thousand matches at once, and nobody else should wait for that.
            new = await asyncio.to_thread(_answers, answers, known)
            new += [NewAnswer(id_, _sum(error), error=error) for id_, error in failures.items() if id_ in known]
            await self._store.add_answers(feed, new, at)
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
            tuple(SourceAnswer(report.source, report.found, _recorded(report.error)) for report in reports),
            tuple(posts),
        )
        try:
            await self._store.add_search(search)
        except FootyError as error:
            _not_recorded(error, "a search", event_id=event_id)

    async def seal(self, precedences: Mapping[str, int], now: datetime) -> int:
        """A match that fails is left alone for a while, so that it does not stand in the way of the others."""
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
                        break  # a store is away: the next ones would only wait for it, too
        except FootyError as error:
            _not_recorded(error, "a match that is over")
        return sealed

    async def so_far(self, fixture_id: int, precedences: Mapping[str, int]) -> Recording | None:
        """What the file would hold if the match ended now."""
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


def _answers(answers: Sequence[LiveFixture], known: Mapping[int, str]) -> list[NewAnswer]:
    return [made for live in answers if live.id in known and (made := _answer(live, known[live.id]))]


def _answer(live: LiveFixture, last: str) -> NewAnswer | None:
    try:
        body = canonical(payload_of(live))
    except (ValueError, RecursionError, FootyError) as error:
        fault = error if isinstance(error, FootyError) else ProgramFault(f"{type(error).__name__}: {error}")
        _not_recorded(fault, "a match", feed=live.feed, feed_id=live.id)
        return None
    checksum = hashlib.sha256(body).hexdigest()
    return NewAnswer(live.id, checksum, None if checksum == last else zlib.compress(body))


def _sum(error: FootyError) -> str:
    return hashlib.sha256(f"{error.kind} {error}".encode(errors="replace")).hexdigest()


def _recorded(error: FootyError | None) -> RecordedError | None:
    return None if error is None else RecordedError(error.kind, str(error)[:LONGEST_MESSAGE])


def _not_recorded(error: FootyError, what: str, level: int = logging.WARNING, **about: object) -> None:
    log.log(level, f"{what} was not recorded: {error}", extra={"action": "not_recorded", "error": error.kind, **about})
