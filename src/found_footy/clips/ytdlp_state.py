"""State of the yt-dlp installation: age, JavaScript runtime, curl-cffi. Used by downloads and the doctor."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

MAX_YTDLP_AGE = timedelta(days=30)
"""Extractors older than this often fail, because sites change."""
RUNTIMES = ("deno", "node")
"""In order of preference: deno runs without permissions."""
UPDATE_COMMANDS = f"`make update-ytdlp` in the project's folder, elsewhere `{sys.executable} -m pip install -U yt-dlp`"


@dataclass(frozen=True, slots=True)
class JsRuntime:
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class YtdlpState:
    version: str
    js_requirements: tuple[str, ...]
    """Packages needed for YouTube, in the versions that the installed yt-dlp requires."""
    js_runtimes: tuple[JsRuntime, ...]
    has_ejs: bool
    """yt-dlp-ejs, the scripts that solve YouTube's challenges."""
    has_curl_cffi: bool

    @property
    def install_runtime(self) -> str:
        """Command that installs the packages needed for YouTube without changing yt-dlp itself."""
        return " ".join([sys.executable, "-m pip install", *(f'"{each}"' for each in self.js_requirements)])

    def age(self, today: date) -> timedelta | None:
        return ytdlp_age(self.version, today)


def ytdlp_state() -> YtdlpState:
    """Inspect the yt-dlp of this environment without importing it."""
    return YtdlpState(
        version=importlib.metadata.version("yt-dlp"),
        js_requirements=js_requirements(importlib.metadata.requires("yt-dlp") or []),
        js_runtimes=js_runtimes(),
        has_ejs=importlib.util.find_spec("yt_dlp_ejs") is not None,
        has_curl_cffi=importlib.util.find_spec("curl_cffi") is not None,
    )


def js_requirements(requirements: Iterable[str]) -> tuple[str, ...]:
    """Return the optional requirements for JavaScript, unpinned if yt-dlp does not list them."""
    found = {name: name for name in ("yt-dlp-ejs", "deno")}
    for requirement in requirements:
        specifier, _, marker = requirement.partition(";")
        match = re.match(r"[\w.-]+", specifier)
        if match and match[0] in found and re.search(r"""extra == ['"](default|deno)['"]""", marker):
            found[match[0]] = specifier.strip()
    return tuple(found.values())


def js_runtimes() -> tuple[JsRuntime, ...]:
    """Find runtimes next to this Python (where `yt-dlp[deno]` installs one) or on PATH."""
    bin_folder = str(Path(sys.executable).parent)
    found = ((name, shutil.which(name, path=bin_folder) or shutil.which(name)) for name in RUNTIMES)
    return tuple(JsRuntime(name, path) for name, path in found if path)


def ytdlp_age(version: str, today: date) -> timedelta | None:
    """Time since the release date in yt-dlp's version; None for a version of another form."""
    found = re.match(r"(\d{4})\.(\d{1,2})\.(\d{1,2})(?!\d)", version)
    if found is None:
        return None
    try:
        return today - date(*map(int, found.groups()))
    except ValueError:
        return None
