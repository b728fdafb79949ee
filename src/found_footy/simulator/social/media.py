"""Serves the videos behind the posts."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from found_footy.domain.errors import EngineError
from found_footy.simulator.social.clip_files import ClipFiles
from found_footy.simulator.social.plan import MEDIA


def media_routes(files: ClipFiles | None) -> list[Route]:
    """Without files every video is missing."""

    async def media(request: Request) -> Response:
        try:
            path = None if files is None else await files.path_of(request.path_params["file_name"])
        except EngineError as error:
            return PlainTextResponse(str(error), status_code=503)
        if path is None:
            return PlainTextResponse("Not Found", status_code=404)
        # What is no video claims to be one all the same: only a look into it tells.
        return FileResponse(path, media_type="video/mp4")

    return [Route(f"{MEDIA}/{{file_name}}", media)]
