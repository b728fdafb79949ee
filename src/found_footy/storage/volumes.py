"""Free space of volumes, the minimum below which work is rejected, and abandoned temporary folders."""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from found_footy.errors import VolumeFull

log = logging.getLogger(__name__)

MEGABYTE = 1_000_000
ABANDONED_SECONDS = 48 * 3600.0
"""Longer than any work on temporary files. Long-lived processes lock their folders instead (MasterCache)."""

_WORK_FOLDER = re.compile(r"footy-((upload|thumbnail|image|recording|apprise|check|backup)-)?[a-z0-9_]{8}")


def require_space(folder: Path, floor: int, needed: int = 0) -> None:
    """Raise VolumeFull if work would leave less than `floor` bytes free. A floor of 0 disables the check."""
    if floor <= 0:
        return
    free = shutil.disk_usage(_existing(folder)).free
    if free - needed < floor:
        wanted = f", and {needed / MEGABYTE:,.0f} MB are needed" if needed >= MEGABYTE else ""
        raise VolumeFull(
            f"{folder} has {free / MEGABYTE:,.0f} MB free{wanted}; {floor / MEGABYTE:,.0f} MB must stay free"
        )


def _existing(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if each.exists()), Path("/"))


def temporary_folder() -> Path:
    return Path(tempfile.gettempdir())


# --- Temporary folders.


def remove_abandoned_folders(place: Path | None = None, older_than: float = ABANDONED_SECONDS) -> int:
    """Remove this user's work folders in which nothing has changed for `older_than` seconds; return their number."""
    removed = 0
    before = time.time() - older_than
    for folder in sorted((place or temporary_folder()).glob("footy-*")):
        if not _WORK_FOLDER.fullmatch(folder.name):
            continue
        with suppress(OSError):
            found = folder.lstat()
            is_ours = folder.is_dir() and not folder.is_symlink() and found.st_uid == os.getuid()
            if is_ours and max(_changes(folder), default=found.st_mtime) < before and found.st_mtime < before:
                shutil.rmtree(folder)
                removed += 1
    if removed:
        log.info(f"removed {removed} abandoned folders", extra={"action": "folders_removed", "count": removed})
    return removed


def _changes(folder: Path) -> Iterator[float]:
    for path in folder.rglob("*"):
        with suppress(OSError):
            yield path.lstat().st_mtime
