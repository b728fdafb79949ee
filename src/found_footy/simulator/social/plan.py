"""Who posts what, where and when. Pure: the same scenario gives the same posts.

Each clip is posted on X and on one of the two places that can be searched without a browser, so that every clip can be
found with one and without. On Reddit some are linked in the comments of another post, too. Around the clips there is
what a search must leave alone: chatter, and memories that are too old.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from found_footy.simulator.clips.cricket_footage import fallen_of
from found_footy.simulator.clips.plan import clips_for
from found_footy.simulator.clips.spec import ClipSpec
from found_footy.simulator.course import course_of
from found_footy.simulator.cricket_course import cricket_course
from found_footy.simulator.cricket_script import CricketMatch
from found_footy.simulator.script import Match, Scenario
from found_footy.simulator.social.posts import Platform
from found_footy.simulator.social.texts import CHATTER, Story, fan_text, memory, reddit_title, story_of
from found_footy.simulator.social.wicket_texts import (
    WicketStory,
    wicket_memory,
    wicket_story,
    wicket_text,
    wicket_title,
)

TRAP = "/trap"
MEDIA = "/media"

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
_CHATTER_EVERY = 7 * 60
"""Seconds of matchday time between two posts that have nothing to do with it."""
_OLD = 20 * 60
"""Seconds by which a memory is older than the start: beyond any age at which a post is taken."""


@dataclass(frozen=True, slots=True)
class PlannedPost:
    platform: Platform
    due: int
    """Matchday seconds from which on it is there."""
    author: str
    text: str
    duration: float
    media: str
    clip: ClipSpec | None = None
    """What it shows; None for what no search should take."""
    age: int = 0
    """Real seconds that it has been there already when it comes to light."""
    is_mirror: bool = False
    """On Reddit: a link in the comments of the goal's first post."""


def planned_posts(scenario: Scenario) -> tuple[PlannedPost, ...]:
    """In the order in which they come to light."""
    posts = [post for match in scenario.matches for post in _of_match(scenario, match)]
    posts += [post for match in scenario.cricket for post in _of_cricket(scenario, match)]
    if posts:
        posts += _chatter(until=max(post.due for post in posts))
    return tuple(sorted(posts, key=lambda post: post.due))


def media_of(clip: ClipSpec) -> str:
    """Where its video is at the simulator; a dead link leads to a trap of its kind."""
    if clip.has_file:
        return f"{MEDIA}/{clip.file_name}"
    return f"{TRAP}/{clip.kind}/{clip.match}-{clip.goal}-{clip.number}.mp4"


def _of_match(scenario: Scenario, match: Match) -> Iterator[PlannedPost]:
    course = course_of(match)
    for goal, scored in enumerate(match.goals):
        moment, story = course.moment_of(scored.minute), story_of(match, goal)
        if moment is None:
            continue
        clips = clips_for(scenario, match.id, goal)
        for clip in clips:
            yield from _of_clip(clip, moment + clip.after * 60, story)
        yield from _mirrors(clips, moment, story)
        if goal == 0 and clips:
            yield _memory(story, match)


def _of_cricket(scenario: Scenario, match: CricketMatch) -> Iterator[PlannedPost]:
    course = cricket_course(match)
    for index, fallen in enumerate(fallen_of(match)):
        moment, story = course.moment_of(fallen.place, fallen.wicket.ball.count), wicket_story(match, index)
        if moment is None:
            continue
        clips = clips_for(scenario, match.id, index)
        for clip in clips:
            yield from _of_clip(clip, math.ceil(moment) + clip.after * 60, story)
        yield from _mirrors(clips, math.ceil(moment), story)
        if index == 0 and clips:
            yield _memory(story, match)


def _of_clip(clip: ClipSpec, due: int, story: Story | WicketStory) -> Iterator[PlannedPost]:
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
            media=media_of(clip),
            clip=clip,
        )


def _mirrors(clips: Sequence[ClipSpec], moment: int, story: Story | WicketStory) -> Iterator[PlannedPost]:
    """The goal's fourth clip, a second time: as a link in the comments of the goal's first post on Reddit."""
    on_reddit = [clip for clip in clips if clip.number % 2]
    for clip in on_reddit[1:2]:
        due = moment + max(on_reddit[0].after, clip.after) * 60
        yield PlannedPost(
            "reddit", due, "mirror_bot", _title(story), clip.length, media_of(clip), clip=clip, is_mirror=True
        )


def _title(story: Story | WicketStory) -> str:
    return wicket_title(story) if isinstance(story, WicketStory) else reddit_title(story)


def _text(story: Story | WicketStory, hand: int) -> str:
    return wicket_text(story, hand) if isinstance(story, WicketStory) else fan_text(story, hand)


def _memory(story: Story | WicketStory, match: Match | CricketMatch) -> PlannedPost:
    platform = _PLATFORMS[match.id % len(_PLATFORMS)]
    told = wicket_memory(story) if isinstance(story, WicketStory) else memory(story)
    text = _title(story) if platform == "reddit" else told
    return PlannedPost(platform, 0, "yesteryear_fc", text, 34.0, f"{TRAP}/gone/memory-{match.id}.mp4", age=_OLD)


def _chatter(until: int) -> Iterator[PlannedPost]:
    for number, due in enumerate(range(0, max(until, 0) + 1, _CHATTER_EVERY)):
        platform, text = _PLATFORMS[number % len(_PLATFORMS)], CHATTER[number % len(CHATTER)]
        media = f"{TRAP}/gone/chatter-{number}.mp4"
        yield PlannedPost(platform, due, _AUTHORS[number % len(_AUTHORS)], text, 15.0 + number % 20, media)
