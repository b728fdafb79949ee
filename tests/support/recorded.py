"""Real recordings. They are no part of the project; a test that needs one is skipped where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTDATA = Path(__file__).parents[3] / "shared" / "testdata"


def recorded(*parts: str) -> Path:
    path = TESTDATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the real recordings are not here: ../shared/testdata/{'/'.join(parts)}")
    return path
