"""When posts come to light, and the ids that they get."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from social_helpers import scenario_with

from footy_simulator.loader import load_scenario
from footy_simulator.posts import SNOWFLAKE_EPOCH_MS, PostIds, PostTimeline

NOON = datetime(2025, 11, 22, 12, 0, 0, 123456, tzinfo=UTC)
GOAL = 60 + 20 * 60
"""When the goal falls, in seconds of the matchday."""


class Day:
    """A matchday that tests move, and a wall clock that goes on by itself."""

    def __init__(self) -> None:
        self.reached: float | None = None
        self.moments = self._moments()

    def _moments(self) -> Iterator[datetime]:
        moment = NOON
        while True:
            yield moment
            moment += timedelta(seconds=1)


@pytest.fixture
def day() -> Day:
    return Day()


def feed_of(day: Day, *clips: str) -> PostTimeline:
    return PostTimeline(scenario_with(*clips), lambda: day.reached, lambda: next(day.moments))


def shown(feed: PostTimeline) -> list[tuple[str, datetime]]:
    return [(post.media.split("-")[0], post.posted_at) for post in feed.posts_of("x") if "trap" not in post.media]


def test_nothing_is_there_before_the_first_poll(day: Day) -> None:
    assert feed_of(day, "copy").posts_of("x") == ()


def test_a_post_is_posted_at_the_moment_at_which_it_is_first_noticed(day: Day) -> None:
    feed = feed_of(day, "copy", "replay +3m")
    day.reached = GOAL + 59
    feed.notice()
    assert shown(feed) == []
    day.reached = GOAL + 60
    feed.notice()
    [(kind, first)] = shown(feed)
    assert kind == "/media/copy"
    day.reached = GOAL + 175
    feed.notice()
    assert shown(feed) == [("/media/copy", first)]
    day.reached = GOAL + 200
    assert [kind for kind, _ in shown(feed)] == ["/media/replay", "/media/copy"]
    assert shown(feed)[0][1] > first


def test_a_request_notices_too(day: Day) -> None:
    feed = feed_of(day, "copy")
    day.reached = 3600.0
    assert len(shown(feed)) == 1


def test_older_posts_exist_from_the_start(day: Day) -> None:
    feed = PostTimeline(load_scenario("matchday"), lambda: day.reached, lambda: next(day.moments))
    day.reached = 0.0
    clips = {clip.match for post in feed.posts_of("x") if (clip := feed.clip_of("x", post.id))}
    assert clips == {1380106}


def test_everything_is_there_in_the_end_and_each_id_leads_to_its_clip(day: Day) -> None:
    feed = PostTimeline(load_scenario("matchday"), lambda: day.reached, lambda: NOON)
    day.reached = math.inf
    posts = [post for platform in ("x", "bluesky", "reddit") for post in feed.posts_of(platform)]
    assert len({(post.platform, post.id) for post in posts}) == len(posts) == len(feed.planned)
    assert sum(feed.clip_of(post.platform, post.id) is not None for post in posts) == sum(
        post.clip is not None for post in feed.planned
    )
    for platform in ("x", "bluesky", "reddit"):
        times = [post.posted_at for post in feed.posts_of(platform)]
        assert times == sorted(times, reverse=True)


def test_a_throwback_post_is_old_when_posted(day: Day) -> None:
    feed = PostTimeline(load_scenario("matchday"), lambda: 0.0, lambda: NOON)
    old = [
        post for platform in ("x", "bluesky", "reddit") for post in feed.posts_of(platform) if "memory" in post.media
    ]
    assert len(old) >= 5
    assert {NOON - post.posted_at for post in old} == {timedelta(minutes=20)}


def test_a_post_is_known_by_its_id_alone_and_with_its_author(day: Day) -> None:
    feed = feed_of(day, "copy")
    day.reached = math.inf
    post = feed.posts_of("bluesky")[0]
    clip = feed.clip_of("bluesky", post.id)
    assert clip is not None
    assert feed.clip_of("bluesky", f"did:plc:abc/{post.id}") == clip
    assert feed.clip_of("x", post.id) is None
    assert feed.clip_of("nowhere", "") is None
    assert feed.post("bluesky", post.id) == post
    assert feed.post("bluesky", "missing") is None


def test_ids_contain_the_time_and_are_unique() -> None:
    ids = PostIds()
    snowflakes = [int(ids.new("x", NOON)) for _ in range(3)]
    assert {(each >> 22) + SNOWFLAKE_EPOCH_MS for each in snowflakes} == {NOON.timestamp() * 1000 // 1}
    keys = [ids.new("bluesky", NOON + timedelta(seconds=second)) for second in (0, 0, 1)]
    assert keys == sorted(keys)
    assert all(len(key) == 13 and set(key) <= set("234567abcdefghijklmnopqrstuvwxyz") for key in keys)
    numbers = [ids.new("reddit", NOON) for _ in range(200)]
    assert len(set(numbers)) == 200
    assert all(6 <= len(number) <= 7 and number.isalnum() and number == number.lower() for number in numbers)
    assert len({*map(str, snowflakes), *keys}) == 6
