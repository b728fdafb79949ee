"""Starts and drains workers and browsers by load: measures and acts, while `scaling.decide` decides."""

from __future__ import annotations

import asyncio
import json
import logging
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from temporalio.api.enums.v1 import WorkerStatus
from temporalio.api.worker.v1 import WorkerHeartbeat
from temporalio.api.workflowservice.v1 import ListWorkersRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from found_footy.browser.client import BrowserClient
from found_footy.config import Settings
from found_footy.errors import EngineError, FootyError
from found_footy.operations.models import Queue
from found_footy.operations.scaling import PoolLoad, QueueLoad, ScalingDecision, ScalingPolicy, decide
from found_footy.operations.temporal_status import TemporalStatus
from found_footy.runtime.supervisor import ChildState, Supervisor, WorkerSpec

log = logging.getLogger(__name__)

LIVE, LIBRARY, BROWSERS = "workers", "library", "browsers"
POOL_QUEUES: Mapping[str, tuple[str, ...]] = {
    LIVE: ("workflow", "activity", "network", "media", "browser"),
    LIBRARY: ("library", "library-films"),
    BROWSERS: (),
}
COMMAND_SECONDS = 120.0


def worker_policy(settings: Settings) -> ScalingPolicy:
    return _policy(settings, settings.workers_least, settings.workers_most)


def library_policy(settings: Settings) -> ScalingPolicy:
    return _policy(settings, settings.library_workers_least, settings.library_workers_most)


def browser_policy(settings: Settings) -> ScalingPolicy:
    return _policy(settings, settings.browsers_least, settings.browsers_most)


def _policy(settings: Settings, minimum: int, maximum: int) -> ScalingPolicy:
    return ScalingPolicy(
        minimum,
        max(minimum, maximum),
        settings.scale_up_above,
        min(settings.scale_down_below, settings.scale_up_above),
        timedelta(seconds=settings.scale_cooldown_seconds),
        max_cpu=settings.scale_cpu_percent / 100,
        max_memory=settings.scale_memory_percent / 100,
    )


# --- Acting: one interface per place where instances run.


@dataclass(frozen=True, slots=True)
class InstanceCount:
    taking_tasks: int
    draining: int = 0


class Instances(Protocol):
    """The instances of one pool. Raises FootyError if they cannot be reached."""

    async def count(self) -> InstanceCount: ...

    async def scale_to(self, target: int) -> None:
        """Start instances, or drain the newest ones without waiting for the drain."""


class LocalInstances:
    """Child processes of `footy up`, which is this process."""

    def __init__(self, supervisor: Supervisor, spec: Callable[[int], WorkerSpec]) -> None:
        self._supervisor = supervisor
        self._spec = spec
        self._prefix = spec(0).name.removesuffix("0")
        self._draining: set[asyncio.Task[None]] = set()

    async def count(self) -> InstanceCount:
        taking, draining = self._numbers()
        return InstanceCount(len(taking), len(draining))

    async def scale_to(self, target: int) -> None:
        taking, draining = self._numbers()
        free = (number for number in range(1, 1000) if number not in {*taking, *draining})
        specs = [self._spec(next(free)) for _ in range(target - len(taking))]
        if specs:
            await self._supervisor.start_workers(specs)
        for number in sorted(taking)[target:]:
            task = asyncio.create_task(self._supervisor.drain_worker(f"{self._prefix}{number}"), name="drain")
            self._draining.add(task)
            task.add_done_callback(self._draining.discard)
            await asyncio.sleep(0)  # let the task mark the worker as draining

    def _numbers(self) -> tuple[list[int], list[int]]:
        mine = [child for child in self._supervisor.status() if child.name.startswith(self._prefix)]
        numbered = [(int(child.name.removeprefix(self._prefix)), child.state is ChildState.DRAINING) for child in mine]
        return [number for number, drains in numbered if not drains], [number for number, drains in numbered if drains]


Run = Callable[[Sequence[str]], Awaitable[str]]


