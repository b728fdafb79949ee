"""Ids of posts in the forms of their platforms, each of which tells when the post was made."""

from __future__ import annotations

from datetime import UTC, datetime

from found_footy.simulator.social.posts import Platform

SNOWFLAKE_EPOCH_MS = 1_288_834_974_657
"""When X began to count its milliseconds."""
_REDDIT_EPOCH = int(datetime(2015, 1, 1, tzinfo=UTC).timestamp())
_POSTS_A_SECOND = 64
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_SORTABLE_BASE32 = "234567abcdefghijklmnopqrstuvwxyz"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PostIds:
    """Gives ids, and never one twice."""

    def __init__(self) -> None:
        self._given: set[tuple[Platform, int]] = set()

    def new(self, platform: Platform, posted_at: datetime) -> str:
        microseconds = (posted_at - _EPOCH) // (datetime.resolution)
        match platform:
            case "x":
                return str(self._unused(platform, (microseconds // 1000 - SNOWFLAKE_EPOCH_MS) << 22))
            case "bluesky":
                return _digits(self._unused(platform, microseconds << 10), _SORTABLE_BASE32).rjust(13, "2")
            case "reddit":
                seconds = microseconds // 1_000_000 - _REDDIT_EPOCH
                return _digits(self._unused(platform, seconds * _POSTS_A_SECOND), _BASE36)

    def _unused(self, platform: Platform, first: int) -> int:
        number = first
        while (platform, number) in self._given:
            number += 1
        self._given.add((platform, number))
        return number


def _digits(number: int, signs: str) -> str:
    text = ""
    while number:
        number, digit = divmod(number, len(signs))
        text = signs[digit] + text
    return text
