"""Where a file lies in the object store: nothing but the event's id and its content decide."""

from __future__ import annotations

STAGING = "staging/"


def staging_key(event_id: str, md5: str) -> str:
    return f"{staging_prefix(event_id)}{md5}.mp4"


def staging_prefix(event_id: str) -> str:
    return f"{STAGING}{event_id}/"


def clip_key(fixture_id: int, event_id: str, md5: str) -> str:
    return f"{clip_prefix(fixture_id, event_id)}{md5}.mp4"


def clip_prefix(fixture_id: int, event_id: str) -> str:
    return f"{fixture_prefix(fixture_id)}{event_id}/"


def fixture_prefix(fixture_id: int) -> str:
    return f"{fixture_id}/"


def md5_of(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".mp4")
