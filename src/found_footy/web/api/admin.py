"""`/admin`: starting things anew, switching feeds, deciding what is in doubt. For operators."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from found_footy.domain.errors import NotFound
from found_footy.domain.operations.feeds_measured import Declared
from found_footy.web.access.visitors import Role, Visitor, allow
from found_footy.web.api.failing import Answers
from found_footy.web.api.models import Failure
from found_footy.web.api.parameters import BIGINT
from found_footy.web.operating import acting
from found_footy.web.operating.acting import Part, State
from found_footy.web.operating.status import AuditEntry, audit_entry
from found_footy.web.services import Given


def _unkept(response: Response) -> None:
    response.headers["Cache-Control"] = "no-store"


router = APIRouter(
    prefix="/admin", tags=["administration"], dependencies=[Depends(allow(Role.OPERATOR)), Depends(_unkept)]
)

Operator = Annotated[Visitor, Depends(allow(Role.OPERATOR))]
FeedId = Annotated[str, Path(pattern=r"^[a-z0-9_-]{1,40}$", description="As it is declared, such as `espn`.")]

_SAID = {
    401: "The token is missing, or does not hold.",
    403: "The token is not an operator's.",
    404: "There is no such feed, no such doubt, or nothing of the kind that could be started anew.",
    422: "A value cannot be understood.",
    429: "Too many wrong tokens.",
    503: "The database or the cache cannot be reached.",
}


def _failing(*statuses: int) -> Answers:
    return {
        status: {"model": Failure, "description": _SAID[status]}
        for status in sorted({*statuses, 401, 403, 422, 429, 503})
    }


class Wish(BaseModel):
    """What is sent here."""

    model_config = ConfigDict(extra="forbid")


class RecycleWish(Wish):
    what: Part = Field(description="The browser that reads pages, or what polls the feeds.")


class FeedWish(Wish):
    state: State = Field(description="`auto` takes the switch back: the file that declares the feeds decides.")


class PairingWish(Wish):
    feed: str = Field(min_length=1, max_length=40)
    feed_id: int = Field(ge=0, le=BIGINT, description="The match as that feed numbers it.")
    fixture_id: int = Field(ge=0, le=BIGINT, description="The match of ours that it may be.")
    same: bool


class AdminFeed(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    feed: str
    adapter: str
    precedence: int = Field(description="Higher ones are believed first.")
    enabled: bool = Field(description="What the file says.")
    on: bool = Field(description="What holds.")
    state: Literal["on", "off", "auto"] = Field(description="What an operator said.")
    lacks: str = Field(description="What it needs and does not have; empty where nothing is missing.")


class AdminFeeds(BaseModel):
    items: list[AdminFeed]


@router.post("/recycle", status_code=202, responses=_failing(404), summary="Start the browser or the poller anew")
async def recycle(services: Given, who: Operator, wish: RecycleWish) -> AuditEntry:
    """It is done before the answer; whether it helped stands in the audit entry later on."""
    return audit_entry(await acting.recycle(services, wish.what, who.name))


@router.get("/feeds", responses=_failing(), summary="The declared feeds")
async def feeds(services: Given) -> AdminFeeds:
    return AdminFeeds(items=[_shown(each) for each in await services.scores.book.declared()])


@router.get("/feeds/{feed_id}", responses=_failing(404), summary="One of them")
async def feed(services: Given, feed_id: FeedId) -> AdminFeed:
    found = next((each for each in await services.scores.book.declared() if each.feed == feed_id), None)
    if found is None:
        raise NotFound(f"no feed {feed_id!r} is declared")
    return _shown(found)


@router.put("/feeds/{feed_id}", responses=_failing(404), summary="Switch it on or off")
async def switch(services: Given, feed_id: FeedId, wish: FeedWish) -> AdminFeed:
    """Holds from the next poll on, over all workers, without a restart."""
    return _shown(await acting.switch(services, feed_id, wish.state))


@router.post("/pairings", status_code=204, responses=_failing(404), summary="Whether two matches are the same")
async def pairing(services: Given, wish: PairingWish) -> None:
    """The same: that feed joins the match at once. Different: it becomes a match of its own."""
    await acting.decide(services, wish.feed, wish.feed_id, wish.fixture_id, wish.same)


def _shown(each: Declared) -> AdminFeed:
    state: State = "auto" if each.switched is None else "on" if each.switched else "off"
    return AdminFeed(
        feed=each.feed,
        adapter=each.adapter,
        precedence=each.precedence,
        enabled=each.enabled,
        on=each.on,
        state=state,
        lacks=each.lacks,
    )
