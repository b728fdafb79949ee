"""One owner at a time, and a runtime file that never lies."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from found_footy.errors import AlreadyRunning, EngineError
from found_footy.runtime.data_folder import DataFolder

_HOLDER = """
import sys, time
from found_footy.runtime.data_folder import DataFolder
folder = DataFolder(sys.argv[1])
with folder.lock():
    folder.write_runtime({"DATABASE_URL": "postgresql://of-the-holder"}, {"postgres": 1}, {"postgres": 2})
    print("ready", flush=True)
    time.sleep(600)
"""


def test_everything_is_closed_to_other_users(folder: DataFolder) -> None:
    folder.write_runtime({"DATABASE_URL": "postgresql://u:secret@127.0.0.1/footy"}, {}, {})
    for path, mode in [(folder.path, 0o700), (folder.run, 0o700), (folder.run / "engines.json", 0o600)]:
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    with DataFolder(tmp_path / "open").lock():
        assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o755


def test_nothing_is_made_before_it_is_needed(tmp_path: Path) -> None:
    assert DataFolder(tmp_path / "data").read_runtime() is None
    assert not (tmp_path / "data").exists()


def test_a_folder_that_cannot_be_made_is_an_engine_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(EngineError, match="Cannot create the data folder"),
        DataFolder(tmp_path / "file" / "data").lock(),
    ):
        pass


def test_a_second_owner_is_refused_with_the_pid_of_the_first(folder: DataFolder) -> None:
    with (
        pytest.raises(AlreadyRunning, match=f"{folder.path} is in use by process {os.getpid()}, since"),
        DataFolder(folder.path).lock(),
    ):
        pass


def test_a_released_lock_can_be_acquired_again(tmp_path: Path) -> None:
    for _ in range(2):
        with DataFolder(tmp_path).lock():
            pass


def test_the_runtime_is_read_back_and_withdrawn(folder: DataFolder) -> None:
    folder.write_runtime(
        {"DATABASE_URL": "postgresql://u:secret@h/d", "TEMPORAL_ADDRESS": "h:1"}, {"postgres": 7}, {"postgres": 8}
    )
    runtime = DataFolder(folder.path).read_runtime()
    assert runtime is not None
    assert (runtime.database_url, runtime.temporal_address) == ("postgresql://u:secret@h/d", "h:1")
    assert (runtime.pids, runtime.ports, runtime.owner_pid) == ({"postgres": 7}, {"postgres": 8}, os.getpid())
    assert "secret" not in repr(runtime)
    folder.clear_runtime()
    assert folder.read_runtime() is None


def test_only_the_owner_publishes(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="must be locked"):
        DataFolder(tmp_path).write_runtime({}, {}, {})


def test_a_killed_owner_leaves_neither_a_lock_nor_a_truth(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER, str(folder.path)], stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        runtime = folder.read_runtime()
        assert runtime is not None
        assert runtime.owner_pid == holder.pid
        with pytest.raises(AlreadyRunning, match=f"process {holder.pid}"), folder.lock():
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()

    stale = folder.run / "engines.json"
    content = stale.read_text()
    assert json.loads(content)["owner"]["pid"] == holder.pid
    assert folder.read_runtime() is None, "nobody holds the lock"
    with folder.lock():
        assert not stale.exists(), "the new owner clears it"
        stale.write_text(content)
        assert folder.read_runtime() is None, "the lock is held, but not by the one who published"
