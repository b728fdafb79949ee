"""`/feeds`: the newest goals with clips for feed readers, of all, of a team or of a competition."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import is_known
from found_footy.web.answers.rendering import text
from found_footy.web.api.failing import Answers, failing
from found_footy.web.api.models import Failure
from found_footy.web.feeds.atom import MEDIA_TYPE, Feed, atom
from found_footy.web.services import Given, Services

router = APIRouter(prefix="/feeds", tags=["feeds"], dependencies=[Depends(reads)])

ENTRIES = 50
BIGINT = 2**63 - 1

ANSWERS: Answers = {
    200: {
        "description": "The newest goals that have clips, and those of them that were withdrawn.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
    },
    **failing(),
}
UNKNOWN: Answers = {**ANSWERS, 404: {"model": Failure, "description": "No match of it was ever seen."}}

TeamId = Annotated[int, Path(ge=0, le=BIGINT, description="The team, as its feed numbers it.")]
LeagueId = Annotated[int, Path(ge=0, le=BIGINT, description="The competition, as its feed numbers it.")]
Scores = Annotated[Literal["yes", "no"], Query(description="`no` leaves scores, scorers and pictures out.")]


@router.get("/all.atom", response_class=Response, responses=ANSWERS, summary="The newest goals with clips")
async def all_goals(request: Request, services: Given, scores: Scores = "yes") -> Response:
    goals = await services.feeds.goals(None, None, ENTRIES)
    return _answer(request, services, Feed(_path(request, scores), "Goals", goals, scores == "yes"))


@router.get("/team/{team_id}.atom", response_class=Response, responses=UNKNOWN, summary="Goals in a team's matches")
async def of_team(request: Request, services: Given, team_id: TeamId, scores: Scores = "yes") -> Response:
    """For it and against it."""
    name = await services.feeds.name("team", team_id)
    goals = await services.feeds.goals("team", team_id, ENTRIES)
    title = f"Goals in matches of {text(name, 80)}"
    return _answer(request, services, Feed(_path(request, scores), title, goals, scores == "yes"))


@router.get(
    "/competition/{league_id}.atom", response_class=Response, responses=UNKNOWN, summary="Goals in a competition"
)
async def of_competition(request: Request, services: Given, league_id: LeagueId, scores: Scores = "yes") -> Response:
    name = await services.feeds.name("competition", league_id)
    goals = await services.feeds.goals("competition", league_id, ENTRIES)
    title = f"Goals in {text(name, 80)}"
    return _answer(request, services, Feed(_path(request, scores), title, goals, scores == "yes"))


def _path(request: Request, scores: str) -> str:
    return request.url.path + ("?scores=no" if scores == "no" else "")


def _answer(request: Request, services: Services, feed: Feed) -> Response:
    base = (services.rules.public_url or str(request.base_url)).rstrip("/")
    content = atom(feed, base)
    headers = {
        "ETag": f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"',
        "Last-Modified": format_datetime(feed.updated.replace(microsecond=0), usegmt=True),
        "Cache-Control": "private, max-age=60",
    }
    if _is_known(request, headers["ETag"], feed.updated):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=MEDIA_TYPE)


def _is_known(request: Request, tag: str, updated: datetime) -> bool:
    """The tag decides; a date only where there is no tag."""
    tags, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
    if tags is not None or since is None:
        return is_known(tag, tags)
    try:
        seen = parsedate_to_datetime(since)
    except ValueError:
        return False
    return updated.replace(microsecond=0) <= (seen if seen.tzinfo else seen.replace(tzinfo=UTC))
