"""Retry policy of feed requests: number of attempts, backoff and total deadline."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from found_footy.errors import FeedBusy, FeedError, FeedRateLimited


class TaskState(StrEnum):
    PENDING = "pending"
    EXECUTING = "executing"
    SUCCESS = "success"
    FAILED = "failed"
    ABANDONED = "abandoned"


class TaskEvent(StrEnum):
    TAKEN = "taken"
    """A worker starts the request."""
    ANSWERED = "answered"
    """The response is complete and valid."""
    FAILED = "failed"
    """An error, a timeout, or an invalid response."""
    RETRIED = "retried"
    GIVEN_UP = "given_up"


TRANSITIONS: Mapping[tuple[TaskState, TaskEvent], TaskState] = {
    (TaskState.PENDING, TaskEvent.TAKEN): TaskState.EXECUTING,
    (TaskState.EXECUTING, TaskEvent.ANSWERED): TaskState.SUCCESS,
    (TaskState.EXECUTING, TaskEvent.FAILED): TaskState.FAILED,
    (TaskState.FAILED, TaskEvent.RETRIED): TaskState.PENDING,
    (TaskState.FAILED, TaskEvent.GIVEN_UP): TaskState.ABANDONED,
}


@dataclass(frozen=True, slots=True)
class RetryRules:
    attempts: int = 3
    base_seconds: float = 2.0
    """Minimum wait before the second attempt; doubles with each further one."""


@dataclass(frozen=True, slots=True)
class Task:
    """State of one request."""

    state: TaskState = TaskState.PENDING
    attempt: int = 1
    """Number of the next, current or last attempt."""


def step(task: Task, event: TaskEvent) -> Task:
    """Apply an event. Raises ValueError if the state does not allow it."""
    try:
        state = TRANSITIONS[task.state, event]
    except KeyError:
        raise ValueError(f"a request that is {task.state} cannot be {event}") from None
    return replace(task, state=state, attempt=task.attempt + (event is TaskEvent.RETRIED))


def after_failed_attempt(task: Task, retryable: bool, rules: RetryRules) -> TaskEvent:
    """Retry while attempts are left; give up at once on errors that a retry cannot fix, such as a rejected key."""
    return TaskEvent.RETRIED if retryable and task.attempt < rules.attempts else TaskEvent.GIVEN_UP


def delay(attempt: int, draw: float, rules: RetryRules | None = None) -> float:
    """Return the seconds to wait before this attempt, counted from 1. `draw` is a random number from 0 to 1.

    The first attempt starts at once, the second after 2 to 4 s, the third after 4 to 8 s. The random part is as long as
    the fixed one, so that workers that failed together do not retry together.
    """
    if not 0.0 <= draw <= 1.0:
        raise ValueError(f"invalid draw {draw}: expected 0 to 1")
    if attempt <= 1:
        return 0.0
    fixed = (rules or RetryRules()).base_seconds * 2 ** (attempt - 2)
    return float(fixed + draw * fixed)


# --- Retrying within a deadline.


T = TypeVar("T")

BUDGET_SECONDS = 45.0
"""Limit for all attempts of one poll; the caller times out after a minute."""


class Deadline:
    def __init__(self, seconds: float = BUDGET_SECONDS) -> None:
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self._ends - time.monotonic())


async def with_retries(call: Callable[[], Awaitable[T]], rules: RetryRules, deadline: Deadline) -> T:
    task = Task()
    while True:
        task = step(task, TaskEvent.TAKEN)
        try:
            return await call()
        except FeedError as error:
            task = step(task, TaskEvent.FAILED)
            # Not cryptographic: spreads the retries of many workers.
            wait = delay(task.attempt + 1, random.random(), rules)
            # An immediate retry would hit the same rate limit again.
            helps = error.retryable and not isinstance(error, FeedRateLimited | FeedBusy) and wait < deadline.left()
            task = step(task, after_failed_attempt(task, helps, rules))
            if task.state is TaskState.ABANDONED:
                raise
        await asyncio.sleep(wait)
