"""Identification of processes by pid and start time.

A pid alone is reused after a reboot, in a restarted container, or on a busy machine. Together with the start time it is
unique, so a recorded process is never confused with another.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """Unique identity of a process: pid and an opaque token of its start."""

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
            raw = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return ""
        return raw.rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
    return _ps(pid, "command=")


def _started_linux(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command name is in parentheses and may contain spaces and parentheses; the numbers start after the last one.
    fields = stat.rpartition(")")[2].split()
    state, ticks = fields[0], fields[19]
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
        env={"PATH": "/bin:/usr/bin", "LC_ALL": "C", "TZ": "UTC"},
    )
    return done.stdout.strip()
