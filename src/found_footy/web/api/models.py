"""The shape of the API's answers, for its reference.

The database writes the answers; nothing passes through these classes on its way. A test holds real answers against
them, so that they say what is so.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Item = TypeVar("Item")

EventStatus = Literal["validating", "extracting", "watching", "complete", "withdrawn"]
Stage = Literal["staging", "active", "completed"]
Sport = Literal["football", "cricket"]


class Shape(BaseModel):
    model_config = ConfigDict(populate_by_name=True)


class Page(Shape, Generic[Item]):
    items: list[Item]
    next: str | None = Field(description="The cursor of the next page; null on the last one.")


class Fault(Shape):
    class_: str = Field(alias="class", description="The class of the error, which stays the same.")
    message: str
    hint: str
    problems: list[dict[str, str]] = Field(default=[], description="`where` and `problem`, for parameters.")


class Failure(Shape):
    """Every failure has this form."""

    error: Fault


class MatchDate(Shape):
    date: date
    matches: int
    goals: int
    clips: int


class Reference(Shape):
    id: int | None
    name: str | None


class Score(Shape):
    home: int | None
    away: int | None


class Penalties(Shape):
    penalty: Score


class MatchMinute(Shape):
    """In cricket the over, the ball, and which innings of the match."""

    elapsed: int
    extra: int | None
    innings: int | None


class MatchStatus(Shape):
    short: str
    elapsed: int | None
    extra: int | None


class Kickoff(Shape):
    id: int
    date: datetime
    status: MatchStatus


class League(Shape):
    id: int
    name: str
    country: str | None
    season: int | None
    round: str | None


class TeamReference(Reference):
    short: str | None


class Teams(Shape):
    home: TeamReference
    away: TeamReference


class InningsScore(Shape):
    number: int = Field(description="Counted from 1 over the whole match.")
    batting: Literal["home", "away"]
    runs: int
    wickets: int
    overs: int
    balls: int = Field(description="Of the over under way.")
    over: bool = Field(description="Whether it has ended.")


class MatchToss(Shape):
    winner: Literal["home", "away"]
    decision: str


class LastEvent(Shape):
    type: str
    description: str
    at: datetime | None


class ListedBy(Shape):
    feed: str
    id: int = Field(description="The match as that feed numbers it.")
    founding: bool


class PollError(Shape):
    class_: str = Field(alias="class")
    message: str
    at: datetime


class Attribution(Shape):
    at: datetime
    poll_id: str
    changed: dict[str, Any] = Field(description="Field to its values `from` and `to`.")


class ClipCopy(Shape):
    id: str
    md5: str
    offset_seconds: float | None = Field(description="Added to a time in the copy, it gives the time in the clip.")
    mirrored: bool
    duration: float
    file_size: int


class Clip(Shape):
    id: str
    md5: str
    s3_key: str = Field(alias="_s3_key")
    rank: int | None = Field(description="1 is the best; null for one that was merged into another.")
    popularity: int
    timestamp_verified: bool
    timestamp_status: Literal["verified", "unverified"]
    extracted_minute: int | None
    reason: str | None
    duration: float
    width: int
    height: int
    aspect_ratio: float
    resolution_score: int
    fps: float
    bitrate: int
    file_size: int
    published_at: datetime | None
    source_url: str | None
    source_posts: list[str]
    copies: list[ClipCopy]


class MatchOfGoal(Shape):
    id: int
    home: str
    away: str
    league: str
    date: datetime
    stage: Stage
    status: str
    sport: Sport
    heard_at: datetime | None = Field(description="When a feed last said something of it that counted.")


class LeanGoal(Shape):
    """A goal as in lists, or a wicket: then `player` is out, `assist` bowled, and `_scoring_team` was in the field."""

    event_id: str = Field(alias="_event_id")
    status: EventStatus
    time: MatchMinute
    team: Reference
    player: Reference
    assist: Reference
    type: str
    detail: str
    scoring_team: Literal["home", "away"] = Field(alias="_scoring_team")
    score_before: Score = Field(alias="_score_before")
    score_after: Score = Field(alias="_score_after")
    first_seen: datetime = Field(alias="_first_seen")
    stable_count: int = Field(alias="_stable_count")
    missing_count: int = Field(alias="_missing_count")
    debounce_complete: bool = Field(alias="_debounce_complete")
    stable_at: datetime | None = Field(alias="_stable_at")
    removed: bool = Field(alias="_removed")
    removed_at: datetime | None = Field(alias="_removed_at")
    removed_reason: str | None = Field(alias="_removed_reason")
    monitor_complete: bool = Field(alias="_monitor_complete")
    download_complete: bool = Field(alias="_download_complete")
    twitter_aliases: list[str] = Field(alias="_twitter_aliases")
    search_query: str | None = Field(alias="_search_query")
    feeds: list[str] = Field(alias="_feeds", description="Those that listed it when it was last listed.")
    s3_videos: list[Clip] = Field(alias="_s3_videos", description="By rank; empty for a withdrawn goal.")
    attributions: list[Attribution] = Field(alias="_attributions")


class ListedGoal(LeanGoal):
    fixture: MatchOfGoal = Field(alias="_fixture")


class SearchOfSources(Shape):
    attempt: int
    at: datetime
    sources: dict[str, Any] = Field(description="Name to `found`, or to `error` with its class and message.")


class Post(Shape):
    key: str
    source: str
    url: str
    author: str
    text: str
    posted_at: datetime
    found_at: datetime
    duration: float | None
    attempt: int | None
    md5: str | None
    state: Literal["waiting", "downloading", "checking", "kept", "duplicate", "lost"]
    loss: str | None
    loss_detail: str | None
    clip: str | None


class Goal(LeanGoal):
    """A goal with its searches and all posts that were found."""

    monitor_workflows: list[str] = Field(alias="_monitor_workflows")
    search_workflows: list[str] = Field(alias="_search_workflows")
    download_workflows: list[str] = Field(alias="_download_workflows")
    searches: list[SearchOfSources] = Field(alias="_searches")
    discovered_videos: list[Post] = Field(alias="_discovered_videos")


class Box(Shape):
    left: float
    top: float
    right: float
    bottom: float


class Reading(Shape):
    at: float
    soccer: bool
    screen: bool
    clock: str | None
    added: str | None
    stoppage_clock: str | None
    teams: list[str] | None
    score: str | None
    box: Box | None


class Expected(Shape):
    elapsed: int
    extra: int | None
    home: str | None
    away: str | None
    score_before: str | None
    score_after: str | None


class Proof(Shape):
    at: float
    box: Box | None
    readings: list[Reading]
    expectation: Expected


class WholeGoal(Goal):
    """A goal by itself, with its match and what was read in the pictures of each clip."""

    fixture: MatchOfGoal = Field(alias="_fixture")
    proofs: dict[str, Proof] = Field(alias="_proofs", description="By the MD5 of the clip.")


class MatchHead(Shape):
    id: int = Field(alias="_id")
    feed: str
    sport: Sport
    stage: Stage
    fixture: Kickoff
    league: League
    teams: Teams
    goals: Score = Field(description="In cricket the wickets that each side has taken.")
    score: Penalties
    innings: list[InningsScore] = Field(description="In cricket only.")
    toss: MatchToss | None
    venue: str | None
    last_event: LastEvent | None
    details: dict[str, str]
    listed_by: list[ListedBy] = Field(alias="_feeds")
    heard_at: datetime | None = Field(description="When a feed last said something of it that counted.")
    age_seconds: float | None = Field(description="Since then, while it is followed at every poll.")
    stale: bool = Field(description="Whether that is too long.")
    activated_at: datetime | None
    completed_at: datetime | None
    last_poll_at: datetime | None
    error: PollError | None


class ListedMatch(MatchHead):
    events: list[LeanGoal]


class WholeMatch(MatchHead):
    events: list[Goal]


class Video(Clip):
    event_id: str
    fixture_id: int
    home: str
    away: str
    player: str | None
    minute: int
    extra: int | None
    innings: int | None
    url: str
    poster: str


class BetterCopy(Shape):
    id: str
    url: str
    offset_seconds: float | None
    mirrored: bool


class WholeVideo(Video):
    proof: Proof | None
    leads_to: BetterCopy | None = Field(description="The clip in its place, where it was merged into a better copy.")


class MatchesFound(Page[ListedMatch]):
    kind: Literal["fixtures"]


class GoalsFound(Page[ListedGoal]):
    kind: Literal["goals"]


class ClipsFound(Page[Video]):
    kind: Literal["clips"]


Found = Annotated[MatchesFound | GoalsFound | ClipsFound, Field(discriminator="kind")]
