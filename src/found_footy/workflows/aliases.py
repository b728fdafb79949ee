"""Finds out what a team is called, so that its goals can be searched for."""

from __future__ import annotations

from temporalio import workflow

from found_footy.workflows.clip_contracts import RESOLVE_ALIASES, Aliases
from found_footy.workflows.contracts import Team


@workflow.defn(name="AliasWorkflow")
class AliasWorkflow:
    @workflow.run
    async def run(self, team: Team) -> Aliases:
        return await RESOLVE_ALIASES(team)
