from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import FOOTY, CliResult, clean_environment, run_cli

__all__ = ["FOOTY", "Footy"]

Footy = Callable[..., CliResult]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return clean_environment(tmp_path / "data")


@pytest.fixture
def footy(tmp_path: Path, environment: dict[str, str]) -> Footy:
    """Runs the command in this process, in an empty folder."""

    def run(*arguments: str, input: str = "", **settings: str) -> CliResult:
        return run_cli(*arguments, env=environment | settings, cwd=tmp_path, input=input)

    return run
