"""Timeouts and retries of activities."""

from __future__ import annotations

from datetime import timedelta

import pytest

from found_footy.library.stages import Lane
from found_footy.runtime.activity_policy import HEARTBEAT_TIMEOUT, MAX_BACKOFF, ActivityPolicy
from found_footy.runtime.queues import WorkKind

SECOND = timedelta(seconds=1)


def test_options_hold_the_timeout_the_attempts_and_a_heartbeat() -> None:
    options = ActivityPolicy(30 * SECOND, attempts=5, initial_backoff=2 * SECOND).options()
    assert options["start_to_close_timeout"] == 30 * SECOND
    assert options["schedule_to_close_timeout"] is None
    assert options["heartbeat_timeout"] == HEARTBEAT_TIMEOUT
    retry = options["retry_policy"]
    assert retry is not None
    assert (retry.maximum_attempts, retry.initial_interval, retry.maximum_interval) == (5, 2 * SECOND, None)


def test_a_retry_window_replaces_the_count_of_attempts() -> None:
    options = ActivityPolicy(30 * SECOND, attempts=5).within(3600 * SECOND).options()
    retry = options["retry_policy"]
    assert retry is not None
    assert (retry.maximum_attempts, retry.maximum_interval) == (0, MAX_BACKOFF)
    assert options["schedule_to_close_timeout"] == 3600 * SECOND


@pytest.mark.parametrize(
    ("kind", "lane", "queue"),
    [
        (WorkKind.ORCHESTRATION, "", "footy"),
        (WorkKind.NETWORK, "", "footy-network"),
        (WorkKind.MEDIA, "", "footy-media"),
        (WorkKind.BROWSER, "", "footy-browser"),
        (WorkKind.LIBRARY, Lane.GOALS.queue_suffix, "footy-library"),
        (WorkKind.LIBRARY, Lane.FILMS.queue_suffix, "footy-library-films"),
    ],
)
def test_each_kind_of_work_has_a_queue_next_to_that_of_the_workflows(kind: WorkKind, lane: str, queue: str) -> None:
    assert ActivityPolicy(SECOND, attempts=1).on(kind, lane).task_queue("footy") == queue


def test_a_step_that_completes_started_work_goes_first() -> None:
    policy = ActivityPolicy(SECOND, attempts=1)
    assert policy.options()["priority"].priority_key is None
    assert policy.first().options()["priority"].priority_key == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"start_to_close": 0 * SECOND, "attempts": 1},
        {"start_to_close": SECOND},
        {"start_to_close": SECOND, "attempts": 0},
        {"start_to_close": SECOND, "attempts": 1, "initial_backoff": 0 * SECOND},
        {"start_to_close": SECOND, "retry_window": 0 * SECOND},
    ],
)
def test_a_policy_that_cannot_work_is_rejected_when_built(arguments: dict[str, timedelta]) -> None:
    with pytest.raises(ValueError, match="positive"):
        ActivityPolicy(**arguments)  # type: ignore[arg-type]
