"""What a page could do to this machine after breaking out of its renderer."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from found_footy.browser.chromium import environment
from found_footy.runtime.confinement import available
from tests.browser.simulated import Searched

pytestmark = pytest.mark.asyncio(loop_scope="package")


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def chromium_processes(search: Searched) -> list[dict[str, str]]:
    """Without the driver, a process of ours that talks to it."""
    found = []
    for process in search.service.processes():
        if b"--type=" in (line := Path(f"/proc/{process.pid}/cmdline").read_bytes()) or b"--user-data-dir=" in line:
            found.append(status_of(process.pid))
    return found


@pytest.mark.skipif(not available().landlock, reason="the kernel has no Landlock")
async def test_chromium_runs_without_privileges(search: Searched) -> None:
    assert (await search.client.get("/health")).status_code == 200
    found = chromium_processes(search)
    assert len(found) > 2
    assert {each["NoNewPrivs"] for each in found} == {"1"}
    if os.geteuid() == 0:
        nobody = str(pwd.getpwnam("nobody").pw_uid)
        users = {user for each in found for user in each["Uid"].split()}
        assert users == {nobody}
    assert "2" in {each["Seccomp"] for each in found}, "its renderers are filtered by Chromium's own sandbox"


async def test_chromium_gets_no_secret(tmp_path: Path) -> None:
    given = {"PATH": "/bin", "HOME": "/root", "FOOTY_S3_SECRET_KEY": "secret", "DATABASE_URL": "secret"}
    kept = environment(given, tmp_path / "profile", "MARK=1", is_confined=True)
    assert "secret" not in kept.values()
    assert kept["HOME"] == str(tmp_path / "profile")
