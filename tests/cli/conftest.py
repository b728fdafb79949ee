from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from found_footy.config import environment_names
from found_footy.config_types import PREFIX

FOOTY = Path(sys.executable).parent / "footy"


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """What it said on stderr, without frames and line breaks."""
        return " ".join(word for word in self.err.split() if word.strip("│╭╮╰╯─"))

    def error(self) -> dict[str, Any]:
        """The JSON form of an error, which is all that stderr holds."""
        document = json.loads(self.err)
        assert list(document) == ["error"]
        assert set(document["error"]) == {"class", "message", "hint"}
        found: dict[str, Any] = document["error"]
        return found


Footy = Callable[..., Ended]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """No settings, an empty data folder, and a wide terminal without colours."""
    named = set(environment_names().values())
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith(PREFIX) and k not in named}
    return kept | {"FOOTY_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


@pytest.fixture
def footy(tmp_path: Path, environment: dict[str, str]) -> Footy:
    """Runs the command in an empty folder."""

    def run(*arguments: str, **settings: str) -> Ended:
        done = subprocess.run(
            [FOOTY, *arguments],
            cwd=tmp_path,
            env=environment | settings,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
