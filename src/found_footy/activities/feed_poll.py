"""The poll of one feed: ask for what is due, and remember what it said and how the asking went."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from found_footy.activities.boundary import implements
from found_footy.domain.errors import FeedError, FootyError, NotInAnswer
from found_footy.domain.feeds.lives import LifeRules, after_failure, after_success, as_time_goes, discovered, is_paused
from found_footy.domain.feeds.monitoring import MonitorRecord, match_id
from found_footy.domain.feeds.quota import Pace, pace
from found_footy.domain.feeds.sanity import REMEMBERED, check_answer
from found_footy.domain.feeds.scheduling import Request, SchedulingRules, depths, due
from found_footy.domain.feeds.unified import live_of, payload_of, title_of
from found_footy.domain.fixtures.model import LiveFixture, Stage
from found_footy.domain.fixtures.statuses import phase_of
from found_footy.feed_registry import FeedRegistry, OpenFeed
from found_footy.ports import FeedAnswer, FixtureStore
from found_footy.ports_feeds import FeedMemory, FollowedMatch, ListingStore, NewSnapshot
from found_footy.ports_recording import Recorder
from found_footy.workflows.contracts import PollInput
from found_footy.workflows.feed_contracts import FEEDS_ON, POLL_FEED, FeedPoll, FeedPolled, FeedsOn

log = logging.getLogger(__name__)

ALL_STAGES = (Stage.ACTIVE, Stage.STAGING, Stage.COMPLETED)


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


class FeedActivities:
    def __init__(self, registry: FeedRegistry, listings: ListingStore, desk: Desk) -> None:
        self._registry = registry
        self._listings = listings
        self._desk = desk
        self._store, self._memory, self._rules = desk.store, desk.memory, desk.rules

    @implements(FEEDS_ON)
    async def feeds_on(self, order: PollInput) -> FeedsOn:
        feeds = await self._registry.feeds()
        return FeedsOn([each.id for each in feeds], self._rules.patience.total_seconds())

    @implements(POLL_FEED)
    async def poll_feed(self, order: FeedPoll) -> FeedPolled:
        opened = await self._registry.feed(order.feed)
        if opened is None:
            return FeedPolled()  # switched off since the poll began
        # Somewhat longer than they are asked for, so that their records hear of it.
        since = order.at - self._rules.scheduling.archive - timedelta(hours=1)
        matches = await self._listings.followed(ALL_STAGES, completed_since=since, feed=opened.id)
        wanted = [
            Wanted(each.feed, each.feed_id, match)
            for match in matches
            for each in match.listings
            if each.feed == opened.id
        ]
        names = [each.name for each in wanted]
        records = await self._aged(wanted, await self._memory.records.load(names), order.at)
        missing = await self._memory.missing.among(names)
        requests = due(wanted, records, missing, order.at, self._rules.scheduling)
        paused = sum(is_paused(record, order.at) for record in records.values())
        if not requests:
            return FeedPolled(paused=paused)
        allowed, last = await self._pace(opened, len(requests), order.at)
        if not allowed.permits(last, order.at):
            return FeedPolled(paused=paused, slowed=allowed.reason)
        polling = _Polling(self._desk, opened, order.at, records, allowed.interval)
        asked = await polling.ask_all(requests)
        return FeedPolled(
            asked=len(requests),
            answered=sum(len(each.good) for each in asked),
            failed=sum(len(each.failures) for each in asked),
            missing=sum(len(each.unknown) for each in asked),
            paused=paused,
        )

    async def _aged(
        self, wanted: Sequence[Wanted], records: Mapping[str, MonitorRecord], now: datetime
    ) -> Mapping[str, MonitorRecord]:
        """A match ends and is archived also while this feed is paused or says nothing of it."""
        aged = {
            each.name: as_time_goes(records[each.name], now, self._rules.lives, each.completed_at)
            for each in wanted
            if each.name in records
        }
        changed = [record for name, record in aged.items() if record != records[name]]
        if changed:
            await self._memory.records.save(changed)
        return aged

    async def _pace(self, opened: OpenFeed, fixtures: int, now: datetime) -> tuple[Pace, datetime | None]:
        """How fast the day's requests allow us to ask, and when we last did."""
        state = await self._store.feed_state(opened.id)
        allowed = pace(state.quota if state else None, now, self._rules.poll, opened.feed.requests_for(fixtures))
        if allowed.slowed:
            log.warning(
                f"polling slows down: {allowed.reason}",
                extra={"action": "quota_low", "feed": opened.id, "interval": str(allowed.interval)},
            )
        return allowed, state.asked_at if state else None


class _Polling:
    """One poll of one feed."""

    def __init__(
        self,
        desk: Desk,
        opened: OpenFeed,
        at: datetime,
        records: Mapping[str, MonitorRecord],
        interval: timedelta | None,
    ) -> None:
        self._store, self._memory, self._recorder = desk.store, desk.memory, desk.recorder
        self._rules = desk.rules
        self._opened = opened
        self._at = at
        self._began = time.monotonic()
        self._records = records
        self._interval = interval

    def _now(self) -> datetime:
        """By Temporal's clock, which is one; those of the machines are many."""
        return self._at + timedelta(seconds=time.monotonic() - self._began)

    async def ask_all(self, requests: Sequence[Due]) -> list[Asked]:
        """In the order of their priority; what each request brings is remembered before the next ones end."""
        size = self._opened.feed.ids_per_request or len(requests)
        batches = [requests[start : start + size] for start in range(0, len(requests), size)]
        waiting, counted = list(requests), 0

        async def one(batch: Sequence[Due]) -> Asked:
            nonlocal waiting, counted
            asked = await self._ask(batch)
            done = {request.listing.feed_id for request in batch}
            waiting = [request for request in waiting if request.listing.feed_id not in done]
            counted += 1
            if counted % NOTED_EACH == 0 or not waiting:
                await self._memory.records.note_queue(self._opened.id, depths(waiting), 0)
            return asked

        await self._memory.records.note_queue(self._opened.id, depths(waiting), len(batches))
        asked = await asyncio.gather(*(one(batch) for batch in batches))
        await self._note_state(asked)
        return asked

    async def _ask(self, batch: Sequence[Due]) -> Asked:
        by_id = {request.listing.feed_id: request for request in batch}
        began = time.monotonic()
        try:
            answer = await self._opened.feed.fixtures_by_ids(list(by_id))
        except FeedError as error:
            answer = FeedAnswer(failures=dict.fromkeys(by_id, error))
        seconds = time.monotonic() - began
        now = self._now()
        good, failures = await self._checked(answer, by_id, now)
        unknown = {id_: NotInAnswer(f"the answer leaves match {id_} out") for id_ in answer.unknown if id_ in by_id}
        await self._keep(good, by_id, now)
        await self._note(good, {**failures, **unknown}, by_id, now)
        await self._memory.missing.note([by_id[id_].listing.name for id_ in unknown])
        await self._memory.counters.note(
            self._opened.id, ok=len(good), failed=len(failures) + len(unknown), seconds=[seconds]
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
            snapshot = last.get(by_id[id_].listing.name)
            try:
                previous = live_of(snapshot.payload) if snapshot is not None else None
            except FeedError:
                previous = None  # kept by another version
            age = now - snapshot.created_at if snapshot is not None else None
            problem = check_answer(previous if age is None or age < REMEMBERED else None, live, now)
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


NOTED_EACH = 10
"""Requests between two notes of how many still wait."""