class ComposeInstances:
    """Containers of one service of `docker compose` or `podman compose`.

    A container drains on SIGUSR1 and then exits with 0, so its restart policy must be `on-failure`.
    """

    def __init__(self, command: str, service: str, run: Run | None = None) -> None:
        self._compose = tuple(shlex.split(command))
        self._service = service
        program = self._compose[0]
        self._engine = Path(program).name.removesuffix("-compose") if program.endswith("-compose") else program
        self._run = run or _run
        self._drained: set[str] = set()

    async def count(self) -> InstanceCount:
        running = await self._containers()
        self._drained &= set(running)
        return InstanceCount(len(running) - len(self._drained), len(self._drained))

    async def scale_to(self, target: int) -> None:
        running = await self._containers()
        self._drained &= set(running)
        taking = [name for name in running if name not in self._drained]
        if target > len(taking):
            scale = f"{self._service}={target + len(self._drained)}"
            options = ("--detach", "--no-deps", "--no-recreate", "--scale", scale)
            await self._run([*self._compose, "up", *options, self._service])
        for name in taking[target:]:
            await self._run([self._engine, "kill", "--signal", "SIGUSR1", name])
            self._drained.add(name)

    async def _containers(self) -> list[str]:
        """Return the names of the running containers, by number."""
        # podman-compose lists the whole project, and takes no name of a service.
        rows = _json_rows(await self._run([*self._compose, "ps", "--format", "json"]))
        running = [row for row in rows if str(row.get("State", "running")).lower() == "running"]
        names = [_name(row) for row in running if _service(row) == self._service]
        return sorted(names, key=lambda name: (len(name), name))


def _json_rows(text: str) -> list[dict[str, object]]:
    """Parse the output: Docker prints one object per line, Podman and older versions an array."""
    try:
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise EngineError(f"unexpected output of the compose command: {text[:200]!r}") from error


def _name(row: Mapping[str, object]) -> str:
    """Return the name, which Docker prints as a string and Podman as a list."""
    names = row.get("Names")
    return str(row.get("Name") or (names[0] if isinstance(names, list) and names else ""))


def _service(row: Mapping[str, object]) -> str:
    """Docker gives a name, Podman a label."""
    labels = row.get("Labels")
    label = labels.get("com.docker.compose.service") if isinstance(labels, dict) else None
    return str(row.get("Service") or label or "")


async def _run(command: Sequence[str]) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
    except OSError as error:
        raise EngineError(f"cannot run {command[0]}: {error.strerror}") from error
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            out, problem = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise EngineError(f"`{shlex.join(command)}` did not finish within {COMMAND_SECONDS:g} s") from None
    if process.returncode:
        lines = problem.decode(errors="replace").strip().splitlines()
        raise EngineError(f"`{shlex.join(command)}` failed: {lines[-1] if lines else process.returncode}")
    return out.decode(errors="replace")


class BrowserInstances:
    """Browsers of the browser service, which drains them itself."""

    def __init__(self, browser: BrowserClient) -> None:
        self._browser = browser

    async def count(self) -> InstanceCount:
        facts = await self._browser.facts()
        return InstanceCount(int(facts.get("browsers", 1)))

    async def scale_to(self, target: int) -> None:
        await self._browser.scale(target)


# --- Measuring.


@dataclass(frozen=True, slots=True)
class SystemLoad:
    """One measurement of Temporal and the database, shared by all pools."""

    queues: Mapping[str, QueueLoad]
    goals: int
    machines: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """CPU and memory usage by worker, each 0 to 1."""
    queues_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Queues by worker."""

    def of_pool(self, name: str, count: InstanceCount, scaled_at: datetime | None) -> PoolLoad:
        kinds = POOL_QUEUES[name]
        workers = [worker for worker, queues in self.queues_of.items() if queues & set(kinds)]
        used = [self.machines[worker] for worker in workers]
        return PoolLoad(
            count.taking_tasks,
            tuple(self.queues[kind] for kind in kinds if kind in self.queues),
            self.goals if name == BROWSERS else 0,
            count.draining,
            max((cpu for cpu, _ in used), default=None),
            max((memory for _, memory in used), default=None),
            scaled_at,
        )


class LoadProbe:
    """Measures Temporal's queues and workers, and counts active goals. Raises FootyError."""

    def __init__(
        self, client: Client, status: TemporalStatus, base: str, active_goals: Callable[[], Awaitable[int]]
    ) -> None:
        self._client = client
        self._status = status
        self._base = base
        self._active_goals = active_goals

    async def measure(self) -> SystemLoad:
        try:
            queues, heartbeats, goals = await asyncio.gather(
                self._status.queues(), self._heartbeats(), self._active_goals()
            )
        except (RPCError, RuntimeError, OSError) as error:
            raise EngineError(f"cannot read the load from Temporal: {error}") from error
        return system_load(queues, heartbeats, goals, self._base)

    async def _heartbeats(self) -> list[WorkerHeartbeat]:
        request = ListWorkersRequest(namespace=self._client.namespace, page_size=1000)
        try:
            answer = await self._client.workflow_service.list_workers(request, timeout=timedelta(seconds=5))
        except RPCError as error:
            if error.status is RPCStatusCode.UNIMPLEMENTED:
                return []  # an older server: only the backlog is known
            raise
        return [each.worker_heartbeat for each in answer.workers_info]


