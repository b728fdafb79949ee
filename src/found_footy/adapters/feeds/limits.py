"""What no feed may exceed, and what the database can keep of its words."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.feeds.document import MAX_TEXT, STORABLE, Reader, storable_text

__all__ = ["MAX_GOALS", "MAX_TEXT", "parse_kickoff", "storable", "storable_text"]

MAX_GOALS = 60
"""Goals of a match, or its wickets: four innings have at most forty."""

HALF_A_PAIR = re.compile(r"[\ud800-\udfff]")


def parse_kickoff(field: str, text: str) -> datetime:
    return Reader(text, field).moment()


def storable(raw: dict[str, Any]) -> dict[str, Any]:
    """PostgreSQL stores neither a NUL character nor half a surrogate pair, not even escaped in JSON."""
    try:
        text = json.dumps(raw, ensure_ascii=False, allow_nan=False)
    except ValueError as error:  # Python reads NaN and 1e999 as numbers; JSON has neither.
        raise FeedSchemaError("raw", "a number that is none", "finite numbers") from error
    if "\\u0000" in text or HALF_A_PAIR.search(text):
        raise FeedSchemaError("raw", "a character that is none", STORABLE)
    return raw
