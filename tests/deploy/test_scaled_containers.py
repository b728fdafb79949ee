"""The scaler on podman: `make deploy-test`. Needs root, podman and Debian's package archive."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from temporalio.client import Client

from found_footy.operations.scaler import LIVE, ComposeInstances, InstanceCount, LoadProbe, ScaledPool, Scaler
from found_footy.operations.scaling import ScalingPolicy
from found_footy.operations.temporal_status import TemporalStatus
from tests.deploy.containers import build_image, podman, run
from tests.deploy.test_two_machines import CACHE
from tests.operations.draining_worker import BlockedWorkflow
from tests.support.docs import ROOT
from tests.support.processes import wait_until

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(3600)]

# The machine's other load must not decide what happens here.
POLICY = ScalingPolicy(1, 2, 2, 1, timedelta(0), max_cpu=1.1, max_memory=1.1)


@dataclass
class Containers:
    client: Client
    queue: str
    folder: Path
    compose: tuple[str, ...]

    def names(self) -> list[str]:
        """Of the running containers, the oldest number first."""
        rows = json.loads(run(*self.compose, "ps", "--format", "json"))
        return sorted(row["Names"][0] for row in rows if row["State"] == "running")

    def begun(self, container: str) -> list[int]:
        lines = podman("logs", container).splitlines()
        return [int(line.removeprefix("begun ")) for line in lines if line.startswith("begun ")]

    def running(self, container: str) -> list[int]:
        return [number for number in self.begun(container) if not (self.folder / f"end-{number}").exists()]

    def attempts(self) -> set[str]:
        return {file.read_text().split()[1] for file in self.folder.glob("begun-*")}

    def end(self, number: int) -> None:
        (self.folder / f"end-{number}").touch()


@pytest.fixture
async def containers(temporal: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Containers]:
    image = build_image(CACHE)
    # crun fails on hybrid cgroups, and there may be no systemd.
    engine = tmp_path / "containers.conf"
    engine.write_text('[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n')
    monkeypatch.setenv("CONTAINERS_CONF", str(engine))
    folder, queue = tmp_path / "work", f"scaled-{uuid4()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    address = temporal.service_client.config.target_host
    module = ("-m", "tests.operations.draining_worker")
    worker = {
        "image": image,
        "entrypoint": ["tini", "--", "python3"],
        "command": [*module, address, temporal.namespace, queue, "/work"],
        "environment": {"PYTHONPATH": "/opt/tests"},
        "network_mode": "host",
        "restart": "on-failure",
        "stop_signal": "SIGUSR1",
        "volumes": [f"{folder}:/work", f"{ROOT}/tests:/opt/tests/tests:ro"],
        "ulimits": {"nofile": 1024, "nproc": 2048},
        "healthcheck": {"disable": True},
    }
    file = tmp_path / "compose.yaml"
    file.write_text(yaml.safe_dump({"services": {"worker": worker, "other": {**worker, "command": ["--version"]}}}))
    program = Path(sys.executable).parent / "podman-compose"
    compose = (str(program), "--in-pod=false", "-p", queue, "-f", str(file))
    try:
        yield Containers(temporal, queue, folder, compose)
    finally:
        await asyncio.to_thread(run, *compose, "kill", "--all", check=False)
        await asyncio.to_thread(run, *compose, "down", "--timeout", "1", "--volumes", check=False)
        left = podman("ps", "--all", "--quiet", f"--filter=label=io.podman.compose.project={queue}").split()
        podman("rm", "--force", "--ignore", *left, check=False)  # `down` knows as many as the file has


async def test_the_scaler_starts_and_drains_containers_without_interrupting_an_activity(
    containers: Containers,
) -> None:
    """A burst, two containers, calm: the newest one drains while it still runs its activity."""
    place = ComposeInstances(" ".join(containers.compose), "worker")
    queue = containers.queue

    async def no_goals() -> int:
        return 0

    probe = LoadProbe(containers.client, TemporalStatus(containers.client, queue, []), queue, no_goals)
    pool = ScaledPool(LIVE, POLICY, place)
    scaler = Scaler([pool], probe.measure, lambda: datetime.now(UTC), timedelta(seconds=1))

    async def scaled(count: InstanceCount) -> bool:
        await scaler.round()
        return await place.count() == count

    async def begin(number: int) -> Any:
        id_ = f"{queue}-{number}"
        return await containers.client.start_workflow(BlockedWorkflow.run, number, id=id_, task_queue=queue)

    handles = [await begin(number) for number in range(6)]
    await wait_until(lambda: scaled(InstanceCount(2)))
    _, newest = await asyncio.to_thread(containers.names)

    async def is_busy() -> bool:
        return len(await asyncio.to_thread(containers.running, newest)) == 1

    await wait_until(is_busy)
    (kept,) = containers.running(newest)
    for number in {*range(6)} - {kept}:
        containers.end(number)
    await asyncio.gather(*(handle.result() for number, handle in enumerate(handles) if number != kept))

    await wait_until(lambda: scaled(InstanceCount(1, 1)))
    assert newest in containers.names(), "it drains, and still runs its activity"
    late = await begin(6)
    containers.end(6)
    await late.result()
    assert 6 not in containers.begun(newest), "a draining container takes no task"

    containers.end(kept)
    await handles[kept].result()
    await wait_until(lambda: scaled(InstanceCount(1)))
    (state,) = [each["State"] for each in json.loads(podman("inspect", newest))]
    assert (state["Running"], state["ExitCode"]) == (False, 0)
    assert containers.attempts() == {"1"}
