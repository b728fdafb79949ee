"""Timeouts, retries and queues of activities, as data beside the workflow that calls them.

SAVE = ActivityPolicy(timedelta(seconds=30), attempts=5)
result = await workflow.execute_activity_method(Owner.save, argument, **SAVE.options())
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy
from temporalio.workflow import ActivityConfig

from found_footy.runtime.queues import WorkKind, queue_name

HEARTBEAT_TIMEOUT = timedelta(seconds=6)
"""Time after which Temporal retries the activity of a killed worker elsewhere. See `ActivityBoundary`."""
MAX_BACKOFF = timedelta(seconds=15)
"""Between two attempts inside a retry window, so that work resumes soon after an outage."""
UNLIMITED = 0


@dataclass(frozen=True)
class ActivityPolicy:
    """With a retry window, attempts repeat until the window closes; otherwise `attempts` is the limit."""

    start_to_close: timedelta
    attempts: int = UNLIMITED
    initial_backoff: timedelta = timedelta(seconds=1)
    max_backoff: timedelta | None = None
    retry_window: timedelta | None = None
    kind: WorkKind = WorkKind.ORCHESTRATION
    lane: str = ""
    """Appended to the name of the queue, where a kind has several."""
    priority: int | None = None
    """From 1 (first) to 5, within the queue; None for 3."""

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

    def on(self, kind: WorkKind, lane: str = "") -> ActivityPolicy:
        return replace(self, kind=kind, lane=lane)

    def first(self) -> ActivityPolicy:
        """Return the same policy for a step that completes started work, which goes before what starts more."""
        return replace(self, priority=1)

    def task_queue(self, base: str) -> str:
        """`base` is the queue of the workflow."""
        return queue_name(base, self.kind) + self.lane

    def options(self) -> ActivityConfig:
        """Return the arguments of the call. Requires a workflow context unless the kind is orchestration."""
        return ActivityConfig(
            task_queue=None if self.kind is WorkKind.ORCHESTRATION else self.task_queue(workflow.info().task_queue),
            start_to_close_timeout=self.start_to_close,
            schedule_to_close_timeout=self.retry_window,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            retry_policy=RetryPolicy(
                initial_interval=self.initial_backoff,
                backoff_coefficient=2.0,
                maximum_interval=self.max_backoff,
                maximum_attempts=self.attempts,
            ),
            priority=Priority.default if self.priority is None else Priority(priority_key=self.priority),
        )
