"""`/api/v1/search`: matches, goals and clips by words and filters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import listed
from found_footy.web.answers.paging import Order, page
from found_footy.web.api import models
from found_footy.web.api.events import BY_FIRST_SIGHT, HasClip
from found_footy.web.api.failing import failing
from found_footy.web.api.parameters import (
    Competition,
    Cursor,
    Day,
    From,
    Limit,
    Minute,
    OfSport,
    Player,
    SportName,
    Team,
    To,
    Verified,
    Words,
    days,
    minute_of,
    names,
)
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["search"], dependencies=[Depends(reads)])

Kind = Literal["fixtures", "goals", "clips"]
ORDERS: dict[Kind, Order] = {
    "fixtures": Order("fixtures_found", (datetime, int)),
    "goals": BY_FIRST_SIGHT,
    "clips": Order("clips_found", (datetime, str, int)),
}

OfKind = Annotated[Kind, Query(description="What to look for.")]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What somebody looks for."""

    kind: Kind = "goals"
    q: str | None = None
    team: str | None = None
    player: str | None = None
    competition: str | None = None
    day: date | None = None
    first: date | None = None
    last: date | None = None
    minute: str | None = None
    verified: bool | None = None
    has_clip: bool | None = None
    sport: SportName | None = None

    @property
    def wanted(self) -> dict[str, Any]:
        """As parameters of the list."""
        given = {
            "q": self.q,
            "sport": self.sport,
            "verified": self.verified,
            **names(self.team, self.player, self.competition),
            **days(self.day, self.first, self.last),
            **minute_of(self.minute),
        }
        if self.kind == "clips":
            return given
        given["has_clip"] = self.has_clip
        if self.kind == "goals":
            return given | {"status": None, "fixture": None, "standing": True}
        of_goals = (self.player, self.minute, self.verified, self.has_clip)
        return given | {"by_goal": any(wish not in (None, "") for wish in of_goals)}


@router.get("/search", response_model=models.Found, responses=failing(400), summary="Matches, goals or clips by words")
async def search(
    request: Request,
    services: Given,
    q: Words = None,
    kind: OfKind = "goals",
    team: Team = None,
    player: Player = None,
    competition: Competition = None,
    date: Day = None,
    first: From = None,
    last: To = None,
    minute: Minute = None,
    verified: Verified = None,
    has_clip: HasClip = None,
    sport: OfSport = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Response:
    """The newest first. Every word of `q` must begin a word of the teams, the competition, its country or the scorer.

    Goals and clips are found by the team that scored, matches by either team. Withdrawn goals are not found.
    """
    wishes = Wishes(kind, q, team, player, competition, date, first, last, minute, verified, has_clip, sport)
    wanted = wishes.wanted
    return await listed(
        request,
        services,
        lambda: page(services, ORDERS[kind], wanted, cursor, limit, kind=kind),
        ages=kind == "fixtures",
    )
