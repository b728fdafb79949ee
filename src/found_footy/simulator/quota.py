"""The plan's limits on requests, as the service counts and words them."""

from __future__ import annotations

from found_footy.simulator.clock import TimeSource
from found_footy.simulator.feed_script import Limits

_WINDOW = 60.0
DAY_ERROR = (
    "You have reached the request limit for the day, Go to https://dashboard.api-football.com to upgrade your plan."
)


FREE_LIMITS = Limits(per_day=100, per_minute=10)


class Quota:
    """Counts requests; the day never ends, because a matchday fits into one."""

    def __init__(self, limits: Limits, time_source: TimeSource) -> None:
        self.limits = limits
        self.used = 0
        self._time = time_source
        self._window_start = time_source()
        self._in_window = 0

    def take(self) -> dict[str, str]:
        """Count one request; the service's `errors` object if it is one too many, else empty."""
        now = self._time()
        if now - self._window_start >= _WINDOW:
            self._window_start, self._in_window = now, 0
        if self.used >= self.limits.per_day:
            return {"requests": DAY_ERROR}
        if self._in_window >= self.limits.per_minute:
            return self.rate_error()
        self.used += 1
        self._in_window += 1
        return {}

    def rate_error(self) -> dict[str, str]:
        limit = self.limits.per_minute
        return {"rateLimit": f"Too many requests. Your rate limit is {limit} requests per minute."}

    def headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-requests-limit": str(self.limits.per_day),
            "x-ratelimit-requests-remaining": str(self.limits.per_day - self.used),
            "x-ratelimit-limit": str(self.limits.per_minute),
            "x-ratelimit-remaining": str(self.limits.per_minute - self._in_window),
        }
