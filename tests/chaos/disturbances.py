"""The disturbances of a chaos run, drawn from its seed: what is disturbed, how, when and for how long.

A pure function: the same seed always draws the same disturbances. Consecutive seeds share out all possible pairs of a
kind and a target, so that `SEEDS_PER_ROUND` of them cover each pair at least once.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    KILL = "kill"
    """SIGKILL. Whoever supervises the process starts it again."""
    PAUSE = "pause"
    """SIGSTOP to the process and its children, then SIGCONT."""
    CUT = "cut"
    """The proxy drops all connections and refuses new ones, or falls silent."""
    SLOW = "slow"
    """The proxy delays every packet."""
    FULL = "fill the disk of"
    SKEW = "skew the clock of"


class Target(StrEnum):
    WORKER_1 = "worker-1"
    WORKER_2 = "worker-2"
    LIBRARY = "library-1"
    WEB = "web"
    WATCHDOG = "watchdog"
    SUPERVISOR = "supervisor"
    POSTGRES = "postgres"
    TEMPORAL = "temporal"
    VALKEY = "valkey"
    OBJECTS = "objects"
    VISION = "vision"
    BROWSER = "browser"
    OUTSIDE = "outside"
    """Feeds, sources and clip hosts."""
    RECEIVER = "receiver"
    """The subscriber's server."""
    WORK = "work"
    """The temporary folder of all workers."""


LIVE_WORKERS = (Target.WORKER_1, Target.WORKER_2)
PROCESSES = (*LIVE_WORKERS, Target.LIBRARY, Target.WEB, Target.WATCHDOG, Target.SUPERVISOR)
SERVERS = (Target.POSTGRES, Target.TEMPORAL, Target.VALKEY, Target.OBJECTS, Target.VISION, Target.BROWSER)
LINKS = (*SERVERS, Target.OUTSIDE, Target.RECEIVER)
DISKS = (Target.POSTGRES, Target.TEMPORAL, Target.VALKEY, Target.OBJECTS, Target.WORK)

TARGETS: Mapping[Kind, tuple[Target, ...]] = {
    Kind.KILL: (*PROCESSES, *SERVERS),
    Kind.PAUSE: (*PROCESSES, *SERVERS),
    Kind.CUT: LINKS,
    Kind.SLOW: LINKS,
    Kind.FULL: DISKS,
    Kind.SKEW: PROCESSES,
}
PAIRS = tuple((kind, target) for kind, targets in TARGETS.items() for target in targets)

STEPS = (
    "set_monitor_complete",
    "fetch_clip",
    "verify_clip",
    "hash_clip",
    "publish_clip",
    "settle_event",
    "deduplicate_pool",
    "close_event",
    "poll_active_fixtures",
    "deliver",
    "search_sources",
    "register_download_workflow",
    "queue_videos_for_upload",
    "clean_up_upload",
    "fan_out",
    "poll_feed",
)
"""Activities that run in every matchday. What is lost if a worker dies after them comes first."""
MOMENTS = tuple(f"{when} {step}" for when in ("after", "before") for step in STEPS)

PAIRS_PER_SEED = 6
SEEDS_PER_ROUND = -(-len(PAIRS) // PAIRS_PER_SEED)
SHUFFLE = "round 55"
"""Chosen so that the first five seeds, which are part of `make test`, cover every kind and every target."""
KILLS_PER_SEED = 2
"""Workers killed at a step, besides the pairs: one moment after the other."""


@dataclass(frozen=True)
class Trigger:
    """Begin of a disturbance: at a step of the work, or at a share of the matchday. Never a wall time."""

    step: str | None = None
    """Such as `before fetch_clip`; the first time that any worker gets there."""
    progress: float | None = None
    """0 is the begin of the matchday, 1 shortly before its end."""

    def __str__(self) -> str:
        return self.step if self.step is not None else f"at {self.progress:.0%} of the matchday"


@dataclass(frozen=True)
class Disturbance:
    kind: Kind
    target: Target
    trigger: Trigger
    seconds: float = 0.0
    """Until it ends; a killed process returns by itself."""
    amount: float = 0.0
    """Seconds of delay per packet or of the clock's offset. A cut: 1 if the proxy falls silent, 0 if it refuses."""

    def __str__(self) -> str:
        how = {Kind.SLOW: f" by {self.amount} s", Kind.SKEW: f" by {self.amount:+.0f} s"}.get(self.kind, "")
        how += " silently" if self.kind is Kind.CUT and self.amount else ""
        lasting = f" for {self.seconds} s" if self.seconds else ""
        return f"{self.kind} {self.target}{how}{lasting}, {self.trigger}"


def draw(seed: int) -> tuple[Disturbance, ...]:
    """The disturbances of a run. They may overlap."""
    chance = random.Random(f"chaos {seed}")
    first = (seed - 1) * KILLS_PER_SEED
    kills = [MOMENTS[number % len(MOMENTS)] for number in range(first, first + KILLS_PER_SEED)]
    others = chance.sample([moment for moment in MOMENTS if moment not in kills], PAIRS_PER_SEED)
    return (
        *(Disturbance(Kind.KILL, worker, Trigger(step=step)) for worker, step in zip(LIVE_WORKERS, kills, strict=True)),
        *(_draw(chance, kind, target, step) for (kind, target), step in zip(_pairs(seed), others, strict=True)),
    )


def _pairs(seed: int) -> list[tuple[Kind, Target]]:
    """The seed's share of its round's pairs, which are shuffled."""
    number, place = divmod(seed - 1, SEEDS_PER_ROUND)
    pairs = list(PAIRS)
    random.Random(f"{SHUFFLE} {number}").shuffle(pairs)
    own = pairs[place * PAIRS_PER_SEED :][:PAIRS_PER_SEED]
    return own + pairs[: PAIRS_PER_SEED - len(own)]


def _draw(chance: random.Random, kind: Kind, target: Target, step: str) -> Disturbance:
    seconds = 0.0 if kind is Kind.KILL else round(chance.uniform(0.5, 4.0), 1)
    amount = {
        Kind.CUT: float(chance.randrange(2)),
        Kind.SLOW: round(chance.uniform(0.02, 0.4), 2),
        Kind.SKEW: float(chance.choice((-1, 1)) * chance.randint(2, 60)),
    }.get(kind, 0.0)
    at_step = chance.random() < (0.8 if target in LIVE_WORKERS else 0.4)
    progress = round(chance.uniform(0.05, 0.95), 2)
    return Disturbance(kind, target, Trigger(step=step) if at_step else Trigger(progress=progress), seconds, amount)
