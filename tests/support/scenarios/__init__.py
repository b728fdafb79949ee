"""Scenarios that are smaller than the bundled ones, and where rendered clips are cached."""

from __future__ import annotations

import os
from pathlib import Path

ONE_MATCH = Path(__file__).with_name("one_match.yaml")
"""Three goals: one with every fate of a post, one withdrawn by VAR, one whose last copy comes late."""
ONE_GOAL = Path(__file__).with_name("one_goal.yaml")
"""One goal with two copies, reported by two feeds."""
SHORT_MATCH = Path(__file__).with_name("short_match.yaml")
"""Three goals, one withdrawn, whose posts are all there when a goal is stable."""


def rendered_clips() -> Path:
    """Return the cache folder, shared by all runs: file names follow from content and renderer version.

    `make clean` removes it.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "found-footy" / "clips"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
