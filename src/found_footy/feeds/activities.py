"""Polls one feed for all due matches. Answers and monitoring records are saved batch by batch."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from temporalio import activity

from found_footy.config import Settings
from found_footy.errors import FeedError, FootyError, InternalFault, MissingFromResponse, PageLoadFailed
from found_footy.feeds.cache import FeedCache
from found_footy.feeds.models import (
    BatchAnswers,
    EnabledFeeds,
    EncodedSnapshot,
    FeedAnswer,
    FeedPollInput,
    FeedPollResult,
    MatchMonitoringRecord,
    MatchPosition,
    MatchPriority,
    MonitoredFixture,
    NewSnapshot,
    OpenFeed,
    feed_match_id,
)
from found_footy.feeds.poll_state import MonitoringRules, advance, after_failure, after_success, is_paused, new_record
from found_footy.feeds.registration import MatchRegistrar
from found_footy.feeds.registry import FeedRegistry, OpenFeeds
from found_footy.feeds.scheduling import (
    PollPace,
    SchedulingRules,
    ScrapeRequest,
    affordable_requests,
    discovery_interval,
    due_requests,
    is_small_plan,
    next_reset,
    poll_pace,
    small_plan_pace,
)
from found_footy.feeds.snapshot import encode, title_of
from found_footy.feeds.store import ListingStore
from found_footy.feeds.validation import COMPARE_WINDOW, find_problem, position_of
from found_footy.fixtures.models import FixtureStage, LiveFixture, PollInput, phase_of
from found_footy.operations.unexpected_answers import UnexpectedAnswerRecorder
from found_footy.recordings.models import AnswerToRecord
from found_footy.recordings.recorder import MatchRecorder
from found_footy.runtime.http_exchanges import record_exchanges
from found_footy.runtime.worker import schedule_delay

if TYPE_CHECKING:
    from found_footy.fixtures.store import FixtureStore

log = logging.getLogger(__name__)

DISCOVERY_TIMEOUT_SECONDS = 20.0
QUEUE_DEPTH_EVERY = 10
"""Number of requests between two updates of the queue depth."""


@dataclass(frozen=True, slots=True)
class PollRules:
    poll: timedelta
    patience: timedelta
    """Maximum time that a poll waits for its feeds."""
    scheduling: SchedulingRules
    monitoring: MonitoringRules
    has_browser: bool = False
    """Whether CREX pages may be read by the browser service."""

    def snapshot_ttl(self, stage: FixtureStage, interval: timedelta | None = None) -> timedelta:
        """Return how long an answer stays fresh: the poll interval plus a margin."""
        match stage:
            case FixtureStage.COMPLETED:
                return self.scheduling.archive
            case FixtureStage.STAGING:
                return 1.5 * self.scheduling.staging_poll + self.patience
        return 1.5 * max(self.poll, interval or self.poll) + self.patience


@dataclass(frozen=True, slots=True)
class ListedFixture:
    """A fixture as listed by this feed."""

    feed: str
    feed_id: int
    match: MonitoredFixture
    locator: str = ""

    @property
    def stage(self) -> FixtureStage:
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
        return feed_match_id(self.feed, self.feed_id)


Due = ScrapeRequest[ListedFixture]
SaveLocators = Callable[[str, Mapping[int, str]], Awaitable[None]]
"""Callback that receives a feed id and the new locators by match id."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Result of one request."""

    at: datetime
    good: Mapping[int, EncodedSnapshot] = field(default_factory=dict)
    """Accepted answers by match id at the feed."""
    failures: Mapping[int, FootyError] = field(default_factory=dict)
    unknown: Mapping[int, FootyError] = field(default_factory=dict)

    def to_record(self) -> list[AnswerToRecord]:
        answers = [AnswerToRecord(id_, self.at, snapshot) for id_, snapshot in self.good.items()]
        failures = {**self.failures, **self.unknown}
        return answers + [AnswerToRecord(id_, self.at, error=error) for id_, error in failures.items()]


