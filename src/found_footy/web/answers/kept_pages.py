"""Pages that are drawn once for everybody who would see the same, until something changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from found_footy.web.access.visitors import NOBODY, visitor
from found_footy.web.answers.etags import FRESH_SECONDS, response_of
from found_footy.web.answers.preferences import preferences
from found_footy.web.services import Services


async def kept_page(request: Request, services: Services, draw: Callable[[], Awaitable[HTMLResponse]]) -> Response:
    """For pages that depend on their address, on what their reader chose to hide, on the database and on the time.

    Whoever is logged in gets a page of their own: its forms carry the mark of their login.
    """
    if visitor(request) != NOBODY:
        return await draw()

    async def made() -> bytes:
        return bytes((await draw()).body)

    scope = request.scope
    moment = int(services.now().timestamp() // FRESH_SECONDS)
    key = ("page", scope["path"], scope["query_string"], request.headers.get("host"), preferences(request), moment)
    known = await services.kept.answer(key, services.kept.after_version(made))
    response = await response_of(request, known, is_private=True, media_type="text/html")
    response.headers["Vary"] = "Accept-Encoding, Cookie"
    return response
