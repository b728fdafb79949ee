"""A declared feed: what `config/sources.yaml` says of it, and what an operator has switched since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Hold over all workers together."""

    concurrent: int = 4
    """Requests to the feed that are under way at once."""
    interval_seconds: float = 0.0
    """Between the starts of two requests, on average; a burst may start together."""
    burst: int = 10


@dataclass(frozen=True, slots=True)
class FeedSource:
    id: str
    adapter: str
    """api_football, espn, crex or recording. Two feeds may have the same."""
    enabled: bool = True
    precedence: int = 50
    """Higher ones are believed first, from 0 to 100."""
    limits: RateLimits = RateLimits()
    follow: str = "all"
    """`all` its matches, or only those that are `paired` with a match of another feed."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What the adapter has to know: base_url, leagues, sports, path, …"""
