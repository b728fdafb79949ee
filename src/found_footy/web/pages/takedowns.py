"""Takedowns page: remove or hide content, and what was taken down. For operators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from found_footy.access.models import Role
from found_footy.clips.takedown import MAX_REASON_LENGTH, TakedownKind, TakedownOrder, TakedownScope
from found_footy.errors import BadRequest, NotFound, ObjectStoreError
from found_footy.web.pages.goal import SOURCE_NAMES
from found_footy.web.rendering import NO_STORE, render
from found_footy.web.requests import read_form
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.users import User, require_role

router = APIRouter(include_in_schema=False)

Operator = Annotated[User, Depends(require_role(Role.OPERATOR))]
DONE = {"taken-down": "Taken down.", "lifted": "Lifted."}
SCOPES = {"clip": "A clip", "goal": "All clips of a goal", "account": "Everything posted by an account"}


@router.get("/takedowns")
async def page(
    request: Request, services: ServicesDep, _: Operator, scope: str = "clip", target: str = "", done: str = ""
) -> Response:
    return await _page(request, services, {"scope": scope, "target": target[:200]}, message=DONE.get(done, ""))


@router.post("/takedowns")
async def change(request: Request, services: ServicesDep, user: Operator) -> Response:
    """The form of the page, or the button `lift` of an entry."""
    form = await read_form(request)
    try:
        if (entry := form.get("lift", "")) != "":
            if not entry.isdecimal() or len(entry) > 18:
                raise BadRequest("invalid takedown")
            await services.takedowns.lift(int(entry), user.name)
            return RedirectResponse("/takedowns?done=lifted", 303)
        await services.takedowns.take_down(_order(form), user.name)
    except (BadRequest, NotFound, ObjectStoreError) as error:
        return await _page(request, services, form, problem=str(error), status=400)
    return RedirectResponse("/takedowns?done=taken-down", 303)


def _order(form: dict[str, str]) -> TakedownOrder:
    try:
        kind, scope = TakedownKind(form.get("kind", "")), TakedownScope(form.get("scope", ""))
    except ValueError:
        raise BadRequest("choose what to take down, and whether to hide or remove it") from None
    source = form.get("source", "") or None
    return TakedownOrder(kind, scope, form.get("target", "")[:500], form.get("reason", "")[:1000], source)


async def _page(
    request: Request,
    services: WebServices,
    form: dict[str, str],
    *,
    message: str = "",
    problem: str = "",
    status: int = 200,
) -> Response:
    values = {
        "takedowns": await services.takedowns.all(),
        "scopes": SCOPES,
        "sources": SOURCE_NAMES,
        "form": {name: form.get(name, "") for name in ("scope", "target", "kind", "source", "reason")},
        "max_reason": MAX_REASON_LENGTH,
        "message": message,
        "problem": problem,
    }
    return render(request, "takedowns.html", values, status, NO_STORE)
