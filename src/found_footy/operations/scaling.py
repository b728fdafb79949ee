"""Decides how many instances a pool of workers or browsers needs, as a pure function of its load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class ScalingPolicy:
    minimum: int = 2
    maximum: int = 8
    up_above: float = 5
    """Pending tasks per instance."""
    down_below: float = 2
    cooldown: timedelta = timedelta(seconds=60)
    oldest_wait: timedelta = timedelta(seconds=60)
    """Age of the oldest pending task above which an instance is started, however few tasks wait."""
    max_cpu: float = 0.95
    """CPU usage of a machine above which another instance would not help, 0 to 1."""
    max_memory: float = 0.9

    def __post_init__(self) -> None:
        if not 0 <= self.minimum <= self.maximum:
            raise ValueError("minimum must not exceed maximum")
        if not 0 <= self.down_below <= self.up_above or not self.up_above:
            raise ValueError("down_below must not exceed up_above, which is positive")


@dataclass(frozen=True, slots=True)
class QueueLoad:
    name: str
    backlog: int
    oldest: timedelta = timedelta()
    running: int = 0
    """Number of running activities."""
    slots: int = 0
    """Number of activities that all instances together can run; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class PoolLoad:
    """Measured load of one pool."""

    instances: int
    """Instances that take tasks, without draining ones."""
    queues: tuple[QueueLoad, ...] = ()
    goals: int = 0
    """Active goals, for browsers."""
    draining: int = 0
    cpu: float | None = None
    """Maximum CPU usage of the pool's machines, 0 to 1; None if unknown."""
    memory: float | None = None
    scaled_at: datetime | None = None

    @property
    def pending(self) -> int:
        return self.goals + sum(queue.backlog for queue in self.queues)

    @property
    def oldest(self) -> timedelta:
        return max((queue.oldest for queue in self.queues if queue.backlog), default=timedelta())

    def has_slots(self, instances: int) -> bool:
        """Whether this number of instances has enough slots for all running activities."""
        return all(
            queue.running <= queue.slots * instances / self.instances for queue in self.queues if queue.slots > 0
        )


@dataclass(frozen=True, slots=True)
class ScalingDecision:
    target: int
    reason: str


def decide(load: PoolLoad, policy: ScalingPolicy, now: datetime) -> ScalingDecision:
    """Return the number of instances that should take tasks.

    Scales up to the smallest number with at most `up_above` pending tasks each. Scales down by one at a time, and only
    if the remaining instances have slots for all running tasks. Limits apply at once, everything else after the
    cool-down.
    """
    count, pending = load.instances, load.pending
    if count < policy.minimum:
        return ScalingDecision(policy.minimum, "below the minimum")
    if count > policy.maximum:
        return ScalingDecision(policy.maximum, "above the maximum")
    if load.scaled_at is not None and now - load.scaled_at < policy.cooldown:
        return ScalingDecision(count, "cooling down")
    per_instance = pending / max(1, count)
    if per_instance > policy.up_above:
        target = math.ceil(min(pending / policy.up_above, policy.maximum))
        return _scale_up(load, policy, target, f"{pending} pending on {count}")
    if load.oldest > policy.oldest_wait:
        wait = load.oldest.total_seconds()
        return _scale_up(load, policy, min(policy.maximum, count + 1), f"a task has waited {wait:.0f} s")
    # The last condition prevents the next decision from undoing this one.
    if count > policy.minimum and per_instance < policy.down_below and pending <= policy.up_above * (count - 1):
        if load.draining:
            return ScalingDecision(count, "another instance is draining")
        if not load.has_slots(count - 1):
            return ScalingDecision(count, "the other instances have too few free slots")
        return ScalingDecision(count - 1, f"{pending} pending on {count}")
    return ScalingDecision(count, "within limits")


def _scale_up(load: PoolLoad, policy: ScalingPolicy, target: int, reason: str) -> ScalingDecision:
    if target <= load.instances:
        return ScalingDecision(load.instances, f"{reason}, at the maximum")
    if load.cpu is not None and load.cpu > policy.max_cpu:
        return ScalingDecision(load.instances, f"{reason}, but CPU usage is too high")
    if load.memory is not None and load.memory > policy.max_memory:
        return ScalingDecision(load.instances, f"{reason}, but memory usage is too high")
    return ScalingDecision(target, reason)
