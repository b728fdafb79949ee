"""Posts of a matchday: what is posted where and when."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import clips_for, fallen_of
from footy_simulator.cricket import cricket_timeline
from footy_simulator.football import match_timeline
from footy_simulator.post_texts import (
    UNRELATED_POSTS,
    GoalStory,
    WicketStory,
    fan_text,
    reddit_title,
    story_of,
    throwback_text,
    wicket_story,
    wicket_text,
    wicket_throwback_text,
    wicket_title,
)
from footy_simulator.scenario import Scenario, ScriptedCricketMatch, ScriptedMatch

Platform = Literal["x", "bluesky", "reddit"]


@dataclass(frozen=True, slots=True)
class SocialPost:
    platform: Platform
    id: str
    """In the platform's form: a snowflake, a record key, a base-36 number."""
    author: str
    """A handle, such as `goalsdaily`."""
    text: str
    """The post's text, or on Reddit its title."""
    posted_at: datetime
    duration: float
    """Seconds of video."""
    media: str
    """Path of the video at the simulator, such as `/media/copy-….mp4`; empty if there is none."""
    thread: str = ""
    """Reddit: id of the post it comments on; empty for a post."""


PostsOf = Callable[[Platform], Sequence[SocialPost]]
"""Posts visible on a platform now, newest first."""


# --- The plan: the same scenario always gives the same posts.


HOSTILE_PATH = "/trap"
MEDIA_PATH = "/media"

_AUTHORS = (
    "goalsdaily",
    "kopite_clips",
    "no_context_footy",
    "touchline_tom",
    "la_grada_sur",
    "matchday_mila",
    "gegenpress_gina",
    "away_end_ada",
    "tiki_taka_tv",
)
_PLATFORMS: tuple[Platform, ...] = ("x", "bluesky", "reddit")
_UNRELATED_EVERY = 7 * 60
"""Seconds of matchday time between two unrelated posts."""
_OLD = 20 * 60
"""Age in seconds of a throwback at the start: too old for any search."""


@dataclass(frozen=True, slots=True)
class PlannedPost:
    platform: Platform
    due: int
    """Matchday second at which it is posted."""
    author: str
    text: str
    duration: float
    media: str
    clip: ClipSpec | None = None
    """The clip it shows; None for posts that no search should select."""
    age: int = 0
    """Age in real seconds when it becomes visible."""
    is_mirror: bool = False
    """Reddit: a link in the comments of the goal's first post."""


def plan_posts(scenario: Scenario) -> tuple[PlannedPost, ...]:
    """In order of publication."""
    posts = [post for match in scenario.matches for post in _of_match(scenario, match)]
    posts += [post for match in scenario.cricket for post in _of_cricket(scenario, match)]
    if posts:
        posts += _unrelated(until=max(post.due for post in posts))
    return tuple(sorted(posts, key=lambda post: post.due))


def downloadable_url(clip: ClipSpec) -> str:
    """Path of its video at the simulator; a dead link has a path of its kind."""
    if clip.has_file:
        return f"{MEDIA_PATH}/{clip.file_name}"
    return f"{HOSTILE_PATH}/{clip.kind}/{clip.match}-{clip.goal}-{clip.number}.mp4"


def _of_match(scenario: Scenario, match: ScriptedMatch) -> Iterator[PlannedPost]:
    course = match_timeline(match)
    for goal, scored in enumerate(match.goals):
        moment, story = course.moment_of(scored.minute), story_of(match, goal)
        if moment is None:
            continue
        clips = clips_for(scenario, match.id, goal)
        for clip in clips:
            yield from _of_clip(clip, moment + clip.after * 60, story)
        yield from _mirrors(clips, moment, story)
        if goal == 0 and clips:
            yield _throwback(story, match)


def _of_cricket(scenario: Scenario, match: ScriptedCricketMatch) -> Iterator[PlannedPost]:
    course = cricket_timeline(match)
    for index, fallen in enumerate(fallen_of(match)):
        moment, story = course.moment_of(fallen.place, fallen.wicket.ball.count), wicket_story(match, index)
        if moment is None:
            continue
        clips = clips_for(scenario, match.id, index)
        for clip in clips:
            yield from _of_clip(clip, math.ceil(moment) + clip.after * 60, story)
        yield from _mirrors(clips, math.ceil(moment), story)
        if index == 0 and clips:
            yield _throwback(story, match)


def _of_clip(clip: ClipSpec, due: int, story: GoalStory | WicketStory) -> Iterator[PlannedPost]:
    chance = random.Random(f"post {clip.match} {clip.goal} {clip.number}")
    hand = chance.randrange(100)
    elsewhere: Platform = "reddit" if clip.number % 2 else "bluesky"
    platforms: tuple[Platform, ...] = ("x", elsewhere)
    for place, platform in enumerate(platforms):
        yield PlannedPost(
            platform=platform,
            due=due,
            author=chance.choice(_AUTHORS),
            text=_title(story) if platform == "reddit" else _text(story, hand + place),
            duration=clip.length,
            media=downloadable_url(clip),
            clip=clip,
        )


