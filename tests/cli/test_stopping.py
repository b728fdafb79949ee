"""A stopped process finishes its work, within a time limit."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from found_footy.cli.common import EXIT_NOT_STOPPED

PROGRAM = """
import asyncio
from found_footy.cli.common import run, stop_event

async def body():
    stop = stop_event({timeout})
    print("ready", flush=True)
    await stop.wait()
    {then}

run(body, when_stopped=0)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    ("then", "timeout", "code"),
    [
        ("await asyncio.sleep(0.1)", 60, 0),
        ("await asyncio.Event().wait()", 1, EXIT_NOT_STOPPED),
        ("import time; time.sleep(600)", 1, EXIT_NOT_STOPPED),
    ],
)
def test_a_process_exits_in_time_after_the_stop_signal(
    number: signal.Signals, then: str, timeout: int, code: int
) -> None:
    program = PROGRAM.format(then=then, timeout=timeout)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(120) == code
