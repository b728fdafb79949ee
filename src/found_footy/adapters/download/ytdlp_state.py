"""What yt-dlp has to work with here: its age, a JavaScript runtime, curl-cffi. For downloads and for the doctor."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

MAX_AGE = timedelta(days=30)
"""Sites change their pages; an extractor that was right last month often fails today."""
RUNTIMES = ("deno", "node")
"""In order of preference: deno runs without permissions."""
RENEW = f"{sys.executable} -m pip install -U yt-dlp"


@dataclass(frozen=True, slots=True)
class JsRuntime:
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class YtdlpState:
    version: str
    js_runtimes: tuple[JsRuntime, ...]
    has_ejs: bool
    """yt-dlp-ejs, the scripts that solve YouTube's challenges."""
    has_curl_cffi: bool

    @property
    def install_runtime(self) -> str:
        """The command that adds what YouTube needs. It never replaces yt-dlp by an older release."""
        return f'{sys.executable} -m pip install -U "yt-dlp[default,deno]>={self.version}"'

    def age(self, today: date) -> timedelta | None:
        return ytdlp_age(self.version, today)


def ytdlp_state() -> YtdlpState:
    """Of the yt-dlp in this environment, without importing it."""
    return YtdlpState(
        version=importlib.metadata.version("yt-dlp"),
        js_runtimes=js_runtimes(),
        has_ejs=importlib.util.find_spec("yt_dlp_ejs") is not None,
        has_curl_cffi=importlib.util.find_spec("curl_cffi") is not None,
    )


def js_runtimes() -> tuple[JsRuntime, ...]:
    """Runtimes beside our Python (`yt-dlp[deno]` installs one there) or on PATH, by their full paths."""
    beside = str(Path(sys.executable).parent)
    found = ((name, shutil.which(name, path=beside) or shutil.which(name)) for name in RUNTIMES)
    return tuple(JsRuntime(name, path) for name, path in found if path)


def ytdlp_age(version: str, today: date) -> timedelta | None:
    """Since the release, which yt-dlp's version names; None for a version of another form."""
    found = re.match(r"(\d{4})\.(\d{1,2})\.(\d{1,2})(?!\d)", version)
    if found is None:
        return None
    try:
        return today - date(*map(int, found.groups()))
    except ValueError:
        return None
