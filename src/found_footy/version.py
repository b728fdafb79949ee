"""Version and commit of the running program."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

COMMIT_VARIABLE = "FOOTY_COMMIT"
UNKNOWN = "unknown"
COMMIT_LENGTH = 12
VERSION = version("found-footy")
_CHECKOUT = Path(__file__).parents[2]
"""The root of the repository, if the package runs from a checkout."""


@dataclass(frozen=True, slots=True)
class Build:
    version: str
    commit: str
    """Abbreviated, or `unknown`."""

    def __str__(self) -> str:
        return f"{self.version} ({self.commit})"


@cache
def current_build() -> Build:
    """Return version and commit. The commit comes from the image (FOOTY_COMMIT) or from git, if this is a checkout."""
    return Build(VERSION, find_commit(os.environ.get(COMMIT_VARIABLE, ""), _CHECKOUT))


def find_commit(given: str, checkout: Path) -> str:
    if given:
        return given[:COMMIT_LENGTH]
    if not (checkout / ".git").exists():
        return UNKNOWN
    command = ["git", "-C", str(checkout), "rev-parse", f"--short={COMMIT_LENGTH}", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=5)
    except (OSError, subprocess.SubprocessError):  # git is missing, or the checkout belongs to another user
        return UNKNOWN
    return done.stdout.strip()
