"""The poll: what the feeds said since the last one, compared with what is known; save what changed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from found_footy.activities.boundary import implements
from found_footy.activities.hearing import HeardMatch, hear
from found_footy.domain.errors import FootyError, ProgramFault
from found_footy.domain.feeds.monitoring import MonitorRecord, match_id
from found_footy.domain.feeds.reconciled import Reconciled
from found_footy.domain.feeds.silence import is_unknown, why_silent
from found_footy.domain.feeds.snapshot import RECONCILED
from found_footy.domain.feeds.unified import payload_of
from found_footy.domain.fixtures.comparison import CertaintyRules, Poll
from found_footy.domain.fixtures.lifecycle import LifecycleRules, stage_at_first_sight, stage_of_lost
from found_footy.domain.fixtures.model import Stage
from found_footy.domain.fixtures.polling import FixtureOutcome, FixtureState, apply_poll
from found_footy.feed_registry import FeedRegistry
from found_footy.ports import FixtureStore
from found_footy.ports_feeds import FeedMemory, FollowedMatch, ListingStore, NewSnapshot
from found_footy.ports_recording import Recorder
from found_footy.workflows.contracts import (
    POLL_ACTIVE,
    POLL_STAGING,
    PRE_ACTIVATE,
    Activated,
    Polled,
    PollInput,
    StagingPolled,
)

log = logging.getLogger(__name__)


class MonitorActivities:
    def __init__(
        self,
        store: FixtureStore,
        listings: ListingStore,
        memory: FeedMemory,
        registry: FeedRegistry,
        certainty: CertaintyRules,
        lifecycle: LifecycleRules,
        recorder: Recorder,
        *,
        fresh_for: timedelta,
        search_silence: timedelta,
    ) -> None:
        self._store = store
        self._listings = listings
        self._memory = memory
        self._registry = registry
        self._certainty = certainty
        self._lifecycle = lifecycle
        self._recorder = recorder
        self._fresh_for = fresh_for
        self._search_silence = search_silence

    @implements(PRE_ACTIVATE)
    async def pre_activate_upcoming_fixtures(self, order: PollInput) -> Activated:
        ids = await self._store.activate_due(order.at, self._lifecycle.pre_activation)
        for id_ in ids:
            log.info("polling starts", extra={"action": "fixture_activated", "fixture_id": id_})
        return Activated(ids)

    @implements(POLL_STAGING)
    async def poll_staging_fixtures(self, order: PollInput) -> StagingPolled:
        feeds = await self._registry.feeds()
        # Here, because nobody waits for this poll.
        await self._recorder.seal({each.id: each.source.precedence for each in feeds}, order.at)
        matches = await self._listings.followed([Stage.STAGING], completed_since=order.at)
        if not matches:
            return StagingPolled()
        heard = await hear(self._memory.snapshots, feeds, matches)
        news = [each for each in heard if each.is_news(each.match.staging_polled_at)]
        found, failures = self._each(news, lambda each: each.in_staging(each.match.staging_polled_at))
        placed = [
            (said.live, stage_at_first_sight(said.live.status, said.live.kickoff, order.at, self._lifecycle))
            for said in found.values()
        ]
        moved = await self._store.update_staging(placed, max(each.at for each in news)) if placed else 0
        await self._record(failures, order.at)
        return StagingPolled(asked=len(news), moved=moved, failed=len(failures))

    @implements(POLL_ACTIVE)
    async def poll_active_fixtures(self, order: PollInput) -> Polled:
        matches = await self._listings.followed([Stage.ACTIVE], completed_since=order.at)
        await self._memory.freshness.expect({match.id: match.waited_since or order.at for match in matches})
        if not matches:
            return Polled(to_search=await self._to_search(order.at))
        feeds = await self._registry.feeds()
        heard = {each.match.id: each for each in await hear(self._memory.snapshots, feeds, matches)}
        silent = [
            match.at_feeds(each.id for each in feeds)
            for match in matches
            if match.id not in heard or not heard[match.id].is_news(match.heard_at)
        ]
        records = await self._records_of(silent)
        async with self._store.poll() as transaction:
            states = await transaction.load([match.id for match in matches])
            since = {state.id: state.last_poll.at if state.last_poll else None for state in states}
            news = [heard[id_] for id_, last in since.items() if id_ in heard and heard[id_].is_news(last)]
            said, failures = self._each(news, lambda each: each.reconciled(since[each.match.id]))
            outcomes, undecided = self._decide(states, said, heard, order)
            refused = await transaction.save(outcomes) if outcomes else {}
            for stage, lost in self._lost(states, silent, records, order.at).items():
                await transaction.release(lost, stage, order.at)
        failures |= undecided | dict(refused)
        failures |= {match.id: why for match in silent if (why := why_silent(records[match.id])) is not None}
        saved = [outcome for outcome in outcomes if outcome.live.id not in refused]
        await self._remember([said[outcome.live.id] for outcome in saved], heard, order.at)
        await self._record(failures, order.at)
        _log_outcomes(saved)
        await self._log_coverage([outcome.live.id for outcome in saved if outcome.stage is Stage.COMPLETED])
        return Polled(
            asked=len(matches),
            answered=len(said),
            failed=len(failures),
            completed=sum(outcome.stage is Stage.COMPLETED for outcome in saved),
            to_search=await self._to_search(order.at),
        )

    async def _to_search(self, now: datetime) -> list[str]:
        return await self._store.events_to_search(now - self._search_silence)

    def _each(
        self, heard: Sequence[HeardMatch], reconcile: Callable[[HeardMatch], Reconciled]
    ) -> tuple[dict[int, Reconciled], dict[int, FootyError]]:
        """One match's contradictions and faults never cost another its poll."""
        found: dict[int, Reconciled] = {}
        failures: dict[int, FootyError] = {}
        for each in heard:
            try:
                found[each.match.id] = reconcile(each)
            except FootyError as error:
                failures[each.match.id] = error
            except Exception as error:
                log.exception("fault", extra={"action": "program_fault", "fixture_id": each.match.id})
                failures[each.match.id] = ProgramFault(f"{type(error).__name__}: {error}")
        return found, failures

    def _decide(
        self,
        states: Sequence[FixtureState],
        said: Mapping[int, Reconciled],
        heard: Mapping[int, HeardMatch],
        order: PollInput,
    ) -> tuple[list[FixtureOutcome], dict[int, FootyError]]:
        outcomes: list[FixtureOutcome] = []
        failures: dict[int, FootyError] = {}
        for state in states:
            if state.id not in said:
                continue
            # A poll is as old as the newest word in it: where nobody has said anything since, nothing is counted.
            poll = Poll(order.id, heard[state.id].at)
            try:
                outcome = apply_poll(state, said[state.id].live, poll, self._certainty, self._lifecycle)
            except FootyError as error:
                failures[state.id] = error
            except Exception as error:
                log.exception("fault in the comparison", extra={"action": "program_fault", "fixture_id": state.id})
                failures[state.id] = ProgramFault(f"{type(error).__name__}: {error}")
            else:
                if outcome is not None:
                    outcomes.append(outcome)
        return outcomes, failures

    def _lost(
        self,
        states: Sequence[FixtureState],
        silent: Sequence[FollowedMatch],
        records: Mapping[int, Sequence[MonitorRecord]],
        now: datetime,
    ) -> dict[Stage, list[int]]:
        """Matches that none of their feeds which are asked mentions any more."""
        unknown = {match.id for match in silent if is_unknown(records[match.id], len(match.listings))}
        places: dict[Stage, list[int]] = {}
        for state in states:
            if state.id in unknown:
                stage = stage_of_lost(state.status, state.kickoff, now, state.events, self._lifecycle)
                if stage is not Stage.ACTIVE:
                    places.setdefault(stage, []).append(state.id)
        return places

    async def _records_of(self, matches: Sequence[FollowedMatch]) -> dict[int, list[MonitorRecord]]:
        names = {match.id: [match_id(each.feed, each.feed_id) for each in match.listings] for match in matches}
        found = await self._memory.records.load([name for each in names.values() for name in each]) if names else {}
        return {id_: [found[name] for name in each if name in found] for id_, each in names.items()}

    async def _remember(self, said: Sequence[Reconciled], heard: Mapping[int, HeardMatch], now: datetime) -> None:
        if not said:
            return
        origins = {each.live.id: each.origins for each in said}
        await self._listings.save_origins(origins, {each.live.id: each.contradictions for each in said}, now)
        await self._memory.snapshots.keep(
            [
                NewSnapshot(
                    match_id=str(each.live.id),
                    domain_id=RECONCILED,
                    payload=payload_of(each.live),
                    created_at=heard[each.live.id].at,
                    lasts=self._fresh_for,
                    provenance={
                        name: {
                            "source": origin.chosen.feed,
                            "confidence": origin.chosen.confidence,
                            "timestamp": origin.chosen.at.isoformat(),
                        }
                        for name, origin in each.origins.items()
                    },
                )
                for each in said
            ]
        )

    async def _log_coverage(self, fixture_ids: Sequence[int]) -> None:
        """One line for each match that is over: what a season's coverage is counted from."""
        for match in await self._store.coverage(fixture_ids) if fixture_ids else ():
            log.info(
                f"{match.home} - {match.away}: {match.with_clips} of {match.goals} goals have clips",
                extra={
                    "action": "match_covered",
                    "fixture_id": match.fixture_id,
                    "goals": match.goals,
                    "goals_with_clips": match.with_clips,
                    "goals_verified": match.verified,
                },
            )

    async def _record(self, failures: Mapping[int, FootyError], now: datetime) -> None:
        for id_, error in failures.items():
            log.warning(str(error), extra={"action": "poll_failed", "fixture_id": id_, "error": error.kind})
        await self._store.record_failures(failures, now)


def _log_outcomes(outcomes: Sequence[FixtureOutcome]) -> None:
    for outcome in outcomes:
        for news in outcome.news:
            log.info(
                " ".join(str(value) for value in news.payload.values() if value),
                extra={
                    "action": news.topic.replace(".", "_"),
                    "fixture_id": news.fixture_id,
                    "event_id": news.event_id,
                },
            )
