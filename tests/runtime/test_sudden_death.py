"""The owner of the engines is killed: nothing survives it, and the next one finds the data."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

import pytest

from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal
from found_footy.runtime.supervisor import Supervisor
from tests.runtime.engine_helpers import eventually, exists, owner_process, query
from tests.runtime.test_embedded_temporal import start_workflow, still_there


@pytest.fixture(scope="module")
def unlocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFolder]:
    """A folder for another process to own."""
    folder = DataFolder(tmp_path_factory.mktemp("owned") / "data")
    yield folder
    with folder.lock():
        asyncio.run(EmbeddedPostgres(folder).destroy())


async def test_kill_9_of_the_owner_leaves_no_orphan_and_loses_no_data(unlocked: DataFolder) -> None:
    with owner_process(unlocked) as owner:
        await eventually(lambda: (r := unlocked.read_runtime()) is not None and "worker" in r.pids)
        runtime = unlocked.read_runtime()
        assert runtime is not None
        assert runtime.database_url is not None
        assert runtime.temporal_address is not None
        assert runtime.owner_pid == owner.pid
        await query(runtime.database_url, "CREATE TABLE kept AS SELECT 1 AS n")
        await start_workflow(runtime.temporal_address, "kept")
        owner.kill()
        owner.wait()

    assert unlocked.read_runtime() is None
    if sys.platform == "linux":
        await eventually(lambda: not any(exists(pid) for pid in runtime.pids.values()))

    with unlocked.lock():
        postgres, temporal = EmbeddedPostgres(unlocked), EmbeddedTemporal(unlocked)
        async with Supervisor(unlocked, [postgres, temporal]) as supervisor:
            await supervisor.start_engines()
            assert supervisor.environment == runtime.environment
            assert await query(postgres.url, "SELECT n FROM kept") == [(1,)]
            assert await still_there(temporal.address, "kept")
    assert not any(exists(pid) for pid in runtime.pids.values())


async def test_a_start_right_after_the_kill_does_not_meet_the_dying_engines(unlocked: DataFolder) -> None:
    with owner_process(unlocked) as owner:
        await eventually(lambda: unlocked.read_runtime() is not None)
        owner.kill()
        owner.wait()
    with unlocked.lock():
        async with Supervisor(unlocked, [EmbeddedPostgres(unlocked), EmbeddedTemporal(unlocked)]) as supervisor:
            await supervisor.start_engines()
