"""A supervised operating system process."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from found_footy.errors import EngineError
from found_footy.runtime.accounts import Account
from found_footy.runtime.data_folder import DataFolder, write_private
from found_footy.runtime.process_table import ProcessIdentity, identify, is_running

logger = logging.getLogger(__name__)

_SHIM = Path(__file__).with_name("launch.py")
_LOG_LIMIT_BYTES = 5_000_000
_LOG_CHECK_SECONDS = 60.0
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")

StopPlan = Sequence[tuple[signal.Signals, float]]
"""Signals in order, each with a timeout in seconds; SIGKILL follows the last."""

TERMINATE: StopPlan = ((signal.SIGTERM, 10.0),)


@dataclass(frozen=True, slots=True)
class Command:
    """Command line, environment and user. The first argument is an absolute path."""

    argv: Sequence[str | Path]
    env: Mapping[str, str]
    account: Account | None = None
    cwd: Path = Path("/")  # accessible to every user


class ManagedProcess:
    """Runs a command in its own process group with output to a log, and reliably stops it.

    `start` must be called on a thread that outlives the child (see launch.py), which is that of the event loop.
    """

    def __init__(self, name: str, folder: DataFolder, stop_plan: StopPlan = TERMINATE) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(f"invalid process name {name!r}: it becomes part of file names")
        self.name = name
        self.log_file = folder.logs / f"{name}.log"
        self._record_file = folder.run / f"{name}.pid"
        self._stop_plan = stop_plan
        self._popen: subprocess.Popen[bytes] | None = None
        self._group_to_clean_up: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def pid(self) -> int | None:
        """Pid, None if the process is not running."""
        return self._popen.pid if self._popen is not None and self._popen.poll() is None else None

    @property
    def returncode(self) -> int | None:
        """Exit code of the last run, negative for a signal; None while running or before the first."""
        return self._popen.poll() if self._popen is not None else None

    def start(self, command: Command) -> None:
        """Start the command. `returncode` is set once it exits."""
        self.require_stopped()
        if self._group_to_clean_up is not None:
            self._kill_group_leftovers(self._group_to_clean_up)
        self._rotate_log()
        account = command.account
        uid, gid = (account.uid, account.gid) if account is not None else (-1, -1)
        # The first signal of the plan is the gentlest, so that the child shuts down cleanly even if we are killed.
        death_signal = int(self._stop_plan[0][0])
        shim = [sys.executable, "-I", "-S", str(_SHIM), str(death_signal), str(os.getpid()), str(uid), str(gid)]
        try:
            self._popen = self._spawn([*shim, "--", *map(str, command.argv)], command)
        except OSError as error:
            raise EngineError(f"Cannot start {self.name}: {error.strerror}.") from error
        self._group_to_clean_up = self._popen
        self._record(self._popen.pid)

    def require_stopped(self) -> None:
        """Raise EngineError while the process runs."""
        if self.pid is not None:
            raise EngineError(f"{self.name} is already running as process {self.pid}.")

    async def wait(self) -> int:
        """Wait for the process to exit and return its exit code."""
        if self._popen is None:
            raise EngineError(f"{self.name} was never started.")
        # Polling needs neither a thread per child nor a child watcher tied to an event loop.
        pause = 0.005
        popen = self._popen
        checked_at = time.monotonic()
        while (code := popen.poll()) is None:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.1)
            if time.monotonic() - checked_at > _LOG_CHECK_SECONDS:
                checked_at = time.monotonic()
                self._trim_log()
        self._kill_group_leftovers(popen)
        return code

    async def stop(self) -> None:
        """Stop the process gracefully, then with SIGKILL. Does nothing if it is not running."""
        popen = self._popen
        if popen is None:
            return
        try:
            for number, timeout_seconds in self._stop_plan:
                if popen.poll() is not None:
                    break
                popen.send_signal(number)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.wait(), timeout_seconds)
        finally:  # also on cancellation, so that nothing keeps running
            if popen.poll() is None:
                logger.warning(
                    "%s did not stop; killing it", self.name, extra={"action": "process_killed", "child": self.name}
                )
                popen.kill()
                popen.wait()
            self._kill_group_leftovers(popen)

    def log_tail(self, lines: int = 12) -> str:
        """Return the last lines of the current run."""
        with self.log_file.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._log_start, end - 20_000))
            return "\n".join(log.read().decode(errors="replace").strip().splitlines()[-lines:])

    def _spawn(self, argv: list[str], command: Command) -> subprocess.Popen[bytes]:
        with open(os.open(self.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
            self._log_start = log.seek(0, os.SEEK_END)
            return subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(command.env),
                cwd=command.cwd,
                start_new_session=True,
            )

    def _rotate_log(self) -> None:
        with suppress(FileNotFoundError):
            if self.log_file.stat().st_size > _LOG_LIMIT_BYTES:
                self.log_file.replace(self.log_file.with_suffix(".log.1"))

    def _trim_log(self) -> None:
        """Copy and truncate the log of a running process, which opened it for appending."""
        with suppress(FileNotFoundError):
            if self.log_file.stat().st_size > _LOG_LIMIT_BYTES:
                shutil.copyfile(self.log_file, self.log_file.with_suffix(".log.1"))
                os.truncate(self.log_file, 0)
                self._log_start = 0

    def _record(self, pid: int) -> None:
        identity = identify(pid)
        if identity is None:
            return
        content = {"pid": identity.pid, "started": identity.started, "signal": int(self._stop_plan[0][0])}
        try:
            write_private(self._record_file, json.dumps(content) + "\n")
        except OSError as error:  # for example a full disk; the record only matters after a crash
            logger.warning(
                "could not save the pid of %s: %s",
                self.name,
                error.strerror,
                extra={"action": "pid_not_saved", "child": self.name, "pid": pid},
            )

    def _kill_group_leftovers(self, popen: subprocess.Popen[bytes]) -> None:
        """Kill the remaining processes of its group, once per run."""
        if self._group_to_clean_up is not popen:
            return
        self._group_to_clean_up = None
        # macOS returns EPERM for a group of zombies.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)
        self._record_file.unlink(missing_ok=True)


async def stop_leftovers(folder: DataFolder, name: str = "*", timeout_seconds: float = 10.0) -> None:
    """Stop recorded processes of a killed owner of the folder, after checking their identity.

    Without a name all are stopped, which is only safe at startup: children of the current run have records too.
    """
    folder.require_lock()
    for record_file in sorted(folder.run.glob(f"{name}.pid")):
        content = json.loads(record_file.read_text())
        identity = ProcessIdentity(content["pid"], content["started"])
        if is_running(identity):
            logger.warning(
                "stopping %s left over from an earlier run",
                record_file.stem,
                extra={"action": "leftover_stopped", "child": record_file.stem, "pid": identity.pid},
            )
            await stop_foreign_process(identity, signal.Signals(content["signal"]), timeout_seconds)
        record_file.unlink(missing_ok=True)


async def stop_foreign_process(identity: ProcessIdentity, number: signal.Signals, timeout_seconds: float) -> None:
    """Stop a process that is not our child: with the signal, then with SIGKILL to its group."""
    for attempt in (number, signal.SIGKILL):
        with suppress(ProcessLookupError):
            if attempt is signal.SIGKILL:
                os.killpg(identity.pid, attempt)  # every child is started as a group leader
            else:
                os.kill(identity.pid, attempt)
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            if not is_running(identity):
                return
            await asyncio.sleep(0.02)
    raise EngineError(f"Cannot stop process {identity.pid}, left over from an earlier run.")
