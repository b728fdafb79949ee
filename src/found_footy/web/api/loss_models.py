"""The shape of `/api/v1/losses`, for its reference."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from found_footy.web.api.models import Shape


class GoalCounts(Shape):
    certain: int
    with_clips: int
    searching: int = Field(description="Without clips so far.")
    nothing_posted: int = Field(description="The search has ended, and nobody had posted anything.")
    all_lost: int = Field(description="The search has ended, and of all that was posted nothing was left.")


class PostCounts(Shape):
    found: int
    kept: int
    duplicate: int
    lost: int
    in_work: int


class LossCount(Shape):
    loss: str
    posts: int


class LossHour(Shape):
    hour: datetime
    nothing_posted: int
    losses: dict[str, int]


class Losses(Shape):
    since: datetime
    until: datetime
    goals: GoalCounts
    posts: PostCounts
    losses: list[LossCount]
    hours: list[LossHour]
