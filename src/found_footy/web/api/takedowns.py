"""`/admin/takedowns`: remove or hide clips, for operators."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, ConfigDict, Field

from found_footy.access.models import Role
from found_footy.clips.takedown import MAX_REASON_LENGTH, TakedownKind, TakedownOrder, TakedownScope
from found_footy.web.api.parameters import MAX_BIGINT
from found_footy.web.errors import error_responses
from found_footy.web.rendering import no_store
from found_footy.web.services import ServicesDep
from found_footy.web.users import User, require_role

router = APIRouter(
    prefix="/admin", tags=["administration"], dependencies=[Depends(require_role(Role.OPERATOR)), Depends(no_store)]
)

Operator = Annotated[User, Depends(require_role(Role.OPERATOR))]
TakedownId = Annotated[int, Path(ge=1, le=MAX_BIGINT)]


class TakedownRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: TakedownKind = Field(description="`remove` deletes the files for good, `hide` can be lifted.")
    scope: TakedownScope
    target: str = Field(min_length=1, max_length=500, description="Id or link of a clip or goal, or an account's name.")
    reason: str = Field(min_length=1, max_length=MAX_REASON_LENGTH, description="Shown to anyone who follows a link.")
    source: str | None = Field(None, max_length=40, description="Source of an account, such as `x`; null for any.")


class TakedownShown(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: int
    kind: TakedownKind
    scope: TakedownScope
    target: str
    source: str | None
    reason: str
    at: datetime
    by: str = Field(description="Name of the token, or `cli`.")
    clips: int = Field(description="Links that are dead.")
    posts: int = Field(description="Posts that are no longer shown or downloaded.")
    library: int = Field(description="Sources removed from the library.")
    files_done_at: datetime | None = Field(description="Null while the object store is unavailable.")
    lifted_at: datetime | None
    lifted_by: str | None


class TakedownList(BaseModel):
    items: list[TakedownShown]


@router.get("/takedowns", responses=error_responses(role=Role.OPERATOR), summary="List takedowns, newest first")
async def takedowns(services: ServicesDep) -> TakedownList:
    return TakedownList(items=[TakedownShown.model_validate(each) for each in await services.takedowns.all()])


@router.get("/takedowns/{takedown_id}", responses=error_responses(404, role=Role.OPERATOR), summary="Get a takedown")
async def takedown(services: ServicesDep, takedown_id: TakedownId) -> TakedownShown:
    return TakedownShown.model_validate(await services.takedowns.one(takedown_id))


@router.post(
    "/takedowns",
    status_code=201,
    responses=error_responses(400, 404, role=Role.OPERATOR),
    summary="Remove or hide a clip, all clips of a goal, or everything posted by an account",
)
async def take_down(services: ServicesDep, operator: Operator, request: TakedownRequest) -> TakedownShown:
    """Takes effect at once. Links return 410 with the reason, and the same content is not published again."""
    order = TakedownOrder(request.kind, request.scope, request.target, request.reason, request.source)
    return TakedownShown.model_validate(await services.takedowns.take_down(order, operator.name))


@router.post(
    "/takedowns/{takedown_id}/lift",
    responses=error_responses(400, 404, role=Role.OPERATOR),
    summary="Lift a takedown",
)
async def lift(services: ServicesDep, operator: Operator, takedown_id: TakedownId) -> TakedownShown:
    """Hidden clips are shown again. Deleted files are not restored, but may be published again."""
    return TakedownShown.model_validate(await services.takedowns.lift(takedown_id, operator.name))
