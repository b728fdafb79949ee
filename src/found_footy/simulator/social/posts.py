"""A post as the simulated platforms show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Platform = Literal["x", "bluesky", "reddit"]


@dataclass(frozen=True, slots=True)
class SocialPost:
    platform: Platform
    id: str
    """In the platform's own form: a snowflake, a record key, a base-36 number."""
    author: str
    """A handle, such as `goalsdaily`."""
    text: str
    """The post's text, or on Reddit its title."""
    posted_at: datetime
    duration: float
    """Seconds of video."""
    media: str
    """Path of the video at the simulator, such as `/media/copy-….mp4`; empty where there is none."""
    thread: str = ""
    """On Reddit, the post in whose comments it stands; empty for a post of its own."""


PostsOf = Callable[[Platform], Sequence[SocialPost]]
"""What is visible on a platform at this moment, newest first."""
