"""Asking a feed again: how often, after how long, and never beyond the time that the whole may take."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from found_footy.domain.errors import FeedBusy, FeedError, FeedRateLimited
from found_footy.domain.feeds.retry import RetryRules, Task, TaskEvent, TaskState, after_failed_attempt, delay, step

T = TypeVar("T")

BUDGET_SECONDS = 45.0
"""All attempts of one poll together; whoever waits for it gives up after a minute."""


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
            # Not for secrets: spreads the retries of many workers.
            wait = delay(task.attempt + 1, random.random(), rules)
            # Asking again at once is what a limit is about, the feed's as well as our own.
            helps = error.retryable and not isinstance(error, FeedRateLimited | FeedBusy) and wait < deadline.left()
            task = step(task, after_failed_attempt(task, helps, rules))
            if task.state is TaskState.ABANDONED:
                raise
        await asyncio.sleep(wait)
