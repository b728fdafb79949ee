"""The data folder: everything of one embedded installation, and the lock that gives it one owner."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from found_footy.domain.errors import AlreadyRunning, EngineError
from found_footy.ops.identity import ProcessIdentity, is_running, this_process

# `read_runtime` takes the lock for an instant to see whether it is free; an owner must not take that for another
# owner, so it asks again for this long.
_LOCK_PATIENCE_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a running owner of the folder offers to other processes."""

    environment: Mapping[str, str] = field(repr=False)  # URLs carry passwords: keep them out of logs
    pids: Mapping[str, int]
    ports: Mapping[str, int]
    owner_pid: int

    @property
    def database_url(self) -> str | None:
        """Where PostgreSQL answers, with the password."""
        return self.environment.get("DATABASE_URL")

    @property
    def temporal_address(self) -> str | None:
        """Where Temporal answers, as host:port."""
        return self.environment.get("TEMPORAL_ADDRESS")

    @property
    def redis_url(self) -> str | None:
        """Where the cache answers, with the password."""
        return self.environment.get("REDIS_URL")


class DataFolder:
    """One folder with all data. Nothing is made on disk before `create` or `lock`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser().resolve()
        self.logs = self.path / "logs"
        self.run = self.path / "run"
        self._lock_file = self.path / "footy.lock"
        self._runtime_file = self.run / "engines.json"
        self._owned = False

    def create(self) -> None:
        """Make the folder, closed to other users. One that exists already keeps the mode its owner gave it."""
        try:
            for folder in (self.path, self.logs, self.run):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EngineError(f"The data folder {self.path} cannot be made: {error.strerror}.") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Own the folder; refused with AlreadyRunning while another process does.

        The kernel holds the lock and lets go of it when the owner ends, however it ends. The file itself stays:
        removing it would let two owners lock two files of the same name.
        """
        self.create()
        try:
            descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise EngineError(f"The lock {self._lock_file} cannot be opened: {error.strerror}.") from error
        try:
            self._acquire(descriptor)
            self._note_owner(descriptor)
            self._owned = True
            try:
                yield
            finally:
                self.clear_runtime()
                self._owned = False
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def require_lock(self) -> None:
        """Refuse to go on without the lock: engines of another owner would be taken for leftovers and stopped."""
        if not self._owned:
            raise EngineError(f"The data folder {self.path} must be locked before its engines are started.")

    def write_runtime(self, environment: Mapping[str, str], pids: Mapping[str, int], ports: Mapping[str, int]) -> None:
        """Publish what runs. Only the owner of the lock may."""
        self.require_lock()
        me = this_process()
        content = {
            "environment": dict(environment),
            "pids": dict(pids),
            "ports": dict(ports),
            "owner": {"pid": me.pid, "started": me.started},
        }
        write_private(self._runtime_file, json.dumps(content, indent=2) + "\n")

    def read_runtime(self) -> Runtime | None:
        """What the owner published; None when nobody owns the folder now, whatever a stale file says."""
        try:
            content = json.loads(self._runtime_file.read_text())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EngineError(f"{self._runtime_file} cannot be read: {error.strerror}.") from error
        owner = ProcessIdentity(content["owner"]["pid"], content["owner"]["started"])
        # The lock alone is not enough: a new owner holds it for a moment before it has cleared the old file.
        if not self._is_locked() or not is_running(owner):
            return None
        return Runtime(content["environment"], content["pids"], content["ports"], owner.pid)

    def clear_runtime(self) -> None:
        """Withdraw what was published."""
        self._runtime_file.unlink(missing_ok=True)

    def _acquire(self, descriptor: int) -> None:
        deadline = time.monotonic() + _LOCK_PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise AlreadyRunning(
                        f"The data folder {self.path} is in use by {_owner_in_words(descriptor)}."
                    ) from None
                time.sleep(0.02)

    def _note_owner(self, descriptor: int) -> None:
        since = datetime.now(UTC).isoformat(timespec="seconds")
        content = json.dumps({"pid": os.getpid(), "since": since}) + "\n"
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, content.encode(), 0)
        self.clear_runtime()  # left by an owner that was killed

    def _is_locked(self) -> bool:
        try:
            descriptor = os.open(self._lock_file, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            # Shared, so that two readers do not take each other for the owner.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False


def write_private(path: Path, content: str) -> None:
    """Write a file that only its owner may read, all at once: a reader sees the old content or the new."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mkstemp makes it 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _owner_in_words(descriptor: int) -> str:
    try:
        content = json.loads(os.pread(descriptor, 1000, 0))
    except json.JSONDecodeError:  # the owner has the lock, and is about to write its name
        return "a process that has just started"
    return f"process {content['pid']}, since {content['since']}"
