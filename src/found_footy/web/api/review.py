"""`/api/v1/review`: clips to be reviewed, what is done with them, and taking it back. For editors."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query
from starlette.responses import Response

from found_footy.domain.clips.review import Reviewer
from found_footy.web.access.visitors import Role, Visitor, allow
from found_footy.web.api.failing import Answers
from found_footy.web.api.models import Failure
from found_footy.web.api.parameters import BIGINT
from found_footy.web.review import reviewing
from found_footy.web.review.models import (
    ActionWish,
    ReviewActions,
    ReviewDone,
    ReviewLook,
    UndoWish,
    VerdictWish,
)
from found_footy.web.services import Given

MOST_CLAIMED = 50
MOST_ACTIONS = 200


def _unkept(response: Response) -> None:
    response.headers["Cache-Control"] = "no-store"


router = APIRouter(
    prefix="/api/v1/review", tags=["review"], dependencies=[Depends(allow(Role.EDITOR)), Depends(_unkept)]
)

Editor = Annotated[Visitor, Depends(allow(Role.EDITOR))]
Window = Annotated[
    str,
    Header(
        alias="X-Review-Window",
        pattern=r"^[A-Za-z0-9-]{1,40}$",
        description="Any name for the window in which somebody reviews: each has clips and an undo of its own.",
    ),
]


async def reviewer_of(services: Given, editor: Editor, window: Window = "program") -> Reviewer:
    """Nobody can act in a window of somebody else's: the token is part of its name."""
    return Reviewer(f"{editor.token_id}:{window}", editor.name, services.now())


Who = Annotated[Reviewer, Depends(reviewer_of)]

_SAID = {
    400: "The action lacks something, or has something that it does not take.",
    401: "The token is missing, or does not hold.",
    403: "The token is not an editor's.",
    404: "There is no such clip, or no such action.",
    409: "It cannot be done now; the message says why, and nothing was changed.",
    422: "A value cannot be understood.",
    429: "Too many wrong tokens.",
    503: "The database cannot be reached.",
}


def _failing(*statuses: int) -> Answers:
    named = sorted({*statuses, 401, 403, 422, 429, 503})
    return {status: {"model": Failure, "description": _SAID[status]} for status in named}


@router.get("/queue", responses=_failing(), summary="Take the next clips")
async def queue(
    services: Given,
    who: Who,
    most: Annotated[int, Query(ge=1, le=MOST_CLAIMED, description="How many shall lie before you.")] = 4,
    source: Annotated[int | None, Query(ge=1, le=BIGINT, description="Only those of this source.")] = None,
) -> ReviewLook:
    """Nobody else gets them for `claim_seconds`. Asking again keeps those that were not acted upon, for as long once
    more, and adds others until there are so many."""
    return await reviewing.take(services.library, who, most, source)


@router.get("/clips/{clip_id}", responses=_failing(404), summary="Look at a clip and its neighbours")
async def clip(services: Given, who: Who, clip_id: Annotated[int, Path(ge=1, le=BIGINT)]) -> ReviewLook:
    """Nothing is taken. Of one that was split or merged: what lies there now."""
    return await reviewing.look_at(services.library, who, clip_id)


@router.post("/actions", responses=_failing(400, 404, 409), summary="Approve, skip, archive, group, merge or split")
async def act(services: Given, who: Who, wish: ActionWish) -> ReviewDone:
    """It holds at once, and can be undone for `undo_seconds`. Files are made or deleted only after that."""
    return await reviewing.act(services.library, who, wish)


@router.get("/actions", responses=_failing(), summary="What everybody did of late")
async def actions(
    services: Given,
    who: Who,
    since: Annotated[int, Query(ge=0, le=BIGINT, description="Only those after this one.")] = 0,
    most: Annotated[int, Query(ge=1, le=MOST_ACTIONS, description="The latest ones of them.")] = 20,
) -> ReviewActions:
    return await reviewing.actions(services.library, who, since, most)


@router.post("/undo", responses=_failing(404, 409), summary="Take an action back")
async def undo(services: Given, who: Who, wish: UndoWish) -> ReviewDone:
    """Everything is as it was before it."""
    return await reviewing.undo(services.library, who, wish)


@router.post("/release", status_code=204, responses=_failing(), summary="Leave the clips to others")
async def release(services: Given, who: Who) -> None:
    await services.library.review.release(who)


@router.post("/verdicts", status_code=204, responses=_failing(404, 409), summary="Whether two clips show the same")
async def verdict(services: Given, who: Who, wish: VerdictWish) -> None:
    """It is remembered, whatever their pictures say; the latest word counts."""
    await services.library.review.say(wish.one, wish.other, wish.same, who)
