"""`/api/v1/library/search`: clips of the library by words, like a clip or like a picture, moment by moment."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse

from found_footy.domain.clips.searching import MOST_FOUND, wanted_of
from found_footy.web.access.visitors import reads
from found_footy.web.api.failing import failing
from found_footy.web.api.models import Shape
from found_footy.web.api.parameters import (
    BIGINT,
    PRINTABLE,
    From,
    OfSport,
    To,
    Verified,
    Words,
)
from found_footy.web.search.asking import MOST_BYTES, pictures_of
from found_footy.web.search.documents import found_document
from found_footy.web.search.finding import search_services
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["library"], dependencies=[Depends(reads)])

Place = Literal["library", "review", "skipped"]

Competition = Annotated[
    str | None, Query(max_length=100, pattern=PRINTABLE, description="Beginnings of the competition's name.")
]
Team = Annotated[
    str | None, Query(max_length=100, pattern=PRINTABLE, description="Beginnings of the name of either team.")
]
Player = Annotated[str | None, Query(max_length=100, pattern=PRINTABLE, description="Beginnings of the scorer's name.")]
OfKind = Annotated[
    str | None, Query(max_length=100, pattern=PRINTABLE, description="The kind of goal: penalty, own goal, normal.")
]
OfPlace = Annotated[Place | None, Query(description="Only what was approved, what waits for review, what was skipped.")]
Like = Annotated[int | None, Query(ge=1, le=BIGINT, description="Clips that look like this one.")]
Moments = Annotated[int, Query(ge=1, le=100, description="How many moments at most.")]
Offset = Annotated[int, Query(ge=0, le=MOST_FOUND, description="`next` of the answer before.")]


class FoundClip(Shape):
    id: int
    source: int
    event: str | None = Field(description="The goal, where the source is a kept video of one.")
    title: str
    state: str
    state_words: str
    first: int = Field(description="The first frame, counted in the source.")
    end: int = Field(description="The first frame that is not part of it.")
    seconds: float
    starts_at: float = Field(description="Seconds from the beginning of the source.")
    width: int
    height: int
    facts: dict[str, Any] = Field(description="What is known: player, team, competition, minute, kind and so on.")
    page: str
    picture: str | None = Field(description="Its first keyframe, or its sheet while there is none.")


class FoundMoment(Shape):
    clip: FoundClip = Field(description="The best copy; by likeness, the one that is most alike.")
    likeness: float | None = Field(description="1 is the same picture; null where words have found it.")
    copies: list[FoundClip] = Field(description="Other clips of the same moment, the best first.")


class FoundMoments(Shape):
    items: list[FoundMoment]
    total: int
    next: int | None = Field(description="The `offset` of what follows; null at the end.")
    more: bool = Field(description="Whether there are clips beyond those that were looked at.")
    model: str | None = Field(description="The model that likeness was judged by.")
    lacking: str | None = Field(description="What could not be asked, and why; the rest was.")


class Filters:
    """The filters that both ways of asking share."""

    def __init__(
        self,
        q: Words = None,
        competition: Competition = None,
        team: Team = None,
        player: Player = None,
        kind: OfKind = None,
        verified: Verified = None,
        sport: OfSport = None,
        first: From = None,
        last: To = None,
        place: OfPlace = None,
        limit: Moments = 20,
        offset: Offset = 0,
    ) -> None:
        self.wanted = wanted_of(
            q, competition=competition, team=team, player=player, kind=kind, verified=verified, sport=sport,
            first=first, last=last, place=place,
        )  # fmt: skip
        self.limit, self.offset = limit, offset


@router.get(
    "/library/search",
    response_model=FoundMoments,
    responses=failing(404),
    summary="Clips of the library by words, or like a clip",
)
async def search(services: Given, filters: Annotated[Filters, Depends()], like: Like = None) -> JSONResponse:
    """Every word of `q` must begin a word of what is known of the clip; a number is its minute, such as 90+3.

    With `like`, the most alike come first and the words only filter. Clips that were archived are not found. Where
    a model with a text side is switched on, clips whose pictures show what the words say follow on the others.
    """
    clips = search_services(services).clips
    found = await (clips.by_words(filters.wanted) if like is None else clips.like_clip(like, filters.wanted))
    return JSONResponse(found_document(found, filters.offset, filters.limit), headers={"Cache-Control": "no-store"})


@router.post(
    "/library/search",
    response_model=FoundMoments,
    responses={key: value for key, value in failing(400).items() if key != 304},
    summary="Clips of the library that look like a picture",
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": f"A JPEG, PNG, WebP, GIF or BMP of at most {MOST_BYTES} bytes.",
            "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def search_by_picture(request: Request, services: Given, filters: Annotated[Filters, Depends()]) -> JSONResponse:
    """The picture is looked at and not kept. Words and filters narrow what is compared with it."""
    given = search_services(services)
    bgr = await pictures_of(request).read(request, given.pictures)
    found = await given.clips.like_picture(bgr, filters.wanted)
    return JSONResponse(found_document(found, filters.offset, filters.limit), headers={"Cache-Control": "no-store"})
