"""The system clock. Code that depends on time takes a clock as an argument; production passes this one."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    return datetime.now(UTC)
