"""What the browser service is told when it is built. Its callers turn settings into these."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    x_url: str
    """Base URL of X, or of whatever plays it."""
    profile: Path
    """Folder in which Chromium keeps the login. One Chromium at a time may use it."""
    port: int = 8888
    """On loopback; 0 takes any."""
    executable: Path | None = None
    """Chromium's program; where it is not given, it is looked for."""
    headless: bool = True

    hours: float = 6
    """Age at which the browser is started anew; so it is after so many tasks, or beyond so many processes."""
    searches: int = 500
    """Tasks: searches, and pages of feeds that were read."""
    processes: int = 40
    upkeep_seconds: float = 15
    """How often the browser is looked after while nobody asks."""
    recycle_seconds: float = 20
    """How long a recycle that somebody asks for waits for the tasks under way."""

    search_seconds: float = 18
    """From the arrival of a search to its answer, whatever that is."""
    at_once: int = 2
    spare_pages: int = 2
    """So many pages at most are kept for the next searches."""
    page_uses: int = 50
    """After so many searches a page is closed, and the next search gets a new one."""
    waiting: int = 8
    """Searches that wait for their turn; further ones are refused."""
    scrolls: int = 2
    """Of one search at most: each costs a search call of the account."""
    fresh_seconds: float = 0
    """How long an answer is shared by all who search for the same; 0 shares nothing, not even a search under way."""
    cooldown_seconds: float = 900
    """After X's rate limit or its login page, where X does not say how long: X's own window."""
    unexplained_cooldown_seconds: float = 300
    """After an error page that does not say why."""

    page_hosts: tuple[str, ...] = ()
    """host or host:port of the feeds whose pages may be read; no others are."""
    private_hosts: tuple[str, ...] = ()
    """host:port at private addresses that these pages may ask: a simulator's."""
    navigation_seconds: float = 15
    """How long such a page has to come, and then once more to show what we know."""
    scrape_seconds: float = 45
    """From the arrival of a reading to its answer, whatever that is."""
    pages_at_once: int = 4
    pages_waiting: int = 60
    quiet_seconds: float = 4
    """A page that shows nothing known and has asked for nothing for so long shows nothing more."""

    failures: int = 3
    """So many failed answers in a row turn the health red."""
    stale_seconds: float = 900
    """So long without a success, while somebody asks, turns it red too."""

    canary_word: str = "goal"
    canary_seconds: float = 300
    """How long an answer of the canary is given again."""
    canary_failure_seconds: float = 30

    @property
    def sign_seconds(self) -> float:
        """How long a page has to show any sign that we know."""
        return self.search_seconds * 0.6

    @property
    def scroll_seconds(self) -> float:
        """After so long on a page, what was found is the answer."""
        return self.search_seconds * 0.75

    @property
    def changed_pages(self) -> Path:
        """Where pages that nobody understood are kept for a person to look at."""
        return self.profile.parent / "changed-pages"
