"""What processes use, from /proc: CPU time, memory and open files of a process with all its descendants."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from found_footy.app import Running

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    cpu_seconds: float = 0.0
    """Includes children that have ended."""
    memory: int = 0
    """Bytes of its own: what it shares with its parent counts once."""
    files: int = 0
    processes: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.cpu_seconds + other.cpu_seconds,
            self.memory + other.memory,
            self.files + other.files,
            self.processes + other.processes,
        )


def usage_of(roots: Iterable[int]) -> dict[int, Usage]:
    """Usage by root process. Processes that end meanwhile are left out."""
    children: dict[int, list[int]] = defaultdict(list)
    cpu: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children[int(fields[1])].append(int(entry.name))
            cpu[int(entry.name)] = sum(int(fields[n]) for n in (11, 12, 13, 14)) / _TICKS
    found = {}
    for root in roots:
        total, open_ = Usage(), [root]
        while open_:
            pid = open_.pop()
            open_ += children[pid]
            if pid in cpu:
                total += Usage(cpu[pid], _private_memory(pid), _open_files(pid), 1)
        found[root] = total
    return found


def usage_by_part(system: Running) -> Mapping[str, Usage]:
    """Usage of the system's processes by their name."""
    pids = {child.pid: child.name for child in system.supervisor.status() if child.pid is not None}
    return {pids[pid]: usage for pid, usage in usage_of(pids).items()}


def folder_size(folder: Path) -> int:
    """Bytes of all files; those that disappear meanwhile are left out."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
            except OSError:
                continue
    return total


def _private_memory(pid: int) -> int:
    """Resident pages minus those of shared files and shared memory."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE


def _open_files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0
