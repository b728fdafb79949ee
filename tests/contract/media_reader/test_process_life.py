"""Processes end when nobody needs them any more, and what is needed is started again."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

import pytest

from found_footy.adapters.media import fork_server
from found_footy.adapters.media.limited_process import TRIES
from found_footy.domain.errors import DecoderUnavailable, MediaBroken

from .conftest import MISBEHAVING, Make, is_alive, is_gone, written_in


async def test_a_cancelled_call_kills_its_process(limited: Make, tmp_path: Path) -> None:
    made = limited(own=True)
    task = asyncio.create_task(made.run("sleep", tmp_path / "pid"))
    pid = await written_in(tmp_path / "pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await is_gone(pid)
    assert (await made.run("fine"))["bytes"] == 10


async def test_what_a_process_has_started_ends_with_it(limited: Make) -> None:
    await is_gone((await limited(own=True).run("fork"))["pid"])


async def test_nothing_piles_up(limited: Make) -> None:
    made = limited(own=True)
    await made.run("fine")
    gc.collect()  # what tests before have left may be closed in the middle of this one
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(20):
        await made.run("fine")
        with pytest.raises(MediaBroken):
            await made.run("abort")
    assert set(os.listdir("/proc/self/fd")) <= before
    assert made.server.pid is not None
    for child in _children_of(made.server.pid):
        await is_gone(child)
    # Not even zombies, once the last one has been waited for.
    await made.run("fine")
    while len(_children_of(made.server.pid)) > 1:
        await asyncio.sleep(0.005)
    assert len(os.listdir(f"/proc/{made.server.pid}/fd")) < 15


async def test_a_killed_fork_server_is_started_again(limited: Make) -> None:
    made = limited(own=True)
    await made.run("fine")
    first = made.server.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert (await made.run("fine"))["bytes"] == 10
    assert made.server.pid != first


async def test_a_call_survives_the_death_of_the_fork_server(limited: Make, tmp_path: Path) -> None:
    made = limited(own=True)
    task = asyncio.create_task(made.run("sleep_the_first_time", tmp_path / "pid"))
    pid = await written_in(tmp_path / "pid")
    assert made.server.pid is not None
    os.kill(made.server.pid, signal.SIGKILL)
    assert (await task)["again"]
    await is_gone(pid)


async def test_all_calls_survive_it(limited: Make, tmp_path: Path) -> None:
    made = limited(at_once=4, own=True)
    paths = [tmp_path / str(number) for number in range(4)]
    tasks = [asyncio.create_task(made.run("sleep_the_first_time", path)) for path in paths]
    for path in paths:
        await written_in(path)
    assert made.server.pid is not None
    os.kill(made.server.pid, signal.SIGKILL)
    assert all(told["again"] for told in await asyncio.gather(*tasks))


async def test_a_fork_server_that_always_dies_is_no_fault_of_the_file(
    limited: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "PROGRAM", "there.is.no.such.module")
    with pytest.raises(DecoderUnavailable, match=f"{TRIES} times|takes no orders"):
        await limited(own=True).run("fine")


async def test_a_fork_server_that_cannot_be_started_says_so(limited: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(DecoderUnavailable, match="cannot be started"):
        await limited(own=True).run("fine")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_signals_for_the_worker_do_not_end_it(limited: Make, number: signal.Signals) -> None:
    made = limited(own=True)
    await made.run("fine")
    first = made.server.pid
    assert first is not None
    os.kill(first, number)
    await made.run("fine")
    assert made.server.pid == first


async def test_closing_ends_everything_and_may_be_repeated(limited: Make, tmp_path: Path) -> None:
    made = limited(own=True)
    task = asyncio.create_task(made.run("sleep", tmp_path / "pid"))
    pid = await written_in(tmp_path / "pid")
    server = made.server.pid
    assert server is not None
    task.cancel()
    await made.server.aclose()
    await made.server.aclose()
    assert not is_alive(server)
    await is_gone(pid)
    assert made.server.pid is None


async def test_who_is_at_work_when_it_closes_does_not_bring_it_up_again(limited: Make, tmp_path: Path) -> None:
    made = limited(own=True)
    task = asyncio.create_task(made.run("sleep_the_first_time", tmp_path / "pid"))
    await written_in(tmp_path / "pid")
    await made.server.aclose()
    with pytest.raises(DecoderUnavailable, match="no more files"):
        await task
    assert made.server.pid is None


WORKER = f"""
import asyncio, pathlib, sys
from found_footy.adapters.media.fork_server import ForkServer
from found_footy.adapters.media.limited_process import LimitedProcess

async def main():
    server = ForkServer([])
    call = asyncio.create_task(LimitedProcess(server, 512, 600).run("{MISBEHAVING}:sleep", pathlib.Path(sys.argv[1])))
    while server.pid is None:
        await asyncio.sleep(0)
    print(server.pid, flush=True)
    await call

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_nothing_outlives_a_worker(tmp_path: Path, number: signal.Signals) -> None:
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WORKER,
        str(tmp_path / "pid"),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert worker.stdout is not None
    server = int(await worker.stdout.readline())
    pid = await written_in(tmp_path / "pid")
    worker.send_signal(number)
    await worker.wait()
    await is_gone(server)
    await is_gone(pid)


def _children_of(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(pid) for pid in text.split()]
