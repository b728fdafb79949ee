"""The system clock. What decides by time takes a clock as an argument; this is the one for production."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    return datetime.now(UTC)
