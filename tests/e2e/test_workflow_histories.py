"""Workflows that are under way when a new version is installed must go on: their histories replay."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from found_footy.app import workflows
from found_footy.discovery.models import SearchInput, SearchResult
from tests.support.workers import sandbox

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


def load(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_a_recorded_history_replays(path: Path) -> None:
    await Replayer(workflows=list(workflows()), workflow_runner=sandbox()).replay_workflow(load(path))


def test_each_workflow_has_a_recorded_history() -> None:
    recorded = {path.stem.split("-")[0] for path in HISTORIES}
    assert recorded == {cls.__name__ for cls in workflows()}


@workflow.defn(name="SearchWorkflow")
class SearchThatForgetsItsFirstStep:
    @workflow.run
    async def run(self, order: SearchInput) -> SearchResult:
        await workflow.sleep(1)
        return SearchResult(searched=False)


async def test_a_changed_workflow_is_noticed() -> None:
    """The test above can fail."""
    path = next(path for path in HISTORIES if "SearchWorkflow" in path.stem)
    replayer = Replayer(workflows=[SearchThatForgetsItsFirstStep], workflow_runner=sandbox())
    with pytest.raises(NondeterminismError):
        await replayer.replay_workflow(load(path))
