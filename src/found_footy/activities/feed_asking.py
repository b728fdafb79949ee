"""Asking one feed once for all that is due: what it said, and how the asking went, is remembered batch by batch."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from found_footy.activities.unexpected import AnswerKeeper
from found_footy.domain.errors import FeedError, FootyError, NotInAnswer, PageNotOpened, ProgramFault
from found_footy.domain.feeds.lives import LifeRules, after_failure, after_success, as_time_goes, discovered
from found_footy.domain.feeds.monitoring import MonitorRecord, match_id
from found_footy.domain.feeds.sanity import REMEMBERED, check_answer
from found_footy.domain.feeds.scheduling import Request, SchedulingRules, depths
from found_footy.domain.feeds.snapshot import Snapshot
from found_footy.domain.feeds.unified import live_of, payload_of, title_of
from found_footy.domain.fixtures.model import LiveFixture, Stage
from found_footy.domain.fixtures.statuses import phase_of
from found_footy.feed_registry import OpenFeed
from found_footy.http_exchanges import record_exchanges
from found_footy.ports import FeedAnswer, FixtureStore
from found_footy.ports_feeds import FeedMemory, FollowedMatch, NewSnapshot
from found_footy.ports_recording import Recorder

log = logging.getLogger(__name__)

NOTED_EACH = 10
"""Requests between two notes of how many still wait."""


@dataclass(frozen=True, slots=True)
class AskingRules:
    poll: timedelta
    patience: timedelta
    """How long a poll of everything waits for its feeds."""
    scheduling: SchedulingRules
    lives: LifeRules

    def lasts(self, stage: Stage, interval: timedelta | None = None) -> timedelta:
        """How long an answer counts: until the next one should have come, and somewhat longer."""
        match stage:
            case Stage.COMPLETED:
                return self.scheduling.archive
            case Stage.STAGING:
                return 1.5 * self.scheduling.staging_poll + self.patience
        return 1.5 * max(self.poll, interval or self.poll) + self.patience


@dataclass(frozen=True, slots=True)
class Wanted:
    """A match of ours at this feed."""

    feed: str
    feed_id: int
    match: FollowedMatch
    locator: str = ""

    @property
    def stage(self) -> Stage:
        return self.match.stage

    @property
    def status(self) -> str:
        return self.match.status

    @property
    def kickoff(self) -> datetime:
        return self.match.kickoff

    @property
    def completed_at(self) -> datetime | None:
        return self.match.completed_at

    @property
    def name(self) -> str:
        return match_id(self.feed, self.feed_id)


Due = Request[Wanted]
Relocate = Callable[[str, Mapping[int, str]], Awaitable[None]]
"""Feed, and its ids with their new locators."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one request."""

    good: Sequence[LiveFixture] = ()
    failures: Mapping[int, FootyError] = field(default_factory=dict)
    unknown: Sequence[int] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Desk:
    """What every poll of a feed writes to."""

    store: FixtureStore
    memory: FeedMemory
    recorder: Recorder
    rules: AskingRules
    keeper: AnswerKeeper = field(default_factory=AnswerKeeper)


