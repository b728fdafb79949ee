"""One worker process: connects, works until it is told to stop, and finishes what it has begun."""

from __future__ import annotations

import asyncio
import gc
import logging

from temporalio.client import Client

from found_footy.bootstrap_library import open_workers
from found_footy.bootstrap_temporal import connect_temporal
from found_footy.config import Settings
from found_footy.domain.errors import EngineError

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0


async def work(settings: Settings, stop: asyncio.Event) -> None:
    client = await _patiently_connected(settings)
    async with open_workers(settings, client) as workers:
        # What is loaded by now stays: the collector need not look through it again and again.
        gc.freeze()
        running = [asyncio.create_task(worker.run()) for worker in workers]
        log.info("worker is ready", extra={"action": "worker_ready", "task_queue": settings.task_queue})
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({*running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        await asyncio.gather(*running)
    log.info("worker has stopped", extra={"action": "worker_stopped"})


async def _patiently_connected(settings: Settings) -> Client:
    """Temporal may still be starting, or be restarted at this moment."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        try:
            return await connect_temporal(settings)
        except EngineError as error:
            if asyncio.get_running_loop().time() > deadline:
                raise
            log.warning(str(error), extra={"action": "waiting_for_temporal"})
        await asyncio.sleep(1)
