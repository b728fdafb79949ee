"""The unprivileged user of an engine, and checks of its file access.

PostgreSQL refuses to run as root. If we are root, it runs as another user, which may lack access to folders that root
can enter.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from found_footy.errors import EngineError

# Asks the kernel as that user, because mode bits do not cover access control lists. The interpreter starts as root, as
# the user may have no access to it, and then drops privileges.
_PROBE = """
import os, sys
uid, gid, mode = map(int, sys.argv[1:4])
os.setgroups([])
os.setgid(gid)
os.setuid(uid)
sys.exit(0 if all(os.access(path, mode) for path in sys.argv[4:]) else 1)
"""


@dataclass(frozen=True, slots=True)
class Account:
    """An operating system user other than the current one."""

    name: str
    uid: int
    gid: int


def is_root() -> bool:
    return os.geteuid() == 0


def unprivileged_account() -> Account:
    """Return `postgres` if it exists, otherwise `nobody`."""
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise EngineError("PostgreSQL does not run as root, and neither a user postgres nor nobody exists.")


def owner_of(path: Path) -> Account:
    """Return the owner of a file or folder."""
    found = path.stat()
    try:
        name = pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        name = str(found.st_uid)
    return Account(name, found.st_uid, found.st_gid)


def can_enter(account: Account, folders: Iterable[Path]) -> bool:
    """Whether the account can enter each folder through all its parents."""
    return _allowed(account, os.X_OK, folders)


def can_read(account: Account, paths: Iterable[Path]) -> bool:
    """Whether the account can read each path, through all its parents."""
    return _allowed(account, os.R_OK, paths)


def _allowed(account: Account, mode: int, paths: Iterable[Path]) -> bool:
    command = [sys.executable, "-I", "-S", "-c", _PROBE, str(account.uid), str(account.gid), str(mode)]
    done = subprocess.run([*command, *map(str, paths)], cwd="/", check=False, capture_output=True)
    return done.returncode == 0
