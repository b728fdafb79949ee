"""`/api/v1/events`: goals, and how far each is."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.errors import NotFound
from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import answer, listed
from found_footy.web.answers.paging import Order, page
from found_footy.web.api import models
from found_footy.web.api.failing import failing
from found_footy.web.api.parameters import (
    Competition,
    Cursor,
    Day,
    EventId,
    Fixture,
    Limit,
    Minute,
    OfSport,
    Player,
    Team,
    days,
    minute_of,
    names,
)
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["goals"], dependencies=[Depends(reads)])

BY_FIRST_SIGHT = Order("events", (datetime, str))

OfStatus = Annotated[
    models.EventStatus | None,
    Query(
        description="validating: not certain yet; extracting: files are under way; watching: searches go on; "
        "complete: the search has ended; withdrawn: taken back."
    ),
]
HasClip = Annotated[bool | None, Query(description="Whether it has a clip.")]


@router.get(
    "/events", response_model=models.Page[models.ListedGoal], responses=failing(400), summary="Goals, the newest first"
)
async def events(
    request: Request,
    services: Given,
    status: OfStatus = None,
    fixture: Fixture = None,
    team: Team = None,
    player: Player = None,
    league: Competition = None,
    date: Day = None,
    minute: Minute = None,
    has_clip: HasClip = None,
    sport: OfSport = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Also those that are not certain yet, and those that were withdrawn; these have no clips."""
    wanted = {
        "status": status,
        "sport": sport,
        "fixture": fixture,
        "has_clip": has_clip,
        "verified": None,
        "standing": False,
        "q": None,
        **names(team, player, league),
        **days(date),
        **minute_of(minute),
    }
    return await listed(request, services, lambda: page(services, BY_FIRST_SIGHT, wanted, cursor, limit))


@router.get("/events/{event_id}", response_model=models.WholeGoal, responses=failing(404, 410), summary="One goal")
async def event(request: Request, services: Given, event_id: EventId) -> Response:
    """The whole document, with every search, every post and why it fell out, and the proof of each clip."""

    async def make() -> tuple[str, bytes]:
        try:
            version, text = await services.reading.event(event_id)
            return version, text.encode()
        except NotFound:
            await services.links.require_not_ended(f"g/{event_id}")
            raise

    return await answer(request, services, make)
