"""What there is to be known of the browser at one moment: counted, not believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from found_footy.adapters.browser.recycling import Recycle


@dataclass(frozen=True, slots=True)
class BrowserFacts:
    up_since: datetime | None
    searches: int
    """Of X, with the browser that runs now."""
    processes: int
    zombies: int
    """Ended, and waiting for a parent that takes no note; in a container without an init they pile up."""
    memory_mb: int
    """What processes share is counted for each of them."""
    pages: int
    """One is always open; each task that runs has one more, and the spare ones are open, too."""
    starts: int
    spare_pages: int = 0
    """Empty ones that wait for the next searches of X."""
    uptime_seconds: float = 0.0
    readings: int = 0
    """Pages of feeds, with the browser that runs now."""
    contexts: int = 1
    """X's with its login, and one for each page of a feed that is read now."""
    recycles: tuple[Recycle, ...] = ()
    """The last ones, the newest at the end."""
    recycles_total: Mapping[str, int] = field(default_factory=dict)
    """By reason, since the service began."""
    strays_closed: int = 0
    """Pages and contexts that nobody had closed."""
    leaked_ended: int = 0
    """Processes that had outlived their browser."""
    requests_refused: int = 0
    """Requests of pages for addresses that they may not ask."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "tasks": self.searches + self.readings}
