"""What one download may take of us, and what it has taken so far."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 20.0
"""Without a single byte, after which a connection counts as broken."""


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    max_bytes: int
    max_seconds: float
    """For the whole way, all redirects and tries included."""
    max_redirects: int
    private_hosts: Collection[str] = ()
    """host:port that may be at a private address: a simulator's."""
    impersonate: bool = False
    """Whether yt-dlp may use curl-cffi, whose connections the address guard does not see. See `ytdlp_child.py`."""

    @property
    def timeouts(self) -> dict[str, float]:
        """For each step of one request, as httpcore wants them."""
        connect, silence = min(CONNECT_SECONDS, self.max_seconds), min(SILENCE_SECONDS, self.max_seconds)
        return {"connect": connect, "read": silence, "write": silence, "pool": self.max_seconds}


@dataclass(slots=True)
class Trip:
    """One download on its way."""

    redirects_left: int
    answered: bool = False
    """Whether anybody has answered: then it is too slow, and not unreachable, when the time is over."""
    told: Callable[[float], None] | None = None
    """Who wants to know how much is here, 0 to 1."""
    longest_seconds: float | None = None
    """The longest film that is wanted, where its page tells."""
    title: str = ""
    """As its page tells."""

    def tell(self, have: int, of: int | None) -> None:
        if self.told is not None and of:
            self.told(min(1.0, have / of))
