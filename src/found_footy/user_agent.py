"""How this program introduces itself to the services it asks."""

from __future__ import annotations

from importlib.metadata import version

PROJECT_URL = "https://github.com/found-footy/found-footy"

USER_AGENT = f"found-footy/{version('found-footy')} (+{PROJECT_URL})"
"""Name, version and a link. ESPN refuses bare tokens and browser strings since August 2026; Reddit and Wikimedia
throttle clients that do not identify themselves."""
