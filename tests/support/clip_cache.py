"""Where rendered clips are kept between runs; `make clean` removes them."""

from __future__ import annotations

import os
from pathlib import Path


def rendered_clips() -> Path:
    """The names of files follow from their content and the renderer's version, so all runs may share them."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "found-footy" / "clips"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
