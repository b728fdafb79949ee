"""Timeouts and retries of activities, as data beside the workflow that calls them.

SAVE = ActivityPolicy(timedelta(seconds=30), attempts=5)
result = await workflow.execute_activity_method(Owner.save, argument, **SAVE.options())
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

HEARTBEAT_TIMEOUT = timedelta(seconds=6)
"""Temporal retries an activity elsewhere this long after its worker was killed. See `ActivityBoundary`."""
MAX_BACKOFF = timedelta(seconds=15)
"""Between two attempts inside a retry window, so that work resumes soon after an outage ends."""
UNLIMITED = 0


@dataclass(frozen=True)
class ActivityPolicy:
    """With a retry window, attempts repeat until the window closes; otherwise `attempts` is the limit."""

    start_to_close: timedelta
    attempts: int = UNLIMITED
    initial_backoff: timedelta = timedelta(seconds=1)
    max_backoff: timedelta | None = None
    retry_window: timedelta | None = None
    task_queue: str | None = None
    """None means the queue of the workflow."""

    def __post_init__(self) -> None:
        if self.start_to_close <= timedelta() or self.initial_backoff <= timedelta():
            raise ValueError("start_to_close and initial_backoff must be positive")
        if self.retry_window is None and self.attempts < 1:
            raise ValueError("attempts must be positive if there is no retry window")
        if self.retry_window is not None and self.retry_window <= timedelta():
            raise ValueError("retry_window must be positive")

    def within(self, retry_window: timedelta, max_backoff: timedelta = MAX_BACKOFF) -> ActivityPolicy:
        """Return the same policy with a retry window, for work that must survive an outage."""
        return replace(self, attempts=UNLIMITED, retry_window=retry_window, max_backoff=max_backoff)

    def on(self, task_queue: str) -> ActivityPolicy:
        return replace(self, task_queue=task_queue)

    def options(self) -> ActivityConfig:
        return ActivityConfig(
            task_queue=self.task_queue,
            start_to_close_timeout=self.start_to_close,
            schedule_to_close_timeout=self.retry_window,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            retry_policy=RetryPolicy(
                initial_interval=self.initial_backoff,
                backoff_coefficient=2.0,
                maximum_interval=self.max_backoff,
                maximum_attempts=self.attempts,
            ),
        )