@dataclass(frozen=True, slots=True)
class PollContext:
    """Stores and recorders shared by all feed polls."""

    store: FixtureStore
    cache: FeedCache
    recorder: MatchRecorder
    rules: PollRules
    unexpected: UnexpectedAnswerRecorder = field(default_factory=UnexpectedAnswerRecorder)


class FeedPoll:
    """One poll of one feed."""

    def __init__(
        self,
        context: PollContext,
        opened: OpenFeed,
        at: datetime,
        records: Mapping[str, MatchMonitoringRecord],
        interval: timedelta | None,
        start_delay: timedelta = timedelta(0),
        save_locators: SaveLocators | None = None,
    ) -> None:
        """`start_delay` is the time between `at` and the start of this attempt."""
        self._store, self._cache, self._recorder = context.store, context.cache, context.recorder
        self._rules = context.rules
        self._unexpected = context.unexpected
        self._opened = opened
        self._at = at
        self._start_delay = start_delay
        self._started = time.monotonic()
        self._records = records
        self._interval = interval
        self._save_locators = save_locators

    def _now(self) -> datetime:
        """Return the current time by Temporal's clock, because worker clocks may differ."""
        return self._at + self._start_delay + timedelta(seconds=time.monotonic() - self._started)

    async def run(self, requests: Sequence[Due]) -> list[BatchResult]:
        """Send the requests in priority order; save each answer as it arrives."""
        size = self._opened.feed.ids_per_request or len(requests)
        batches = [requests[start : start + size] for start in range(0, len(requests), size)]
        queued, completed = Counter(request.priority for request in requests), 0

        async def process(batch: Sequence[Due]) -> BatchResult:
            nonlocal completed
            results = await self._request_isolated(batch)
            queued.subtract(request.priority for request in batch)
            completed += 1
            if completed % QUEUE_DEPTH_EVERY == 0 or completed == len(batches):
                await self._note_queue(queued)
            return results

        await self._note_queue(queued)
        # Wait for all batches even if one fails, so that no task is left running.
        outcomes = await asyncio.gather(*(process(batch) for batch in batches), return_exceptions=True)
        results = [each for each in outcomes if isinstance(each, BatchResult)]
        # One write for all batches: the number of statements does not grow with the number of matches.
        await self._recorder.record_poll(self._opened.id, [answer for each in results for answer in each.to_record()])
        for failure in outcomes:
            if isinstance(failure, BaseException):
                raise failure
        await self._save_feed_state(results)
        return results

    async def _note_queue(self, waiting: Mapping[MatchPriority, int]) -> None:
        await self._cache.records.note_queue(self._opened.id, waiting, self._opened.vendor)

    async def _request_isolated(self, batch: Sequence[Due]) -> BatchResult:
        """Limit unexpected exceptions to one batch. FootyErrors, such as an unavailable cache, propagate."""
        try:
            return await self._request(batch)
        except FootyError:
            raise
        except Exception as error:
            log.exception("internal error while saving answers", extra=self._fault_extra)
            fault = _to_program_fault(error)
            return BatchResult(self._now(), failures={request.listing.feed_id: fault for request in batch})

    @property
    def _fault_extra(self) -> dict[str, str]:
        return {"action": "program_fault", "feed": self._opened.id}

    async def _request(self, batch: Sequence[Due]) -> BatchResult:
        by_id = {request.listing.feed_id: request for request in batch}
        started = time.monotonic()
        locators = {id_: request.listing.locator for id_, request in by_id.items() if request.listing.locator}
        with record_exchanges() as exchanges:
            try:
                answer = await self._opened.feed.fixtures_by_ids(list(by_id), locators)
            except FeedError as error:
                answer = FeedAnswer(failures=dict.fromkeys(by_id, error))
            except FootyError:
                raise
            except Exception as error:
                log.exception("internal error in a request to a feed", extra=self._fault_extra)
                answer = FeedAnswer(failures=dict.fromkeys(by_id, _to_program_fault(error)))
        seconds = time.monotonic() - started
        await self._unexpected.note(f"feed {self._opened.id}", [*answer.errors, *answer.failures.values()], exchanges)
        now = self._now()
        accepted, failures = self._check(answer, by_id, now)
        unknown = {id_: MissingFromResponse(f"match {id_} is missing from the feed's answer") for id_ in answer.unknown}
        unknown = {id_: error for id_, error in unknown.items() if id_ in by_id}
        await self._cache.save_answers(
            BatchAnswers(
                feed=self._opened.id,
                at=now,
                seconds=seconds,
                snapshots=[self._snapshot(by_id[live.id], encoded, now) for live, encoded in accepted],
                records=self._updated_records([live for live, _ in accepted], {**failures, **unknown}, by_id, now),
                reported_fixtures=[
                    by_id[live.id].listing.match.id
                    for live, _ in accepted
                    if by_id[live.id].listing.stage is FixtureStage.ACTIVE
                ],
                missing=[by_id[id_].listing.name for id_ in unknown],
                navigation_failures=sum(isinstance(error, PageLoadFailed) for error in failures.values()),
            )
        )
        new_locators = {
            live.id: live.locator for live, _ in accepted if live.locator not in ("", by_id[live.id].listing.locator)
        }
        if new_locators and self._save_locators is not None:
            await self._save_locators(self._opened.id, new_locators)
        for id_, failure in failures.items():
            log.warning(
                str(failure),
                extra={"action": "feed_failed", "feed": self._opened.id, "feed_id": id_, "error": failure.kind},
            )
        return BatchResult(now, {live.id: encoded for live, encoded in accepted}, failures, unknown)

    def _check(
        self, answer: FeedAnswer, by_id: Mapping[int, Due], now: datetime
    ) -> tuple[list[tuple[LiveFixture, EncodedSnapshot]], dict[int, FootyError]]:
        """Validate an answer. An implausible match counts as a feed failure and keeps its last good snapshot."""
        failures: dict[int, FootyError] = {id_: error for id_, error in answer.failures.items() if id_ in by_id}
        accepted = []
        for live in answer.fixtures:
            if live.id not in by_id:
                continue
            live = replace(live, feed=self._opened.id)
            try:
                problem: FootyError | None = find_problem(self._last_position(by_id[live.id], now), live, now)
                if problem is None:
                    accepted.append((live, encode(live)))
            except FootyError as error:
                problem = error
            except Exception as error:
                log.exception("internal error while checking an answer", extra=self._fault_extra | {"feed_id": live.id})
                problem = _to_program_fault(error)
            if problem is not None:
                failures[live.id] = problem
        return accepted, failures

    def _last_position(self, request: Due, now: datetime) -> MatchPosition | None:
        """Return the position in the feed's last good answer, or None if that answer is too old to compare with."""
        record = self._records.get(request.listing.name)
        if record is None or record.updated_at is None or now - record.updated_at >= COMPARE_WINDOW:
            return None
        return record.position

    def _snapshot(self, request: Due, encoded: EncodedSnapshot, now: datetime) -> NewSnapshot:
        ttl = self._rules.snapshot_ttl(request.listing.stage, self._interval)
        return NewSnapshot(request.listing.name, self._opened.id, encoded, now, ttl=ttl, fresh_for=ttl)

    def _updated_records(
        self,
        accepted: Sequence[LiveFixture],
        failures: Mapping[int, FootyError],
        by_id: Mapping[int, Due],
        now: datetime,
    ) -> list[MatchMonitoringRecord]:
        records = []
        for live in accepted:
            record = self._record(by_id[live.id], now, title_of(live))
            over = phase_of(live.status).is_over
            records.append(after_success(record, now, is_over=over, position=position_of(live)))
        for id_, error in failures.items():
            records.append(after_failure(self._record(by_id[id_], now), error, now, self._rules.monitoring))
        return records

    def _record(self, request: Due, now: datetime, title: str = "") -> MatchMonitoringRecord:
        listing = request.listing
        stored = self._records.get(listing.name)
        record = stored or new_record(listing.feed, listing.feed_id, request.priority, now, title)
        title = title or record.title
        if (record.priority, record.title) != (request.priority, title):
            record = replace(record, priority=request.priority, title=title)
        return advance(record, now, self._rules.monitoring, listing.completed_at)

    async def _save_feed_state(self, results: Sequence[BatchResult]) -> None:
        errors = [error for each in results for error in each.failures.values()]
        problem = errors[0] if errors and not any(each.good for each in results) else None
        await self._store.save_feed_state(self._opened.id, self._opened.feed.quota, self._at, problem)


