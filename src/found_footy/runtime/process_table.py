"""Processes of this machine, from `/proc` or `ps`: the identity of one, and the table of all."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_PS_ENVIRONMENT = {"PATH": "/bin:/usr/bin", "LC_ALL": "C", "TZ": "UTC"}


def _stat_fields(text: str) -> list[str]:
    """Fields of a line of /proc/PID/stat from the state on, after the command name.

    The name is in parentheses and may contain spaces and parentheses.
    """
    return text.rpartition(")")[2].split()


# --- Identity of one process.


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """Pid and an opaque token of the start.

    A pid alone is reused after a reboot, in a restarted container, or on a busy machine. Together with the start time
    it is unique, so a recorded process is never confused with another.
    """

    pid: int
    started: str


def identify(pid: int) -> ProcessIdentity | None:
    """Return the identity of a running process; None if it does not exist or is a zombie."""
    started = _started_linux(pid) if sys.platform == "linux" else _started_ps(pid)
    return None if started is None else ProcessIdentity(pid, started)


def this_process() -> ProcessIdentity:
    """Return the identity of the current process."""
    identity = identify(os.getpid())
    return identity if identity is not None else ProcessIdentity(os.getpid(), "unknown")


def is_running(identity: ProcessIdentity) -> bool:
    """Whether this process, and not a later one with the same pid, is still running."""
    return identify(identity.pid) == identity


def command_line(pid: int) -> str:
    """Return the command line of a process, joined by spaces; empty if it is gone."""
    if sys.platform == "linux":
        try:
            raw = PROC.joinpath(str(pid), "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return ""
        return raw.rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
    return _ps(pid, "command=")


def _started_linux(pid: int) -> str | None:
    try:
        state, *_, ticks = _stat_fields(PROC.joinpath(str(pid), "stat").read_text("utf-8", "replace"))[:20]
        boot = PROC.joinpath("sys/kernel/random/boot_id").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # Ticks count from boot; the boot id distinguishes boots.
    return None if state in "ZX" else f"{boot}:{ticks}"


def _started_ps(pid: int) -> str | None:
    state, _, started = _ps(pid, "stat=,lstart=").partition(" ")
    return None if not state or state.startswith("Z") else started.strip()


def _ps(pid: int, columns: str) -> str:
    done = subprocess.run(
        ["ps", "-ww", "-p", str(pid), "-o", columns],
        capture_output=True,
        text=True,
        check=False,
        env=_PS_ENVIRONMENT,
    )
    return done.stdout.strip()


# --- The table of all processes.


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    group: int
    ended: bool
    """A zombie that its parent has not reaped."""
    memory: int = 0
    """Resident set size in bytes, including shared pages."""


def process_table() -> dict[int, Process]:
    found = _read_proc(PROC) if PROC.joinpath("self/stat").exists() else _read_ps()
    return {process.pid: process for process in found}


def _read_proc(folder: Path) -> list[Process]:
    found = []
    for entry in os.listdir(folder):
        if entry.isdigit():
            # A process may end at any moment.
            with suppress(FileNotFoundError, ProcessLookupError):
                found.append(parse_stat(folder.joinpath(entry, "stat").read_text("utf-8", "replace")))
    return found


def parse_stat(text: str) -> Process:
    """Parse a line of /proc/PID/stat."""
    fields = _stat_fields(text)
    return Process(
        pid=int(text.split("(", 1)[0]),
        parent=int(fields[1]),
        group=int(fields[2]),
        ended=fields[0] in "ZX",
        memory=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
    )


def _read_ps() -> list[Process]:
    command = ["ps", "-axo", "pid=,ppid=,pgid=,stat=,rss="]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10, env=_PS_ENVIRONMENT)
    return [parse_ps_line(line) for line in done.stdout.splitlines() if line.strip()]


def parse_ps_line(line: str) -> Process:
    pid, parent, group, state, kilobytes = line.split()
    return Process(int(pid), int(parent), int(group), state.startswith("Z"), int(kilobytes) * 1024)


def with_mark(mark: str, table: Mapping[int, Process]) -> set[int]:
    """Return the processes with `mark` in their environment, as far as it is readable."""
    wanted, found = mark.encode(), set()
    for pid in table:
        # The process has ended, belongs to another user, or is not readable.
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            if wanted in PROC.joinpath(str(pid), "environ").read_bytes().split(b"\0"):
                found.add(pid)
    return found


def children_of(pid: int, table: Mapping[int, Process]) -> set[int]:
    return {process.pid for process in table.values() if process.parent == pid}


def members_of(roots: Iterable[int], groups: Iterable[int], table: Mapping[int, Process]) -> set[int]:
    """Return the roots, the members of the groups, and all their descendants."""
    known = set(groups)
    wanted = [*roots, *(process.pid for process in table.values() if process.group in known)]
    offspring: dict[int, list[int]] = {}
    for process in table.values():
        offspring.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    while wanted:
        pid = wanted.pop()
        if pid not in found:
            found.add(pid)
            wanted += offspring.get(pid, [])
    return found
