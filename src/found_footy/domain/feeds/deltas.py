"""What has changed between two snapshots of a match, and how to tell that nothing has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from found_footy.domain.feeds.snapshot import Snapshot


def canonical(payload: Mapping[str, Any]) -> str:
    """One text for one content, whatever the order of the keys; ASCII, since names can hold halves of characters.

    ValueError for what JSON has no words for.
    """
    return json.dumps(payload, sort_keys=True, allow_nan=False, separators=(",", ":"))


def checksum(payload: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(payload).encode()).hexdigest()


def delta(previous: Snapshot | None, current: Snapshot) -> dict[str, Any]:
    """The fields that are new or different; one that has gone is None.

    `_sequence_delta` above 1 says that snapshots between the two were missed.
    """
    if previous is None:
        return {**current.payload, "_diff_type": "initial"}
    old, new = previous.payload, current.payload
    changed = {key: new.get(key) for key in (*new, *old) if key not in old or new.get(key) != old[key]}
    return {**changed, "_diff_type": "update", "_sequence_delta": current.sequence - previous.sequence}