def _to_program_fault(error: Exception) -> InternalFault:
    return InternalFault(f"{type(error).__name__}: {error}")


# --- Activities: list the enabled feeds, poll one of them.


ALL_STAGES = (FixtureStage.ACTIVE, FixtureStage.STAGING, FixtureStage.COMPLETED)


class FeedActivities:
    def __init__(
        self, registry: FeedRegistry, listings: ListingStore, context: PollContext, registrar: MatchRegistrar
    ) -> None:
        self._registry = registry
        self._listings = listings
        self._context = context
        self._registrar = registrar
        self._store, self._cache, self._rules = context.store, context.cache, context.rules

    @activity.defn
    async def list_enabled(self, request: PollInput) -> EnabledFeeds:
        feeds = await self._registry.feeds()
        in_browser = [each.id for each in feeds if self._rules.has_browser and each.source.adapter == "crex"]
        return EnabledFeeds([each.id for each in feeds], self._rules.patience.total_seconds(), in_browser)

    @activity.defn
    async def poll_feed(self, request: FeedPollInput) -> FeedPollResult:
        async with self._registry.lease(request.feed) as feeds:
            if not feeds:
                return FeedPollResult()  # disabled since the poll started
            (opened,) = feeds
            result = await self._poll(opened, request.at)
            return replace(result, discovered=await self._discover(opened, request.at))

    async def _poll(self, opened: OpenFeed, now: datetime) -> FeedPollResult:
        # Slightly longer than the polling window, so that the monitoring records are archived too.
        since = now - self._rules.scheduling.archive - timedelta(hours=1)
        matches = await self._listings.followed(ALL_STAGES, completed_since=since, feed=opened.id)
        listed = [
            ListedFixture(each.feed, each.feed_id, match, each.locator)
            for match in matches
            for each in match.listings
            if each.feed == opened.id
        ]
        names = [each.name for each in listed]
        records = await self._advance_records(listed, await self._cache.records.load(names), now)
        missing = await self._cache.missing.among(names)
        requests = due_requests(listed, records, missing, now, self._rules.scheduling)
        paused = sum(is_paused(record, now) for record in records.values())
        if not requests:
            return FeedPollResult(paused=paused)
        pace, allowed = await self._within_quota(opened, requests, listed, records, now)
        await self._cache.paces.save(opened.id, pace)
        if not allowed:
            return FeedPollResult(paused=paused, slowed=pace.reason)
        poll = FeedPoll(
            self._context,
            opened,
            now,
            records,
            pace.interval,
            schedule_delay(),
            save_locators=self._listings.save_locators,
        )
        results = await poll.run(allowed)
        return FeedPollResult(
            asked=len(allowed),
            answered=sum(len(each.good) for each in results),
            failed=sum(len(each.failures) for each in results),
            missing=sum(len(each.unknown) for each in results),
            paused=paused,
        )

    async def _discover(self, opened: OpenFeed, now: datetime) -> int:
        """List the feed's matches of today if that is due, and return the number of new ones.

        The poll's answers are already saved, so a slow list only delays the feed's next poll.
        """
        listed_at = await self._cache.listed.load(opened.id)
        interval = discovery_interval(opened.feed.quota, self._rules.scheduling.discovery)
        if interval is None or (listed_at is not None and now - listed_at < interval):
            return 0
        try:
            async with asyncio.timeout(DISCOVERY_TIMEOUT_SECONDS):
                answer = await self._registrar.list_day(opened, now.date(), now)
        except TimeoutError:
            log.warning("listing the day's matches timed out", extra={"action": "feed_failed", "feed": opened.id})
            return 0
        counts = await self._registrar.register(opened, answer, now, await self._registrar.tracked())
        return counts.added

    async def _advance_records(
        self, listed: Sequence[ListedFixture], records: Mapping[str, MatchMonitoringRecord], now: datetime
    ) -> Mapping[str, MatchMonitoringRecord]:
        """Complete and archive matches, even while this feed is paused or no longer lists them."""
        advanced = {
            each.name: advance(records[each.name], now, self._rules.monitoring, each.completed_at)
            for each in listed
            if each.name in records
        }
        changed = [record for name, record in advanced.items() if record != records[name]]
        if changed:
            await self._cache.records.save(changed)
        return advanced

    async def _within_quota(
        self,
        opened: OpenFeed,
        requests: Sequence[Due],
        listed: Sequence[ListedFixture],
        records: Mapping[str, MatchMonitoringRecord],
        now: datetime,
    ) -> tuple[PollPace, Sequence[Due]]:
        """Return the poll interval and the requests that today's quota allows."""
        state = await self._store.feed_state(opened.id)
        quota = state.quota if state else None
        if quota is not None and is_small_plan(quota):
            kickoffs = [each.kickoff for each in listed if _is_playable_today(each, now)]
            pace = small_plan_pace(quota, now, self._rules.poll, kickoffs)
            if pace.interval is None:
                return pace, []
            return pace, affordable_requests(requests, records, now, pace.interval, others=not kickoffs)
        locators = [request.listing.locator for request in requests if request.listing.locator]
        pace = poll_pace(quota, now, self._rules.poll, opened.feed.requests_for(len(requests), locators))
        if pace.slowed:
            log.warning(
                f"polling slows down: {pace.reason}",
                extra={"action": "quota_low", "feed": opened.id, "interval": str(pace.interval)},
            )
        return pace, requests if pace.permits(state.asked_at if state else None, now) else []