class Polling:
    """One poll of one feed."""

    def __init__(
        self,
        desk: Desk,
        opened: OpenFeed,
        at: datetime,
        records: Mapping[str, MonitorRecord],
        interval: timedelta | None,
        late: timedelta = timedelta(0),
        relocate: Relocate | None = None,
    ) -> None:
        """`late`: from `at` to when this attempt was begun. `relocate` saves where the feed lists matches now."""
        self._store, self._memory, self._recorder = desk.store, desk.memory, desk.recorder
        self._rules = desk.rules
        self._keeper = desk.keeper
        self._opened = opened
        self._at = at
        self._late = late
        self._began = time.monotonic()
        self._records = records
        self._interval = interval
        self._relocate = relocate

    def _now(self) -> datetime:
        """By Temporal's clock, which is one; those of the machines are many."""
        return self._at + self._late + timedelta(seconds=time.monotonic() - self._began)

    async def ask_all(self, requests: Sequence[Due]) -> list[Asked]:
        """In the order of their priority; what each request brings is remembered before the next ones end."""
        size = self._opened.feed.ids_per_request or len(requests)
        batches = [requests[start : start + size] for start in range(0, len(requests), size)]
        waiting, counted = list(requests), 0

        async def one(batch: Sequence[Due]) -> Asked:
            nonlocal waiting, counted
            asked = await self._guarded(batch)
            done = {request.listing.feed_id for request in batch}
            waiting = [request for request in waiting if request.listing.feed_id not in done]
            counted += 1
            if counted % NOTED_EACH == 0 or not waiting:
                await self._note_queue(waiting)
            return asked

        await self._note_queue(waiting)
        # All of them to their end, also where one cannot go on: nothing runs that nobody waits for.
        ended = await asyncio.gather(*(one(batch) for batch in batches), return_exceptions=True)
        for each in ended:
            if isinstance(each, BaseException):
                raise each
        asked = [each for each in ended if isinstance(each, Asked)]
        await self._note_state(asked)
        return asked

    async def _note_queue(self, waiting: Sequence[Due]) -> None:
        await self._memory.records.note_queue(self._opened.id, depths(waiting), self._opened.origin)

    async def _guarded(self, batch: Sequence[Due]) -> Asked:
        """A fault of ours in one batch never costs another its poll. That the cache or the database is away does."""
        try:
            return await self._ask(batch)
        except FootyError:
            raise
        except Exception as error:
            log.exception("fault in remembering answers", extra=self._about_fault)
            fault = _fault(error)
            return Asked(failures={request.listing.feed_id: fault for request in batch})

    @property
    def _about_fault(self) -> dict[str, str]:
        return {"action": "program_fault", "feed": self._opened.id}

    async def _ask(self, batch: Sequence[Due]) -> Asked:
        by_id = {request.listing.feed_id: request for request in batch}
        began = time.monotonic()
        locators = {id_: request.listing.locator for id_, request in by_id.items() if request.listing.locator}
        with record_exchanges() as exchanges:
            try:
                answer = await self._opened.feed.fixtures_by_ids(list(by_id), locators)
            except FeedError as error:
                answer = FeedAnswer(failures=dict.fromkeys(by_id, error))
            except FootyError:
                raise
            except Exception as error:
                log.exception("fault in asking a feed", extra=self._about_fault)
                answer = FeedAnswer(failures=dict.fromkeys(by_id, _fault(error)))
        seconds = time.monotonic() - began
        await self._keeper.note(f"feed {self._opened.id}", [*answer.errors, *answer.failures.values()], exchanges)
        now = self._now()
        good, failures = await self._checked(answer, by_id, now)
        unknown = {id_: NotInAnswer(f"the answer leaves match {id_} out") for id_ in answer.unknown if id_ in by_id}
        await self._keep(good, by_id, now)
        await self._note(good, {**failures, **unknown}, by_id, now)
        moved = {live.id: live.locator for live in good if live.locator not in ("", by_id[live.id].listing.locator)}
        if moved and self._relocate is not None:
            await self._relocate(self._opened.id, moved)
        await self._memory.missing.note([by_id[id_].listing.name for id_ in unknown])
        await self._memory.counters.note(
            self._opened.id,
            ok=len(good),
            failed=len(failures) + len(unknown),
            seconds=[seconds],
            navigation_failures=sum(isinstance(error, PageNotOpened) for error in failures.values()),
        )
        await self._recorder.feed_answers(self._opened.id, good, {**failures, **unknown}, now)
        for id_, failure in failures.items():
            log.warning(
                str(failure),
                extra={"action": "feed_failed", "feed": self._opened.id, "feed_id": id_, "error": failure.kind},
            )
        return Asked(good, failures, list(unknown), seconds)

    async def _checked(
        self, answer: FeedAnswer, by_id: Mapping[int, Due], now: datetime
    ) -> tuple[list[LiveFixture], dict[int, FootyError]]:
        """An answer that cannot be is a failure of this feed for this match: what was known stays."""
        failures: dict[int, FootyError] = {id_: error for id_, error in answer.failures.items() if id_ in by_id}
        found = {live.id: replace(live, feed=self._opened.id) for live in answer.fixtures if live.id in by_id}
        last = await self._memory.snapshots.last_known([by_id[id_].listing.name for id_ in found])
        good = []
        for id_, live in found.items():
            try:
                problem = _problem(last.get(by_id[id_].listing.name), live, now)
            except Exception as error:
                log.exception("fault in checking an answer", extra=self._about_fault | {"feed_id": id_})
                problem = _fault(error)
            if problem is None:
                good.append(live)
            else:
                failures[id_] = problem
        return good, failures

    async def _keep(self, good: Sequence[LiveFixture], by_id: Mapping[int, Due], now: datetime) -> None:
        if not good:
            return
        await self._memory.snapshots.keep(
            [
                NewSnapshot(
                    match_id=by_id[live.id].listing.name,
                    domain_id=self._opened.id,
                    payload=payload_of(live),
                    created_at=now,
                    lasts=self._rules.lasts(by_id[live.id].listing.stage, self._interval),
                    provenance={},
                )
                for live in good
            ]
        )
        heard = [by_id[live.id].listing.match for live in good]
        await self._memory.freshness.heard([match.id for match in heard if match.stage is Stage.ACTIVE], now)

    async def _note(
        self,
        good: Sequence[LiveFixture],
        failures: Mapping[int, FootyError],
        by_id: Mapping[int, Due],
        now: datetime,
    ) -> None:
        records = []
        for live in good:
            record = self._record(by_id[live.id], now, title_of(live))
            records.append(after_success(record, now, over=phase_of(live.status).is_over))
        for id_, error in failures.items():
            records.append(after_failure(self._record(by_id[id_], now), error, now, self._rules.lives))
        await self._memory.records.save(records)

    def _record(self, request: Due, now: datetime, title: str = "") -> MonitorRecord:
        listing = request.listing
        known = self._records.get(listing.name)
        record = known or discovered(listing.feed, listing.feed_id, request.priority, now, title)
        record = replace(record, priority=request.priority, title=title or record.title)
        return as_time_goes(record, now, self._rules.lives, listing.completed_at)

    async def _note_state(self, asked: Sequence[Asked]) -> None:
        failed = [error for each in asked for error in each.failures.values()]
        problem = failed[0] if failed and not any(each.good for each in asked) else None
        await self._store.save_feed_state(self._opened.id, self._opened.feed.quota, self._at, problem)


def _fault(error: Exception) -> ProgramFault:
    return ProgramFault(f"{type(error).__name__}: {error}")


def _problem(last: Snapshot | None, live: LiveFixture, now: datetime) -> FootyError | None:
    """What is wrong with an answer, after the last good one if that is not too old."""
    if last is None or now - last.created_at >= REMEMBERED:
        return check_answer(None, live, now)
    try:
        previous = live_of(last.payload)
    except FeedError:
        previous = None  # kept by another version
    return check_answer(previous, live, now)
