"""Where a recording lies in the object store."""

from __future__ import annotations

from found_footy.domain.recordings.packing import SUFFIX

RECORDINGS = "recordings/"


def recording_prefix(fixture_id: int) -> str:
    return f"{RECORDINGS}{fixture_id}/"


def recording_key(fixture_id: int) -> str:
    return f"{recording_prefix(fixture_id)}recording{SUFFIX}"
