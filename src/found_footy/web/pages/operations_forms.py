"""What an operator does on the operations page: switch feeds, decide pairings, start things anew."""

from __future__ import annotations

from typing import Annotated, get_args

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from found_footy.domain.errors import BadRequest
from found_footy.web.access.visitors import Role, Visitor, allow
from found_footy.web.answers.forms import form_of
from found_footy.web.operating import acting
from found_footy.web.operating.acting import Part, State
from found_footy.web.services import Given

router = APIRouter(include_in_schema=False, dependencies=[Depends(allow(Role.OPERATOR))])

Operator = Annotated[Visitor, Depends(allow(Role.OPERATOR))]

DONE = {
    "switched": "The switch holds from the next poll on.",
    "same": "They are one match now; both feeds follow it.",
    "different": "They stay two matches.",
    "recycled": "It was started anew; the recoveries below say how it went.",
}
LARGEST = 2**63 - 1


@router.post("/operations/feeds/{feed_id}")
async def switch(request: Request, services: Given, feed_id: str) -> Response:
    wish = (await form_of(request)).get("state", "")
    state: State | None = next((each for each in get_args(State) if each == wish), None)
    if state is None:
        raise BadRequest("a feed is switched on, off or auto")
    await acting.switch(services, feed_id, state)
    return _back("switched", "feeds")


@router.post("/operations/pairings")
async def pairing(request: Request, services: Given) -> Response:
    form = await form_of(request)
    same = {"yes": True, "no": False}.get(form.get("same", ""))
    if same is None:
        raise BadRequest("two matches are the same, or they are not")
    await acting.decide(services, form.get("feed", ""), _number(form, "feed_id"), _number(form, "fixture_id"), same)
    return _back("same" if same else "different", "pairings")


@router.post("/operations/recycle")
async def recycle(request: Request, services: Given, who: Operator) -> Response:
    wish = (await form_of(request)).get("what", "")
    what: Part | None = next((each for each in get_args(Part) if each == wish), None)
    if what is None:
        raise BadRequest("the browser can be started anew, or the poller")
    await acting.recycle(services, what, who.name)
    return _back("recycled", "recoveries")


def _number(form: dict[str, str], name: str) -> int:
    text = form.get(name, "")
    if not (text.isascii() and text.isdecimal()) or len(text) > 19 or int(text) > LARGEST:
        raise BadRequest(f"{name} is a number")
    return int(text)


def _back(done: str, place: str) -> Response:
    return RedirectResponse(f"/operations?done={done}#{place}", 303)
