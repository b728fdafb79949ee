"""Nothing in the project names the machine or the registry that it was made with."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.pages import ROOT

# Put together from pieces, so that this file does not contain what it looks for.
MACHINE = "|".join(("ro" + "ot", "wo" + "rk", "ho" + "me", "Us" + "ers"))
REGISTRIES = "|".join(("py" + "pi", "artifact" + "ory", "nex" + "us", "dev" + "pi", "python" + "hosted"))
FORBIDDEN = {
    "a path of one machine": rf"(?<![\w.])/(?:{MACHINE})/",
    "a package index": "(?:extra-)?index" + r"-url|\bfind" + r"-links",
    "a host of a registry": rf"(?i)\b(?:{REGISTRIES})[\w-]*\.[a-z]",
    "a path of a registry": r"://[^\s\"'<>]*/sim" + r"ple\b",
}


def tracked() -> list[Path]:
    """What git knows or would take up; everything that is not made by tools where there is no git."""
    git = shutil.which("git")
    if git is not None and (ROOT / ".git").exists():
        command = [git, "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, check=True)
        return [path for name in done.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]
    hidden = re.compile(r"^\.(?!ci$|importlinter$|gitignore$)|^__pycache__$")
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not any(hidden.search(part) for part in path.relative_to(ROOT).parts)
    ]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names_where_it_was_made(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in pattern.finditer(text)]
    assert found == []


def test_the_lock_files_name_no_host_and_hash_everything() -> None:
    for path in ROOT.glob("requirements*.lock"):
        text = path.read_text(encoding="utf-8")
        assert "://" not in text
        pinned = re.findall(r"^[\w.-]+==", text, re.MULTILINE)
        assert pinned
        assert len(re.findall(r"^[\w.-]+==[^\n]*\\\n\s+--hash=sha256:", text, re.MULTILINE)) == len(pinned)