def system_load(queues: Sequence[Queue], heartbeats: Sequence[WorkerHeartbeat], goals: int, base: str) -> SystemLoad:
    loads = {queue.kind: QueueLoad(queue.kind, queue.backlog, queue.backlog_age) for queue in queues}
    machines: dict[str, tuple[float, float]] = {}
    queues_of: dict[str, frozenset[str]] = {}
    for beat in heartbeats:
        kind = "activity" if beat.task_queue == base else beat.task_queue.removeprefix(f"{base}-")
        if kind not in loads or beat.status != WorkerStatus.WORKER_STATUS_RUNNING:
            continue
        slots, known = beat.activity_task_slots_info, loads[kind]
        loads[kind] = replace(
            known,
            running=known.running + slots.current_used_slots,
            slots=known.slots + slots.current_used_slots + slots.current_available_slots,
        )
        name, host = beat.worker_identity, beat.host_info
        machines[name] = (host.current_host_cpu_usage, host.current_host_mem_usage)
        queues_of[name] = queues_of.get(name, frozenset()) | {kind}
    return SystemLoad(loads, goals, machines, queues_of)


# --- The loop.


@dataclass(frozen=True, slots=True)
class ScaledPool:
    name: str
    policy: ScalingPolicy
    instances: Instances


@dataclass(frozen=True, slots=True)
class PoolReport:
    name: str
    load: PoolLoad
    decision: ScalingDecision


class Scaler:
    def __init__(
        self,
        pools: Sequence[ScaledPool],
        measure: Callable[[], Awaitable[SystemLoad]],
        now: Callable[[], datetime],
        interval: timedelta,
    ) -> None:
        self._pools = pools
        self._measure = measure
        self._now = now
        self._interval = interval
        self._scaled_at: dict[str, datetime] = {}

    async def run(self) -> None:
        """Scale until cancelled. A pool that cannot be measured or reached is left unchanged."""
        while True:
            try:
                await self.round()
            except FootyError as error:
                log.warning("cannot measure the load: %s", error, extra={"action": "scaler_blind"})
            except Exception:
                # Keep running: otherwise no workers would be started any more.
                log.exception("internal error in a round of the scaler", extra={"action": "scaler_failed"})
            await asyncio.sleep(self._interval.total_seconds())

    async def round(self, *, act: bool = True) -> list[PoolReport]:
        """Measure, decide and act once. Raises FootyError if nothing can be measured."""
        system = await self._measure()
        reports = []
        for pool in self._pools:
            try:
                reports.append(await self._scale(pool, system, act=act))
            except FootyError as error:
                log.warning("cannot scale %s: %s", pool.name, error, extra={"action": "scale_failed"})
        return reports

    async def _scale(self, pool: ScaledPool, system: SystemLoad, *, act: bool) -> PoolReport:
        load = system.of_pool(pool.name, await pool.instances.count(), self._scaled_at.get(pool.name))
        decision = decide(load, pool.policy, self._now())
        if act and decision.target != load.instances:
            await pool.instances.scale_to(decision.target)
            self._scaled_at[pool.name] = self._now()
            log.info(
                f"{pool.name}: from {load.instances} to {decision.target}: {decision.reason}",
                extra={"action": "scaled", "pool": pool.name, "before": load.instances, "after": decision.target},
            )
        return PoolReport(pool.name, load, decision)
