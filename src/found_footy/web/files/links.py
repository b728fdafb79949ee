"""`/v/{video}`: a video for good. Ranges, merges and ends are all answered here."""

from __future__ import annotations

import re
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from found_footy.domain.errors import NotFound, ObjectStoreError
from found_footy.domain.videos.video_link import VideoLink
from found_footy.web.answers.etags import is_known
from found_footy.web.files.ranges import Span, Unsatisfiable, range_holds, span_of
from found_footy.web.files.streaming import FileAnswer, Readers, open_file
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False)

SIGNED_SECONDS = 6 * 3600
"""How long a signed address holds: a film that is paused over dinner goes on afterwards."""

YEAR = 365 * 24 * 3600


@router.get("/v/{video_id}")
@router.head("/v/{video_id}")
async def video(request: Request, services: Given, video_id: str, download: bool = False) -> Response:
    """A video's file. The link holds for good: where the video was merged, it leads to the one that stays."""
    link = await find(services, video_id)
    if link.id != video_id:
        return merged(link, f"/v/{link.id}", request)
    if services.rules.video_links == "redirect" and request.method == "GET" and not download:
        signed = await services.files.signed_url(link.key, SIGNED_SECONDS)
        if signed is not None:
            return RedirectResponse(signed, 307, {"Cache-Control": "no-store"})
    return await _file(request, services, link, download)


async def find(services: Services, video_id: str) -> VideoLink:
    """Raises NotFound and LinkEnded."""
    if not re.fullmatch(r"[0-9a-f]{16}", video_id):
        raise NotFound("there is no such video")
    return await services.links.video(video_id)


def merged(link: VideoLink, path: str, request: Request) -> Response:
    """To where the same moment is. Not kept by anybody: the winner may give way to another one day."""
    query = f"?{request.url.query}" if request.url.query else ""
    place = f"#t={link.moved:.3f}".rstrip("0").rstrip(".") if 0 < link.moved < link.duration else ""
    return RedirectResponse(f"{path}{query}{place}", 307, {"Cache-Control": "no-cache"})


def kept_for_good(services: Services) -> dict[str, str]:
    """What a name stands for never changes. Where anybody may read, other sites may show it, too."""
    shown = {"Cross-Origin-Resource-Policy": "cross-origin"} if services.rules.read_access == "open" else {}
    return {"Cache-Control": f"public, max-age={YEAR}, immutable", "X-Content-Type-Options": "nosniff", **shown}


async def _file(request: Request, services: Services, link: VideoLink, download: bool) -> Response:
    etag = f'"{link.md5}"'
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Disposition": disposition(link, download),
        "Content-Type": "video/mp4",
        "ETag": etag,
        **kept_for_good(services),
    }
    if is_known(etag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers={name: headers[name] for name in ("Cache-Control", "ETag")})
    if request.method == "HEAD":
        await _require_file(services, link)
        return Response(headers={**headers, "Content-Length": str(link.size)})
    asked = request.headers.get("range") if range_holds(request.headers.get("if-range"), etag) else None
    try:
        span = span_of(asked, link.size)
    except Unsatisfiable:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{link.size}", "Accept-Ranges": "bytes"})
    if span is not None:
        headers["Content-Range"] = span.content_range(link.size)
    answer = FileAnswer(
        services.files, link.key, span or Span(0, link.size), readers_of(request), 206 if span else 200, headers
    )
    return await open_file(answer, link.id)


async def _require_file(services: Services, link: VideoLink) -> None:
    found = await services.files.head(link.key)
    if found is None or found.size != link.size:
        raise ObjectStoreError(f"the file of the video {link.id} is missing in the object store")


def disposition(link: VideoLink, download: bool) -> str:
    way = "attachment" if download else "inline"
    return f"{way}; filename=\"{link.plain_file_name}.mp4\"; filename*=UTF-8''{quote(link.file_name)}.mp4"


def readers_of(request: Request) -> Readers:
    """One count for each application."""
    state = request.app.state
    if not hasattr(state, "file_readers"):
        state.file_readers = Readers()
    readers: Readers = state.file_readers
    return readers
