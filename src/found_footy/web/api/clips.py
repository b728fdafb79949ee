"""`/api/v1/clips`: the clips that the library's sources are cut into."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.clips.states import ClipState
from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import listed
from found_footy.web.api import library_models as models
from found_footy.web.api.failing import failing
from found_footy.web.api.models import Page
from found_footy.web.api.parameters import BIGINT, Cursor, Event, Limit, Words
from found_footy.web.api.sources import Editor, changing
from found_footy.web.library.listing import listed_page
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["library"])

ClipId = Annotated[int, Path(ge=1, le=BIGINT, description="The clip, as in its `id`.")]
OfState = Annotated[ClipState | None, Query(description="Only in this state.")]
OfSource = Annotated[int | None, Query(ge=1, le=BIGINT, description="Only of this source.")]


@router.get(
    "/clips",
    response_model=Page[models.ListedClip],
    responses=failing(400),
    dependencies=[Depends(reads)],
    summary="Clips of the library, the newest first",
)
async def clips(
    request: Request,
    services: Given,
    state: OfState = None,
    source: OfSource = None,
    event: Event = None,
    q: Words = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Those that tile a source now; one that was split or merged can still be asked for by its number."""
    wanted = {"states": [state] if state else None, "source": source, "event": event, "q": q}
    reading = services.library.reading
    return await listed(request, services, lambda: listed_page(reading, "clips", wanted, cursor, limit))


@router.get(
    "/clips/{clip_id}",
    response_model=models.WholeClip,
    responses=failing(404),
    dependencies=[Depends(reads)],
    summary="One clip of the library",
)
async def clip(request: Request, services: Given, clip_id: ClipId) -> Response:
    """With its keyframes, its group, its neighbours, and the clips that show the same."""

    async def make() -> bytes:
        return (await services.library.reading.clip(clip_id)).encode()

    return await listed(request, services, make)


@router.post(
    "/clips/{clip_id}/retry",
    status_code=202,
    response_model=models.WholeClip,
    responses=changing(404, 409),
    summary="Try again what has failed",
)
async def retry(services: Given, clip_id: ClipId, _: Editor) -> Response:
    """At once, without waiting for its time to come; also where nothing would be tried again by itself."""
    await services.library.store.retry(None, clip_id, services.now())
    text = await services.library.reading.clip(clip_id)
    return Response(text, 202, {"Cache-Control": "no-store"}, media_type="application/json")
