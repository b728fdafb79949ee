"""The shape of the library's answers, for the API's reference. A test holds real answers against them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from found_footy.domain.clips.states import ClipState, SourceState
from found_footy.domain.clips.submitting import LONGEST_FACT, LONGEST_TITLE, LONGEST_URL
from found_footy.web.api.models import Shape

SourceKindName = Literal["goal", "url", "file"]


class Sheet(Shape):
    """Small pictures, row by row; picture n shows the source's frame `first + n * every`."""

    clip: int = Field(description="Whose sheet it is: a clip that was just edited has that of the one before it.")
    url: str
    first: int
    columns: int
    rows: int
    width: int = Field(description="Of one picture.")
    height: int
    count: int
    every: int


class Film(Shape):
    url: str | None = Field(description="Null once all clips were archived, and the film is deleted.")
    deleted_at: datetime | None
    frames: int
    rate: float = Field(description="Frames a second.")
    seconds: float
    width: int
    height: int
    audio: bool
    size: int = Field(description="Bytes.")


class StageFault(Shape):
    class_: str = Field(alias="class")
    message: str | None
    failures: int = Field(description="In a row.")
    retry_at: datetime | None = Field(description="When it is tried again by itself; null where somebody has to ask.")


class ListedSource(Shape):
    id: int
    kind: SourceKindName
    state: SourceState
    title: str
    facts: dict[str, Any] = Field(description="What is known of it: of a goal its player, team, minute and so on.")
    event_id: str | None
    url: str | None = Field(description="Where it came from, without its query.")
    progress: float | None = Field(description="Of the stage that is at work, 0 to 1.")
    error: StageFault | None
    submitted_by: str
    created_at: datetime
    changed_at: datetime
    film: Film | None
    clips: dict[str, int] = Field(description="How many clips are in which state.")
    sheet: Sheet | None


class Tile(Shape):
    id: int
    first: int = Field(description="Its first frame.")
    end: int = Field(description="The frame after its last one.")
    state: ClipState
    group: int | None
    reviewed_by: str | None
    reviewed_at: datetime | None
    settles_at: datetime | None
    error: str | None
    sheet: Sheet | None


class WholeSource(ListedSource):
    tile_count: int = Field(description="All of them; `/api/v1/clips` has those that are not in `tiles`.")
    tiles: list[Tile] = Field(description="The first 2000. They follow each other without gap or overlap.")


class ListedClip(Shape):
    id: int
    source: int
    title: str
    facts: dict[str, Any]
    event_id: str | None
    first: int = Field(description="Its first frame in the source.")
    end: int = Field(description="The frame after its last one.")
    frames: int
    rate: float
    starts: float = Field(description="Seconds from the start of the source.")
    seconds: float
    state: ClipState
    live: bool = Field(description="Whether it is a tile of its source; false once it was split or merged.")
    group: int | None
    settles_at: datetime | None = Field(description="Until then its last action can be undone.")
    reviewed_by: str | None
    reviewed_at: datetime | None
    created_at: datetime
    changed_at: datetime
    error: StageFault | None
    file: str | None = Field(description="Its film; null while `film` is all there is.")
    film: str | None = Field(description="The whole source; null once its film is deleted.")
    sheet: Sheet | None


class LibraryKeyframe(Shape):
    number: int
    frame: int = Field(description="Of the source.")
    chosen_by: str
    width: int
    height: int
    url: str


class LikelyCopyShown(Shape):
    id: int
    source: int
    title: str
    state: ClipState
    facts: dict[str, Any]
    looks_alike: bool = Field(description="Whether their fingerprints say that they show the same.")
    same: bool | None = Field(description="What somebody said of it, which counts.")
    said_by: str | None
    said_at: datetime | None
    sheet: Sheet | None


class Neighbours(Shape):
    before: int | None
    after: int | None


class WholeClip(ListedClip):
    keyframes: list[LibraryKeyframe]
    models: list[str] = Field(description="Models that have embedded it.")
    grouped: list[int]
    neighbours: Neighbours
    parts: list[int] = Field(description="What stands in its place, where it is no tile any more.")
    copies: list[LikelyCopyShown]


class SourceRemoved(Shape):
    source: int
    deleted: bool = Field(description="Whether the source itself is gone: it had no clips.")
    clips: int = Field(description="That were archived just now.")
    action: int | None = Field(description="For undo, as long as there is time; null where nothing was archived.")


class NewSource(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str = Field(min_length=1, max_length=LONGEST_URL, description="Of a film, or of a page that shows one.")
    title: str | None = Field(None, max_length=LONGEST_TITLE)
    player: str | None = Field(None, max_length=LONGEST_FACT)
    team: str | None = Field(None, max_length=LONGEST_FACT)
    competition: str | None = Field(None, max_length=LONGEST_FACT)
    minute: str | None = Field(None, max_length=LONGEST_FACT)
