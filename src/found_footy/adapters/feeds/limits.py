"""What no feed may exceed, and what the database can keep of its words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from found_footy.domain.errors import FeedSchemaError

MAX_GOALS = 60
MAX_TEXT = 300
STORABLE = "text without NUL characters and half surrogate pairs"


def storable_text(text: str) -> str:
    if "\x00" in text or (not text.isprintable() and any(0xD800 <= ord(char) < 0xE000 for char in text)):
        raise ValueError(STORABLE)
    return text


def parse_kickoff(field: str, text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or not 1900 < moment.year < 2200:
        raise FeedSchemaError(field, text, "an ISO 8601 time with its zone")
    return moment.astimezone(UTC)


def storable(raw: dict[str, Any]) -> dict[str, Any]:
    """PostgreSQL stores neither a NUL character nor half a surrogate pair, not even escaped in JSON."""
    try:
        text = json.dumps(raw, ensure_ascii=False, allow_nan=False)
    except ValueError as error:  # Python reads NaN and 1e999 as numbers; JSON has neither.
        raise FeedSchemaError("raw", "a number that is none", "finite numbers") from error
    if "\\u0000" in text or any(0xD800 <= ord(char) < 0xE000 for char in text if char > "\ud7ff"):
        raise FeedSchemaError("raw", "a character that is none", STORABLE)
    return raw
