"""`/api/v1/follow`: which competitions and teams are followed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from found_footy.domain.fixtures.following import MAX_NAME
from found_footy.follow_book import follow_document
from found_footy.web.access.visitors import Role, Visitor, allow, reads
from found_footy.web.api.failing import Answers
from found_footy.web.api.models import Failure
from found_footy.web.following import follow_names, follow_state, reset_follow, unfollow_names
from found_footy.web.services import Given, Services

MAX_NAMES = 50
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME + 20)]


def _unkept(response: Response) -> None:
    response.headers["Cache-Control"] = "no-store"


router = APIRouter(prefix="/api/v1", tags=["follow"], dependencies=[Depends(_unkept)])

Operator = Annotated[Visitor, Depends(allow(Role.OPERATOR))]

_SAID = {
    400: "A name is not known; the message may suggest another one.",
    401: "The token is missing or invalid.",
    403: "The token does not belong to an operator.",
    422: "A value cannot be parsed.",
    429: "Too many wrong tokens from this address.",
    503: "The database cannot be reached.",
}


def _failing(*statuses: int) -> Answers:
    return {status: {"model": Failure, "description": _SAID[status]} for status in sorted({*statuses, 401, 422, 503})}


class FollowChangeShown(BaseModel):
    entry: str
    followed: bool
    at: datetime
    by: str = Field(description="Name of the token, or `cli`.")


class FollowPreset(BaseModel):
    name: str
    label: str
    followed: bool = Field(description="Whether all of it is followed.")


class FollowCompetition(BaseModel):
    slug: str
    name: str
    region: str
    country: str | None
    sport: str
    followed: bool


class FollowTeam(BaseModel):
    entry: str = Field(description="The name by which it can be removed.")
    name: str
    country: str | None = Field(description="Null for national teams and for teams known by name only.")


class FollowRequests(BaseModel):
    feed: str
    adapter: str
    requests: int = Field(description="Expected on a full matchday.")
    limit: int | None = Field(description="Requests a day; null where the feed states none.")
    note: str
    exceeds: bool


class FollowNextMatch(BaseModel):
    fixture_id: int
    kickoff: datetime
    home: str
    away: str
    league: str


class FollowShown(BaseModel):
    summary: str = Field(description="In one line, for people.")
    everything: bool = Field(description="Whether all matches that the feeds list are followed.")
    setting: list[str] = Field(description="Entries of FOOTY_FOLLOW.")
    changes: list[FollowChangeShown] = Field(
        description="Changes at run time, applied after the setting in this order."
    )
    presets: list[FollowPreset]
    competitions: list[FollowCompetition] = Field(description="All known ones.")
    teams: list[FollowTeam] = Field(description="The followed ones.")
    requests: list[FollowRequests] = Field(description="Estimated cost at each feed.")
    next_match: FollowNextMatch | None = Field(description="The next followed match that is known.")


class FollowUpdated(FollowShown):
    ingest: bool = Field(description="Whether the matches of what was added are being fetched now.")


class FollowNames(BaseModel):
    model_config = ConfigDict(extra="forbid")

    names: Annotated[list[Name], Field(min_length=1, max_length=MAX_NAMES)] = Field(
        description="Competitions, teams or presets: `Premier League`, `champions-league`, `Real Madrid`, `top5`."
    )


@router.get("/follow", dependencies=[Depends(reads)], responses=_failing(429), summary="What is followed")
async def follow(services: Given) -> FollowShown:
    return FollowShown.model_validate(follow_document(await follow_state(services)))


@router.post("/follow", responses=_failing(400, 403, 429), summary="Follow competitions and teams")
async def add(services: Given, who: Operator, given: FollowNames) -> FollowUpdated:
    """Takes effect within 30 seconds, without a restart."""
    changed = await follow_names(services, given.names, who.name)
    return await _updated(services, changed.ingest)


@router.delete("/follow", responses=_failing(400, 403, 429), summary="Stop following competitions and teams")
async def remove(
    services: Given,
    who: Operator,
    name: Annotated[list[Name], Query(min_length=1, max_length=MAX_NAMES, description="May be repeated.")],
) -> FollowUpdated:
    """Matches that are already listed stay until they are over."""
    await unfollow_names(services, name, who.name)
    return await _updated(services, False)


@router.post("/follow/reset", responses=_failing(403, 429), summary="Drop all changes made at run time")
async def reset(services: Given, _: Operator) -> FollowUpdated:
    """The setting FOOTY_FOLLOW alone decides again."""
    return await _updated(services, await reset_follow(services))


async def _updated(services: Services, ingest: bool) -> FollowUpdated:
    return FollowUpdated.model_validate({**follow_document(await follow_state(services)), "ingest": ingest})
