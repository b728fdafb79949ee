"""Fetches the fixtures of the next days, and deletes the old ones."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ChildWorkflowError,
    WorkflowAlreadyStartedError,
)
from temporalio.workflow import ParentClosePolicy

from found_footy.workflows.aliases import AliasWorkflow
from found_footy.workflows.clip_contracts import TEAMS_WITHOUT_ALIASES, TeamsToName, alias_id
from found_footy.workflows.contracts import (
    CLEANUP_OLD_FIXTURES,
    INGEST_DAY,
    INGEST_FIXTURES,
    CleanUp,
    IngestDay,
    Ingested,
    IngestIds,
    IngestInput,
    IngestResult,
    Team,
)

LOOKUPS_AT_ONCE = 2
"""Wikidata is a guest's place."""


@workflow.defn(name="IngestWorkflow")
class IngestWorkflow:
    @workflow.run
    async def run(self, order: IngestInput) -> IngestResult:
        if order.fixture_ids:
            fixtures = await INGEST_FIXTURES(IngestIds(order.fixture_ids, workflow.now()))
            await self._learn_names()
            return IngestResult(fixtures=fixtures)

        first = date.fromisoformat(order.day) if order.day else workflow.now().date()
        days: dict[str, Ingested] = {}
        failed: dict[str, ActivityError] = {}
        window = [first + timedelta(days=n) for n in range(-order.days_before, order.days)]
        await asyncio.gather(*(self._day(day, days, failed) for day in window))

        # An international break: somebody who looks at an empty week wants to see when it goes on.
        tomorrow = (first + timedelta(days=1)).isoformat()
        if tomorrow in days and days[tomorrow].tracked == 0:
            for n in range(order.days, order.look_ahead_days + 1):
                result = await self._day(first + timedelta(days=n), days, failed)
                if result is None or result.tracked:
                    break

        await self._learn_names()
        before = workflow.now() - timedelta(days=order.retention_days)
        cleaned = await CLEANUP_OLD_FIXTURES(CleanUp(before))
        if failed:
            raise ApplicationError(
                f"the fixtures of {', '.join(sorted(failed))} could not be fetched", type="IngestIncomplete"
            ) from next(iter(failed.values()))
        return IngestResult(days=days, deleted=cleaned.deleted)

    async def _learn_names(self) -> None:
        """What the teams are called, before their goals have to be searched for. Nothing depends on it."""
        if not workflow.patched("names-of-teams"):
            return
        try:
            found = await TEAMS_WITHOUT_ALIASES(TeamsToName())
        except ActivityError as error:
            workflow.logger.warning("the teams without names are not known: %s", error.cause or error)
            return
        turns = asyncio.Semaphore(LOOKUPS_AT_ONCE)
        await asyncio.gather(*(self._learn(team, turns) for team in found.teams))

    async def _learn(self, team: Team, turns: asyncio.Semaphore) -> None:
        async with turns:
            try:
                await workflow.execute_child_workflow(
                    AliasWorkflow.run,
                    team,
                    id=alias_id(team.id),
                    parent_close_policy=ParentClosePolicy.ABANDON,
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                )
            except (ChildWorkflowError, WorkflowAlreadyStartedError) as error:
                # Asked again by the next ingest, and by the first goal.
                workflow.logger.warning("what %s is called is not known: %s", team.name, error)

    async def _day(self, day: date, days: dict[str, Ingested], failed: dict[str, ActivityError]) -> Ingested | None:
        """One day's failure must not cost the others their fixtures."""
        try:
            days[day.isoformat()] = await INGEST_DAY(IngestDay(day.isoformat(), workflow.now()))
        except ActivityError as error:
            failed[day.isoformat()] = error
        return days.get(day.isoformat())
