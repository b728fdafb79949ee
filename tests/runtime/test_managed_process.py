"""One process: started, logged, stopped for certain, and never left over."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.process import Command, ManagedProcess, stop_leftovers
from found_footy.runtime.process_table import identify
from tests.runtime.engine_helpers import eventually, exists

_STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
)


def python(code: str) -> Command:
    return Command([sys.executable, "-I", "-c", code], dict(os.environ))


async def run(process: ManagedProcess, code: str) -> int:
    process.start(python(code))
    return await process.wait()


async def test_output_and_exit_code_are_kept(folder: DataFolder) -> None:
    process = ManagedProcess("echo", folder)
    assert await run(process, "print('first')") == 0
    assert await run(process, "import sys; print('second'); sys.exit('bad')") == 1
    assert process.log_tail() == "bad\nsecond", "the tail is of the last run only"
    assert process.log_file.read_text().startswith("first\n")
    assert process.pid is None


async def test_a_missing_program_is_logged(folder: DataFolder) -> None:
    process = ManagedProcess("missing", folder)
    process.start(Command(["/no/such/program"], {}))
    assert await process.wait() == 1
    assert process.log_tail() == "/no/such/program cannot be started: No such file or directory."


async def test_stop_is_polite_then_certain(folder: DataFolder) -> None:
    process = ManagedProcess("stubborn", folder, ((signal.SIGTERM, 0.2),))
    process.start(python(_STUBBORN))
    await eventually(lambda: process.log_tail() == "deaf")
    await process.stop()
    assert process.returncode == -signal.SIGKILL
    await process.stop()


async def test_stop_is_certain_also_when_cancelled(folder: DataFolder) -> None:
    process = ManagedProcess("stubborn", folder, ((signal.SIGTERM, 60.0),))
    process.start(python(_STUBBORN))
    await eventually(lambda: process.log_tail() == "deaf")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(process.stop(), 0.1)
    assert process.returncode == -signal.SIGKILL


async def test_the_process_group_ends_with_the_process(folder: DataFolder) -> None:
    process = ManagedProcess("parent", folder)
    code = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid)"
    await run(process, code)
    grandchild = int(process.log_tail())
    await eventually(lambda: not exists(grandchild))


async def test_a_large_log_is_put_aside_at_the_next_start(folder: DataFolder) -> None:
    process = ManagedProcess("chatty", folder)
    process.log_file.write_bytes(b"x" * 5_000_001)
    await run(process, "print('new')")
    assert process.log_file.read_text() == "new\n"
    assert (folder.logs / "chatty.log.1").stat().st_size == 5_000_001


async def test_a_second_start_while_running_is_refused(folder: DataFolder) -> None:
    process = ManagedProcess("once", folder)
    process.start(python("import time; time.sleep(600)"))
    with pytest.raises(EngineError, match="already running"):
        process.start(python("pass"))
    await process.stop()


def test_an_invalid_process_name_is_rejected(folder: DataFolder) -> None:
    with pytest.raises(ValueError, match="name"):
        ManagedProcess("../up", folder)


def stubborn_stranger() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _STUBBORN], start_new_session=True, stdout=subprocess.PIPE)


async def test_a_leftover_is_found_by_its_record_and_stopped(folder: DataFolder) -> None:
    with stubborn_stranger() as stranger:
        assert stranger.stdout is not None
        stranger.stdout.readline()
        identity = identify(stranger.pid)
        assert identity is not None
        record = folder.run / "old-worker.pid"
        record.write_text(json.dumps({"pid": identity.pid, "started": identity.started, "signal": 15}))
        await stop_leftovers(folder, timeout_seconds=0.2)
        assert stranger.wait() == -signal.SIGKILL, "polite first, which this one does not hear"
        assert not record.exists()


async def test_a_foreign_process_with_a_recorded_pid_is_not_stopped(folder: DataFolder) -> None:
    record = folder.run / "worker.pid"
    record.write_text(json.dumps({"pid": os.getpid(), "started": "another boot:1", "signal": 9}))
    await stop_leftovers(folder)
    assert not record.exists()


async def test_leftovers_are_not_touched_without_the_lock(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="must be locked"):
        await stop_leftovers(DataFolder(tmp_path))
