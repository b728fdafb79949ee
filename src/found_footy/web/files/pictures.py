"""`/v/{video}/poster.jpg` and `/v/{video}/proof.jpg`: what a clip looks like, and what its clock was read from."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.errors import NotFound
from found_footy.domain.videos.video_link import VideoLink
from found_footy.web.answers.etags import is_known
from found_footy.web.files.links import find, kept_for_good, merged
from found_footy.web.files.picture_making import PictureMaker
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False)

SAME_MOMENT = 0.0005
"""Seconds: the pages write three digits."""

Width = Literal["320", "640", "1280"]


@router.get("/v/{video_id}/poster.jpg")
@router.head("/v/{video_id}/poster.jpg")
async def poster(request: Request, services: Given, video_id: str, w: Width = "640") -> Response:
    link = await find(services, video_id)
    if link.id != video_id:
        return merged(link, f"/v/{link.id}/poster.jpg", request)
    etag = f'"{link.md5}-poster-{w}"'
    if (known := _known(request, services, etag)) is not None:
        return known
    return _picture(services, etag, await _maker(request, services).poster(link, int(w)))


@router.get("/v/{video_id}/proof.jpg")
@router.head("/v/{video_id}/proof.jpg")
async def proof(request: Request, services: Given, video_id: str, at: float | None = None) -> Response:
    """The picture that was looked at, so many seconds from the clip's start; without, the one that decided."""
    link = await find(services, video_id)
    if link.id != video_id:
        raise NotFound(f"the video {video_id} was merged into another, and has no proof of its own")
    looked_at = moment_of(link, at)
    etag = f'"{link.md5}-proof-{looked_at:.3f}"'
    if (known := _known(request, services, etag)) is not None:
        return known
    return _picture(services, etag, await _maker(request, services).proof(link, looked_at))


def moment_of(link: VideoLink, at: float | None) -> float:
    """Only what the proof names: nobody can have any number of pictures made. Raises NotFound."""
    if link.proof is None:
        raise NotFound(f"the video {link.id} has no proof")
    if at is None:
        return link.proof.at
    for moment in (link.proof.at, *(reading.at for reading in link.proof.readings)):
        if abs(moment - at) <= SAME_MOMENT:
            return moment
    raise NotFound(f"nobody looked at the video {link.id} at that second")


def _known(request: Request, services: Services, etag: str) -> Response | None:
    if is_known(etag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers={"ETag": etag, **kept_for_good(services)})
    return None


def _picture(services: Services, etag: str, jpeg: bytes) -> Response:
    return Response(jpeg, headers={"Content-Type": "image/jpeg", "ETag": etag, **kept_for_good(services)})


def _maker(request: Request, services: Services) -> PictureMaker:
    """One for each application."""
    state = request.app.state
    if not hasattr(state, "picture_maker"):
        state.picture_maker = PictureMaker(services.files, services.media)
    maker: PictureMaker = state.picture_maker
    return maker