def _is_playable_today(listing: ListedFixture, now: datetime) -> bool:
    """Return whether the match is in play or kicks off before the quota resets."""
    if listing.stage is FixtureStage.ACTIVE:
        return True
    return listing.stage is FixtureStage.STAGING and now < listing.kickoff < next_reset(now)


# --- The open score feeds, their caches and limits.


def poll_rules(settings: Settings) -> PollRules:
    archive = timedelta(hours=settings.archive_hours)
    return PollRules(
        poll=timedelta(seconds=settings.poll_seconds),
        patience=timedelta(seconds=settings.feed_patience_seconds),
        has_browser=settings.browser_url is not None,
        scheduling=SchedulingRules(
            staging_poll=timedelta(seconds=settings.staging_poll_seconds),
            completed_poll=timedelta(seconds=settings.completed_poll_seconds),
            archive=archive,
        ),
        monitoring=MonitoringRules(settings.pause_failures, timedelta(seconds=settings.pause_seconds), archive),
    )


def build_activities(
    settings: Settings,
    store: FixtureStore,
    listings: ListingStore,
    feeds: OpenFeeds,
    registrar: MatchRegistrar,
    recorder: MatchRecorder,
    unexpected: UnexpectedAnswerRecorder,
) -> FeedActivities:
    context = PollContext(store, feeds.memory, recorder, poll_rules(settings), unexpected)
    return FeedActivities(feeds.registry, listings, context, registrar)
