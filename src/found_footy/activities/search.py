"""One search of all sources, and the marks that a search leaves on its event."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from found_footy.activities.boundary import implements
from found_footy.activities.unexpected import AnswerKeeper
from found_footy.domain.discovery.aliases import query_for
from found_footy.domain.discovery.choosing import ChoosingRules, choose, is_young
from found_footy.domain.discovery.goal import SoughtGoal
from found_footy.domain.discovery.posts import Post
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.discovery.wickets import wicket_query
from found_footy.domain.errors import FootyError, ProgramFault, SourceUnavailable
from found_footy.domain.fixtures.model import GoalKind, Side, Sport
from found_footy.domain.videos.keys import clip_prefix, md5_of, staging_prefix
from found_footy.http_exchanges import record_exchanges
from found_footy.ports import ClipStore, FixtureStore, ObjectStore, SocialSource, SourceReport
from found_footy.ports_recording import Recorder
from found_footy.workflows.clip_contracts import (
    CLOSE_EVENT,
    SEARCH_SOURCES,
    SWEEP_EVENT,
    Closed,
    CloseOrder,
    Found,
    SearchAttempt,
)
from found_footy.workflows.contracts import (
    SET_DOWNLOAD_COMPLETE,
    SET_MONITOR_COMPLETE,
    Done,
    EventWorkflow,
    SearchPlan,
    StillWanted,
    Team,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SearchRules:
    attempts: int = 10
    most_attempts: int = 15
    every: timedelta = timedelta(seconds=60)
    gap: timedelta = timedelta(seconds=10)
    source_timeout: timedelta = timedelta(seconds=20)
    vision_calls: int = 2
    vision_patience: timedelta = timedelta(minutes=30)
    download_time: timedelta = timedelta(minutes=15)
    """How long the steps around the looks may take."""
    choosing: ChoosingRules = field(default_factory=ChoosingRules)

    def plan(self, goal: SoughtGoal) -> SearchPlan:
        league = goal.league
        return SearchPlan(
            attempts=self.attempts,
            most_attempts=self.most_attempts,
            seconds=self.every.total_seconds(),
            gap_seconds=self.gap.total_seconds(),
            patience_seconds=(self.vision_patience + self.download_time).total_seconds(),
            # What is looked up are names of football teams.
            teams=[
                Team(team.id, team.name, league.name, league.country)
                for team in (goal.home, goal.away)
                if goal.sport is Sport.FOOTBALL
            ],
        )


class SearchActivities:
    def __init__(
        self,
        store: FixtureStore,
        clips: ClipStore,
        objects: ObjectStore,
        sources: Sequence[SocialSource],
        rules: SearchRules,
        now: Callable[[], datetime],
        recorder: Recorder,
        keeper: AnswerKeeper | None = None,
    ) -> None:
        self._recorder = recorder
        self._keeper = keeper or AnswerKeeper()
        self._store = store
        self._clips = clips
        self._objects = objects
        self._sources = sources
        self._rules = rules
        self._now = now

    @implements(SET_MONITOR_COMPLETE)
    async def set_monitor_complete(self, order: EventWorkflow) -> StillWanted:
        wanted = await self._store.set_monitor_complete(order.event_id, order.workflow_id)
        log.info("search takes over", extra={"action": "search_started", "event_id": order.event_id, "wanted": wanted})
        if not wanted:
            # Withdrawn before anybody began: there is nothing to wait for.
            await self._clips.close(order.event_id, "the goal was withdrawn")
            return StillWanted(False)
        return StillWanted(True, self._rules.plan(await self._clips.goal(order.event_id)))

    @implements(SET_DOWNLOAD_COMPLETE)
    async def set_download_complete(self, order: EventWorkflow) -> Done:
        await self._store.set_download_complete(order.event_id)
        return Done()

    @implements(SEARCH_SOURCES)
    async def search_sources(self, order: SearchAttempt) -> Found:
        goal = await self._clips.goal(order.event_id)
        if not goal.wanted:
            return Found(wanted=False)
        rules, now = self._rules, self._now()
        query = query_of(goal)
        answers = await asyncio.gather(*(self._ask(source, query, now) for source in self._sources))
        # Two sources may find the same post, as `x` and `fxtwitter` do: it is one candidate.
        came = list({post.key: post for _, found in answers for post in found}.values())
        posts = [post for post in came if is_young(post.posted_at, now, rules.choosing)]
        reports = [report for report, _ in answers]
        await self._recorder.search_answer(order.event_id, order.attempt, query, reports, came, now)
        await self._clips.note_search(order.event_id, order.attempt, query, reports, posts, now)
        keys = await self._clips.take(
            order.event_id, order.attempt, lambda waiting: choose(waiting, now, rules.choosing)
        )
        log.info(
            f"search {order.attempt}: {len(posts)} posts, {len(keys)} taken",
            extra={
                "action": "searched",
                "event_id": order.event_id,
                "attempt": order.attempt,
                "query": query.text,
                "failed": [report.source for report in reports if report.error],
            },
        )
        return Found(
            wanted=True,
            # Where nothing is switched on, waiting for an answer would only be waiting.
            answered=sum(report.error is None for report in reports) if reports else 1,
            posts=len(posts),
            keys=list(keys),
            download_seconds=(rules.vision_patience + rules.download_time).total_seconds(),
            vision_calls=rules.vision_calls,
            vision_patience_seconds=rules.vision_patience.total_seconds(),
        )

    async def _ask(
        self, source: SocialSource, query: SearchQuery, now: datetime
    ) -> tuple[SourceReport, Sequence[Post]]:
        """One source's failure is its own: it is kept with its reason, and the others go on."""
        limit = self._rules.source_timeout.total_seconds()
        error: FootyError
        with record_exchanges() as exchanges:
            try:
                async with asyncio.timeout(limit):
                    posts = await source.search(query, now - self._rules.choosing.max_age)
                return SourceReport(source.name, len(posts)), posts
            except FootyError as failure:
                error = failure
            except TimeoutError:
                error = SourceUnavailable(f"{source.name} did not answer within {limit:g} s")
            except Exception as fault:
                log.exception("fault in a source", extra={"action": "program_fault", "source": source.name})
                error = ProgramFault(f"{type(fault).__name__}: {fault}")
        await self._keeper.note(f"source {source.name}", [error], exchanges)
        log.warning(str(error), extra={"action": "source_failed", "source": source.name, "error": error.kind})
        return SourceReport(source.name, None, error), ()

    @implements(CLOSE_EVENT)
    async def close_event(self, order: CloseOrder) -> Closed:
        goal = await self._clips.goal(order.event_id)
        work = await self._clips.open_work(order.event_id)
        # Nothing more is made of the files of a goal that was withdrawn.
        if work.any and goal.wanted and not order.give_up:
            await self._clips.note_sign_of_life(order.event_id, self._now())
            return Closed(False, work.downloading, work.checking, work.waiting)
        await self._clips.close(order.event_id, order.give_up if goal.wanted else "the goal was withdrawn")
        log.info(
            "the search for a goal has ended",
            extra={"action": "search_ended", "event_id": order.event_id, "given_up": order.give_up},
        )
        return Closed(True)

    @implements(SWEEP_EVENT)
    async def sweep_event(self, order: EventWorkflow) -> Done:
        """Nothing works on the event any more: whatever is neither a clip nor known is left over."""
        goal = await self._clips.goal(order.event_id)
        states = await self._clips.video_states(order.event_id)
        left = [stored.key async for stored in self._objects.list(staging_prefix(goal.id))]
        async for stored in self._objects.list(clip_prefix(goal.fixture_id, goal.id)):
            if states.get(md5_of(stored.key)) != "kept":
                left.append(stored.key)
        if left:
            await self._objects.delete(left)
            log.info("left-overs deleted", extra={"action": "swept", "event_id": goal.id, "count": len(left)})
        return Done()


def query_of(goal: SoughtGoal) -> SearchQuery:
    """By the scorer and his team; an own goal's scorer plays for the other one, and posts name either.

    A wicket counts for the side in the field, and posts name either as well.
    """
    own_goal = goal.kind is GoalKind.OWN_GOAL
    other = Side.AWAY if goal.side is Side.HOME else Side.HOME
    if goal.sport is Sport.CRICKET:
        return wicket_query(goal.player, goal.assist, goal.names(other), goal.names(goal.side))
    return query_for(goal.player, goal.names(goal.side), goal.names(other) if own_goal else ())
