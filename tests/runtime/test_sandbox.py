"""A sandboxed process is limited, isolated, and killed as soon as nobody waits; how it ended is reported."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import pwd
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from found_footy.runtime import sandbox
from found_footy.runtime.confinement import available
from found_footy.runtime.sandbox import (
    MAX_ATTEMPTS,
    MAX_REPLY_BYTES,
    NetworkAccess,
    Sandbox,
    SandboxEnd,
    SandboxError,
    SandboxLimits,
    exit_error,
    stderr_tail,
)
from found_footy.runtime.sandbox_child import LENGTH

TARGETS = "tests.runtime.sandbox_targets"
PYTHON = Path(sys.executable).resolve()
LIMITS = SandboxLimits(seconds=60, memory_mb=512)


@pytest.fixture(scope="module")
def shared() -> Iterator[Sandbox]:
    """For tests that do not harm it: loading the libraries takes a while."""
    made = Sandbox([TARGETS], max_processes=4)
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
async def own() -> AsyncIterator[Sandbox]:
    made = Sandbox(max_processes=4)
    yield made
    await made.aclose()


def folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


async def call(
    box: Sandbox, name: str, *arguments: Any, limits: SandboxLimits = LIMITS, **options: Any
) -> dict[str, Any]:
    if arguments and str(arguments[0]).startswith("/") and not limits.writes:
        limits = replace(limits, writes=(folder_of(Path(arguments[0])),))
    return (await box.run(f"{TARGETS}:{name}", arguments, limits, **options)).header


def framed(header: Any, payload: bytes = b"") -> str:
    text = json.dumps(header).encode()
    return (LENGTH.pack(len(text)) + text + payload).hex()


# --- how it ends


@pytest.mark.parametrize(
    ("name", "end", "detail"),
    [
        ("abort", SandboxEnd.CRASHED, "SIGABRT"),
        ("crash", SandboxEnd.CRASHED, "SIGSEGV"),
        ("leave", SandboxEnd.EXITED, "exit code 3"),
        ("killed", SandboxEnd.KILLED, ""),
        ("use_up_processor", SandboxEnd.CPU_TIME, ""),
        ("take_memory", SandboxEnd.OUT_OF_MEMORY, ""),
        ("take_memory_in_numpy", SandboxEnd.OUT_OF_MEMORY, ""),
        ("take_memory_in_opencv", SandboxEnd.OUT_OF_MEMORY, ""),
        ("fail", SandboxEnd.RAISED, "what [31m is this"),
        ("write_a_large_file", SandboxEnd.RAISED, "too large"),
    ],
)
async def test_the_reason_is_reported(shared: Sandbox, tmp_path: Path, name: str, end: SandboxEnd, detail: str) -> None:
    with pytest.raises(SandboxError) as raised:
        await call(shared, name, str(tmp_path / "clip.mp4"))
    assert raised.value.end is end
    assert detail in raised.value.detail
    assert raised.value.raised == {"fail": "LookupError", "write_a_large_file": "OSError"}.get(name, "")
    assert await call(shared, "fine", "", 7) == {"arguments": [7], "bytes": 10}


@pytest.mark.parametrize(
    ("status", "end"),
    [(-9, "killed"), (-24, "CPU time"), (-11, "crashed"), (-200, "crashed"), (1, "exited")],
)
def test_an_exit_status_has_a_reason(status: int, end: str) -> None:
    assert exit_error(status).end == end


@pytest.mark.parametrize("name", ["loop", "sleep"])
async def test_the_time_is_bounded(shared: Sandbox, tmp_path: Path, name: str) -> None:
    with pytest.raises(SandboxError, match="not finished within"):
        await call(shared, name, str(tmp_path / "pid"), limits=replace(LIMITS, seconds=0.5))
    assert (await call(shared, "fine", ""))["bytes"] == 10


@pytest.mark.parametrize(
    ("data", "end"),
    [
        ("", SandboxEnd.EXITED),
        ("ff", SandboxEnd.EXITED),
        (LENGTH.pack(2**32 - 1).hex(), SandboxEnd.INVALID_REPLY),
        (LENGTH.pack(4).hex() + b"pick".hex(), SandboxEnd.INVALID_REPLY),
        (LENGTH.pack(2).hex() + b"\xff\xfe".hex(), SandboxEnd.INVALID_REPLY),
        (framed([]), SandboxEnd.INVALID_REPLY),
        (framed({}), SandboxEnd.INVALID_REPLY),
        (framed({"bytes": -1}), SandboxEnd.INVALID_REPLY),
        (framed({"bytes": "7"}), SandboxEnd.INVALID_REPLY),
        (framed({"bytes": MAX_REPLY_BYTES + 1}), SandboxEnd.INVALID_REPLY),
        (framed({"bytes": 10}, b"short"), SandboxEnd.EXITED),
        (framed({"bytes": 0, "error": "InternalFault", "text": "\u202e odd"}), SandboxEnd.RAISED),
        (framed({"bytes": 0, "error": ["?"]}), SandboxEnd.RAISED),
    ],
)
async def test_a_reply_is_not_trusted(shared: Sandbox, data: str, end: SandboxEnd) -> None:
    with pytest.raises(SandboxError) as raised:
        await call(shared, "send_raw", "", data)
    assert raised.value.end is end


async def test_progress_comes_before_the_reply(shared: Sandbox) -> None:
    shares: list[float] = []
    reply = await shared.run(f"{TARGETS}:report_often", ["", 100_000], LIMITS, shares.append)
    assert (reply.header["done"], bytes(reply.payload)) == (True, b"some bytes")
    assert shares[0] == 0
    assert len(shares) < 1000


@pytest.mark.parametrize("share", [2.0, -0.5, float("nan"), "half", True, [1]])
async def test_invalid_progress_is_refused(shared: Sandbox, share: Any) -> None:
    with pytest.raises(SandboxError, match="invalid progress"):
        await call(shared, "send_raw", "", framed({"bytes": 0, "progress": share}), progress=lambda _: None)


async def test_endless_progress_ends_with_the_time(shared: Sandbox) -> None:
    data = framed({"bytes": 0, "progress": 0.5})
    with pytest.raises(SandboxError, match="within"):
        await call(
            shared,
            "report_without_end",
            "",
            data,
            limits=replace(LIMITS, seconds=0.3),
            progress=lambda _: None,
        )


# --- limits and isolation


async def test_the_limits_hold(own: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTY_S3_SECRET_KEY", "secret")
    limits = replace(LIMITS, seconds=7, processors=3, file_bytes=5000, open_files=32)
    found = await call(own, "describe", "", limits=limits)
    assert 512 * 1024**2 < found["limits"]["RLIMIT_AS"][0] < 3 * 1024**3
    assert found["limits"]["RLIMIT_AS"][0] == found["limits"]["RLIMIT_AS"][1]
    assert found["limits"]["RLIMIT_CPU"][0] == 7 * 3 + 1
    assert found["limits"]["RLIMIT_FSIZE"] == [5000, 5000]
    assert found["limits"]["RLIMIT_CORE"] == [0, 0]
    assert found["limits"]["RLIMIT_NOFILE"][0] <= 32
    assert "secret" not in str(found["environment"])
    assert found["environment"]["PATH"] == "/nonexistent"
    assert found["threads"] == 1
    # The standard three, the reply, and the folder that is being listed.
    assert found["descriptors"] == [0, 1, 2, 3, 4]


AVAILABLE = available()
needs_landlock = pytest.mark.skipif(AVAILABLE.landlock == 0, reason="the kernel has no Landlock")
needs_seccomp = pytest.mark.skipif(not AVAILABLE.seccomp, reason="the kernel has no seccomp filters")
needs_root = pytest.mark.skipif(AVAILABLE.user is None, reason="not started as root")


async def attempt(box: Sandbox, folder: Path, *names: str, limits: SandboxLimits = LIMITS) -> dict[str, Any]:
    secret = folder / "secret"
    secret.write_text("secret")
    limits = replace(limits, writes=(folder / "own",))
    limits.writes[0].mkdir(exist_ok=True)
    return await call(box, "attempt", "", list(names), str(secret), os.getpid(), limits=limits)


@needs_landlock
async def test_a_decoder_reads_and_writes_only_its_own_files(shared: Sandbox, tmp_path: Path) -> None:
    found = await attempt(shared, tmp_path, "read a file elsewhere", "write a file elsewhere")
    assert found["read a file elsewhere"] == found["write a file elsewhere"] == "Permission denied"
    readable = replace(LIMITS, reads=(tmp_path / "secret",))
    found = await attempt(shared, tmp_path, "read a file elsewhere", "write a file elsewhere", limits=readable)
    assert found["read a file elsewhere"] is None
    assert found["write a file elsewhere"] == "Permission denied"


@needs_landlock
async def test_a_decoder_cannot_read_or_disturb_its_parent(shared: Sandbox, tmp_path: Path) -> None:
    found = await attempt(
        shared,
        tmp_path,
        "read the parent's environment",
        "read the parent's memory",
        "read the parent's command line",
        "kill the parent",
        "trace the parent",
    )
    assert [name for name in found if found[name] is None] == []


@needs_seccomp
async def test_a_decoder_has_no_network_no_processes_and_no_namespaces(shared: Sandbox, tmp_path: Path) -> None:
    names = ("open a socket", "start a process", "start a program", "make a namespace")
    found = await attempt(shared, tmp_path, *names)
    assert [name for name in names if found[name] is None] == []
    online = await attempt(shared, tmp_path, "open a socket", limits=replace(LIMITS, network=NetworkAccess()))
    assert online["open a socket"] is None
    assert (await call(shared, "use_threads", ""))["sum"] == 45


@needs_root
async def test_root_becomes_an_unprivileged_user(shared: Sandbox) -> None:
    found = await call(shared, "privileges", "")
    assert (set(found["user"]), found["groups"]) == ({pwd.getpwnam("nobody").pw_uid}, [])
    assert found["capabilities"] == 1 << 2, "to open files in closed folders, which Landlock narrows"


async def test_no_new_privileges_can_be_gained(shared: Sandbox) -> None:
    found = await call(shared, "privileges", "")
    assert found["new_privileges"] is False
    assert found["filters"] == AVAILABLE.seccomp


async def test_only_named_programs_can_be_started(shared: Sandbox, tmp_path: Path) -> None:
    # It imports modules, reads its own entry in /proc, and works in a folder that is closed to others.
    script = "import json, os; print(len(os.listdir('/proc/self/fd')) > 0, os.path.exists('secret'))"
    (tmp_path / "secret").touch()
    limits = replace(LIMITS, programs=(PYTHON,), folder=tmp_path, limit_address_space=False)
    found = await call(shared, "run_a_program", "", sys.executable, "-c", script, limits=limits)
    assert (found["code"], found["said"].strip()) == (0, "True True")
    if AVAILABLE.landlock:
        script = "import socket; socket.create_connection(('127.0.0.1', 9))"
        found = await call(shared, "run_a_program", "", sys.executable, "-c", script, limits=limits)
        assert "PermissionError" in found["said"]


FORK_BOMB = """
import os, time
started = 0
try:
    while started < 600:
        if os.fork() == 0:
            os.closerange(0, 10)
            time.sleep(60)
        started += 1
