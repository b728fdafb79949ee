"""`/api/v1/sources`, `/clips` and `/library/search`: library sources, clips and similarity search."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from fastapi.exceptions import RequestValidationError
from pydantic import Field, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from found_footy.access.models import Role
from found_footy.errors import BadRequest
from found_footy.fixtures.documents import Document
from found_footy.library.models import ClipState, SourceState, state_label
from found_footy.library.moments import MAX_CANDIDATES, ClipResult, MomentResult, SearchResults, parse_filter
from found_footy.library.search import DEFAULT_ORDER, SimilarityOrder
from found_footy.library.submissions import FACTS as SUBMITTED_FACTS
from found_footy.library.submissions import MAX_FACT_LENGTH, MAX_TITLE_LENGTH
from found_footy.library.views import (
    ClipDetail,
    ClipFilter,
    ClipSummary,
    SourceDetail,
    SourceFilter,
    SourceKindName,
    SourceSummary,
    view_json,
)
from found_footy.web.api import models
from found_footy.web.api.models import Page
from found_footy.web.api.parameters import (
    MAX_BIGINT,
    PRINTABLE,
    Cursor,
    Event,
    From,
    Limit,
    OfSport,
    To,
    Verified,
    Words,
)
from found_footy.web.errors import error_responses
from found_footy.web.pagination import clips_page, sources_page
from found_footy.web.response_cache import cached_json
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.uploads import MAX_PICTURE_BYTES, picture_receiver, submit_file, submit_url
from found_footy.web.users import User, library_reviewer, require_role

router = APIRouter(prefix="/api/v1", tags=["library"])

MAX_JSON_BYTES = 64 * 1024
SOURCES_JSON = TypeAdapter(Page[SourceSummary])
CLIPS_JSON = TypeAdapter(Page[ClipSummary])
VIDEO_TYPES = ("video/", "application/octet-stream")

SourceId = Annotated[int, Path(ge=1, le=MAX_BIGINT, description="Source id.")]
OfState = Annotated[SourceState | None, Query(description="Only in this state.")]
OfKind = Annotated[SourceKindName | None, Query(description="Only of this kind.")]
Editor = Annotated[User, Depends(require_role(Role.EDITOR))]


BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A URL as JSON, or the raw bytes of a video.",
        "content": {
            "application/json": {"schema": models.NewSource.model_json_schema()},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

_Title = Annotated[str | None, Query(max_length=MAX_TITLE_LENGTH, description="For an uploaded video.")]
_Name = Annotated[str, Query(max_length=MAX_TITLE_LENGTH, description="File name; the title if none is given.")]
_Fact = Annotated[
    str | None, Query(max_length=MAX_FACT_LENGTH, pattern=PRINTABLE, description="For an uploaded video.")
]


@router.get(
    "/sources",
    response_model=Page[SourceSummary],
    responses=error_responses(400),
    summary="List library sources, newest first",
)
async def sources(
    request: Request,
    services: ServicesDep,
    state: OfState = None,
    kind: OfKind = None,
    event: Event = None,
    q: Words = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Published clips of goals, submitted URLs and uploaded files, with progress and counts of clips by state."""
    source_filter = SourceFilter([state] if state else None, kind, event, q)

    async def build() -> bytes:
        page = await sources_page(services.library.views, source_filter, cursor, limit)
        return SOURCES_JSON.dump_json(page, by_alias=True)

    return await cached_json(request, services, build)


@router.get(
    "/sources/{source_id}",
    response_model=SourceDetail,
    responses=error_responses(404),
    summary="Get a source",
)
async def source(request: Request, services: ServicesDep, source_id: SourceId) -> Response:
    """With its clips."""

    async def build() -> bytes:
        return view_json(await services.library.views.source(source_id))

    return await cached_json(request, services, build)


