"""The poll: ask the feed, compare with what is known, save what changed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from found_footy.activities.boundary import implements
from found_footy.domain.errors import FeedError, FootyError, NotInAnswer, ProgramFault
from found_footy.domain.feeds.quota import Pace, pace
from found_footy.domain.fixtures.comparison import CertaintyRules, Poll
from found_footy.domain.fixtures.lifecycle import (
    LifecycleRules,
    stage_at_first_sight,
    stage_of_lost,
    staging_interval_start,
)
from found_footy.domain.fixtures.model import LiveFixture, Stage
from found_footy.domain.fixtures.polling import FixtureOutcome, FixtureState, apply_poll
from found_footy.ports import FeedAnswer, FixtureStore, ScoreFeed
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
        feed: ScoreFeed,
        certainty: CertaintyRules,
        lifecycle: LifecycleRules,
        poll_interval: timedelta,
        search_silence: timedelta,
    ) -> None:
        self._store = store
        self._feed = feed
        self._certainty = certainty
        self._lifecycle = lifecycle
        self._poll_interval = poll_interval
        self._search_silence = search_silence

    @implements(PRE_ACTIVATE)
    async def pre_activate_upcoming_fixtures(self, order: PollInput) -> Activated:
        ids = await self._store.activate_due(order.at, self._lifecycle.pre_activation)
        for id_ in ids:
            log.info("polling starts", extra={"action": "fixture_activated", "fixture_id": id_})
        return Activated(ids)

    @implements(POLL_STAGING)
    async def poll_staging_fixtures(self, order: PollInput) -> StagingPolled:
        due = await self._store.staging_due(self._feed.name, staging_interval_start(order.at, self._lifecycle))
        if not due:
            return StagingPolled()
        allowed, _ = await self._pace(len(due), order.at)
        if allowed.interval is None:
            return StagingPolled()
        answer = await self._ask(due, order.at)
        placed = [
            (live, stage_at_first_sight(live.status, live.kickoff, order.at, self._lifecycle))
            for live in answer.fixtures
        ]
        moved = await self._store.update_staging(placed, order.at)
        # What failed is asked for again at the next interval, not at the next poll.
        await self._store.touch_staging([*answer.failures, *answer.unknown], order.at)
        await self._record(answer.failures, order.at)
        return StagingPolled(asked=len(due), moved=moved, failed=len(answer.failures))

    @implements(POLL_ACTIVE)
    async def poll_active_fixtures(self, order: PollInput) -> Polled:
        ids = await self._store.active_ids(self._feed.name)
        if not ids:
            return Polled(to_search=await self._to_search(order.at))
        allowed, last = await self._pace(len(ids), order.at)
        if not allowed.permits(last, order.at):
            return Polled(slowed=allowed.reason, to_search=await self._to_search(order.at))
        answer = await self._ask(ids, order.at)
        failures: dict[int, FootyError] = dict(answer.failures)
        failures |= {id_: NotInAnswer(f"the feed's answer leaves fixture {id_} out") for id_ in answer.unknown}
        async with self._store.poll() as transaction:
            states = await transaction.load([*(live.id for live in answer.fixtures), *answer.unknown])
            outcomes, undecided = self._decide(states, answer.fixtures, Poll(order.id, order.at))
            refused = await transaction.save(outcomes) if outcomes else {}
            for stage, lost in self._lost(states, answer.unknown, order.at).items():
                await transaction.release(lost, stage, order.at)
        failures |= undecided | dict(refused)
        await self._record(failures, order.at)
        saved = [outcome for outcome in outcomes if outcome.live.id not in refused]
        _log_outcomes(saved)
        await self._log_coverage([outcome.live.id for outcome in saved if outcome.stage is Stage.COMPLETED])
        return Polled(
            asked=len(ids),
            answered=len(answer.fixtures),
            failed=len(failures),
            completed=sum(outcome.stage is Stage.COMPLETED for outcome in saved),
            to_search=await self._to_search(order.at),
        )

    async def _to_search(self, now: datetime) -> list[str]:
        return await self._store.events_to_search(now - self._search_silence)

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

    def _decide(
        self, states: Sequence[FixtureState], fixtures: Sequence[LiveFixture], poll: Poll
    ) -> tuple[list[FixtureOutcome], dict[int, FootyError]]:
        live = {fixture.id: fixture for fixture in fixtures}
        outcomes: list[FixtureOutcome] = []
        failures: dict[int, FootyError] = {}
        for state in states:
            if state.id not in live:
                continue
            try:
                outcome = apply_poll(state, live[state.id], poll, self._certainty, self._lifecycle)
            except FootyError as error:
                failures[state.id] = error
            except Exception as error:
                log.exception("fault in the comparison", extra={"action": "program_fault", "fixture_id": state.id})
                failures[state.id] = ProgramFault(f"{type(error).__name__}: {error}")
            else:
                if outcome is not None:
                    outcomes.append(outcome)
        return outcomes, failures

    def _lost(self, states: Sequence[FixtureState], unknown: Sequence[int], now: datetime) -> dict[Stage, list[int]]:
        places: dict[Stage, list[int]] = {}
        for state in states:
            if state.id in unknown:
                stage = stage_of_lost(state.status, state.kickoff, now, state.events, self._lifecycle)
                if stage is not Stage.ACTIVE:
                    places.setdefault(stage, []).append(state.id)
        return places

    async def _ask(self, ids: Sequence[int], now: datetime) -> FeedAnswer:
        problem: FootyError | None = None
        try:
            answer = await self._feed.fixtures_by_ids(ids)
        except FeedError as error:
            problem = error
            answer = FeedAnswer(failures=dict.fromkeys(ids, error))
        if answer.failures and not answer.fixtures:
            problem = next(iter(answer.failures.values()))
        await self._store.save_feed_state(self._feed.name, self._feed.quota, now, problem)
        return answer

    async def _pace(self, fixtures: int, now: datetime) -> tuple[Pace, datetime | None]:
        """How fast the day's requests allow us to ask, and when we last did."""
        state = await self._store.feed_state(self._feed.name)
        requests = self._feed.requests_for(fixtures)
        allowed = pace(state.quota if state else None, now, self._poll_interval, requests)
        if allowed.slowed:
            log.warning(
                f"polling slows down: {allowed.reason}",
                extra={"action": "quota_low", "feed": self._feed.name, "interval": str(allowed.interval)},
            )
        return allowed, state.asked_at if state else None

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
