"""A post by a stranger, in the form in which the rest of the system dares to handle it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime

LONGEST_TEXT = 500

_UNWANTED = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Marks that turn the direction of writing, and letters of no width."""


@dataclass(frozen=True, slots=True)
class Post:
    """A post with a video. Texts are cleaned, and the id has been checked by the source that gave it."""

    source: str
    id: str
    """As the source calls it; letters, digits and `-_.:/` only."""
    url: str
    """The page that a person opens."""
    media_url: str
    """What a downloader is given: a post's page, a host's page, a direct link, or `folder:` and a relative path."""
    posted_at: datetime
    author: str = ""
    text: str = ""
    duration: float | None = None
    """Seconds, where the post announces them."""

    @property
    def key(self) -> str:
        """Unique over all sources."""
        return f"{self.source}:{self.id}"


def clean_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """One line without control characters and marks that turn it around, and of bounded length."""
    normal = unicodedata.normalize("NFC", _UNWANTED.sub("", text[: longest * 4]))
    shown = "".join(letter if unicodedata.category(letter)[0] != "C" else " " for letter in normal)
    return " ".join(shown.split())[:longest]
