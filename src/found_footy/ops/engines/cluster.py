"""A PostgreSQL cluster on disk: making it, and the server that may still be running on it."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
from pathlib import Path

from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import DataFolder
from found_footy.ops.engines.placement import Placement
from found_footy.ops.engines.process import Command, ManagedProcess, stop_stranger
from found_footy.ops.identity import command_line, identify

SUPERUSER = "footy"

# English messages, which are read to tell one failure from another; and one time zone everywhere.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


async def create_cluster(placement: Placement, password: str, folder: DataFolder) -> None:
    """Make the cluster, all or nothing: beside its place, and renamed when complete."""
    home, data = placement.home, placement.data
    work = home / f"{data.name}.partial-{secrets.token_hex(4)}"
    cluster, password_file = work / "data", work / "password"
    _clear_interrupted(home, data.name)
    try:
        work.mkdir(mode=0o700)
        cluster.mkdir(mode=0o700)
        # A file, since an argument is shown to everybody, and initdb cannot open another user's pipe.
        password_file.touch(mode=0o600)
        password_file.write_text(f"{password}\n")
        if placement.account is not None:
            work.chmod(0o711)
            for path in (password_file, cluster):
                os.chown(path, placement.account.uid, placement.account.gid)
        await _initdb(placement, cluster, password_file, folder)
        cluster.rename(data)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _clear_interrupted(home: Path, name: str) -> None:
    for old in home.glob(f"{name}.partial-*"):
        # Of an initdb that was killed. Its last process may be writing still: what resists is left for next time.
        shutil.rmtree(old, ignore_errors=True)


async def _initdb(placement: Placement, cluster: Path, password_file: Path, folder: DataFolder) -> None:
    process = ManagedProcess("initdb", folder)
    argv: list[str | Path] = [placement.binaries.initdb, "-D", cluster, "-U", SUPERUSER, "--pwfile", password_file]
    argv += ["--auth=scram-sha-256", "-E", "UTF8", "--no-sync"]
    argv += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    process.start(Command(argv, ENVIRONMENT, account=placement.account))
    try:
        code = await process.wait()
    finally:
        await process.stop()
    if code != 0:
        raise EngineError(f"PostgreSQL could not make its data folder (exit {code}):\n{process.log_tail()}")


async def stop_postmaster(data: Path) -> None:
    """Stop a server that still runs on this cluster, and defuse what a dead one left behind."""
    pid_file = data / "postmaster.pid"
    try:
        lines = pid_file.read_text().splitlines()
        pid = int(lines[0])
    except (FileNotFoundError, IndexError, ValueError):
        return
    identity = identify(pid)
    if identity is None:
        return
    program, _, arguments = command_line(pid).partition(" ")
    if Path(program).name == "postgres" and f"-D {data} " in arguments:
        await stop_stranger(identity, signal.SIGINT, patience=15.0)
        return
    _take_over(pid_file, lines)


def _take_over(pid_file: Path, lines: list[str]) -> None:
    """Put our own pid in the place of one that was given to somebody else since.

    PostgreSQL would refuse to start because of the stranger; where it finds its parent, it goes on. Deleting the file
    would be wrong: the shared memory key in it is how a new server notices backends of the old one that still live.
    """
    # As root we write into another user's folder here: a link in place of the file is not followed.
    with open(os.open(pid_file, os.O_RDWR | os.O_NOFOLLOW), "r+") as file:
        file.write("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
        file.truncate()


def remove_home(home: Path) -> None:
    """Delete a home with everything in it; nothing happens when there is none."""
    if home.is_symlink():
        raise EngineError(f"{home} is a link, which is not followed to delete what it points to.")
    if home.exists():
        shutil.rmtree(home)
