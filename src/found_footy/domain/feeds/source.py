"""A declared feed: what `config/sources.yaml` says of it, and what an operator has switched since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


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
    origin: str = field(default="", compare=False)
    """Who answers in truth (`origin_of`); empty where that is the feed itself."""

    @property
    def names_football_leagues(self) -> bool:
        """Whether its football leagues are declared one by one, instead of taken from the follow list."""
        return any(not str(league).startswith("cricket/") for league in self.metadata.get("leagues", ()))


def origin_of(feed: str, adapter: str, base_url: str | None) -> str:
    """Feeds of one adapter at one address are one voice, whatever they are called: when they agree they prove nothing,
    and their requests meet the same limits. Two paths of one host are two: a gateway may hand out several vendors.
    What has no address, as a recording, stands for itself.
    """
    if not base_url:
        return feed
    parts = urlsplit(base_url)
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{adapter}@{parts.hostname}{port}{parts.path.rstrip('/')}"
