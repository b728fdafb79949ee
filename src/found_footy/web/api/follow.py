"""Show and change the follow list, for the page and the API."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from found_footy.access.models import Role
from found_footy.errors import EngineError, SettingsError
from found_footy.fixtures.follow_list import FollowState, feed_costs, follow_document
from found_footy.fixtures.following import MAX_NAME, FollowEntry
from found_footy.web.errors import error_responses
from found_footy.web.rendering import no_store
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.users import User, require_role

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FollowChanged:
    entries: tuple[FollowEntry, ...]
    ingest: bool = False
    """Whether the matches of new entries are being fetched now."""


async def follow_state(services: WebServices) -> FollowState:
    try:
        declared = await services.scores.book.declared()
    except SettingsError as error:
        # The page still shows the follow list; the operations page reports the file.
        log.warning(str(error), extra={"action": "feeds_file_invalid"})
        declared = ()
    adapters = {each.feed: each.adapter for each in declared if each.usable}
    return await services.follow.book.state(feed_costs(adapters), services.follow.plan, services.now())


async def follow_names(services: WebServices, names: Sequence[str], by: str) -> FollowChanged:
    """Raises FollowUnknown."""
    entries = await services.follow.book.add(names, by, services.now())
    return FollowChanged(entries, await _ingest(services))


async def unfollow_names(services: WebServices, names: Sequence[str], by: str) -> FollowChanged:
    """Raises FollowUnknown."""
    return FollowChanged(await services.follow.book.remove(names, by, services.now()))


async def reset_follow(services: WebServices) -> bool:
    """Reset to the setting; return whether an ingest was started."""
    await services.follow.book.reset()
    return await _ingest(services)


async def _ingest(services: WebServices) -> bool:
    """Start an ingest. If that fails, the change still holds, and the next daily ingest fetches the matches."""
    if services.follow.ingest is None:
        return False
    try:
        await services.follow.ingest()
    except EngineError as error:
        log.warning(str(error), extra={"action": "ingest_not_started"})
        return False
    return True


# --- `/api/v1/follow`: followed competitions and teams.


MAX_NAMES = 50
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME + 20)]


router = APIRouter(prefix="/api/v1", tags=["follow"], dependencies=[Depends(no_store)])

Operator = Annotated[User, Depends(require_role(Role.OPERATOR))]


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
    entry: str = Field(description="Name to use for removal.")
    name: str
    country: str | None = Field(description="Null for national teams and for teams known by name only.")


class FollowRequests(BaseModel):
    feed: str
    adapter: str
    requests: int = Field(description="Expected on a full matchday.")
    limit: int | None = Field(description="Requests per day; null if the feed states none.")
    note: str
    exceeds: bool


class FollowNextMatch(BaseModel):
    fixture_id: int
    kickoff: datetime
    home: str
    away: str
    league: str


class FollowShown(BaseModel):
    summary: str = Field(description="One-line summary.")
    everything: bool = Field(description="Whether all matches of the feeds are followed.")
    setting: list[str] = Field(description="Entries of FOOTY_FOLLOW.")
    changes: list[FollowChangeShown] = Field(
        description="Changes at run time, applied after the setting in this order."
    )
    presets: list[FollowPreset]
    competitions: list[FollowCompetition] = Field(description="All known competitions.")
    teams: list[FollowTeam] = Field(description="Followed teams.")
    requests: list[FollowRequests] = Field(description="Estimated cost at each feed.")
    next_match: FollowNextMatch | None = Field(description="Next followed match, if known.")


class FollowUpdated(FollowShown):
    ingest: bool = Field(description="Whether fetching the added matches was started.")


class FollowNames(BaseModel):
    model_config = ConfigDict(extra="forbid")

    names: Annotated[list[Name], Field(min_length=1, max_length=MAX_NAMES)] = Field(
        description="Competitions, teams or presets: `Premier League`, `champions-league`, `Real Madrid`, `top5`."
    )


@router.get("/follow", responses=error_responses(cached=False), summary="Show what is followed")
async def follow(services: ServicesDep) -> FollowShown:
    return FollowShown.model_validate(follow_document(await follow_state(services)))


@router.post("/follow", responses=error_responses(400, role=Role.OPERATOR), summary="Follow competitions and teams")
async def add(services: ServicesDep, operator: Operator, names: FollowNames) -> FollowUpdated:
    """Takes effect within 30 seconds, without a restart."""
    changed = await follow_names(services, names.names, operator.name)
    return await _updated(services, changed.ingest)


@router.delete(
    "/follow", responses=error_responses(400, role=Role.OPERATOR), summary="Stop following competitions and teams"
)
async def remove(
    services: ServicesDep,
    operator: Operator,
    name: Annotated[list[Name], Query(min_length=1, max_length=MAX_NAMES, description="Repeatable.")],
) -> FollowUpdated:
    """Matches that are already listed stay until they are over."""
    await unfollow_names(services, name, operator.name)
    return await _updated(services, False)


@router.post(
    "/follow/reset", responses=error_responses(role=Role.OPERATOR), summary="Discard all changes made at run time"
)
async def reset(services: ServicesDep, _: Operator) -> FollowUpdated:
    """Only FOOTY_FOLLOW applies again."""
    return await _updated(services, await reset_follow(services))


async def _updated(services: WebServices, ingest: bool) -> FollowUpdated:
    return FollowUpdated.model_validate({**follow_document(await follow_state(services)), "ingest": ingest})
