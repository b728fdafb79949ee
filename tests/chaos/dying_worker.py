"""A worker that kills itself, once at each of the steps that it is told: `python -m tests.chaos.dying_worker`.

TEST_DIES names a folder with one file for each step that is still to be died at, `before look_at_clip` or
`after look_at_clip`. To die after a step means: all that it does is done, and nobody has heard of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker

from found_footy import bootstrap
from found_footy.activities import boundary
from found_footy.config import load_settings
from found_footy.ops.logging import configure
from found_footy.ops.work import work
from found_footy.workflows import contracts

FOLDER = "TEST_DIES"


class Dies(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        name = getattr(input.fn, "__temporal_activity_definition").name
        _die_if_told(f"before {name}")
        result = await super().execute_activity(input)
        _die_if_told(f"after {name}")
        return result


class Dying(Interceptor):
    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return Dies(next)


def _die_if_told(when: str) -> None:
    try:
        (Path(os.environ[FOLDER]) / when).unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    settings = load_settings()
    configure(settings.log_format, settings.log_level)
    # A killed worker is missed sooner than in life, so that a test can afford many deaths.
    contracts.HEARTBEAT = boundary.HEARTBEAT = timedelta(seconds=2)

    def dying(*args: Any, **kwargs: Any) -> Worker:
        return Worker(*args, interceptors=[Dying()], **kwargs)

    bootstrap.Worker = dying  # type: ignore[assignment,misc]

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await work(settings, stop)

    asyncio.run(run())


if __name__ == "__main__":
    main()
