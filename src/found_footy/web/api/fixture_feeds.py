"""`/api/v1/fixtures/{id}/snapshot` and `/feeds`: what is known of a match, how old it is, and who said it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from found_footy.domain.errors import CacheUnavailable, NotFound
from found_footy.domain.feeds.deltas import delta
from found_footy.domain.feeds.monitoring import MonitorRecord, match_id
from found_footy.domain.feeds.snapshot import Snapshot
from found_footy.web.access.visitors import reads
from found_footy.web.api.failing import failing
from found_footy.web.api.parameters import BIGINT, FixtureId
from found_footy.web.matches.staleness import news_of
from found_footy.web.services import Given, Services


def _unkept(response: Response) -> None:
    """Ages are of this moment."""
    response.headers["Cache-Control"] = "no-store"


router = APIRouter(prefix="/api/v1", tags=["matches"], dependencies=[Depends(reads), Depends(_unkept)])

SinceSequence = Annotated[
    int | None, Query(ge=0, le=BIGINT, description="Also what has changed since the snapshot of that number.")
]


class MatchSnapshot(BaseModel):
    fixture_id: int
    sequence: int = Field(description="Counts the snapshots of the match from 1.")
    checksum: str = Field(description="SHA-256 of the snapshot as canonical JSON.")
    created_at: datetime = Field(description="When it was last confirmed.")
    stale: bool = Field(description="Whether the match is under way and nothing was heard of it for too long.")
    age_seconds: float = Field(description="Of what it says.")
    snapshot: dict[str, Any] = Field(description="The match in the unified schema.")
    provenance: dict[str, Any] = Field(description="Field to the feed that said it, when, and how sure it was.")
    delta: dict[str, Any] | None = Field(
        description="With `since`: the fields that changed. `_diff_type` is `update`, or `initial` where that number "
        "is not kept any more, and then it is the whole."
    )


class FeedWord(BaseModel):
    """What one feed said of one field."""

    feed: str
    value: Any
    at: datetime
    confidence: float


class FieldWords(FeedWord):
    """The word that counts, and those of the others."""

    others: list[FeedWord]


class FeedOfMatch(BaseModel):
    feed: str
    feed_id: int
    founding: bool
    swapped: bool
    confidence: float = Field(description="Of the pairing, from 0 to 1.")
    reasons: list[str]
    joined_at: datetime
    state: Literal["discovered", "active", "paused", "completed", "archived"] | None = Field(
        description="How the asking goes; null where the cache does not know."
    )
    heard_at: datetime | None = Field(description="Its last good answer, as far as the cache knows.")
    failures_in_a_row: int
    paused_until: datetime | None
    error: str | None


class MatchDispute(BaseModel):
    field: str
    said: dict[str, Any]
    chosen: str
    first_at: datetime
    last_at: datetime
    polls: int


class MatchFeeds(BaseModel):
    fixture_id: int
    stale: bool
    age_seconds: float | None
    heard_at: datetime | None
    feeds: list[FeedOfMatch]
    fields: dict[str, FieldWords]
    disputes: list[MatchDispute] = Field(description="The latest first.")


@router.get(
    "/fixtures/{fixture_id}/snapshot",
    response_model=MatchSnapshot,
    responses=failing(404),
    summary="The match as all feeds together say it is",
)
async def snapshot(services: Given, fixture_id: FixtureId, since: SinceSequence = None) -> MatchSnapshot:
    """The last that is known, however old: `stale` and `age_seconds` say so."""
    words = await services.scores.words.words(fixture_id)
    if services.scores.snapshots is None:
        raise CacheUnavailable("this system has no cache, where snapshots are kept")
    name = str(fixture_id)
    found = (await services.scores.snapshots.last_known([name])).get(name)
    if found is None:
        raise NotFound(f"no snapshot of fixture {fixture_id} is kept")
    now = services.now()
    return MatchSnapshot(
        fixture_id=fixture_id,
        sequence=found.sequence,
        checksum=found.checksum,
        created_at=found.created_at,
        stale=news_of(words, now, services.rules.stale_seconds, heard_at=found.created_at).stale,
        age_seconds=max(0.0, (now - found.created_at).total_seconds()),
        snapshot=_public(found.payload),
        provenance=dict(found.provenance),
        delta=None if since is None else await _delta(services, name, found, since),
    )


async def _delta(services: Services, name: str, current: Snapshot, since: int) -> dict[str, Any]:
    assert services.scores.snapshots is not None
    if since == current.sequence:
        return {"_diff_type": "update", "_sequence_delta": 0}
    kept = await services.scores.snapshots.history(name)
    before = next((each for each in kept if each.sequence == since), None)
    return _public(delta(before, current))


def _public(payload: Any) -> dict[str, Any]:
    """Without what the feed sent before it was understood."""
    return {name: value for name, value in payload.items() if name != "raw"}


@router.get(
    "/fixtures/{fixture_id}/feeds",
    response_model=MatchFeeds,
    responses=failing(404),
    summary="Which feed says what of a match",
)
async def feeds(services: Given, fixture_id: FixtureId) -> MatchFeeds:
    """For each field whose word counts, and what the others said; and what they disagreed on."""
    words = await services.scores.words.words(fixture_id)
    records = await records_of(services, words["listings"])
    news = news_of(words, services.now(), services.rules.stale_seconds)
    return MatchFeeds(
        fixture_id=fixture_id,
        stale=news.stale,
        age_seconds=news.age_seconds,
        heard_at=news.heard_at,
        feeds=[_feed(each, records.get(match_id(each["feed"], each["feed_id"]))) for each in words["listings"]],
        fields={name: FieldWords.model_validate(said) for name, said in sorted(words["origins"].items())},
        disputes=[MatchDispute.model_validate(each) for each in words["disputes"]],
    )


async def records_of(services: Services, listings: list[dict[str, Any]]) -> dict[str, MonitorRecord]:
    """Nothing where the cache is away: that is said elsewhere, and the rest is worth knowing."""
    if services.scores.records is None:
        return {}
    try:
        return dict(await services.scores.records.load([match_id(each["feed"], each["feed_id"]) for each in listings]))
    except CacheUnavailable:
        return {}


def _feed(listing: dict[str, Any], record: MonitorRecord | None) -> FeedOfMatch:
    return FeedOfMatch(
        **listing,
        state=record.life.value if record else None,
        heard_at=record.updated_at if record else None,
        failures_in_a_row=record.failures_in_a_row if record else 0,
        paused_until=record.paused_until if record else None,
        error=record.error if record else None,
    )
