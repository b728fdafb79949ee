"""`/docs`: the API's reference, made from its own description. The usual page would load scripts from elsewhere."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.domain.errors import FootyError
from found_footy.web.answers.failures import STATUSES
from found_footy.web.answers.rendering import render
from found_footy.web.reference_view import topics

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def reference(request: Request) -> HTMLResponse:
    document: dict[str, Any] = request.app.openapi()
    values = {"topics": topics(document), "failures": failures(), "marked": marked}
    return render(request, "docs.html", values, headers={"Cache-Control": "private, no-cache", "Vary": "Cookie"})


def marked(text: str) -> Markup:
    """With what stands between back-ticks as code."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def failures() -> list[tuple[int, str, str, str]]:
    """Status, class, meaning and hint."""
    known = [(status, kind.__name__, _said(kind), kind.hint) for kind, status in STATUSES.items()]
    more = [
        (405, "MethodNotAllowed", "The address is right, and does not take this method.", ""),
        (422, "BadRequest", "A parameter cannot be understood; `problems` says which, and why.", ""),
        (500, "ProgramFault", "A fault of our own.", "The log has the traceback; please report it."),
    ]
    return sorted([*known, *more])


def _said(kind: type[FootyError]) -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0]
