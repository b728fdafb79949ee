"""How the simulated outside services behave: a scenario's `services` section.

The defaults are the forms of late 2026. Each switch turns on a refusal or an outage that the real service is known for.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from found_footy.simulator.script_model import Model


class EspnService(Model):
    """ESPN's scoreboard. It always refuses date ranges, and User-Agents without a version and a link."""


class ApiFootballService(Model):
    """API-Football v3."""


class CrexService(Model):
    """crex.com."""


class RedditService(Model):
    """Reddit. `*.json` without a login is always refused."""


class FxTwitterService(Model):
    """FxEmbed's public API (api.fxtwitter.com)."""


class XService(Model):
    """x.com and its syndication endpoint."""


ClipHostName = Literal["streamain", "streamin", "streamff", "dubz", "dropr", "streamable", "reddit"]


class ClipHostService(Model):
    """The clip hosts that r/soccer links to."""

    streamff: Literal["clips", "placeholder"] = "clips"
    """`placeholder`: its files redirect to a playable video about a terms of service abuse."""
    dead: tuple[ClipHostName, ...] = ()
    """Hosts that have lost all their clips."""


class BlueskyService(Model):
    """Bluesky's entryway, its PDSes and its video CDN."""

    blobs: Literal["served", "refused"] = "served"
    """`refused`: the authors' servers do not give out their files; the CDN's playlists remain."""


class WikidataService(Model):
    """Wikidata's search and SPARQL endpoints."""

    retry_after: int | None = Field(None, ge=1, le=86_400)
    """Refuse everything with HTTP 429 and this Retry-After, in seconds."""


class Services(Model):
    espn: EspnService = EspnService()
    api_football: ApiFootballService = ApiFootballService()
    crex: CrexService = CrexService()
    reddit: RedditService = RedditService()
    fxtwitter: FxTwitterService = FxTwitterService()
    x: XService = XService()
    hosts: ClipHostService = ClipHostService()
    bluesky: BlueskyService = BlueskyService()
    wikidata: WikidataService = WikidataService()