except OSError:
    print("limited")
"""


async def test_programs_cannot_start_any_number_of_processes(shared: Sandbox) -> None:
    limits = replace(LIMITS, programs=(PYTHON,), limit_address_space=False)
    found = await call(shared, "run_a_program", "", sys.executable, "-c", FORK_BOMB, limits=limits)
    assert found["said"].strip() == "limited"


async def test_all_files_together_are_limited(shared: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="too many bytes"):
        await call(shared, "write_many_files", str(tmp_path), limits=replace(LIMITS, total_bytes=5_000_000))


async def test_our_own_limits_do_not_change(shared: Sandbox) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_NOFILE)
    await call(shared, "fine", "")
    assert (resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_NOFILE)) == before


async def test_a_folder_becomes_its_home(shared: Sandbox, tmp_path: Path) -> None:
    limits = replace(LIMITS, folder=tmp_path, environment={"EXTRA": "1"})
    environment = (await call(shared, "describe", "", limits=limits))["environment"]
    assert (environment["HOME"], environment["TMPDIR"], environment["EXTRA"]) == (str(tmp_path), str(tmp_path), "1")
    with pytest.raises(SandboxError):
        await call(shared, "print_and_leave", "one\ntwo\n", limits=limits)
    assert stderr_tail(tmp_path) == "two"


async def test_without_network_access_every_connection_is_refused(shared: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refused = await call(shared, "connect", "127.0.0.1", port)
        assert refused["noted"]
        public_only = replace(LIMITS, network=NetworkAccess())
        assert (await call(shared, "connect", "127.0.0.1", port, limits=public_only))["refused"]
        allowed = replace(LIMITS, network=NetworkAccess((f"127.0.0.1:{port}",)))
        assert (await call(shared, "connect", "127.0.0.1", port, limits=allowed))["refused"] is None


async def test_processes_are_bounded(tmp_path: Path, shared: Sandbox) -> None:
    found = await asyncio.gather(*(call(shared, "count_concurrent", str(tmp_path)) for _ in range(20)))
    assert max(each["count"] for each in found) <= 4


# --- life and death


def is_alive(pid: int) -> bool:
    """Zombies do not count: whoever has to wait for them may take a moment."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def is_gone(pid: int) -> None:
    while is_alive(pid):
        await asyncio.sleep(0.005)


