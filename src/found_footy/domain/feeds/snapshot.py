"""What a feed, or all feeds together, said of a match at one moment, as the cache keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

RECONCILED = "reconciled"
"""The domain of a snapshot that was made of several feeds' words; its match id is that of our fixture."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    match_id: str
    """`espn_401` for a feed's word, `1380101` for ours."""
    domain_id: str
    payload: Mapping[str, Any]
    """In the unified schema."""
    created_at: datetime
    sequence: int
    """Counts each match's snapshots from 1."""
    checksum: str
    provenance: Mapping[str, Any] = field(default_factory=dict)
