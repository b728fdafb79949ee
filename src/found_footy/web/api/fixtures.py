"""`/api/v1/fixtures`: matches with their goals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import answer, listed
from found_footy.web.answers.paging import Order, page
from found_footy.web.api import models
from found_footy.web.api.failing import failing
from found_footy.web.api.parameters import Competition, Cursor, Day, FixtureId, Limit, OfSport, Team, days, names
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["matches"], dependencies=[Depends(reads)])

BY_KICKOFF = Order("fixtures", (datetime, int))

OfStage = Annotated[models.Stage | None, Query(description="Only matches that wait, are followed, or are over.")]


@router.get(
    "/fixtures",
    response_model=models.Page[models.ListedMatch],
    responses=failing(400),
    summary="Matches in the order of the calendar",
)
async def fixtures(
    request: Request,
    services: Given,
    date: Day = None,
    stage: OfStage = None,
    league: Competition = None,
    team: Team = None,
    sport: OfSport = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Each with its goals and their clips. Searches and posts are in the answer for one match or one goal.

    `stale` says that a match is under way and nothing was heard of it for too long; `age_seconds` for how long.
    """
    wanted = {"stage": stage, "sport": sport, "q": None, **days(date), **names(team=team, competition=league)}
    return await listed(request, services, lambda: page(services, BY_KICKOFF, wanted, cursor, limit), ages=True)


@router.get("/fixtures/{fixture_id}", response_model=models.WholeMatch, responses=failing(404), summary="One match")
async def fixture(request: Request, services: Given, fixture_id: FixtureId) -> Response:
    """The whole document, with everything that was searched and found for its goals."""

    async def make() -> tuple[str, bytes]:
        version, text = await services.reading.fixture(fixture_id, services.now())
        return version, text.encode()

    return await answer(request, services, make, ages=True)
