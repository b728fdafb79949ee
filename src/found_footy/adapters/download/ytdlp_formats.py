"""Which of the formats that a site offers are downloaded, where pictures and sound may be separate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAX_HEIGHT = 1080

Format = Mapping[str, Any]


def chosen(formats: Sequence[Format]) -> list[Format]:
    """The best picture up to 1080p, and sound where the picture has none. `formats` are in yt-dlp's order, worst first.

    Of the same height, a format with its own sound wins, since nothing has to be joined; then mp4, which plays
    everywhere.
    """
    films = [each for each in formats if _has(each, "vcodec")]
    small = [each for each in films if (each.get("height") or 0) <= MAX_HEIGHT]
    if not films:
        return []
    ranked = enumerate(small or films)
    _, film = max(
        ranked,
        key=lambda place: (place[1].get("height") or 0, _has(place[1], "acodec"), _is_mp4(place[1]), place[0]),
    )
    sounds = [each for each in formats if _has(each, "acodec") and not _has(each, "vcodec")]
    if _has(film, "acodec") or not sounds:
        return [film]
    return [film, max(enumerate(sounds), key=lambda place: (_is_mp4(place[1]) == _is_mp4(film), place[0]))[1]]


def _is_mp4(each: Format) -> bool:
    return each.get("ext") in ("mp4", "m4a", "m4v", "aac", "mov")


def _has(each: Format, codec: str) -> bool:
    """An unknown codec may be there: hosts with a single file do not describe it."""
    return each.get(codec) != "none"
