"""The running version is visible: command, logs, health, operations page."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path

import pytest

from found_footy.cli.common import log_start
from found_footy.version import COMMIT_LENGTH, UNKNOWN, VERSION, current_build, find_commit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_commit_of_the_image_comes_first(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert find_commit(COMMIT, tmp_path) == COMMIT[:COMMIT_LENGTH]


def test_a_checkout_shows_its_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "first")
    assert find_commit("", tmp_path) == git(tmp_path, "rev-parse", "HEAD")[:COMMIT_LENGTH]


def test_without_image_and_checkout_the_commit_is_unknown(tmp_path: Path) -> None:
    assert find_commit("", tmp_path) == UNKNOWN
    (tmp_path / ".git").mkdir()  # not a repository
    assert find_commit("", tmp_path) == UNKNOWN


def test_each_process_logs_its_version_when_it_starts(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        log_start("worker")
    (record,) = caplog.records
    assert (vars(record)["version"], vars(record)["commit"]) == (VERSION, current_build().commit)
