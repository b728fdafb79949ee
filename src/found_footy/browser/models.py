"""Options of the browser service. Callers build them from settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    x_url: str
    """Base URL of X, or of a simulator."""
    profile: Path
    """Folder of Chromium's profile with the login. Only one Chromium may use it at a time."""
    secret: str = ""
    """Secret that clients must send. If empty, only `/health` responds, with nothing but the health."""
    host: str = "127.0.0.1"
    port: int = 8888
    """0 picks a free one."""
    browsers: int = 1
    owns_login: bool = True
    """False for an additional browser, which loads the cookies of the first one at each start."""
    executable: Path | None = None
    """Path of Chromium; None to search for it."""
    headless: bool = True

    hours: float = 6
    """Age at which the browser is recycled; `searches` and `processes` are further limits."""
    searches: int = 500
    """Maximum tasks per browser: searches and pages read for feeds."""
    processes: int = 40
    upkeep_seconds: float = 15
    """Interval of the background maintenance."""
    recycle_seconds: float = 20
    """How long a requested recycle waits for running tasks."""

    search_seconds: float = 18
    """Time limit of a search, including its time in the queue."""
    at_once: int = 2
    spare_pages: int = 2
    """Maximum pages kept for the next searches."""
    page_uses: int = 50
    """Maximum searches per page."""
    waiting: int = 8
    """Maximum queued searches; further ones are refused."""
    scrolls: int = 2
    """Maximum scrolls per search; each costs a search call of the account."""
    fresh_seconds: float = 0
    """How long equal searches share a result; 0 disables sharing, including of running searches."""
    cooldown_seconds: float = 900
    """Pause after X's login page, and maximum pause after its rate limit: X's own window."""
    unexplained_cooldown_seconds: float = 300
    """Pause after a rate limit or error page without a stated end."""

    page_hosts: tuple[str, ...] = ()
    """Allowlist of feed hosts, as host or host:port."""
    private_hosts: tuple[str, ...] = ()
    """host:port at private addresses that these pages may connect to, such as a simulator."""
    navigation_seconds: float = 15
    """Time limit for such a page to open, and again to show known content."""
    scrape_seconds: float = 45
    """Time limit of reading a page, including its time in the queue."""
    pages_at_once: int = 4
    pages_waiting: int = 60
    quiet_seconds: float = 4
    """A loaded page without known content or requests for this long is considered complete."""

    failures: int = 3
    """Consecutive failures after which the service is unhealthy."""
    stale_seconds: float = 900
    """Time without a success, while there are requests, after which the service is unhealthy."""

    canary_word: str = "goal"
    canary_seconds: float = 300
    """How long a successful canary result is cached."""
    canary_failure_seconds: float = 30
    canary_every_seconds: float | None = None
    """Interval of the automatic canary, once there is a login; None to disable it."""
    canary_first_seconds: float = 30

    @property
    def sign_seconds(self) -> float:
        """Time limit for a page to show a known sign."""
        return self.search_seconds * 0.6

    @property
    def scroll_seconds(self) -> float:
        """Time after which the posts found so far are returned."""
        return self.search_seconds * 0.75

    @property
    def folder(self) -> Path:
        """`browser` of the data folder."""
        return self.profile.parent

    @property
    def changed_pages(self) -> Path:
        """Folder in which unrecognized pages are saved for inspection."""
        return self.profile.parent / "changed-pages"