def _mirrors(clips: Sequence[ClipSpec], moment: int, story: GoalStory | WicketStory) -> Iterator[PlannedPost]:
    """The goal's fourth clip again, as a link in the comments of the goal's first Reddit post."""
    on_reddit = [clip for clip in clips if clip.number % 2]
    for clip in on_reddit[1:2]:
        due = moment + max(on_reddit[0].after, clip.after) * 60
        yield PlannedPost(
            "reddit", due, "mirror_bot", _title(story), clip.length, downloadable_url(clip), clip=clip, is_mirror=True
        )


def _title(story: GoalStory | WicketStory) -> str:
    return wicket_title(story) if isinstance(story, WicketStory) else reddit_title(story)


def _text(story: GoalStory | WicketStory, hand: int) -> str:
    return wicket_text(story, hand) if isinstance(story, WicketStory) else fan_text(story, hand)


def _throwback(story: GoalStory | WicketStory, match: ScriptedMatch | ScriptedCricketMatch) -> PlannedPost:
    platform = _PLATFORMS[match.id % len(_PLATFORMS)]
    text = wicket_throwback_text(story) if isinstance(story, WicketStory) else throwback_text(story)
    text = _title(story) if platform == "reddit" else text
    return PlannedPost(platform, 0, "yesteryear_fc", text, 34.0, f"{HOSTILE_PATH}/gone/memory-{match.id}.mp4", age=_OLD)


def _unrelated(until: int) -> Iterator[PlannedPost]:
    for number, due in enumerate(range(0, max(until, 0) + 1, _UNRELATED_EVERY)):
        platform, text = _PLATFORMS[number % len(_PLATFORMS)], UNRELATED_POSTS[number % len(UNRELATED_POSTS)]
        media = f"{HOSTILE_PATH}/gone/chatter-{number}.mp4"
        yield PlannedPost(platform, due, _AUTHORS[number % len(_AUTHORS)], text, 15.0 + number % 20, media)


# --- Post ids in each platform's form; they encode the time of the post.


SNOWFLAKE_EPOCH_MS = 1_288_834_974_657
"""Start of X's millisecond count."""
_REDDIT_EPOCH = int(datetime(2015, 1, 1, tzinfo=UTC).timestamp())
_POSTS_A_SECOND = 64
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_SORTABLE_BASE32 = "234567abcdefghijklmnopqrstuvwxyz"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PostIds:
    """Generates unique ids."""

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


# --- Published posts. Matchday time decides when a post is due, real time is its timestamp.


@dataclass(frozen=True, slots=True)
class _Published:
    post: SocialPost
    clip: ClipSpec | None


def _now() -> datetime:
    return datetime.now(UTC)


class PostTimeline:
    """`reached` returns the progress of the matchday in seconds; None before it has begun."""

    def __init__(
        self, scenario: Scenario, reached: Callable[[], float | None], now: Callable[[], datetime] = _now
    ) -> None:
        self.planned = plan_posts(scenario)
        self._waiting = list(reversed(self.planned))
        self._reached = reached
        self._now = now
        self._ids = PostIds()
        self._published: dict[tuple[str, str], _Published] = {}
        self._shown: dict[Platform, tuple[SocialPost, ...]] = {}

    def notice(self) -> None:
        """Publish what is due. Call it whenever matchday time has advanced."""
        reached = self._reached()
        if reached is None or not self._waiting or self._waiting[-1].due > reached:
            return
        now = self._now()
        while self._waiting and self._waiting[-1].due <= reached:
            self._publish(self._waiting.pop(), now)
        self._shown.clear()

    def posts_of(self, platform: Platform) -> Sequence[SocialPost]:
        """Posts visible on a platform, newest first."""
        self.notice()
        if platform not in self._shown:
            posts = [each.post for each in self._published.values() if each.post.platform == platform]
            self._shown[platform] = tuple(sorted(posts, key=lambda post: (post.posted_at, post.id), reverse=True))
        return self._shown[platform]

    def post(self, platform: Platform, post_id: str) -> SocialPost | None:
        self.notice()
        found = self._published.get((platform, post_id))
        return None if found is None else found.post

    def clip_of(self, source: str, post_id: str) -> ClipSpec | None:
        """The clip a post shows; None for other posts and unknown ids.

        Bluesky's ids may include the author, as in `did:plc:…/3l…`; a link in Reddit's comments is
        `post/comment/number`.
        """
        parts = post_id.split("/")
        own = parts[1] if source == "reddit" and len(parts) == 3 else parts[-1]
        found = self._published.get((source, own))
        return None if found is None else found.clip

    def _thread_of(self, planned: PlannedPost) -> str:
        """The first Reddit post of the goal that a mirror shows."""
        if not planned.is_mirror or planned.clip is None:
            return ""
        goal = (planned.clip.match, planned.clip.goal)
        return next(
            each.post.id
            for each in self._published.values()
            if each.post.platform == "reddit" and each.clip and (each.clip.match, each.clip.goal) == goal
        )

    def _publish(self, planned: PlannedPost, now: datetime) -> None:
        posted_at = now - timedelta(seconds=planned.age)
        post = SocialPost(
            platform=planned.platform,
            id=self._ids.new(planned.platform, posted_at),
            author=planned.author,
            text=planned.text,
            posted_at=posted_at,
            duration=planned.duration,
            media=planned.media,
            thread=self._thread_of(planned),
        )
        self._published[post.platform, post.id] = _Published(post, planned.clip)
