"""Where our errors become Temporal's: a stable type, and whether a retry can help."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from found_footy.domain.errors import FootyError
from found_footy.workflows.contracts import HEARTBEAT, Call, In, Out

MAX_RETRY_WAIT = timedelta(minutes=5)

Self = TypeVar("Self")


def implements(
    call: Call[In, Out],
) -> Callable[[Callable[[Self, In], Awaitable[Out]]], Callable[[Self, In], Awaitable[Out]]]:
    """Registers a method as the activity that `call` names."""

    def decorate(method: Callable[[Self, In], Awaitable[Out]]) -> Callable[[Self, In], Awaitable[Out]]:
        @activity.defn(name=call.name)
        @wraps(method)
        async def run(self: Self, argument: In) -> Out:
            beating = asyncio.create_task(_heartbeat())
            try:
                return await method(self, argument)
            except FootyError as error:
                raise application_error(error) from error
            finally:
                beating.cancel()

        return run

    return decorate


def application_error(error: FootyError) -> ApplicationError:
    """A retry waits as long as the service asked for; if that is too long for a workflow, there is none."""
    wait = timedelta(seconds=getattr(error, "retry_after", None) or 0)
    return ApplicationError(
        str(error),
        type=error.kind,
        non_retryable=not error.retryable or wait > MAX_RETRY_WAIT,
        next_retry_delay=wait if timedelta(0) < wait <= MAX_RETRY_WAIT else None,
    )


async def _heartbeat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(HEARTBEAT.total_seconds() / 3)


def delay() -> timedelta:
    """From when the activity that we are in was wanted to when this attempt of it was begun, by Temporal's clock."""
    info = activity.info()
    return max(timedelta(0), info.started_time - info.scheduled_time)


def activities_of(*owners: object) -> list[Callable[..., Any]]:
    """The registered methods of the given objects."""
    found = []
    for owner in owners:
        for name in dir(type(owner)):
            if hasattr(getattr(type(owner), name), "__temporal_activity_definition"):
                found.append(getattr(owner, name))
    return found
