"""Where the library's files lie in the object store."""

from __future__ import annotations

PREFIX = "library/"


def master_key(source_id: int) -> str:
    """The source as everything is cut from it: playable in a browser, at a constant rate."""
    return f"{PREFIX}{source_id}/master.mp4"


def upload_key(name: str) -> str:
    """Where a submitted file waits for its stage; `name` is random."""
    return f"{PREFIX}uploads/{name}"


def clip_file_key(source_id: int, clip_id: int) -> str:
    return f"{PREFIX}{source_id}/{clip_id}.mp4"


def sprite_key(source_id: int, clip_id: int) -> str:
    return f"{PREFIX}{source_id}/{clip_id}.webp"


def keyframe_key(source_id: int, clip_id: int, number: int) -> str:
    return f"{PREFIX}{source_id}/{clip_id}-{number}.jpg"
