"""`/api/v1/sources`: films that the library's clips are cut from, and how to hand one in."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.clips.states import SourceState
from found_footy.domain.clips.submitting import FACTS, LONGEST_FACT, LONGEST_TITLE
from found_footy.domain.errors import BadRequest
from found_footy.web.access.visitors import Role, Visitor, allow, reads
from found_footy.web.answers.etags import listed
from found_footy.web.api import library_models as models
from found_footy.web.api.failing import Answers, failing
from found_footy.web.api.models import Failure, Page
from found_footy.web.api.parameters import BIGINT, PRINTABLE, Cursor, Event, Limit, Words
from found_footy.web.library.acting import remove_source
from found_footy.web.library.listing import listed_page
from found_footy.web.library.submitting import submit_film, submit_url
from found_footy.web.services import Given, Services

router = APIRouter(prefix="/api/v1", tags=["library"])

MOST_JSON_BYTES = 64 * 1024
FILMS = ("video/", "application/octet-stream")

SourceId = Annotated[int, Path(ge=1, le=BIGINT, description="The source, as in its `id`.")]
OfState = Annotated[SourceState | None, Query(description="Only in this state.")]
OfKind = Annotated[models.SourceKindName | None, Query(description="Only of this kind.")]
Editor = Annotated[Visitor, Depends(allow(Role.EDITOR))]

_SAID = {
    400: "It cannot be taken; the message says why.",
    401: "The token is missing, or does not hold.",
    403: "The token is not an editor's.",
    404: "There is no such thing.",
    409: "That cannot be done with it now; the message says why.",
    413: "The film is too large.",
    422: "A value cannot be understood.",
    429: "Too many wrong tokens from this address.",
    503: "The database or the object store cannot be reached, or too many films are being sent.",
}


def changing(*statuses: int) -> Answers:
    named = sorted({*statuses, 401, 403, 422, 429, 503})
    return {status: {"model": Failure, "description": _SAID[status]} for status in named}


BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "An address as JSON, or the film itself, byte for byte.",
        "content": {
            "application/json": {"schema": models.NewSource.model_json_schema()},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

_Title = Annotated[str | None, Query(max_length=LONGEST_TITLE, description="Of a film that is sent.")]
_Name = Annotated[
    str, Query(max_length=LONGEST_TITLE, description="The name of its file; the title, if none is given.")
]
_Fact = Annotated[str | None, Query(max_length=LONGEST_FACT, pattern=PRINTABLE, description="Of a film that is sent.")]


@router.get(
    "/sources",
    response_model=Page[models.ListedSource],
    responses=failing(400),
    dependencies=[Depends(reads)],
    summary="Sources of the library, the newest first",
)
async def sources(
    request: Request,
    services: Given,
    state: OfState = None,
    kind: OfKind = None,
    event: Event = None,
    q: Words = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Kept videos of goals, addresses and files, each with how far it is and the states of its clips."""
    wanted = {"states": [state] if state else None, "kind": kind, "event": event, "q": q}
    reading = services.library.reading
    return await listed(request, services, lambda: listed_page(reading, "sources", wanted, cursor, limit))


@router.get(
    "/sources/{source_id}",
    response_model=models.WholeSource,
    responses=failing(404),
    dependencies=[Depends(reads)],
    summary="One source",
)
async def source(request: Request, services: Given, source_id: SourceId) -> Response:
    """With the clips that tile it."""

    async def make() -> bytes:
        return (await services.library.reading.source(source_id)).encode()

    return await listed(request, services, make)


@router.post(
    "/sources",
    status_code=201,
    response_model=models.WholeSource,
    responses=changing(400, 413),
    openapi_extra=BODY,
    summary="Hand in a source",
)
async def submit(
    request: Request,
    services: Given,
    who: Editor,
    title: _Title = None,
    name: _Name = "",
    player: _Fact = None,
    team: _Fact = None,
    competition: _Fact = None,
    minute: _Fact = None,
) -> Response:
    """An address of a film, or of a page that shows one, as JSON; or a film itself as
    `application/octet-stream` or `video/…`.

    A film's title and facts are parameters. It is downloaded, cut into scenes and waits for review by itself."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        new = await _new_source(request)
        made = await submit_url(services, new.url, new.title, new.model_dump(include=set(FACTS)), who.name)
    elif kind.startswith(FILMS):
        facts = {"player": player, "team": team, "competition": competition, "minute": minute}
        made = await submit_film(request, services, name, title, facts, who.name)
    else:
        raise BadRequest("send an address as application/json, or a film as application/octet-stream")
    return await _document(services, made, 201)


@router.post(
    "/sources/{source_id}/retry",
    status_code=202,
    response_model=models.WholeSource,
    responses=changing(404, 409),
    summary="Try again what has failed",
)
async def retry(services: Given, source_id: SourceId, _: Editor) -> Response:
    """At once, without waiting for its time to come; also where nothing would be tried again by itself."""
    await services.library.store.retry(source_id, None, services.now())
    return await _document(services, source_id, 202)


@router.delete(
    "/sources/{source_id}",
    response_model=models.SourceRemoved,
    responses=changing(404, 409),
    summary="Take a source out of the library",
)
async def remove(services: Given, source_id: SourceId, who: Editor) -> models.SourceRemoved:
    """All its clips are archived, and their files deleted with the film when the time for undo is over; a source
    without clips goes at once. Refused while a stage is at work on it, or an edit can still be undone. Safe to
    repeat."""
    removed = await remove_source(services, who, source_id)
    return models.SourceRemoved(
        source=source_id, deleted=removed.deleted, clips=removed.clips, action=removed.action_id
    )


async def _document(services: Services, source_id: int, status: int) -> Response:
    text = await services.library.reading.source(source_id)
    headers = {"Location": f"/api/v1/sources/{source_id}", "Cache-Control": "no-store"}
    return Response(text, status, headers, media_type="application/json")


async def _new_source(request: Request) -> models.NewSource:
    """Not by the framework, which would read a film into memory as well."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_JSON_BYTES:
            raise BadRequest(f"an order has at most {MOST_JSON_BYTES} bytes")
    try:
        return models.NewSource.model_validate_json(bytes(body))
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from None