@router.post(
    "/sources",
    status_code=201,
    response_model=SourceDetail,
    responses=error_responses(400, 413, role=Role.EDITOR),
    openapi_extra=BODY,
    summary="Submit a source",
)
async def submit(
    request: Request,
    services: ServicesDep,
    editor: Editor,
    title: _Title = None,
    name: _Name = "",
    player: _Fact = None,
    team: _Fact = None,
    competition: _Fact = None,
    minute: _Fact = None,
) -> Response:
    """Send the URL of a video, or of a page with one, as JSON; or the video itself as
    `application/octet-stream` or `video/…`, with title and facts as parameters.

    The source is downloaded, split into scenes and queued for review automatically."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        new = await _new_source(request)
        created = await submit_url(
            services, new.url, new.title, new.model_dump(include=set(SUBMITTED_FACTS)), editor.name
        )
    elif kind.startswith(VIDEO_TYPES):
        facts = {"player": player, "team": team, "competition": competition, "minute": minute}
        created = await submit_file(request, services, name, title, facts, editor.name)
    else:
        raise BadRequest("send a URL as application/json, or a video as application/octet-stream")
    return await _document(services, created, 201)


@router.post(
    "/sources/{source_id}/retry",
    status_code=202,
    response_model=SourceDetail,
    responses=error_responses(404, 409, role=Role.EDITOR),
    summary="Retry the failed stage",
)
async def retry(services: ServicesDep, source_id: SourceId, _: Editor) -> Response:
    """Now, ignoring backoff and attempt limit."""
    await services.library.store.retry(source_id, None, services.now())
    return await _document(services, source_id, 202)


@router.delete(
    "/sources/{source_id}",
    response_model=models.SourceRemoved,
    responses=error_responses(404, 409, role=Role.EDITOR),
    summary="Remove a source",
)
async def remove(services: ServicesDep, source_id: SourceId, editor: Editor) -> models.SourceRemoved:
    """Archives all clips; files and video are deleted after the undo period. A source without clips is deleted at once.

    Refused while a stage is running or an edit can be undone. Idempotent."""
    removed = await services.library.review.remove_source(source_id, library_reviewer(services, editor))
    return models.SourceRemoved(
        source=source_id, deleted=removed.deleted, clips=removed.clips, action=removed.action_id
    )


async def _document(services: WebServices, source_id: int, status: int) -> Response:
    body = view_json(await services.library.views.source(source_id))
    headers = {"Location": f"/api/v1/sources/{source_id}", "Cache-Control": "no-store"}
    return Response(body, status, headers, media_type="application/json")


async def _new_source(request: Request) -> models.NewSource:
    """Parsed here and not by the framework, which would also read a video into memory."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_JSON_BYTES:
            raise BadRequest(f"the request is larger than {MAX_JSON_BYTES} bytes")
    try:
        return models.NewSource.model_validate_json(bytes(body))
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from None


# --- `/api/v1/clips`: clips of the library.


ClipId = Annotated[int, Path(ge=1, le=MAX_BIGINT, description="Clip id.")]
OfStateClips = Annotated[ClipState | None, Query(description="Only in this state.")]
OfSource = Annotated[int | None, Query(ge=1, le=MAX_BIGINT, description="Only of this source.")]


