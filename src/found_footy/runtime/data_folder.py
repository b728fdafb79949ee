"""The data folder: all files of one embedded installation, and a lock for exclusive ownership."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from found_footy.config import Settings
from found_footy.errors import AlreadyRunning, EngineError
from found_footy.runtime.clock import utc_now
from found_footy.runtime.process_table import ProcessIdentity, is_running, this_process

# `read_runtime` briefly takes the lock to test whether it is free, so a new owner retries for this long before it
# reports that another process has the lock.
_LOCK_RETRY_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Runtime:
    """Engines and processes that the folder's owner publishes to other processes."""

    environment: Mapping[str, str] = field(repr=False)  # URLs contain passwords
    pids: Mapping[str, int]
    ports: Mapping[str, int]
    owner_pid: int

    @property
    def database_url(self) -> str | None:
        """Includes the password."""
        return self.environment.get("DATABASE_URL")

    @property
    def temporal_address(self) -> str | None:
        """As host:port."""
        return self.environment.get("TEMPORAL_ADDRESS")

    @property
    def redis_url(self) -> str | None:
        """Includes the password."""
        return self.environment.get("REDIS_URL")


class DataFolder:
    """Paths of one installation. Nothing is created on disk before `create` or `lock`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser().resolve()
        self.logs = self.path / "logs"
        self.run = self.path / "run"
        self._lock_file = self.path / "footy.lock"
        self._runtime_file = self.run / "engines.json"
        self._owned = False

    def create(self) -> None:
        """Create the folder without access for other users. An existing folder keeps its mode."""
        try:
            for folder in (self.path, self.logs, self.run):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EngineError(f"Cannot create the data folder {self.path}: {error.strerror}.") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the exclusive lock of the folder. Raises AlreadyRunning while another process holds it.

        The kernel holds the lock and releases it when the owner exits for any reason. The file is not deleted:
        otherwise two owners could lock two files of the same name.
        """
        self.create()
        try:
            descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise EngineError(f"Cannot open the lock file {self._lock_file}: {error.strerror}.") from error
        try:
            self._acquire(descriptor)
            self._write_owner(descriptor)
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
        """Raise EngineError without the lock: another owner's engines would be stopped as leftovers."""
        if not self._owned:
            raise EngineError(f"The data folder {self.path} must be locked before its engines are started.")

    def write_runtime(self, environment: Mapping[str, str], pids: Mapping[str, int], ports: Mapping[str, int]) -> None:
        """Publish the running engines and processes. Requires the lock."""
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
        """Return what the owner published, or None without a current owner, even if a stale file exists."""
        try:
            content = json.loads(self._runtime_file.read_text())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EngineError(f"Cannot read {self._runtime_file}: {error.strerror}.") from error
        owner = ProcessIdentity(content["owner"]["pid"], content["owner"]["started"])
        # The lock alone is not enough: a new owner holds it briefly before it deletes the old file.
        if not self._is_locked() or not is_running(owner):
            return None
        return Runtime(content["environment"], content["pids"], content["ports"], owner.pid)

    def clear_runtime(self) -> None:
        self._runtime_file.unlink(missing_ok=True)

    def _acquire(self, descriptor: int) -> None:
        deadline = time.monotonic() + _LOCK_RETRY_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise AlreadyRunning(
                        f"The data folder {self.path} is in use by {_describe_owner(descriptor)}."
                    ) from None
                time.sleep(0.02)

    def _write_owner(self, descriptor: int) -> None:
        since = utc_now().isoformat(timespec="seconds")
        content = json.dumps({"pid": os.getpid(), "since": since}) + "\n"
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, content.encode(), 0)
        self.clear_runtime()  # left over from a killed owner

    def _is_locked(self) -> bool:
        try:
            descriptor = os.open(self._lock_file, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            # A shared lock, so that two readers do not mistake each other for an owner.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False


def write_private(path: Path, content: str) -> None:
    """Write a file that only its owner can read, atomically: readers see either the old or the new content."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mkstemp creates it with mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _describe_owner(descriptor: int) -> str:
    try:
        content = json.loads(os.pread(descriptor, 1000, 0))
    except json.JSONDecodeError:  # the owner has the lock but has not written its pid yet
        return "a process that has just started"
    return f"process {content['pid']}, since {content['since']}"


def with_running_engines(settings: Settings) -> Settings:
    """Fill in the addresses of the engines that `footy up` runs on the same data folder."""
    if settings.database_url and settings.temporal_address and settings.redis_url:
        return settings
    running = DataFolder(settings.data_dir).read_runtime()
    if running is None:
        raise EngineError(
            f"no engines are running on the data folder {settings.data_dir}; start `footy up`,"
            " or set DATABASE_URL, TEMPORAL_ADDRESS and REDIS_URL"
        )
    found: dict[str, object] = {}
    if not settings.database_url and running.database_url:
        found["database_url"] = SecretStr(running.database_url)
    if not settings.temporal_address and running.temporal_address:
        found["temporal_address"] = running.temporal_address
    if not settings.redis_url and running.redis_url:
        found["redis_url"] = SecretStr(running.redis_url)
    return with_running_browser(settings.model_copy(update=found))


def with_running_browser(settings: Settings) -> Settings:
    """Fill in the address of the browser service that `footy up` runs on the same data folder, if any."""
    running = DataFolder(settings.data_dir).read_runtime()
    if settings.browser_url is not None or running is None:
        return settings
    url = running.environment.get("BROWSER_URL")
    return settings.model_copy(update={"browser_url": url}) if url else settings
