from __future__ import annotations

import os
from pathlib import Path

import pytest

from found_footy.config import PREFIX, environment_names


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.upper().startswith(PREFIX) or name in environment_names().values():
            monkeypatch.delenv(name)
    return tmp_path
