"""Records histories of the real system while it plays a matchday: `python -m tests.e2e.record`.

Run it when a workflow is new or its steps have changed (see CONTRIBUTING.md). Existing histories stay, unless the names
of their workflows are given as arguments.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from temporalio.client import Client, WorkflowExecution, WorkflowHistory

from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from found_footy.app import running
from found_footy.cli.demo import clear, demo_settings
from found_footy.clips.models import ReverifyInput
from found_footy.clips.workflow import ReverifyWorkflow
from found_footy.config import Settings, load_settings
from found_footy.fixtures.models import IngestInput
from found_footy.fixtures.store import open_store
from found_footy.fixtures.workflow import IngestWorkflow
from found_footy.notifications.models import SubscriptionFilter
from found_footy.notifications.store import NotificationStore
from found_footy.notifications.workflow import NotificationInput, NotificationWorkflow
from found_footy.operations.canary import CanaryInput
from found_footy.operations.workflow import CanaryWorkflow
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.schedules import NOTIFY_SCHEDULE

HISTORIES = Path(__file__).parent / "histories"

log = logging.getLogger(__name__)


async def record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Simulator(load_scenario("quick"), clips_folder=Path(folder) / "clips") as simulator:
            settings = demo_settings(load_settings(), simulator)
            receivers = [HttpServer(answers(status)) for status in (204, 404)]
            for each in receivers:
                await each.start()
            hosts = (*settings.private_hosts, *(urlsplit(each.url).netloc for each in receivers))
            own = {"data_dir": Path(folder), "api_football_key": SecretStr(simulator.key), "web_port": 0}
            settings = settings.model_copy(update={**own, "private_hosts": hosts})
            try:
                async with running(settings) as system:
                    await _subscribe(system.settings, [each.url for each in receivers])
                    while not simulator.state().settled:
                        await asyncio.sleep(1)
                    # Wait until the last search has ended and the uploaders are idle.
                    await asyncio.sleep(100)
                    await system.client.execute_workflow(
                        IngestWorkflow.run,
                        IngestInput(fixture_ids=[1390001]),
                        id="ingest-manual",
                        task_queue=settings.task_queue,
                    )
                    await _reverify(system.settings, system.client)
                    await system.client.execute_workflow(
                        CanaryWorkflow.run, CanaryInput(), id="canary-manual", task_queue=settings.task_queue
                    )
                    # The scheduled one goes on for an hour.
                    await system.client.execute_workflow(
                        NotificationWorkflow.run,
                        NotificationInput(rounds=2),
                        id="announce-manual",
                        task_queue=settings.task_queue,
                    )
                    await _announced(system.settings, system.client, receivers[0].url)
                    await _save(system.client)
            finally:
                await clear(settings)
                for each in receivers:
                    await each.stop()


def answers(status: int) -> Starlette:
    async def answer(request: Request) -> Response:
        return Response(status_code=status)

    return Starlette(routes=[Route("/", answer, methods=["POST"])])


async def _subscribe(settings: Settings, addresses: Sequence[str]) -> None:
    async with open_store(settings) as store:
        book = NotificationStore(store.database)
        for address in addresses:
            await book.add(address, "webhook", f"{address}/", "secret", SubscriptionFilter())


async def _reverify(settings: Settings, client: Client) -> None:
    async with open_store(settings) as store, store.database.connection() as connection:
        found = await connection.execute("select id from events order by id limit 1")
        (goal,) = await found.fetchall()
    await client.execute_workflow(
        ReverifyWorkflow.run, ReverifyInput(goal["id"]), id="reverify-manual", task_queue=settings.task_queue
    )


async def _announced(settings: Settings, client: Client, address: str) -> None:
    """A run of its own that has something to send, with the scheduled one out of the way."""
    await client.get_schedule_handle(NOTIFY_SCHEDULE).pause()
    async for execution in client.list_workflows(
        "WorkflowType = 'NotificationWorkflow' and ExecutionStatus = 'Running'"
    ):
        await client.get_workflow_handle(execution.id, run_id=execution.run_id).terminate()
    async with open_store(settings) as store:
        book = NotificationStore(store.database)
        for record in await book.subscriptions():
            await book.add_test(record.id, lambda key: {"topic": "test", "key": key})
    await client.execute_workflow(
        NotificationWorkflow.run, NotificationInput(rounds=2), id="announce-tests", task_queue=settings.task_queue
    )
    await asyncio.sleep(5)


async def _save(client: Client) -> None:
    """Write one history per outcome of each workflow; replace those of the workflows named on the command line."""
    outdated = set(sys.argv[1:])
    written = set()
    async for execution in client.list_workflows():
        if execution.close_time is None:
            continue
        history = await client.get_workflow_handle(execution.id, run_id=execution.run_id).fetch_history()
        target = HISTORIES / f"{_kind(execution, history)}.json"
        if target not in written and (execution.workflow_type in outdated or not target.exists()):
            content = json.dumps(_scrubbed(json.loads(history.to_json())), indent=1)
            target.write_text(content + "\n", encoding="utf-8")
            written.add(target)
            log.warning("recorded %s", target.name)


def _kind(execution: WorkflowExecution, history: WorkflowHistory) -> str:
    """Return the file name for this outcome of the workflow."""
    text = history.to_json()
    if execution.workflow_type == "MonitorWorkflow":
        way = "starts-a-search" if "START_CHILD_WORKFLOW_EXECUTION_INITIATED" in text else "nothing-certain"
    elif execution.workflow_type == "IngestWorkflow":
        way = "given-fixtures" if execution.id == "ingest-manual" else "days"
    elif execution.workflow_type == "DownloadWorkflow":
        way = "verifies-and-hashes" if "hash_clip" in text else "nothing-of-use"
    elif execution.workflow_type == "ReverifyWorkflow":
        way = "hashes-and-queues" if "hash_clip" in text else "nothing-fits"
    elif execution.workflow_type == "UploadWorkflow":
        way = "publishes" if "publish_clip" in text else "nothing-new"
    elif execution.workflow_type == "SearchWorkflow":
        way = "downloads" if "START_CHILD_WORKFLOW_EXECUTION_INITIATED" in text else "finds-nothing"
    elif execution.workflow_type == "NotificationWorkflow":
        way = "starts-a-delivery" if "START_CHILD_WORKFLOW_EXECUTION_INITIATED" in text else "nothing-due"
    elif execution.workflow_type == "DeliveryWorkflow":
        way = "marks-dead" if "mark_dead" in text else "delivers"
    elif execution.workflow_type == "LibraryWorkflow":
        way = "starts-work" if "START_CHILD_WORKFLOW_EXECUTION_INITIATED" in text else "nothing-to-do"
    elif execution.workflow_type == "StageWorkflow":
        way = "fails" if "fail_stage" in text else "works"
    elif execution.workflow_type == "CanaryWorkflow":
        way = "checks"
    else:
        way = "names" if execution.workflow_type == "AliasWorkflow" else "looks"
    state = execution.status.name.lower() if execution.status else "unknown"
    return f"{execution.workflow_type}-{way}-{state}"


def _scrubbed(value: Any) -> Any:
    """Remove what names the recording machine."""
    if isinstance(value, dict):
        hidden = {"identity": "recorder", "stackTrace": ""}
        return {key: hidden.get(key, _scrubbed(item)) for key, item in value.items()}
    return [_scrubbed(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    HISTORIES.mkdir(exist_ok=True)
    sys.exit(asyncio.run(record()))
