"""The life of one request: a table, and the waits between its attempts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.runtime.retry import (
    TRANSITIONS,
    RetryRules,
    Task,
    TaskEvent,
    TaskState,
    after_failed_attempt,
    delay,
    step,
)

RULES = RetryRules()


@pytest.mark.parametrize(
    ("before", "event", "after"),
    [
        ("pending", "taken", "executing"),
        ("executing", "answered", "success"),
        ("executing", "failed", "failed"),
        ("failed", "retried", "pending"),
        ("failed", "given_up", "abandoned"),
    ],
)
def test_allowed_request_transitions(before: str, event: str, after: str) -> None:
    assert step(Task(TaskState(before)), TaskEvent(event)).state is TaskState(after)


def test_all_other_transitions_are_rejected() -> None:
    for state in TaskState:
        for event in TaskEvent:
            if (state, event) not in TRANSITIONS:
                with pytest.raises(ValueError, match=f"{state} cannot be {event}"):
                    step(Task(state), event)


def test_nothing_leads_out_of_an_end() -> None:
    assert set(TaskState) - {state for state, _ in TRANSITIONS} == {TaskState.SUCCESS, TaskState.ABANDONED}


@pytest.mark.parametrize(
    ("attempt", "retryable", "event"),
    [
        (1, True, "retried"),
        (2, True, "retried"),
        (3, True, "given_up"),
        (1, False, "given_up"),  # a refused key stays refused
    ],
)
def test_a_failed_attempt_is_repeated_twice_at_most(attempt: int, retryable: bool, event: str) -> None:
    failed = Task(TaskState.FAILED, attempt)
    assert after_failed_attempt(failed, retryable, RULES) is TaskEvent(event)


def played(outcomes: str, retryable: bool = True) -> list[str]:
    """The states that a request passes through: `-` is a failed attempt, `+` a good one."""
    task = Task()
    states: list[str] = [task.state]
    for outcome in outcomes:
        task = step(task, TaskEvent.TAKEN)
        states.append(task.state)
        task = step(task, TaskEvent.ANSWERED if outcome == "+" else TaskEvent.FAILED)
        states.append(task.state)
        if task.state is TaskState.FAILED:
            task = step(task, after_failed_attempt(task, retryable, RULES))
            states.append(task.state)
    return states


def test_three_failures_abandon_a_request_and_a_late_answer_saves_it() -> None:
    again = ["executing", "failed", "pending"]
    assert played("---") == ["pending", *again, *again, "executing", "failed", "abandoned"]
    assert played("--+") == ["pending", *again, *again, "executing", "success"]
    assert played("+") == ["pending", "executing", "success"]
    assert played("-", retryable=False) == ["pending", "executing", "failed", "abandoned"]


@pytest.mark.parametrize(
    ("attempt", "shortest", "longest"),
    [
        (1, 0, 0),
        (2, 2, 2 + 2),
        (3, 4, 4 + 4),
    ],
)
def test_waits_grow_and_are_half_chance(attempt: int, shortest: float, longest: float) -> None:
    assert delay(attempt, 0.0) == shortest
    assert delay(attempt, 1.0) == longest


@given(st.integers(2, 8), st.floats(0, 1), st.floats(0.001, 10))
def test_a_wait_is_between_once_and_twice_its_fixed_part(attempt: int, draw: float, base: float) -> None:
    fixed = base * 2 ** (attempt - 2)
    assert fixed <= delay(attempt, draw, RetryRules(base_seconds=base)) <= 2 * fixed


@pytest.mark.parametrize("draw", [-0.1, 1.1, float("nan")])
def test_a_draw_that_is_none_is_refused(draw: float) -> None:
    with pytest.raises(ValueError, match="expected 0 to 1"):
        delay(2, draw)
