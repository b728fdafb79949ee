"""Where a file lies in the object store: nothing but the event's id and its content decide."""

from __future__ import annotations

STAGING = "staging/"


def staging_key(event_id: str, md5: str) -> str:
    return f"{staging_prefix(event_id)}{md5}.mp4"


def staging_prefix(event_id: str) -> str:
    return f"{STAGING}{event_id}/"


def clip_key(fixture_id: int, event_id: str, md5: str) -> str:
    return f"{clip_prefix(fixture_id, event_id)}{md5}.mp4"


def poster_key(fixture_id: int, event_id: str, md5: str, width: int) -> str:
    """A clip's pictures lie beside it, and go with it."""
    return f"{clip_prefix(fixture_id, event_id)}{md5}.poster-{width}.jpg"


def proof_key(fixture_id: int, event_id: str, md5: str, at: float) -> str:
    """`at` is in seconds from the clip's start."""
    return f"{clip_prefix(fixture_id, event_id)}{md5}.proof-{round(at * 1000)}.jpg"


def clip_prefix(fixture_id: int, event_id: str) -> str:
    return f"{fixture_prefix(fixture_id)}{event_id}/"


def fixture_prefix(fixture_id: int) -> str:
    return f"{fixture_id}/"


def md5_of(key: str) -> str:
    """Of a clip, or of the clip that a picture belongs to."""
    return key.rpartition("/")[2].partition(".")[0]
