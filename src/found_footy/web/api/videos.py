"""`/api/v1/videos`: clips, and what became of those that gave way to better copies."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.errors import NotFound
from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import answer, listed
from found_footy.web.answers.paging import Order, page
from found_footy.web.api import models
from found_footy.web.api.failing import failing
from found_footy.web.api.parameters import Cursor, Event, Fixture, Limit, Since, Verified, VideoId
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["clips"], dependencies=[Depends(reads)])

BY_PUBLICATION = Order("videos", (datetime, str))


@router.get(
    "/videos", response_model=models.Page[models.Video], responses=failing(400), summary="Clips, the newest first"
)
async def videos(
    request: Request,
    services: Given,
    event: Event = None,
    fixture: Fixture = None,
    verified: Verified = None,
    since: Since = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Of goals that stand. `url` plays for good: it follows the clip when a better copy takes its place."""
    wanted = {"event": event, "fixture": fixture, "verified": verified, "since": since}
    return await listed(request, services, lambda: page(services, BY_PUBLICATION, wanted, cursor, limit))


@router.get("/videos/{video_id}", response_model=models.WholeVideo, responses=failing(404, 410), summary="One clip")
async def video(request: Request, services: Given, video_id: VideoId) -> Response:
    """With its proof. One that was merged into a better copy says in `leads_to` where its link leads now."""

    async def make() -> tuple[str, bytes]:
        try:
            version, text = await services.reading.video(video_id)
            return version, text.encode()
        except NotFound:
            await services.links.require_not_ended(f"v/{video_id}")
            raise

    return await answer(request, services, make)