async def written_in(path: Path) -> int:
    """The process id that `sleep` writes, as soon as it is there."""
    while not await asyncio.to_thread(path.exists):
        await asyncio.sleep(0.005)
    return int(await asyncio.to_thread(path.read_text))


async def test_a_cancelled_call_kills_its_process(own: Sandbox, tmp_path: Path) -> None:
    task = asyncio.create_task(call(own, "sleep", str(tmp_path / "pid")))
    pid = await written_in(tmp_path / "pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await is_gone(pid)
    assert (await call(own, "fine", ""))["bytes"] == 10


async def test_children_of_a_process_die_with_it(shared: Sandbox) -> None:
    limits = replace(LIMITS, programs=(Path(sys.executable),))
    await is_gone((await call(shared, "fork", "", limits=limits))["pid"])


async def test_nothing_leaks(own: Sandbox) -> None:
    await call(own, "fine", "")
    gc.collect()  # objects of earlier tests must not be closed during this one
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(20):
        await call(own, "fine", "")
        with pytest.raises(SandboxError):
            await call(own, "abort", "")
    assert set(os.listdir("/proc/self/fd")) <= before
    assert own.pid is not None
    await call(own, "fine", "")
    while len(_children_of(own.pid)) > 1:  # not even zombies
        await asyncio.sleep(0.005)
    assert len(os.listdir(f"/proc/{own.pid}/fd")) < 15


async def test_calls_survive_the_death_of_the_fork_server(own: Sandbox, tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(3)]
    tasks = [asyncio.create_task(call(own, "sleep_the_first_time", str(path))) for path in paths]
    pids = [await written_in(path) for path in paths]
    first = own.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert all(reply["again"] for reply in await asyncio.gather(*tasks))
    for pid in pids:
        await is_gone(pid)
    assert own.pid != first


async def test_a_fork_server_that_always_dies_is_unavailable(own: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "FORK_SERVER", "there.is.no.such.module")
    with pytest.raises(SandboxError, match=f"unavailable.*({MAX_ATTEMPTS} times|does not accept)"):
        await call(own, "fine", "")


async def test_a_fork_server_that_cannot_start_is_unavailable(own: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(SandboxError, match="could not be started"):
        await call(own, "fine", "")


async def test_signals_for_the_worker_do_not_stop_it(own: Sandbox) -> None:
    await call(own, "fine", "")
    first = own.pid
    assert first is not None
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(first, number)
    await call(own, "fine", "")
    assert own.pid == first


async def test_closing_stops_everything_and_is_final(own: Sandbox, tmp_path: Path) -> None:
    task = asyncio.create_task(call(own, "sleep_the_first_time", str(tmp_path / "pid")))
    pid = await written_in(tmp_path / "pid")
    server = own.pid
    assert server is not None
    await own.aclose()
    await own.aclose()
    with pytest.raises(SandboxError, match="closed"):
        await task
    assert not is_alive(server)
    await is_gone(pid)
    assert own.pid is None


WORKER = f"""
import asyncio, sys
from pathlib import Path
from found_footy.runtime.sandbox import Sandbox, SandboxLimits

async def main():
    box = Sandbox()
    limits = SandboxLimits(600, 512, writes=(Path(sys.argv[1]).parent,))
    call = asyncio.create_task(box.run("{TARGETS}:sleep", [sys.argv[1]], limits))
    while box.pid is None:
        await asyncio.sleep(0)
    print(box.pid, flush=True)
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
