"""`/api/v1/dates`: the days that have matches."""

from __future__ import annotations

from datetime import date

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import listed
from found_footy.web.answers.paging import Order, page
from found_footy.web.api.failing import failing
from found_footy.web.api.models import MatchDate, Page
from found_footy.web.api.parameters import Cursor, Limit
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["matches"], dependencies=[Depends(reads)])

BY_DAY = Order("dates", (date,))


@router.get("/dates", response_model=Page[MatchDate], responses=failing(400), summary="Days that have matches")
async def dates(request: Request, services: Given, limit: Limit = 30, cursor: Cursor = None) -> Response:
    """The latest first, also those to come; with the number of matches, of certain goals and of their clips."""
    return await listed(request, services, lambda: page(services, BY_DAY, {}, cursor, limit))
