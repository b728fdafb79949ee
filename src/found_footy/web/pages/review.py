"""The review page. Its first look is drawn here; the clips come through the API, since each window takes its own."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.domain.clips.review import MOST_AT_ONCE, Reviewer
from found_footy.web.access.visitors import Role, Visitor, allow
from found_footy.web.answers.rendering import render
from found_footy.web.api.parameters import BIGINT
from found_footy.web.review import reviewing, shown
from found_footy.web.services import Given

router = APIRouter(include_in_schema=False)

HEADERS = {"Cache-Control": "no-store"}
LATEST = 12
BUTTONS = {
    "judging": shown.JUDGING,
    "cutting": shown.CUTTING,
    "moving": shown.MOVING,
    "comparing": shown.COMPARING,
    "undoing": shown.UNDOING,
}

Number = Annotated[int | None, Query(ge=1, le=BIGINT)]


@router.get("/review")
async def page(
    request: Request,
    services: Given,
    who: Annotated[Visitor, Depends(allow(Role.EDITOR))],
    source: Number = None,
    clip: Number = None,
) -> HTMLResponse:
    # Of no window yet: that has a name only when its script runs.
    reviewer = Reviewer(f"{who.token_id}:", who.name, services.now())
    latest = await reviewing.actions(services.library, reviewer, 0, LATEST)
    values = {
        "csrf": who.csrf,
        "source": source,
        "clip": clip,
        "groups": shown.count_groups(latest.counts),
        "latest": latest.model_dump_json(),
        "actions": BUTTONS,
        "help": shown.HELP,
        "selecting": shown.SELECTING,
        "claim_seconds": services.library.claim_for.total_seconds(),
        "undo_seconds": round(services.library.undo_for.total_seconds()),
        "most_at_once": MOST_AT_ONCE,
        "position": services.live.position,
    }
    return render(request, "review.html", values, headers=HEADERS)
