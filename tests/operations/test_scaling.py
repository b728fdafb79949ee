"""How many instances are needed, as a table and as properties."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from found_footy.config import Settings
from found_footy.operations.scaler import worker_policy
from found_footy.operations.scaling import PoolLoad, QueueLoad, ScalingPolicy, decide

NOW = datetime(2026, 11, 19, 15, tzinfo=UTC)
POLICY = ScalingPolicy()


def load(
    instances: int, pending: int = 0, *, age: float = 0, running: int = 0, slots: int = 0, **more: Any
) -> PoolLoad:
    return PoolLoad(instances, (QueueLoad("q", pending, timedelta(seconds=age), running, slots),), **more)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def test_the_defaults_are_those_of_the_seeds() -> None:
    assert worker_policy(Settings(_env_file=None)) == ScalingPolicy(2, 8, 5, 2, timedelta(seconds=60))
    assert Settings(_env_file=None).scale_seconds == 30


@pytest.mark.parametrize(
    ("measured", "target", "reason"),
    [
        (load(0), 2, "below the minimum"),
        (load(1, 100, scaled_at=ago(1)), 2, "below the minimum"),
        (load(9), 8, "above the maximum"),
        (load(2, 10), 2, "within limits"),
        (load(2, 11), 3, "11 pending on 2"),
        (load(2, 40), 8, "40 pending on 2"),
        (load(2, 400), 8, "400 pending on 2"),
        (load(8, 400), 8, "400 pending on 8, at the maximum"),
        (load(2, 11, scaled_at=ago(59)), 2, "cooling down"),
        (load(2, 11, scaled_at=ago(60)), 3, "11 pending on 2"),
        (load(2, 11, cpu=0.96), 2, "11 pending on 2, but CPU usage is too high"),
        (load(2, 11, memory=0.91), 2, "11 pending on 2, but memory usage is too high"),
        (load(2, 1, age=61), 3, "a task has waited 61 s"),
        (load(2, 0, age=61), 2, "within limits"),
        (load(4, 8), 4, "within limits"),
        (load(4, 7), 3, "7 pending on 4"),
        (load(4, 0, scaled_at=ago(59)), 4, "cooling down"),
        (load(4, 0, draining=1), 4, "another instance is draining"),
        (load(4, 0, running=6, slots=8), 3, "0 pending on 4"),
        (load(4, 0, running=7, slots=8), 4, "the other instances have too few free slots"),
        (load(2, 0), 2, "within limits"),
        (PoolLoad(2, goals=11), 3, "11 pending on 2"),
        (PoolLoad(3, goals=2), 2, "2 pending on 3"),
    ],
)
def test_the_decision_is_a_function_of_the_measurement(measured: PoolLoad, target: int, reason: str) -> None:
    decision = decide(measured, POLICY, NOW)
    assert (decision.target, decision.reason) == (target, reason)


@pytest.mark.parametrize(
    "wrong", [{"minimum": 3, "maximum": 2}, {"up_above": 2.0, "down_below": 5.0}, {"up_above": 0.0, "down_below": 0.0}]
)
def test_a_policy_that_contradicts_itself_is_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must not exceed"):
        ScalingPolicy(**wrong)


counts = st.integers(0, 20)
policies = st.builds(
    lambda minimum, more, down, up: ScalingPolicy(minimum, minimum + more, down + up, down),
    st.integers(1, 6),
    st.integers(0, 10),
    st.floats(0, 10),
    st.floats(1e-300, 10),
)
loads = st.builds(
    lambda count, pending, age, running, slots, draining, cpu, memory: load(
        count, pending, age=age, running=running, slots=slots, draining=draining, cpu=cpu, memory=memory
    ),
    counts,
    st.integers(0, 500),
    st.integers(0, 600),
    counts,
    counts,
    st.integers(0, 2),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 1),
)


@given(loads, policies)
def test_the_target_stays_within_the_limits(measured: PoolLoad, policy: ScalingPolicy) -> None:
    assert policy.minimum <= decide(measured, policy, NOW).target <= policy.maximum


@given(st.integers(3, 8), st.integers(0, 20), st.integers(1, 20), st.integers(0, 1))
def test_nothing_is_stopped_that_the_others_have_no_room_for(
    count: int, running: int, slots: int, draining: int
) -> None:
    """In the calm: no task waits."""
    measured = load(count, running=running, slots=slots, draining=draining)
    fits = running <= slots * (count - 1) / count
    assert decide(measured, POLICY, NOW).target == (count - 1 if fits and not draining else count)


@given(loads, policies)
def test_a_decision_is_not_undone_by_the_next_one(measured: PoolLoad, policy: ScalingPolicy) -> None:
    """With the same load, after the cool-down, the direction never changes."""
    first = decide(measured, policy, NOW).target
    second = decide(replace(measured, instances=first), policy, NOW).target
    assume(policy.minimum <= measured.instances <= policy.maximum)
    assert (first - measured.instances) * (second - first) >= 0


@given(loads, policies, st.integers(0, 100))
def test_more_pending_tasks_never_mean_fewer_instances(measured: PoolLoad, policy: ScalingPolicy, more: int) -> None:
    (queue,) = measured.queues
    busier = replace(measured, queues=(replace(queue, backlog=queue.backlog + more),))
    assert decide(busier, policy, NOW).target >= decide(measured, policy, NOW).target
