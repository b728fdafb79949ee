"""`/api/v1/dates` and `/api/v1/fixtures`: days, matches, snapshots and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from found_footy.errors import CacheUnavailable, NotFound
from found_footy.feeds.models import CachedSnapshot, FieldProvenance, MatchMonitoringRecord, feed_match_id
from found_footy.feeds.snapshot import snapshot_delta
from found_footy.fixtures.documents import DATES, FIXTURES, FixtureDocument, FixtureSummary, MatchDate, StageName
from found_footy.fixtures.read_models import PairedListing
from found_footy.web.api.models import Page
from found_footy.web.api.parameters import (
    MAX_BIGINT,
    Competition,
    Cursor,
    Day,
    FixtureId,
    Limit,
    OfSport,
    Team,
    day_range,
    name_filters,
)
from found_footy.web.errors import error_responses
from found_footy.web.pages.match_format import freshness_of
from found_footy.web.pagination import paginate
from found_footy.web.rendering import no_store
from found_footy.web.response_cache import cached_json
from found_footy.web.services import ServicesDep, WebServices

router = APIRouter(prefix="/api/v1", tags=["matches"])


@router.get("/dates", response_model=Page[MatchDate], responses=error_responses(400), summary="List days with matches")
async def dates(request: Request, services: ServicesDep, limit: Limit = 30, cursor: Cursor = None) -> Response:
    """Latest first, including future days, with the number of matches, stable goals and clips."""

    async def build() -> bytes:
        page = await paginate(services, DATES, {}, cursor, limit)
        return Page[MatchDate](items=page.items, next=page.next).json_bytes()

    return await cached_json(request, services, build)


# --- `/api/v1/fixtures/{id}/snapshot` and `/feeds`: current data of a match, its age, and its feeds.


router_fixture_feeds = APIRouter(prefix="/api/v1", tags=["matches"], dependencies=[Depends(no_store)])

SinceSequence = Annotated[
    int | None, Query(ge=0, le=MAX_BIGINT, description="Also return the changes since this sequence number.")
]


class MatchSnapshot(BaseModel):
    fixture_id: int
    sequence: int = Field(description="Sequence number of the snapshot, from 1.")
    checksum: str = Field(description="SHA-256 of the snapshot as canonical JSON.")
    created_at: datetime = Field(description="When a feed last reported this state.")
    stale: bool = Field(description="True if in play and older than FOOTY_STALE_SECONDS.")
    age_seconds: float = Field(description="Age of the data.")
    snapshot: dict[str, Any] = Field(description="The match in the unified schema.")
    provenance: dict[str, Any] = Field(description="Field to its feed, time and confidence.")
    delta: dict[str, Any] | None = Field(
        description="With `since`: the fields that changed. `_diff_type` is `update`; `initial` if that number has "
        "expired, with all fields."
    )


class FeedValue(BaseModel):
    """Value of a field in one feed."""

    model_config = ConfigDict(from_attributes=True)

    feed: str
    value: Any
    at: datetime
    confidence: float


class FieldValues(FeedValue):
    """Value in use, and the values of the other feeds."""

    others: list[FeedValue]


class MatchFeedStatus(BaseModel):
    feed: str
    feed_id: int
    founding: bool
    swapped: bool
    confidence: float = Field(description="Confidence of the pairing, 0 to 1.")
    reasons: list[str]
    joined_at: datetime
    state: Literal["discovered", "active", "paused", "completed", "archived"] | None = Field(
        description="Polling state; null if Redis is unavailable."
    )
    heard_at: datetime | None = Field(description="Time of its last successful response; null if unknown.")
    failures_in_a_row: int
    paused_until: datetime | None
    error: str | None


class FieldDispute(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    field: str
    said: dict[str, Any] = Field(validation_alias="reported")
    chosen: str
    first_at: datetime
    last_at: datetime
    polls: int


class MatchFeeds(BaseModel):
    fixture_id: int
    stale: bool
    age_seconds: float | None
    heard_at: datetime | None
    feeds: list[MatchFeedStatus]
    fields: dict[str, FieldValues]
    disputes: list[FieldDispute] = Field(description="Latest first.")


@router_fixture_feeds.get(
    "/fixtures/{fixture_id}/snapshot",
    response_model=MatchSnapshot,
    responses=error_responses(404),
    summary="Get the reconciled snapshot of a match",
)
async def snapshot(services: ServicesDep, fixture_id: FixtureId, since: SinceSequence = None) -> MatchSnapshot:
    """The latest snapshot, however old; see `stale` and `age_seconds`."""
    provenance = await services.scores.provenance.of_fixture(fixture_id)
    if services.scores.snapshots is None:
        raise CacheUnavailable("snapshots need Redis, which is not configured")
    name = str(fixture_id)
    current = (await services.scores.snapshots.load([name])).get(name)
    if current is None:
        raise NotFound(f"no snapshot of fixture {fixture_id}")
    now = services.now()
    return MatchSnapshot(
        fixture_id=fixture_id,
        sequence=current.sequence,
        checksum=current.checksum,
        created_at=current.created_at,
        stale=freshness_of(provenance, now, services.rules.stale_seconds, updated_at=current.created_at).stale,
        age_seconds=max(0.0, (now - current.created_at).total_seconds()),
        snapshot=_public(current.payload),
        provenance=dict(current.provenance),
        delta=None if since is None else await _delta(services, name, current, since),
    )


async def _delta(services: WebServices, name: str, current: CachedSnapshot, since: int) -> dict[str, Any]:
    assert services.scores.snapshots is not None
    if since == current.sequence:
        return {"_diff_type": "update", "_sequence_delta": 0}
    history = await services.scores.snapshots.history(name)
    base = next((each for each in history if each.sequence == since), None)
    return _public(snapshot_delta(base, current))


def _public(payload: Any) -> dict[str, Any]:
    """Payload without the feed's raw data."""
    return {name: value for name, value in payload.items() if name != "raw"}


