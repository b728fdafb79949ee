"""From a key to its file, and never out of the folder: a link is not followed, wherever on the way it lies."""

from __future__ import annotations

from pathlib import Path

from found_footy.domain.errors import ObjectStoreError


def plain_path(root: Path, key: str) -> Path:
    """Where an object lies or would lie. The root itself may be reached through links: its owner has chosen it."""
    path = root
    for name in key.split("/"):
        path = path / name
        if path.is_symlink():
            raise ObjectStoreError(f"{path} is a symbolic link, and objects are files of the folder itself; remove it")
    return path
