"""A certain goal in a real database, and short ways to write posts, files and looks."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import numpy as np

from found_footy.clips.store import ClipStore
from found_footy.clips.verification import Verification, VerificationReason, VerificationStatus
from found_footy.discovery.models import Post, SourceReport
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.selection import PendingPost, Selection, SelectionRules, select_posts
from found_footy.fixtures.comparison import apply_poll
from found_footy.fixtures.lifecycle import LifecycleRules
from found_footy.fixtures.models import FixtureStage
from found_footy.fixtures.store import FixtureStore
from found_footy.media.fingerprint import STEP, Fingerprint
from found_footy.media.probe import VideoInfo
from tests.support.football import RULES, START, follow_matches, match, poll

GOAL = "5000_40_7_Goal_1"
NOW = START + timedelta(minutes=24)
QUERY = SearchQuery(("Seven",), ("Liverpool", "LFC"))


async def stable_goal(store: FixtureStore) -> str:
    """A goal of player 7 in minute 23 that three polls have seen."""
    await follow_matches(store, [(match(), FixtureStage.ACTIVE)], START)
    await poll_match(store, "23 home 7", numbers=range(1, 4))
    return GOAL


async def withdraw_goal(store: FixtureStore) -> None:
    """Three polls without it."""
    await poll_match(store, numbers=range(4, 7))


async def poll_match(store: FixtureStore, *goals: str, numbers: range) -> None:
    for number in numbers:
        async with store.poll() as transaction:
            (state,) = await transaction.load([5000])
            outcome = apply_poll(state, match(*goals), poll(number), RULES, LifecycleRules())
            assert outcome is not None
            assert await transaction.save([outcome]) == {}


def post(name: str, duration: float | None = 10.0, posted_at: datetime = NOW, source: str = "bluesky") -> Post:
    url = f"https://example.invalid/{name}"
    return Post(source, name, url, f"{url}.mp4", posted_at, "somebody", f"What a goal {name}", duration)


def md5(name: str) -> str:
    return hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()


def info(duration: float = 10.0, file_size: int = 1000) -> VideoInfo:
    return VideoInfo(
        container="mov,mp4,m4a,3gp,3g2,mj2",
        codec="h264",
        width=1280,
        height=720,
        aspect=1.7778,
        fps=25.0,
        variable_frame_rate=False,
        duration=duration,
        frames=round(duration * 25),
        bit_rate=800_000,
        file_size=file_size,
        rotation=0,
        has_audio=True,
    )


def verification(status: VerificationStatus = VerificationStatus.VERIFIED) -> Verification:
    return Verification(
        status, 23, None if status is VerificationStatus.VERIFIED else VerificationReason.NO_CLOCK, None
    )


def fingerprint(moment: str, start: float = 0.0, seconds: float = 10.0) -> Fingerprint:
    """The pictures of a broadcast from a second on: two that overlap match, those of different moments do not."""
    chance = random.Random(moment)
    broadcast = [chance.getrandbits(64) for _ in range(800)]
    first, count = round(start / STEP), round(seconds / STEP)
    return Fingerprint(np.arange(count), np.array(broadcast[first : first + count], dtype=np.uint64))


def selecting(now: datetime = NOW, max_posts: int = 5) -> Callable[[Sequence[PendingPost]], Selection]:
    return lambda pending: select_posts(pending, now, SelectionRules(max_posts))


async def record_search(clips: ClipStore, attempt: int, *posts: Post) -> list[str]:
    """Save a search like the activity, and return the posts that it selects."""
    await clips.save_search(GOAL, attempt, QUERY, [SourceReport("bluesky", len(posts))], posts, NOW)
    return list(await clips.take_candidates(GOAL, attempt, selecting()))


async def add_hashed_file(
    clips: ClipStore,
    name: str,
    key: str,
    pictures: Fingerprint,
    *,
    file_size: int = 1000,
    duration: float = 10.0,
    status: VerificationStatus = VerificationStatus.VERIFIED,
) -> str:
    """Add a file that is fetched, verified and hashed: ready for the uploader."""
    await clips.add_video(GOAL, key, md5(name), info(duration, file_size), NOW)
    await clips.save_verification(GOAL, md5(name), verification(status))
    await clips.save_fingerprint(GOAL, md5(name), pictures)
    return md5(name)
