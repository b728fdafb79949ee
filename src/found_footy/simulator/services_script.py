"""How the simulated outside services behave: a scenario's `services` section.

The defaults are the forms of late 2026. Each switch turns on a refusal or an outage that the real service is known for.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from found_footy.simulator.script_model import Model


class EspnService(Model):
    """ESPN's scoreboard. It always refuses date ranges, and User-Agents without a version and a link."""

    refuses: Literal["client", "query"] | None = None
    """`client`: HTTP 403 to every User-Agent. `query`: HTTP 400 to every request with `dates`."""
    not_served: tuple[str, ...] = ()
    """Leagues that answer HTTP 404, as if ESPN had renamed them."""


class ApiFootballService(Model):
    """API-Football v3."""

    plan: Literal["paid", "free"] = "paid"
    """`free`: 100 requests a day, no `ids=`, and `date=` from yesterday to tomorrow."""


class CrexService(Model):
    """crex.com."""

    embedded_json: bool = True
    """Whether pages carry their data as JSON; without it only a browser can read them."""


class RedditService(Model):
    """Reddit. `*.json` without a login is always refused."""

    fragment: Literal["ok", "blocked", "challenge", "limited", "changed"] = "ok"
    """`blocked` as for datacentres, `challenge` a page that wants JavaScript, `changed` a page without posts."""
    fragment_per_window: PositiveInt = 200
    atom: Literal["ok", "blocked", "limited", "changed"] = "ok"
    atom_per_window: PositiveInt = 1
    oauth: Literal["ok", "blocked", "limited"] = "ok"
    """For requests with the simulator's keys; other keys are always refused."""
    oauth_per_window: PositiveInt = 100
    window_seconds: PositiveFloat = 60
    """Real seconds after which requests are counted from zero again."""


class FxTwitterService(Model):
    """FxEmbed's public API (api.fxtwitter.com). A search without results is always an empty 404."""

    state: Literal["ok", "down", "empty"] = "ok"
    """`empty`: every search is an empty 404 while posts are still shown (FxEmbed#2303). `down`: HTTP 500."""


class XService(Model):
    """x.com and its syndication endpoint."""

    wall: bool = False
    """Searches without a login lead to the onboarding page."""
    syndication: Literal["ok", "down"] = "ok"


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
