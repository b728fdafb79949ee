"""How often one request to a feed is tried, and how long to wait before each try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class TaskState(StrEnum):
    PENDING = "pending"
    EXECUTING = "executing"
    SUCCESS = "success"
    FAILED = "failed"
    ABANDONED = "abandoned"

    @property
    def is_final(self) -> bool:
        return self in (TaskState.SUCCESS, TaskState.ABANDONED)


class TaskEvent(StrEnum):
    TAKEN = "taken"
    """A worker begins to ask."""
    ANSWERED = "answered"
    """The answer is whole and fits."""
    FAILED = "failed"
    """An error, no answer in time, or one that does not fit."""
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
    """The shortest wait before the second attempt; it doubles with each further one."""


@dataclass(frozen=True, slots=True)
class Task:
    """One request, from its place in the queue to its end."""

    state: TaskState = TaskState.PENDING
    attempt: int = 1
    """The attempt that is next, under way, or was the last."""


def step(task: Task, event: TaskEvent) -> Task:
    """The only way on. An event that the state does not know is a fault of the caller."""
    try:
        state = TRANSITIONS[task.state, event]
    except KeyError:
        raise ValueError(f"a request that is {task.state} cannot be {event}") from None
    return replace(task, state=state, attempt=task.attempt + (event is TaskEvent.RETRIED))


def after_failed_attempt(task: Task, retryable: bool, rules: RetryRules) -> TaskEvent:
    """A refused key stays refused, so errors for which a retry cannot help end the request at once."""
    return TaskEvent.RETRIED if retryable and task.attempt < rules.attempts else TaskEvent.GIVEN_UP


def delay(attempt: int, draw: float, rules: RetryRules | None = None) -> float:
    """Seconds to wait before this attempt, counted from 1. `draw` is a random number from 0 to 1.

    The first goes at once; the second after 2 s and up to 2 s more, the third after 4 s and up to 4 s more. The random
    part is as long as the fixed one, so that workers that failed together do not come back together.
    """
    if not 0.0 <= draw <= 1.0:
        raise ValueError(f"a draw is between 0 and 1, not {draw}")
    if attempt <= 1:
        return 0.0
    fixed = (rules or RetryRules()).base_seconds * 2 ** (attempt - 2)
    return float(fixed + draw * fixed)
