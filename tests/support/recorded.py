"""Recorded data. It is no part of the project; a test that needs some is skipped where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTDATA = Path(__file__).parents[3] / "shared" / "testdata"
MISSING = "recorded data is missing"
"""Begins the reason of each such skip; the terminal summary counts them."""


def recorded(*parts: str) -> Path:
    path = TESTDATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{MISSING}: ../shared/testdata/{'/'.join(parts)}")
    return path
