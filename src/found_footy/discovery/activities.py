"""Activities of the alias and search workflows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from temporalio import activity

from found_footy.clips.models import clip_prefix, md5_of, staging_prefix
from found_footy.config import Settings
from found_footy.discovery.aliases import select_aliases
from found_footy.discovery.models import (
    AliasResult,
    CloseRequest,
    CloseResult,
    GoalCheck,
    Post,
    SearchAttempt,
    SearchOutcome,
    SearchPlan,
    SearchProgress,
    SourceReport,
    TargetGoal,
    TeamList,
    TeamQuery,
    TeamRef,
    WorkflowRef,
)
from found_footy.discovery.query import SearchQuery, build_query
from found_footy.discovery.registry import build_sources, build_wikidata
from found_footy.discovery.selection import SelectionRules, is_recent, select_posts
from found_footy.errors import FootyError, InternalFault, SourceUnavailable
from found_footy.fixtures.models import Sport
from found_footy.fixtures.team_names import is_national
from found_footy.operations.unexpected_answers import UnexpectedAnswerRecorder
from found_footy.recordings.recorder import MatchRecorder
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http_exchanges import record_exchanges
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache

if TYPE_CHECKING:
    from found_footy.clips.store import ClipStore
    from found_footy.discovery.sources import SocialSource
    from found_footy.discovery.wikidata import Wikidata
    from found_footy.fixtures.store import FixtureStore

log = logging.getLogger(__name__)


class AliasActivities:
    def __init__(
        self,
        clips: ClipStore,
        wikidata: Wikidata,
        now: Callable[[], datetime],
        unexpected: UnexpectedAnswerRecorder | None = None,
    ) -> None:
        self._clips = clips
        self._wikidata = wikidata
        self._now = now
        self._unexpected = unexpected or UnexpectedAnswerRecorder()

    @activity.defn
    async def teams_without_aliases(self, request: TeamQuery) -> TeamList:
        found = await self._clips.teams_without_aliases(request.max_teams)
        return TeamList(found)

    @activity.defn
    async def resolve_team_aliases(self, team: TeamRef) -> AliasResult:
        known = (await self._clips.aliases([team.id])).get(team.id)
        if known is not None:
            return AliasResult(team.id, list(known))
        is_national_team = is_national(team.name, team.league, team.country)
        with record_exchanges() as exchanges:
            try:
                names = await self._wikidata.team_names(team.name, country=team.country, national=is_national_team)
            except FootyError as error:
                await self._unexpected.note("team names", [error], exchanges)
                raise
        aliases = select_aliases(team.name, names)
        await self._clips.save_aliases(team.id, team.name, aliases, self._now())
        log.info(
            f"aliases of {team.name}: {', '.join(aliases)}",
            extra={"action": "aliases_resolved", "team_id": team.id, "aliases": list(aliases), "names": len(names)},
        )
        return AliasResult(team.id, list(aliases))


@dataclass(frozen=True, slots=True)
class SearchRules:
    attempts: int = 10
    """Successful searches required of each source."""
    max_attempts: int = 15
    """Maximum number of searches, successful or not."""
    every: timedelta = timedelta(seconds=60)
    gap: timedelta = timedelta(seconds=10)
    source_timeout: timedelta = timedelta(seconds=20)
    vision_retry_window: timedelta = timedelta(minutes=30)
    download_time: timedelta = timedelta(minutes=15)
    """Time limit of a download, excluding vision checks."""
    selection: SelectionRules = field(default_factory=SelectionRules)

    def plan(self, goal: TargetGoal, progress: SearchProgress) -> SearchPlan:
        league = goal.league
        return SearchPlan(
            max_attempts=self.max_attempts,
            attempts_made=progress.attempts,
            seconds=self.every.total_seconds(),
            gap_seconds=self.gap.total_seconds(),
            close_seconds=(self.vision_retry_window + self.download_time).total_seconds(),
            # Only football teams have aliases.
            teams=[
                TeamRef(team.id, team.name, league.name, league.country)
                for team in (goal.home, goal.away)
                if goal.sport is Sport.FOOTBALL
            ],
        )

    def is_complete(self, attempt: int, before: SearchProgress, reports: Sequence[SourceReport]) -> bool:
        """Whether every source has completed `attempts` searches. Without sources, every search counts as completed."""
        if not reports:
            return attempt >= self.attempts
        return all(
            before.answered.get(report.source, 0) + (report.error is None) >= self.attempts for report in reports
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
        recorder: MatchRecorder,
        unexpected: UnexpectedAnswerRecorder | None = None,
    ) -> None:
        self._recorder = recorder
        self._unexpected = unexpected or UnexpectedAnswerRecorder()
        self._store = store
        self._clips = clips
        self._objects = objects
        self._sources = sources
        self._rules = rules
        self._now = now

    @activity.defn
    async def set_monitor_complete(self, request: WorkflowRef) -> GoalCheck:
        confirmed = await self._store.set_monitor_complete(request.event_id, request.workflow_id)
        log.info(
            "search started", extra={"action": "search_started", "event_id": request.event_id, "confirmed": confirmed}
        )
        if not confirmed:
            # The goal was withdrawn before the search started, so there is no work to wait for.
            await self._clips.close(request.event_id, "the goal was withdrawn")
            return GoalCheck(False)
        progress = await self._clips.search_progress(request.event_id)
        return GoalCheck(True, self._rules.plan(await self._clips.goal(request.event_id), progress))

    @activity.defn
    async def search_sources(self, request: SearchAttempt) -> SearchOutcome:
        goal = await self._clips.goal(request.event_id)
        if not goal.is_confirmed:
            return SearchOutcome(confirmed=False)
        rules, now = self._rules, self._now()
        query = build_query(goal)
        before = await self._clips.search_progress(request.event_id, before=request.attempt)
        # Skip sources that have completed their searches while others catch up.
        sources = [source for source in self._sources if before.answered.get(source.name, 0) < rules.attempts]
        if self._sources and not sources:
            return SearchOutcome(confirmed=True, complete=True)
        results = await asyncio.gather(*(self._query_source(source, query, now) for source in sources))
        # `x` and `fxtwitter` may return the same post, which is one candidate.
        all_posts = list({post.key: post for _, found in results for post in found}.values())
        posts = [post for post in all_posts if is_recent(post.posted_at, now, rules.selection)]
        reports = [report for report, _ in results]
        await self._recorder.record_search(request.event_id, request.attempt, query, reports, all_posts, now)
        await self._clips.save_search(request.event_id, request.attempt, query, reports, posts, now)
        keys = await self._clips.take_candidates(
            request.event_id, request.attempt, lambda pending: select_posts(pending, now, rules.selection)
        )
        log.info(
            f"search {request.attempt}: {len(posts)} posts, {len(keys)} selected",
            extra={
                "action": "searched",
                "event_id": request.event_id,
                "attempt": request.attempt,
                "query": query.text,
                "failed": [report.source for report in reports if report.error],
            },
        )
        return SearchOutcome(
            confirmed=True,
            complete=rules.is_complete(request.attempt, before, reports),
            posts=len(posts),
            keys=list(keys),
            download_seconds=(rules.vision_retry_window + rules.download_time).total_seconds(),
            vision_retry_seconds=rules.vision_retry_window.total_seconds(),
        )

    async def _query_source(
        self, source: SocialSource, query: SearchQuery, now: datetime
    ) -> tuple[SourceReport, Sequence[Post]]:
        """Query one source. A failing source is reported with its reason and never fails the search."""
        limit = self._rules.source_timeout.total_seconds()
        error: FootyError
        with record_exchanges() as exchanges:
            try:
                async with asyncio.timeout(limit):
                    posts = await source.search(query, now - self._rules.selection.max_age)
                return SourceReport(source.name, len(posts)), posts
            except FootyError as failure:
                error = failure
            except TimeoutError:
                error = SourceUnavailable(f"{source.name}: no response within {limit:g} s")
            except Exception as fault:
                log.exception("internal error in a source", extra={"action": "program_fault", "source": source.name})
                error = InternalFault(f"{type(fault).__name__}: {fault}")
        await self._unexpected.note(f"source {source.name}", [error], exchanges)
        log.warning(str(error), extra={"action": "source_failed", "source": source.name, "error": error.kind})
        return SourceReport(source.name, None, error), ()

    @activity.defn
    async def close_event(self, request: CloseRequest) -> CloseResult:
        goal = await self._clips.goal(request.event_id)
        work = await self._clips.open_work(request.event_id)
        # Open work of a withdrawn goal is dropped.
        if work.any and goal.is_confirmed and not request.give_up:
            await self._clips.touch(request.event_id, self._now())
            return CloseResult(False, work.downloading, work.checking, work.waiting)
        await self._clips.close(request.event_id, request.give_up if goal.is_confirmed else "the goal was withdrawn")
        log.info(
            "search ended",
            extra={"action": "search_ended", "event_id": request.event_id, "given_up": request.give_up},
        )
        return CloseResult(True)

    @activity.defn
    async def sweep_event(self, request: WorkflowRef) -> None:
        """Delete staged files and unpublished clips of an event without open work.

        Files rejected because of feed data stay, in case the feed corrects the goal; retention deletes them.
        """
        goal = await self._clips.goal(request.event_id)
        if goal.is_confirmed and (await self._clips.open_work(request.event_id)).any:
            # SearchWorkflow closes the event first, so this is another caller. Retention deletes the files.
            log.warning(
                "skipped file cleanup: the event has open work", extra={"action": "not_swept", "event_id": goal.id}
            )
            return
        states = await self._clips.video_states(request.event_id)
        reverifiable = await self._clips.reverifiable_videos(request.event_id) if goal.is_confirmed else {}
        staged = [stored.key async for stored in self._objects.list(staging_prefix(goal.id))]
        unused = [key for key in staged if md5_of(key) not in reverifiable]
        async for stored in self._objects.list(clip_prefix(goal.fixture_id, goal.id)):
            if states.get(md5_of(stored.key)) != "kept":
                unused.append(stored.key)
        if unused:
            await self._objects.delete(unused)
            log.info("unused files deleted", extra={"action": "swept", "event_id": goal.id, "count": len(unused)})


def search_rules(settings: Settings) -> SearchRules:
    return SearchRules(
        attempts=settings.search_attempts,
        max_attempts=max(settings.search_attempts, settings.search_attempts_most),
        every=timedelta(seconds=settings.search_seconds),
        gap=timedelta(seconds=settings.search_gap_seconds),
        source_timeout=timedelta(seconds=settings.source_timeout_seconds),
        vision_retry_window=timedelta(seconds=settings.vision_patience_seconds),
        selection=SelectionRules(settings.candidates, timedelta(seconds=settings.post_age_seconds)),
    )


@asynccontextmanager
async def open_activities(
    settings: Settings,
    store: FixtureStore,
    clips: ClipStore,
    objects: ObjectStore,
    cache: RedisCache,
    recorder: MatchRecorder,
    unexpected: UnexpectedAnswerRecorder,
    sources: Sequence[SocialSource] | None = None,
) -> AsyncIterator[tuple[AliasActivities, SearchActivities]]:
    """Workers with the same `cache` share responses and limits. `sources` overrides the settings."""
    async with AsyncExitStack() as stack:
        wikidata = build_wikidata(settings)
        sources = build_sources(settings, cache) if sources is None else sources
        for close in (wikidata.aclose, *(source.aclose for source in sources)):
            stack.push_async_callback(close)
        yield (
            AliasActivities(clips, wikidata, utc_now, unexpected),
            SearchActivities(store, clips, objects, sources, search_rules(settings), utc_now, recorder, unexpected),
        )
