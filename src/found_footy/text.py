"""Text normalization and formatting."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import timedelta

LONGEST_TEXT = 500


_UNWANTED = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Bidirectional controls and zero-width characters."""


def clean_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return one line of bounded length without control and bidirectional characters."""
    normal = unicodedata.normalize("NFC", _UNWANTED.sub("", text[: longest * 4]))
    shown = "".join(letter if unicodedata.category(letter)[0] != "C" else " " for letter in normal)
    return " ".join(shown.split())[:longest]


MAX_ERROR_TEXT = 300
"""Maximum length of an error's text in audit entries, findings and messages."""


def shorten(text: str, limit: int = MAX_ERROR_TEXT) -> str:
    """Truncate a long text, with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


# --- Durations.


def format_duration(time: timedelta) -> str:
    """Format as `45 s`, `3 min`, `2 h 5 min` or `3 d`."""
    seconds = max(0, round(time.total_seconds()))
    if seconds < 100:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"
    return f"{minutes // (24 * 60)} d"


# --- Normalization for search and comparison.


def folded(text: str) -> str:
    """Lower-case words with single spaces; accents and letters that NFKD cannot decompose become plain letters."""
    spelt = "".join(_SPELLINGS.get(letter, letter) for letter in text.casefold())
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", spelt) if not unicodedata.combining(letter))
    return " ".join(re.findall(r"\w+", plain.replace("_", " ")))


def unaccented(text: str) -> str:
    """Replace accented letters by plain Latin ones, keeping case and hyphens; other scripts are unchanged."""
    return "".join(map(_without_accent, unicodedata.normalize("NFC", text)))


def _without_accent(letter: str) -> str:
    if letter.isascii():
        return letter
    if spelt := _SPELLINGS.get(letter.lower()):
        return spelt.capitalize() if letter.isupper() else spelt
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() and base.isalpha() else letter


_SPELLINGS = {
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "ł": "l",
    "ı": "i",
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ħ": "h",
    "ß": "ss",
    "ə": "a",
}


def word_set(text: str) -> frozenset[str]:
    """Parse a whitespace-separated word list."""
    return frozenset(text.split())


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """Remove words that fold to the same text; the first spelling wins."""
    kept: dict[str, str] = {}
    for word in words:
        kept.setdefault(folded(word), word)
    kept.pop("", None)
    return tuple(kept.values())