@router.get(
    "/clips",
    response_model=Page[ClipSummary],
    responses=error_responses(400),
    summary="List library clips, newest first",
)
async def clips(
    request: Request,
    services: ServicesDep,
    state: OfStateClips = None,
    source: OfSource = None,
    event: Event = None,
    q: Words = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Current clips. A clip replaced by a split or merge is not listed but stays available by id."""
    clip_filter = ClipFilter([state] if state else None, source, event, q)

    async def build() -> bytes:
        page = await clips_page(services.library.views, clip_filter, cursor, limit)
        return CLIPS_JSON.dump_json(page, by_alias=True)

    return await cached_json(request, services, build)


@router.get(
    "/clips/{clip_id}",
    response_model=ClipDetail,
    responses=error_responses(404),
    summary="Get a library clip",
)
async def clip(request: Request, services: ServicesDep, clip_id: ClipId) -> Response:
    """With its keyframes, group, neighbours and likely duplicates."""

    async def build() -> bytes:
        return view_json(await services.library.views.clip(clip_id))

    return await cached_json(request, services, build)


@router.post(
    "/clips/{clip_id}/retry",
    status_code=202,
    response_model=ClipDetail,
    responses=error_responses(404, 409, role=Role.EDITOR),
    summary="Retry the failed stage",
)
async def retry_clips(services: ServicesDep, clip_id: ClipId, _: Editor) -> Response:
    """Now, ignoring backoff and attempt limit."""
    await services.library.store.retry(None, clip_id, services.now())
    body = view_json(await services.library.views.clip(clip_id))
    return Response(body, 202, {"Cache-Control": "no-store"}, media_type="application/json")


@router.post(
    "/library/retry",
    status_code=202,
    response_model=models.LibraryRetried,
    responses=error_responses(400, role=Role.EDITOR),
    summary="Retry all failed items",
)
async def retry_failed(
    services: ServicesDep,
    _: Editor,
    stage: Annotated[str | None, Query(max_length=40, pattern=PRINTABLE, description="Only of this stage.")] = None,
) -> models.LibraryRetried:
    """Sources and clips whose stage failed, now, ignoring backoff and attempt limit."""
    return models.LibraryRetried(retried=await services.library.store.retry_failed(services.now(), stage))


# --- `/api/v1/library/search`: library clips by words, by clip or by image, grouped by moment.


router_library_search = APIRouter(prefix="/api/v1", tags=["library"])

Place = Literal["library", "review", "skipped"]

Competition = Annotated[
    str | None, Query(max_length=100, pattern=PRINTABLE, description="Prefixes of the competition name.")
]
Team = Annotated[str | None, Query(max_length=100, pattern=PRINTABLE, description="Prefixes of either team name.")]
Player = Annotated[str | None, Query(max_length=100, pattern=PRINTABLE, description="Prefixes of the scorer's name.")]
OfKindLibrarySearch = Annotated[
    str | None, Query(max_length=100, pattern=PRINTABLE, description="The kind of goal: penalty, own goal, normal.")
]
OfPlace = Annotated[Place | None, Query(description="Only approved, unreviewed or skipped clips.")]
Like = Annotated[int | None, Query(ge=1, le=MAX_BIGINT, description="Similar to this clip.")]
Model = Annotated[
    str | None, Query(max_length=60, pattern=PRINTABLE, description="Embedding model that computes similarity.")
]
Least = Annotated[bool, Query(description="Least similar clips first.")]
Moments = Annotated[int, Query(ge=1, le=100, description="Maximum number of moments.")]
Offset = Annotated[int, Query(ge=0, le=MAX_CANDIDATES, description="`next` of the previous response.")]


class MomentClip(Document):
    id: int
    source: int
    event: str | None = Field(description="The goal, if the source is a published clip.")
    title: str
    state: str
    state_words: str
    first: int = Field(description="First source frame.")
    end: int = Field(description="Last source frame, exclusive.")
    seconds: float
    starts_at: float = Field(description="Seconds from the start of the source.")
    width: int
    height: int
    facts: dict[str, Any] = Field(description="Known facts: player, team, competition, minute, kind and so on.")
    page: str
    picture: str | None = Field(description="Its first keyframe, or its sprite sheet without one.")


class FoundMoment(Document):
    clip: MomentClip = Field(description="The best copy; in a similarity search, the most similar.")
    likeness: float | None = Field(description="1 is identical; null for a match by words.")
    copies: list[MomentClip] = Field(description="Other clips of the same moment, best first.")


class FoundMoments(Document):
    items: list[FoundMoment]
    total: int
    next: int | None = Field(description="`offset` of the next page; null at the end.")
    more: bool = Field(description="Whether more clips exist than were searched.")
    model: str | None = Field(description="The embedding model used.")
    lacking: str | None = Field(description="What could not be searched, and why.")


class LibrarySearchQuery:
    """Filters shared by both kinds of search."""

    def __init__(
        self,
        q: Words = None,
        competition: Competition = None,
        team: Team = None,
        player: Player = None,
        kind: OfKindLibrarySearch = None,
        verified: Verified = None,
        sport: OfSport = None,
        first: From = None,
        last: To = None,
        place: OfPlace = None,
        source: OfSource = None,
        model: Model = None,
        least: Least = False,
        limit: Moments = 20,
        offset: Offset = 0,
    ) -> None:
        self.search_filter = parse_filter(
            q, competition=competition, team=team, player=player, kind=kind, verified=verified, sport=sport,
            first=first, last=last, place=place, source=source,
        )  # fmt: skip
        self.order = SimilarityOrder(model, least)
        self.limit, self.offset = limit, offset


FACTS = (
    "sport", "competition", "home", "away", "team", "player", "assist", "minute", "kind", "score", "kickoff",
    "verified", "withdrawn",
)  # fmt: skip


def found_moments(found: SearchResults, offset: int, limit: int) -> FoundMoments:
    later = offset + limit
    return FoundMoments(
        items=[_moment(each) for each in found.moments[offset:later]],
        total=len(found.moments),
        next=later if later < len(found.moments) else None,
        more=found.has_more,
        model=found.model,
        lacking=found.incomplete_reason,
    )


def _moment(moment: MomentResult) -> FoundMoment:
    return FoundMoment(
        clip=_moment_clip(moment.clip),
        likeness=None if moment.similarity is None else round(moment.similarity, 4),
        copies=[_moment_clip(each) for each in moment.copies],
    )


def _moment_clip(clip: ClipResult) -> MomentClip:
    return MomentClip(
        id=clip.id,
        source=clip.source_id,
        event=clip.event_id,
        title=clip.title,
        state=str(clip.state),
        state_words=state_label(clip.state),
        first=clip.first,
        end=clip.end,
        seconds=round(clip.seconds, 3),
        starts_at=round(clip.starts_at, 3),
        width=clip.width,
        height=clip.height,
        facts={name: clip.facts[name] for name in FACTS if name in clip.facts},
        page=f"/library/clips/{clip.id}",
        picture=picture_of(clip),
    )


def picture_of(clip: ClipResult) -> str | None:
    """First keyframe, or the sheet while there is none."""
    if clip.keyframe is not None:
        return f"/c/{clip.id}-{clip.keyframe}.jpg"
    return f"/c/{clip.id}.webp" if clip.has_sheet else None


def _found_response(found: SearchResults, filters: LibrarySearchQuery) -> Response:
    content = found_moments(found, filters.offset, filters.limit).json_bytes()
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})


@router_library_search.get(
    "/library/search",
    response_model=FoundMoments,
    responses=error_responses(404),
    summary="Search library clips by words or similarity",
)
async def search(
    services: ServicesDep, filters: Annotated[LibrarySearchQuery, Depends()], like: Like = None
) -> Response:
    """Each word of `q` is a prefix of a word in the clip's facts; a number is its minute, such as 90+3.

    With `like`, the most similar clips come first, or the least similar with `least`, and the words only filter.
    Archived clips are not found. If a model with text support is enabled, clips whose images match the words follow.
    """
    clips = services.library_search().clips
    if like is not None:
        found = await clips.similar_to_clip(like, filters.search_filter, filters.order)
    elif filters.order == DEFAULT_ORDER:
        found = await clips.by_text(filters.search_filter)
    else:
        raise BadRequest("`model` and `least` apply to similarity searches only: add `like`")
    return _found_response(found, filters)


@router_library_search.post(
    "/library/search",
    response_model=FoundMoments,
    responses={key: value for key, value in error_responses(400).items() if key != 304},
    summary="Search library clips by picture",
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": f"A JPEG, PNG, WebP, GIF or BMP of at most {MAX_PICTURE_BYTES} bytes.",
            "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def search_by_picture(
    request: Request, services: ServicesDep, filters: Annotated[LibrarySearchQuery, Depends()]
) -> Response:
    """The picture is not stored. Words and filters narrow the search."""
    search_services = services.library_search()
    bgr = await picture_receiver(request).read(request, search_services.pictures)
    found = await search_services.clips.similar_to_image(bgr, filters.search_filter, filters.order)
    return _found_response(found, filters)
