"""`footy` with the hooks of the chaos runner: `python -m tests.chaos.process up`, `worker`, `web`, …

TEST_CHAOS_FOLDER names a folder with

- `armed/STEP`, such as `armed/before fetch_clip`: the first worker to get there takes it away, writes its pid into
  `reached/STEP`, and obeys the content: `kill` or `stop` itself, or `go on`;
- `skew-PID`: seconds by which the clock of that process is wrong;
- `footy`: a script that starts this module.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from found_footy.runtime import clock

FOLDER = "TEST_CHAOS_FOLDER"
HEARTBEAT_TIMEOUT = timedelta(seconds=2)
"""Shorter than in production, so that a run can afford many kills."""


def folder() -> Path:
    return Path(os.environ[FOLDER])


def skewed_now() -> datetime:
    try:
        offset = float((folder() / f"skew-{os.getpid()}").read_text())
    except FileNotFoundError:
        offset = 0.0
    return datetime.now(UTC) + timedelta(seconds=offset)


def reach(step: str) -> None:
    """Obey the order for this step, if there is one and no other worker took it."""
    taken = folder() / "taken" / f"{step} {os.getpid()}"
    try:
        (folder() / "armed" / step).rename(taken)
    except FileNotFoundError:
        return
    order = taken.read_text()
    note = taken.with_suffix(".pid")
    note.write_text(str(os.getpid()))
    note.rename(folder() / "reached" / step)
    if order == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if order == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)


def main() -> None:
    # Before any module takes the function.
    clock.utc_now = skewed_now
    command = sys.argv[1]
    if command == "worker":
        from found_footy.runtime import activity_policy
        from tests.chaos.killed_worker import hook_steps

        activity_policy.HEARTBEAT_TIMEOUT = HEARTBEAT_TIMEOUT
        hook_steps(reach)
    if command == "up":
        from found_footy.runtime import system

        system.FOOTY = str(folder() / "footy")
    from found_footy.cli.main import main as footy

    footy()


if __name__ == "__main__":
    main()
