"""Clocks that tests move."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass
class SecondsClock:
    """Counts seconds, as time.monotonic() does."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class DatetimeClock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
