"""Workflow starts per second of the embedded Temporal, against the same server with its defaults

Each workflow runs one activity and completes, like a search without sources; one worker in this process.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from bench.table import table
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_temporal import EmbeddedTemporal, find_binary
from found_footy.runtime.engine import free_port

COUNT = 300
AT_ONCE = 20


@activity.defn
async def mark() -> None:
    pass


@workflow.defn
class OneMark:
    @workflow.run
    async def run(self) -> None:
        await workflow.execute_activity(mark, start_to_close_timeout=timedelta(seconds=10))


async def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = DataFolder(Path(folder) / "ours")
        with data.lock():
            ours = EmbeddedTemporal(data)
            await ours.start()
            rows.append(["ours", *await _measure(ours.address)])
            await ours.destroy()
        async with _plain(Path(folder)) as address:
            rows.append(["defaults", *await _measure(address)])
    ratio = [f"{float(str(a)) / float(str(b)):.1f}×" for a, b in zip(rows[0][1:], rows[1][1:], strict=True)]
    table(["server", "starts a second", "starts to ends a second"], [*rows, ["ratio", *ratio]])


async def _measure(address: str) -> tuple[str, str]:
    client = await Client.connect(address)
    slots = asyncio.Semaphore(AT_ONCE)

    async def start(number: int, queue: str) -> None:
        async with slots:
            await client.start_workflow(OneMark.run, id=f"{queue}-{number}", task_queue=queue)

    async def whole(number: int, queue: str) -> None:
        async with slots:
            await client.execute_workflow(OneMark.run, id=f"{queue}-{number}", task_queue=queue)

    began = time.perf_counter()
    await asyncio.gather(*(start(number, "nobody") for number in range(COUNT)))
    starts = COUNT / (time.perf_counter() - began)
    async with Worker(
        client,
        task_queue="bench",
        workflows=[OneMark],
        activities=[mark],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        await whole(-1, "bench")
        began = time.perf_counter()
        await asyncio.gather(*(whole(number, "bench") for number in range(COUNT)))
        ends = COUNT / (time.perf_counter() - began)
    return f"{starts:.0f}", f"{ends:.0f}"


@asynccontextmanager
async def _plain(folder: Path) -> AsyncIterator[str]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        str(find_binary()),
        *("server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port), "--log-level", "never"),
        *("--db-filename", str(folder / "plain.db")),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        for _ in range(100):
            try:
                await Client.connect(f"127.0.0.1:{port}")
                break
            except RuntimeError:
                await asyncio.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()
