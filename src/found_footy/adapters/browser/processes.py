"""Which processes a browser has, however they were started, so that none of them is ever left behind.

They are told by descent from the browser's driver; by a mark in their environment, since Chromium's crash handlers
leave the tree at once; and by the process groups of those, since whoever loses its parent stays in its group.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    group: int
    ended: bool
    """A zombie: it runs no more, and waits for its parent to take note."""
    memory: int = 0
    """Bytes that lie in memory, with those that it shares with others."""


def all_processes() -> dict[int, Process]:
    found = _from_proc(PROC) if PROC.joinpath("self/stat").exists() else _from_ps()
    return {process.pid: process for process in found}


def _from_proc(folder: Path) -> list[Process]:
    found = []
    for entry in os.listdir(folder):
        if entry.isdigit():
            # It may end at any moment.
            with suppress(FileNotFoundError, ProcessLookupError):
                found.append(from_stat(folder.joinpath(entry, "stat").read_text("utf-8", "replace")))
    return found


def from_stat(text: str) -> Process:
    """A line of /proc/PID/stat. The program's name may hold spaces and brackets: what counts follows the last one."""
    start, _, rest = text.rpartition(")")
    fields = rest.split()
    return Process(
        pid=int(start.split("(", 1)[0]),
        parent=int(fields[1]),
        group=int(fields[2]),
        ended=fields[0] in "ZX",
        memory=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
    )


def _from_ps() -> list[Process]:
    command = ["ps", "-axo", "pid=,ppid=,pgid=,stat=,rss="]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    return [from_ps_line(line) for line in answer.stdout.splitlines() if line.strip()]


def from_ps_line(line: str) -> Process:
    pid, parent, group, state, kilobytes = line.split()
    return Process(int(pid), int(parent), int(group), state.startswith("Z"), int(kilobytes) * 1024)


def marked(mark: str, table: Mapping[int, Process]) -> set[int]:
    """Those that were started with this in their environment, as far as the system lets us see it."""
    wanted, found = mark.encode(), set()
    for pid in table:
        # It has ended, or is another user's, or hides itself.
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            if wanted in PROC.joinpath(str(pid), "environ").read_bytes().split(b"\0"):
                found.add(pid)
    return found


def children_of(pid: int, table: Mapping[int, Process]) -> set[int]:
    return {process.pid for process in table.values() if process.parent == pid}


def belonging(roots: Iterable[int], groups: Iterable[int], table: Mapping[int, Process]) -> set[int]:
    """The roots, whatever is in one of the groups, and whatever descends from any of them."""
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


class Family:
    """The processes of one browser: its driver, which is a child of this process, and all that came of it."""

    def __init__(self, driver: int, mark: str) -> None:
        self.driver = driver
        self.mark = mark
        """`NAME=value`, in the environment that the driver gives to the browser."""
        self._groups: set[int] = set()

    def members(self) -> list[Process]:
        table = all_processes()
        me = table[os.getpid()]
        roots = marked(self.mark, table)
        # The number of a process that has ended may be given to a stranger.
        if self.driver in children_of(me.pid, table):
            roots.add(self.driver)
        pids = belonging(roots, self._groups, table) - {me.pid}
        # A group whose last process has ended is forgotten for the same reason.
        self._groups = {table[pid].group for pid in pids} - {me.group}
        return [table[pid] for pid in sorted(pids)]

    async def end(self, seconds: float = 5, *, but_driver: bool = False) -> list[int]:
        """Kills what is left, and sees it gone; returns those that did not go."""
        spared = self.driver if but_driver else -1
        latest = time.monotonic() + seconds
        while left := [each.pid for each in self.members() if not each.ended and each.pid != spared]:
            if time.monotonic() > latest:
                return left
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.05)
        return []
