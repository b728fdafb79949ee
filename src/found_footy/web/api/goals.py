"""`/api/v1/events`, `/losses`, `/search` and `/videos`: goals, rejections, search, clips."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from found_footy.errors import BadRequest, NotFound
from found_footy.fixtures.documents import (
    EVENTS,
    FIXTURES_FOUND,
    VIDEOS,
    VIDEOS_FOUND,
    EventStatus,
    GoalDocument,
    GoalListItem,
    RejectionReport,
    VideoDocument,
    VideoSummary,
)
from found_footy.web.api.models import FixtureResults, GoalResults, Page, SearchResponse, VideoResults
from found_footy.web.api.parameters import (
    Competition,
    Cursor,
    Day,
    Event,
    EventId,
    Fixture,
    From,
    Limit,
    Minute,
    OfSport,
    Player,
    Since,
    SportName,
    Team,
    To,
    Until,
    Verified,
    VideoId,
    Words,
    day_range,
    name_filters,
    parse_minute,
)
from found_footy.web.errors import error_responses
from found_footy.web.pagination import paginate
from found_footy.web.response_cache import CachedResponse, cached_json, conditional_response
from found_footy.web.services import ServicesDep, WebServices

router = APIRouter(prefix="/api/v1", tags=["goals"])

OfStatus = Annotated[
    EventStatus | None,
    Query(
        description="validating: not stable yet; extracting: the first clips are being processed; "
        "watching: it has a clip, or the search is running; "
        "complete: the search has ended; withdrawn: removed."
    ),
]
HasClip = Annotated[bool | None, Query(description="Whether it has a clip.")]


@router.get(
    "/events",
    response_model=Page[GoalListItem],
    responses=error_responses(400),
    summary="List goals, newest first",
)
async def events(
    request: Request,
    services: ServicesDep,
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
    """Including goals that are not stable yet and withdrawn ones; neither have clips."""
    filters = {
        "status": status,
        "sport": sport,
        "fixture": fixture,
        "has_clip": has_clip,
        "verified": None,
        "standing": False,
        "q": None,
        **name_filters(team, player, league),
        **day_range(date),
        **parse_minute(minute),
    }

    async def build() -> bytes:
        page = await paginate(services, EVENTS, filters, cursor, limit)
        return Page[GoalListItem](items=page.items, next=page.next).json_bytes()

    return await cached_json(request, services, build)


@router.get(
    "/events/{event_id}", response_model=GoalDocument, responses=error_responses(404, 410), summary="Get a goal"
)
async def event(request: Request, services: ServicesDep, event_id: EventId) -> Response:
    """With all searches, all posts and their rejection reasons, and the proof of each clip."""

    async def build() -> bytes:
        try:
            return (await services.reading.event(event_id)).json_bytes()
        except NotFound:
            await services.links.require_not_ended(f"g/{event_id}")
            raise

    return await cached_json(request, services, build)


# --- `/api/v1/losses`: why posts were rejected.


router_losses = APIRouter(prefix="/api/v1", tags=["losses"])

DEFAULT_PERIOD = timedelta(hours=24)
MAX_PERIOD = timedelta(days=31)


@router_losses.get(
    "/losses",
    response_model=RejectionReport,
    responses=error_responses(400),
    summary="Rejected posts by reason and hour",
)
async def losses(
    request: Request, services: ServicesDep, since: Since = None, until: Until = None, fixture: Fixture = None
) -> Response:
    """Default: the last 24 hours; at most 31 days. Posts count by the time they were found, goals by
    the time they became stable.
    """
    first, last = period(since, until, services.now())
    report = await services.reading.rejections(first, last, fixture)
    # Not cached: the default period moves with every request.
    return await conditional_response(
        request, CachedResponse("", report.json_bytes()), is_private=services.rules.read_access != "open"
    )


def period(since: datetime | None, until: datetime | None, now: datetime) -> tuple[datetime, datetime]:
    """Validate a period. Raises BadRequest if it is too long or reversed."""
    last = until or (now if since is None else max(min(since + MAX_PERIOD, now), since + timedelta(seconds=1)))
    first = since or last - DEFAULT_PERIOD
    if not timedelta() < last - first <= MAX_PERIOD:
        raise BadRequest("`until` must be after `since`, and at most 31 days later")
    return first, last


# --- `/api/v1/search`: matches, goals and clips by words and filters.


router_search = APIRouter(prefix="/api/v1", tags=["search"])

Kind = Literal["fixtures", "goals", "clips"]

OfKind = Annotated[Kind, Query(description="What to search for.")]


@dataclass(frozen=True, slots=True)
class MatchSearchQuery:
    """Parsed search parameters."""

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
    def filters(self) -> dict[str, Any]:
        """Parameters of the list query."""
        filters = {
            "q": self.q,
            "sport": self.sport,
            "verified": self.verified,
            **name_filters(self.team, self.player, self.competition),
            **day_range(self.day, self.first, self.last),
            **parse_minute(self.minute),
        }
        if self.kind == "clips":
            return filters
        filters["has_clip"] = self.has_clip
        if self.kind == "goals":
            return filters | {"status": None, "fixture": None, "standing": True}
        of_goals = (self.player, self.minute, self.verified, self.has_clip)
        return filters | {"by_goal": any(each not in (None, "") for each in of_goals)}


@router_search.get(
    "/search", response_model=SearchResponse, responses=error_responses(400), summary="Search matches, goals or clips"
)
async def search(
    request: Request,
    services: ServicesDep,
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
    """Newest first. Each word of `q` is a prefix of a word in team, competition, country or scorer.

    Goals and clips match the team that scored, matches either team. Withdrawn goals are not included.
    """
    query = MatchSearchQuery(kind, q, team, player, competition, date, first, last, minute, verified, has_clip, sport)

    async def build() -> bytes:
        return (await find_documents(services, query, cursor, limit)).json_bytes()

    return await cached_json(request, services, build, has_ages=kind == "fixtures")


async def find_documents(
    services: WebServices, query: MatchSearchQuery, cursor: str | None, limit: int
) -> FixtureResults | GoalResults | VideoResults:
    """Search, for the API and the search page. Raises BadRequest for an invalid cursor."""
    if query.kind == "fixtures":
        fixtures = await paginate(services, FIXTURES_FOUND, query.filters, cursor, limit)
        return FixtureResults(kind="fixtures", items=fixtures.items, next=fixtures.next)
    if query.kind == "goals":
        goals = await paginate(services, EVENTS, query.filters, cursor, limit)
        return GoalResults(kind="goals", items=goals.items, next=goals.next)
    videos = await paginate(services, VIDEOS_FOUND, query.filters, cursor, limit)
    return VideoResults(kind="clips", items=videos.items, next=videos.next)


# --- `/api/v1/videos`: clips, including those replaced by better copies.


router_videos = APIRouter(prefix="/api/v1", tags=["clips"])


@router_videos.get(
    "/videos",
    response_model=Page[VideoSummary],
    responses=error_responses(400),
    summary="List clips, newest first",
)
async def videos(
    request: Request,
    services: ServicesDep,
    event: Event = None,
    fixture: Fixture = None,
    verified: Verified = None,
    since: Since = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Without withdrawn goals. `url` is permanent: it redirects when a better copy replaces the clip."""
    filters = {"event": event, "fixture": fixture, "verified": verified, "since": since}

    async def build() -> bytes:
        page = await paginate(services, VIDEOS, filters, cursor, limit)
        return Page[VideoSummary](items=page.items, next=page.next).json_bytes()

    return await cached_json(request, services, build)


@router_videos.get(
    "/videos/{video_id}", response_model=VideoDocument, responses=error_responses(404, 410), summary="Get a clip"
)
async def video(request: Request, services: ServicesDep, video_id: VideoId) -> Response:
    """With its proof. For a clip merged into a better copy, `leads_to` is its replacement."""

    async def build() -> bytes:
        try:
            return (await services.reading.video(video_id)).json_bytes()
        except NotFound:
            await services.links.video(video_id)  # raises LinkGone with the reason if there was one
            raise

    return await cached_json(request, services, build)
