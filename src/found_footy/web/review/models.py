"""The shape of what review asks for and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from found_footy.domain.clips.review import MOST_AT_ONCE, ActionKind
from found_footy.domain.clips.states import ClipState
from found_footy.web.api.models import Shape
from found_footy.web.api.parameters import BIGINT

Id = Annotated[int, Field(ge=1, le=BIGINT)]


class ReviewFilm(Shape):
    url: str
    first: int = Field(description="The frame of that file that is the clip's first one.")


class ReviewSheet(Shape):
    """Small pictures, row by row; picture n shows the source's frame `first + n * every`."""

    url: str
    first: int = Field(description="The frame of the source that its first picture shows.")
    frames: int = Field(description="How many frames of the source it covers.")
    every: int = Field(description="Frames from one picture to the next.")
    count: int
    columns: int
    rows: int
    width: int = Field(description="Of one picture.")
    height: int


class ReviewClip(Shape):
    id: int
    source: int
    first: int = Field(description="The first frame, counted in the source.")
    end: int = Field(description="One past the last.")
    state: ClipState
    words: str = Field(description="The state as people say it.")
    film: ReviewFilm | None = Field(description="Null where it cannot be played now.")
    sheets: list[ReviewSheet] = Field(
        description="One; for a clip that was just merged, those of its parts; none where none has been made yet."
    )
    claimed: Literal["me", "other"] | None = Field(description="Before whom it lies now.")
    grouped_with: int | None
    settles_at: datetime | None = Field(description="Until then its last action can be undone.")
    reviewed_by: str | None
    reviewed_at: datetime | None
    error: str | None


class ReviewCopy(Shape):
    """Another clip that seems to show the same."""

    clip: ReviewClip
    same: bool | None = Field(description="What people said of it; null where nobody has.")
    said_by: str | None


class ReviewFact(Shape):
    name: str
    value: str


class ReviewSource(Shape):
    id: int
    title: str
    rate: float = Field(description="Frames a second.")
    frames: int
    width: int
    height: int
    facts: list[ReviewFact]
    event_id: str | None = Field(description="The goal that it shows, where it is known.")


class ReviewLook(Shape):
    """Clips as they are now, with what a page shows around them."""

    now: datetime
    queue: list[int] = Field(description="The clips that lie before you, in order.")
    clips: list[ReviewClip] = Field(description="Those and their neighbours, by source and frame.")
    sources: list[ReviewSource]
    copies: dict[int, list[ReviewCopy]] = Field(description="By clip.")
    counts: dict[ClipState, int] = Field(description="All clips of the library by state.")


class ReviewAction(Shape):
    id: int
    kind: ActionKind
    by: str
    mine: bool = Field(description="Whether it was done in this window.")
    at: datetime
    settles_at: datetime = Field(description="Until then it can be undone.")
    clips: list[int] = Field(description="The clips that it changed.")
    made: list[int] = Field(description="The clips that it made.")
    title: str = Field(description="Of their source.")
    undone_at: datetime | None
    settled_at: datetime | None


class ReviewDone(Shape):
    """What an action or an undo has changed."""

    action: ReviewAction
    look: ReviewLook


class ReviewActions(Shape):
    now: datetime
    items: list[ReviewAction] = Field(description="The newest last.")
    counts: dict[ClipState, int]


class Wish(BaseModel):
    """What is sent here."""

    model_config = ConfigDict(extra="forbid")


Most = Annotated[
    int, Field(ge=0, le=50, description="Take also the next clips, until so many lie before you; 0 takes none.")
]


class ActionWish(Wish):
    kind: ActionKind
    clips: list[Id] = Field(
        min_length=1,
        max_length=MOST_AT_ONCE,
        description="One; for `approve`, `skip` and `archive` also several: all of them or none. Those that are so "
        "already stay as they are.",
    )
    with_: Id | None = Field(None, alias="with", description="For `group` and `merge`: the other clip.")
    at: int | None = Field(
        None, ge=0, le=2**31 - 1, description="For `split`: the frame of the source with which the second part begins."
    )
    most: Most = 0


class UndoWish(Wish):
    action: Id | None = Field(None, description="Without it, the last one of this window.")
    most: Most = 0


class VerdictWish(Wish):
    one: Id
    other: Id
    same: bool
