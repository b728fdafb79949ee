"""Which of the files that a host offers are taken, where pictures and sound may come apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST_HEIGHT = 1080

Format = Mapping[str, Any]


def chosen(formats: Sequence[Format]) -> list[Format]:
    """Of formats in yt-dlp's order, the worst first: the best pictures up to 1080p, and sound where they have none.

    Between equally high ones those win that bring their sound along: nothing has to be joined.
    """
    films = [each for each in formats if _has(each, "vcodec")]
    small = [each for each in films if (each.get("height") or 0) <= MOST_HEIGHT]
    if not films:
        return []
    ranked = enumerate(small or films)
    _, film = max(ranked, key=lambda place: (place[1].get("height") or 0, _has(place[1], "acodec"), place[0]))
    sounds = [each for each in formats if _has(each, "acodec") and not _has(each, "vcodec")]
    return [film] if _has(film, "acodec") or not sounds else [film, sounds[-1]]


def _has(each: Format, codec: str) -> bool:
    """What nobody told may be there: hosts with one file say nothing of its codecs."""
    return each.get(codec) != "none"
