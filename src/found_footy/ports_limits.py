"""Limits of an outside service that every process of one installation shares."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CallBudget:
    """At most `calls` in any period of length `window`."""

    calls: int
    window: timedelta


@dataclass(frozen=True, slots=True)
class Cooldown:
    """A service that must not be asked before `until`."""

    until: datetime
    kind: str
    """Class of the error that started it, such as SourceRateLimited."""
    reason: str


class SourceLimits(Protocol):
    """Requests, calls and cool-downs of one service, counted over all processes where a cache is available."""

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait for permission to send one request. Raises SourceRateLimited or SourceUnavailable."""

    async def take_call(self) -> datetime | None:
        """Count one call against the budget. None if it is granted, else the time at which the next one is."""

    async def cooldown(self) -> Cooldown | None:
        """The cool-down in force."""

    async def cool_down(self, cooldown: Cooldown) -> None: ...

    async def clear_cooldown(self) -> None: ...

    async def remember(self, name: str, value: str, seconds: float) -> None: ...

    async def recall(self, name: str) -> str | None:
        """A value that is remembered and has not expired."""
