"""Short ways to write a recording: which feed returned what in which poll."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from found_footy.discovery.models import Post
from found_footy.errors import FootyError
from found_footy.fixtures.models import LiveFixture
from found_footy.recordings.models import (
    RecordedError,
    RecordedFeed,
    RecordedSearch,
    RecordedSnapshot,
    Recording,
    SourceResult,
)
from tests.support.football import START

POLL = timedelta(seconds=30)
RULES = {
    "poll_seconds": 30.0,
    "debounce_polls": 3.0,
    "drop_polls": 3.0,
    "over_polls": 3.0,
    "search_attempts": 3.0,
    "search_attempts_most": 4.0,
    "search_seconds": 60.0,
    "search_gap_seconds": 10.0,
    "post_age_seconds": 180.0,
    "candidates": 5.0,
}


def at(poll: float) -> datetime:
    return START + poll * POLL


def response(
    what: LiveFixture | FootyError, polls: Iterable[float], feed: str = "espn", feed_id: int = 5000
) -> RecordedSnapshot:
    times = tuple(at(number) for number in polls)
    if isinstance(what, FootyError):
        return RecordedSnapshot(feed, feed_id, times, error=RecordedError(what.kind, str(what)))
    return RecordedSnapshot(feed, feed_id, times, what)


def recording(*answers: RecordedSnapshot, **more: Any) -> Recording:
    feeds = {answer.feed for answer in answers}
    given: dict[str, Any] = {
        "feeds": tuple(RecordedFeed(feed, 80, founding=number == 0) for number, feed in enumerate(sorted(feeds))),
        "rules": RULES,
    }
    in_order = tuple(sorted(answers, key=lambda answer: (answer.at[0], answer.feed, answer.feed_id)))
    return Recording("Liverpool - Chelsea", answers=in_order, **(given | more))


def search(
    event_id: str,
    attempt: int,
    *posts: Post,
    poll: float = 10,
    failed: FootyError | None = None,
    players: tuple[str, ...] = ("Seven",),
) -> RecordedSearch:
    error = RecordedError(failed.kind, str(failed)) if failed else None
    return RecordedSearch(
        event_id,
        attempt,
        at(poll),
        players,
        ("Liverpool", "LFC"),
        (
            SourceResult("bluesky", len([post for post in posts if post.source == "bluesky"])),
            SourceResult("x", None if error else len([post for post in posts if post.source == "x"]), error),
        ),
        posts,
    )


def post(name: str, poll: float = 10, text: str = "Seven scores for Liverpool", source: str = "bluesky") -> Post:
    url = f"https://example.invalid/{name}"
    return Post(source, name, url, f"{url}.mp4", at(poll), "somebody", text, 12.0)
