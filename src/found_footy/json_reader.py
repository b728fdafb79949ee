"""Typed access to external JSON. Errors name the path of the field."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from found_footy.errors import FeedSchemaError

MAX_TEXT = 300
MAX_ITEMS = 500
MAX_ID = 2**53
STORABLE = "text without NUL characters or unpaired surrogates"


def storable_text(text: str) -> str:
    """Return the text. Raises ValueError for NUL characters or unpaired surrogates, which PostgreSQL cannot store."""
    # Fast path: printable text contains neither.
    if not text.isprintable() and any(char == "\x00" or 0xD800 <= ord(char) < 0xE000 for char in text):
        raise ValueError(STORABLE)
    return text


class JsonReader:
    """A value in a JSON document, with its path."""

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: Any, path: str | int = "", parent: JsonReader | None = None) -> None:
        self.value = value
        self._key = path
        self._parent = parent

    @property
    def path(self) -> str:
        parent = self._parent.path if self._parent is not None else ""
        return f"{parent}.{self._key}" if parent else str(self._key)

    def __getitem__(self, key: str | int) -> JsonReader:
        kind: type[Any] = dict if isinstance(key, str) else list
        if isinstance(self.value, kind):
            try:
                return JsonReader(self.value[key], key, self)
            except (KeyError, IndexError):
                pass
        raise FeedSchemaError(JsonReader(None, key, self).path, "nothing", "a value")

    def get(self, key: str) -> Any:
        return self.value.get(key) if isinstance(self.value, dict) else None

    def optional(self, key: str) -> JsonReader | None:
        """Return the field, or None if it is missing or null."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return None if value is None else JsonReader(value, key, self)

    def display_text(self, *keys: str | int) -> str | None:
        """Return text for display only, or None if it is missing or invalid."""
        value: Any = self.value
        for key in keys:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        if type(value) is int:
            value = str(value) if 0 < value < MAX_ID else ""
        if not isinstance(value, str) or not 0 < len(value := value.strip()) <= MAX_TEXT:
            return None
        try:
            return storable_text(value)
        except ValueError:
            return None

    def schema_error(self, expected: str) -> FeedSchemaError:
        return FeedSchemaError(self.path or "document", self.value, expected)

    def text(self, max_length: int = MAX_TEXT) -> str:
        if not isinstance(self.value, str) or len(self.value) > max_length:
            raise self.schema_error(f"a string of at most {max_length} characters")
        try:
            return storable_text(self.value)
        except ValueError:
            raise self.schema_error(STORABLE) from None

    def integer(self, maximum: int = MAX_ID, minimum: int = 0) -> int:
        """Read a JSON integer."""
        if type(self.value) is not int or not minimum <= self.value <= maximum:
            raise self.schema_error(f"an integer from {minimum} to {maximum}")
        return self.value

    def lenient_integer(self, maximum: int = 10**15) -> int:
        """Read a non-negative integer that some feeds send as text."""
        text = str(self.value) if isinstance(self.value, str | int) and self.value is not True else ""
        if not (text.isascii() and text.isdecimal()) or len(text) > 15 or int(text) > maximum:
            raise self.schema_error(f"a non-negative integer up to {maximum}")
        return int(text)

    def fraction(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not 0 <= self.value <= 1:
            raise self.schema_error("a number from 0 to 1")
        return float(self.value)

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.schema_error("true or false")
        return self.value

    def timestamp(self) -> datetime:
        text = self.text()
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None or not 1900 < moment.year < 2200:
            raise self.schema_error("an ISO 8601 time with a time zone")
        return moment.astimezone(UTC)

    def items(self, max_items: int = MAX_ITEMS) -> list[JsonReader]:
        if not isinstance(self.value, list) or len(self.value) > max_items:
            raise self.schema_error(f"a list of at most {max_items} items")
        return [JsonReader(item, index, self) for index, item in enumerate(self.value)]

    def fields(self, max_items: int = MAX_ITEMS) -> dict[str, JsonReader]:
        if not isinstance(self.value, dict) or len(self.value) > max_items:
            raise self.schema_error(f"an object of at most {max_items} fields")
        return {key: JsonReader(value, key, self) for key, value in self.value.items()}
