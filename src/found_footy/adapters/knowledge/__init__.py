"""What the world calls a team."""

from __future__ import annotations

from found_footy.adapters.knowledge.wikidata import Wikidata

__all__ = ["Wikidata"]
