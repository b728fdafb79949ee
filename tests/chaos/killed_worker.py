"""A worker that kills itself once at each of the given steps.

TEST_KILL_STEPS names a folder with one file per step at which a worker still has to be killed, such as
`before fetch_clip` or `after fetch_clip`. After a step, its effects are stored, but not reported to Temporal.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker

from found_footy.app import work
from found_footy.config import load_settings
from found_footy.runtime import activity_policy, worker
from found_footy.runtime.logging import configure

STEPS_FOLDER = "TEST_KILL_STEPS"


def activity_name(method: Callable[..., Any]) -> str:
    return str(getattr(method, "__temporal_activity_definition").name)


def activity_names(*owners: type) -> list[str]:
    methods = (getattr(owner, name) for owner in owners for name in dir(owner))
    return sorted(activity_name(method) for method in methods if hasattr(method, "__temporal_activity_definition"))


class StepBoundary(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, reach: Callable[[str], None]) -> None:
        super().__init__(next)
        self._reach = reach

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        name = activity_name(input.fn)
        self._reach(f"before {name}")
        result = await super().execute_activity(input)
        self._reach(f"after {name}")
        return result


class StepInterceptor(Interceptor):
    def __init__(self, reach: Callable[[str], None]) -> None:
        self._reach = reach

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return StepBoundary(next, self._reach)


def hook_steps(reach: Callable[[str], None]) -> None:
    """Let all workers of this process call `reach` with `before ACTIVITY` and `after ACTIVITY`."""

    def hooked_worker(*args: Any, **kwargs: Any) -> Worker:
        return Worker(*args, **{**kwargs, "interceptors": [*kwargs["interceptors"], StepInterceptor(reach)]})

    worker.Worker = hooked_worker  # type: ignore[assignment,misc]


def kill_at(step: str) -> None:
    """Kill this process if it is the first one to reach a listed step."""
    try:
        (Path(os.environ[STEPS_FOLDER]) / step).unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def main(environment: Mapping[str, str], heartbeat_timeout: timedelta = timedelta(seconds=2)) -> None:
    """Activities of a killed worker are retried sooner than in production, so that a test can afford many kills."""
    os.environ.update(environment)
    settings = load_settings()
    configure(settings.log_format, settings.log_level)
    activity_policy.HEARTBEAT_TIMEOUT = heartbeat_timeout

    hook_steps(kill_at)

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await work(settings, stop)

    asyncio.run(run())
