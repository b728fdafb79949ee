"""A worker process that runs one activity at a time.

`python -m tests.operations.draining_worker ADDRESS NAMESPACE QUEUE FOLDER`

An activity writes `begun-N` with pid and attempt, prints `begun N`, and ends when the file `end-N` exists.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.runtime import Runtime, TelemetryConfig

from found_footy.runtime.activity_policy import ActivityPolicy
from found_footy.runtime.queues import WorkKind, queue_name
from found_footy.runtime.worker import MAX_DRAIN, activity_worker, pipeline_worker, run_workers

BLOCK = ActivityPolicy(timedelta(minutes=5), attempts=1).on(WorkKind.MEDIA)
"""One attempt: an interrupted activity fails its workflow."""


@activity.defn
async def block(_: int) -> None:
    """Replaced by the worker's own, which knows the folder."""


@workflow.defn
class BlockedWorkflow:
    @workflow.run
    async def run(self, number: int) -> None:
        await workflow.execute_activity(block, number, **BLOCK.options())


async def main(address: str, namespace: str, queue: str, folder: Path) -> None:
    @activity.defn(name="block")
    async def work(number: int) -> None:
        (folder / f"begun-{number}").write_text(f"{os.getpid()} {activity.info().attempt}")
        print(f"begun {number}", flush=True)  # noqa: T201
        while not (folder / f"end-{number}").exists():
            await asyncio.sleep(0.05)

    stop, drain = asyncio.Event(), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, drain.set)
    runtime = Runtime(telemetry=TelemetryConfig(), worker_heartbeat_interval=timedelta(seconds=1))
    client = await Client.connect(address, namespace=namespace, runtime=runtime)
    media = queue_name(queue, WorkKind.MEDIA)
    workers = [
        pipeline_worker(client, queue, [BlockedWorkflow], [], graceful_shutdown=MAX_DRAIN),
        activity_worker(client, media, [work], max_concurrent=1, graceful_shutdown=MAX_DRAIN),
    ]
    await run_workers(workers, stop, asyncio.Event().wait(), drain)  # type: ignore[arg-type]


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], Path(sys.argv[4])))
