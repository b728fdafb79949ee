"""The set of all feeds that the cache has anything of: so nobody has to search the keys for them."""

from __future__ import annotations

FEED_NAMES = "feed_names"
