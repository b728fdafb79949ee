"""Records histories of the real system while it plays a matchday: `python -m tests.replay.record`.

Run it when a workflow's steps have changed on purpose and the old histories have been dealt with (see
CONTRIBUTING.md). Histories that exist stay: workflows that were started by an older version must still replay.
New ones get the version in front of their name.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from temporalio.client import Client, WorkflowExecution, WorkflowHistory

from found_footy.config import load_settings
from found_footy.ops.demo import clear, demo_settings
from found_footy.ops.running import running
from found_footy.simulator import Simulator, load_scenario
from found_footy.workflows.contracts import IngestInput
from found_footy.workflows.ingest import IngestWorkflow

HISTORIES = Path(__file__).parent / "histories"
VERSION = "0.2"

log = logging.getLogger(__name__)


async def record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Simulator(load_scenario("quick"), clips_folder=Path(folder) / "clips") as simulator:
            settings = demo_settings(load_settings(), simulator).model_copy(
                update={"data_dir": Path(folder), "api_football_key": SecretStr(simulator.key)}
            )
            try:
                async with running(settings) as system:
                    while not simulator.state().settled:
                        await asyncio.sleep(1)
                    # Until the last search has ended, and the vision workflow and the uploaders have gone idle.
                    await asyncio.sleep(100)
                    await system.client.execute_workflow(
                        IngestWorkflow.run,
                        IngestInput(fixture_ids=[1390001]),
                        id="ingest-manual",
                        task_queue=settings.task_queue,
                    )
                    await _save(system.client)
            finally:
                await clear(settings)


async def _save(client: Client) -> None:
    kept: set[str] = set()
    async for execution in client.list_workflows():
        if execution.close_time is None:
            continue
        history = await client.get_workflow_handle(execution.id, run_id=execution.run_id).fetch_history()
        name = f"{VERSION}-{_kind(execution, history)}"
        target = HISTORIES / f"{name}.json"
        if name not in kept and not target.exists():
            content = json.dumps(_scrubbed(json.loads(history.to_json())), indent=1)
            target.write_text(content + "\n", encoding="utf-8")
            log.warning("recorded %s", target.name)
        kept.add(name)


def _kind(execution: WorkflowExecution, history: WorkflowHistory) -> str:
    """One history for each way that a workflow can go."""
    text = history.to_json()
    if execution.workflow_type == "MonitorWorkflow":
        way = "starts-a-search" if "START_CHILD_WORKFLOW_EXECUTION_INITIATED" in text else "nothing-certain"
    elif execution.workflow_type == "IngestWorkflow":
        way = "given-fixtures" if execution.id == "ingest-manual" else "days"
    elif execution.workflow_type == "DownloadWorkflow":
        way = "looks-and-hashes" if "hash_clip" in text else "nothing-of-use"
    elif execution.workflow_type == "UploadWorkflow":
        way = "publishes" if "publish_clip" in text else "nothing-new"
    elif execution.workflow_type == "SearchWorkflow":
        way = "downloads" if "START_CHILD_WORKFLOW_EXECUTION_INITIATED" in text else "finds-nothing"
    else:
        way = "names" if execution.workflow_type == "AliasWorkflow" else "looks"
    state = execution.status.name.lower() if execution.status else "unknown"
    return f"{execution.workflow_type}-{way}-{state}"


def _scrubbed(value: Any) -> Any:
    """Where it was recorded is nobody's business."""
    if isinstance(value, dict):
        return {key: "recorder" if key == "identity" else _scrubbed(item) for key, item in value.items()}
    return [_scrubbed(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    HISTORIES.mkdir(exist_ok=True)
    sys.exit(asyncio.run(record()))
