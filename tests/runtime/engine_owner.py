"""A process that owns a data folder, for tests that kill it: `python engine_owner.py FOLDER`."""

from __future__ import annotations

import asyncio
import sys

from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal
from found_footy.runtime.supervisor import Supervisor, WorkerSpec


async def main(path: str) -> None:
    """Run until killed; the runtime file tells when all is up."""
    folder = DataFolder(path)
    with folder.lock():
        async with Supervisor(folder, [EmbeddedPostgres(folder), EmbeddedTemporal(folder)]) as supervisor:
            await supervisor.start_engines()
            await supervisor.start_workers(
                [WorkerSpec("worker", [sys.executable, "-c", "import time; time.sleep(600)"])]
            )
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
