"""What is posted by now. Matchday time says when a post is due; real time says when it was posted.

Matchday time moves in leaps, with the polls, while whoever searches goes by the clock on the wall: a post is as old as
the time since it was first noticed to be due.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from found_footy.simulator.clips.spec import ClipSpec
from found_footy.simulator.script import Scenario
from found_footy.simulator.social.plan import PlannedPost, planned_posts
from found_footy.simulator.social.post_ids import PostIds
from found_footy.simulator.social.posts import Platform, SocialPost


@dataclass(frozen=True, slots=True)
class _Published:
    post: SocialPost
    clip: ClipSpec | None


def _now() -> datetime:
    return datetime.now(UTC)


class SocialFeed:
    """`reached` tells how far the matchday is, in seconds; None before it has begun."""

    def __init__(
        self, scenario: Scenario, reached: Callable[[], float | None], now: Callable[[], datetime] = _now
    ) -> None:
        self.planned = planned_posts(scenario)
        self._waiting = list(reversed(self.planned))
        self._reached = reached
        self._now = now
        self._ids = PostIds()
        self._published: dict[tuple[str, str], _Published] = {}
        self._shown: dict[Platform, tuple[SocialPost, ...]] = {}

    def notice(self) -> None:
        """To be called whenever the matchday has moved on: what is due by now is posted now."""
        reached = self._reached()
        if reached is None or not self._waiting or self._waiting[-1].due > reached:
            return
        now = self._now()
        while self._waiting and self._waiting[-1].due <= reached:
            self._publish(self._waiting.pop(), now)
        self._shown.clear()

    def posts_of(self, platform: Platform) -> Sequence[SocialPost]:
        """What is visible on a platform, newest first."""
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
        """What a post shows; None for posts that show no goal, and for those that do not exist.

        Bluesky's ids may have the author before them, as in `did:plc:…/3l…`; a link in Reddit's comments is
        `post/comment/number`.
        """
        parts = post_id.split("/")
        own = parts[1] if source == "reddit" and len(parts) == 3 else parts[-1]
        found = self._published.get((source, own))
        return None if found is None else found.clip

    def _thread_of(self, planned: PlannedPost) -> str:
        """The first post on Reddit of the goal that a mirror shows."""
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