@router_fixture_feeds.get(
    "/fixtures/{fixture_id}/feeds",
    response_model=MatchFeeds,
    responses=error_responses(404),
    summary="Get the provenance of a match",
)
async def feeds(services: ServicesDep, fixture_id: FixtureId) -> MatchFeeds:
    """For each field, its source, the values of the other feeds, and conflicts between them."""
    provenance = await services.scores.provenance.of_fixture(fixture_id)
    records = await records_of(services, provenance.listings)
    freshness = freshness_of(provenance, services.now(), services.rules.stale_seconds)
    return MatchFeeds(
        fixture_id=fixture_id,
        stale=freshness.stale,
        age_seconds=freshness.age_seconds,
        heard_at=freshness.updated_at,
        feeds=[_feed(each, records.get(feed_match_id(each.feed, each.feed_id))) for each in provenance.listings],
        fields={name: _field(each) for name, each in provenance.fields.items()},
        disputes=[FieldDispute.model_validate(each) for each in provenance.conflicts],
    )


async def records_of(services: WebServices, listings: Sequence[PairedListing]) -> dict[str, MatchMonitoringRecord]:
    """Monitoring records by feed; empty if the cache is unavailable, which is reported elsewhere."""
    if services.scores.records is None:
        return {}
    try:
        return dict(await services.scores.records.load([feed_match_id(each.feed, each.feed_id) for each in listings]))
    except CacheUnavailable:
        return {}


def _field(provenance: FieldProvenance) -> FieldValues:
    others = [FeedValue.model_validate(each) for each in provenance.others]
    chosen = provenance.chosen
    return FieldValues(feed=chosen.feed, value=chosen.value, at=chosen.at, confidence=chosen.confidence, others=others)


def _feed(listing: PairedListing, record: MatchMonitoringRecord | None) -> MatchFeedStatus:
    return MatchFeedStatus(
        feed=listing.feed,
        feed_id=listing.feed_id,
        founding=listing.founding,
        swapped=listing.swapped,
        confidence=listing.confidence,
        reasons=list(listing.reasons),
        joined_at=listing.joined_at,
        state=record.state.value if record else None,
        heard_at=record.updated_at if record else None,
        failures_in_a_row=record.consecutive_failures if record else 0,
        paused_until=record.paused_until if record else None,
        error=record.error if record else None,
    )


# --- `/api/v1/fixtures`: matches with their goals.


OfStage = Annotated[StageName | None, Query(description="Only matches in this stage.")]


@router.get(
    "/fixtures",
    response_model=Page[FixtureSummary],
    responses=error_responses(400),
    summary="List matches by kick-off",
)
async def fixtures(
    request: Request,
    services: ServicesDep,
    date: Day = None,
    stage: OfStage = None,
    league: Competition = None,
    team: Team = None,
    sport: OfSport = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """With goals and clips. Searches and posts are in the documents of one match or one goal.

    `stale`: the match is live and its last update is too old. `age_seconds`: time since the last update.
    """
    filters = {
        "stage": stage,
        "sport": sport,
        "q": None,
        **day_range(date),
        **name_filters(team=team, competition=league),
    }

    async def build() -> bytes:
        page = await paginate(services, FIXTURES, filters, cursor, limit)
        return Page[FixtureSummary](items=page.items, next=page.next).json_bytes()

    return await cached_json(request, services, build, has_ages=True)


@router.get(
    "/fixtures/{fixture_id}", response_model=FixtureDocument, responses=error_responses(404), summary="Get a match"
)
async def fixture(request: Request, services: ServicesDep, fixture_id: FixtureId) -> Response:
    """With all searches and posts of its goals."""

    async def build() -> bytes:
        return (await services.reading.fixture(fixture_id, services.now())).json_bytes()

    return await cached_json(request, services, build, has_ages=True)
