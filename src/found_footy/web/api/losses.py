"""`/api/v1/losses`: why posts did not become clips."""

from __future__ import annotations

from datetime import datetime, timedelta

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.errors import BadRequest
from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import response_of
from found_footy.web.answers.kept import KeptAnswer
from found_footy.web.api.failing import failing
from found_footy.web.api.loss_models import Losses
from found_footy.web.api.parameters import Fixture, Since, Until
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["losses"], dependencies=[Depends(reads)])

USUAL = timedelta(hours=24)
LONGEST = timedelta(days=31)


@router.get("/losses", response_model=Losses, responses=failing(400), summary="Losses by class, and by the hour")
async def losses(
    request: Request, services: Given, since: Since = None, until: Until = None, fixture: Fixture = None
) -> Response:
    """Of the last 24 hours, unless told otherwise; of 31 days at most. Posts count by when they were found, goals by
    when they were certain."""
    first, last = span(since, until, services.now())
    text = await services.reading.losses({"since": first, "until": last, "fixture": fixture})
    # Not kept: the time that is meant goes on with every request.
    known = KeptAnswer("", text.encode())
    return await response_of(request, known, is_private=services.rules.read_access != "open")


def span(since: datetime | None, until: datetime | None, now: datetime) -> tuple[datetime, datetime]:
    """Raises BadRequest where it is too long or turned round."""
    last = until or (now if since is None else max(min(since + LONGEST, now), since + timedelta(seconds=1)))
    first = since or last - USUAL
    if not timedelta() < last - first <= LONGEST:
        raise BadRequest("`until` must be after `since`, by 31 days at most")
    return first, last
