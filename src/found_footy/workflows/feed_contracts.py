"""What the workflows of the feeds and their activities say to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from found_footy.workflows.contracts import Call, PollInput


@dataclass(frozen=True)
class FeedsOn:
    """The feeds that are to be asked in this poll, and how long it waits for them."""

    feeds: list[str] = field(default_factory=list)
    patience_seconds: float = 8


@dataclass(frozen=True)
class FeedInput:
    feed: str


@dataclass(frozen=True)
class FeedPoll:
    feed: str
    at: datetime


@dataclass(frozen=True)
class FeedPolled:
    asked: int = 0
    answered: int = 0
    failed: int = 0
    missing: int = 0
    """Matches that the feed does not know, or no longer."""
    paused: int = 0
    """Matches that are not asked for, because they failed too often."""
    slowed: str = ""
    """Why nothing was asked, to save the day's requests; empty where it was not."""


FEEDS_ON: Call[PollInput, FeedsOn] = Call("feeds_on", FeedsOn, timedelta(seconds=15), 3)
POLL_FEED: Call[FeedPoll, FeedPolled] = Call("poll_feed", FeedPolled, timedelta(seconds=120), 2)

FEED_LASTS = timedelta(minutes=5)
"""A poll of a feed that hangs would keep the next one from starting."""


def feed_id(feed: str) -> str:
    return f"feed-{feed}"
