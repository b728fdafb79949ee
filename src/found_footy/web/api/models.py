"""Responses shared by several routes, and models of the library."""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from found_footy.fixtures.documents import Document, FixtureSummary, GoalListItem, VideoSummary
from found_footy.library.submissions import MAX_FACT_LENGTH, MAX_TITLE_LENGTH, MAX_URL_LENGTH

Item = TypeVar("Item")


class Page(Document, Generic[Item]):
    items: list[Item]
    next: str | None = Field(description="Cursor of the next page; null on the last one.")


class ErrorDetail(Document):
    class_: str = Field(alias="class", description="The class of the error; stable.")
    message: str
    hint: str
    problems: list[dict[str, str]] = Field(default=[], description="`where` and `problem` of each invalid parameter.")


class ErrorResponse(Document):
    """Every error has this form."""

    error: ErrorDetail


class FixtureResults(Page[FixtureSummary]):
    kind: Literal["fixtures"]


class GoalResults(Page[GoalListItem]):
    kind: Literal["goals"]


class VideoResults(Page[VideoSummary]):
    kind: Literal["clips"]


SearchResponse = Annotated[FixtureResults | GoalResults | VideoResults, Field(discriminator="kind")]


# --- Requests about library sources, and removal. `found_footy.library.views` has the other responses.


class LibraryRetried(Document):
    retried: int = Field(description="Number of sources and clips.")


class SourceRemoved(Document):
    source: int
    deleted: bool = Field(description="Whether the source was deleted: it had no clips.")
    clips: int = Field(description="Number of clips archived by this request.")
    action: int | None = Field(description="Action id for undo; null if nothing was archived.")


class NewSource(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str = Field(min_length=1, max_length=MAX_URL_LENGTH, description="URL of a video, or of a page with one.")
    title: str | None = Field(None, max_length=MAX_TITLE_LENGTH)
    player: str | None = Field(None, max_length=MAX_FACT_LENGTH)
    team: str | None = Field(None, max_length=MAX_FACT_LENGTH)
    competition: str | None = Field(None, max_length=MAX_FACT_LENGTH)
    minute: str | None = Field(None, max_length=MAX_FACT_LENGTH)
