"""The settings of the score feeds, of asking them, and of judging how fresh they are."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from found_footy.config_types import HttpUrl, Key, Names, Numbers, RedisUrl, well_known


class FeedSettings(BaseSettings):
    redis_url: RedisUrl | None = Field(
        None,
        validation_alias=well_known("REDIS_URL"),
        description="Redis or Valkey; where it is not set, `footy up` starts an embedded one.",
    )
    feeds_file: Path = Field(
        Path("config/sources.yaml"), description="The file that declares the score feeds; read again when it changes."
    )
    feed: Literal["api_football", "espn"] | None = Field(
        None, description="Only this score feed, whatever that file declares."
    )
    api_football_url: HttpUrl = Field("https://v3.football.api-sports.io", description="Base URL of API-Football.")
    api_football_key: Key | None = Field(
        None, validation_alias=well_known("API_FOOTBALL_KEY"), description="Key of API-Football."
    )
    espn_url: HttpUrl = Field("https://site.api.espn.com", description="Base URL of ESPN.")
    espn_leagues: Names = Field(
        (), description="Leagues to read from ESPN, comma-separated; empty: the big five and the Champions League."
    )
    feed_timeout_seconds: float = Field(10, gt=0, le=60, description="How long one answer of a feed may take.")
    tracked_teams: Numbers = Field((), description="Ids of the teams to follow; with none and no leagues, all.")
    tracked_leagues: Numbers = Field((), description="Ids of the leagues to follow.")
    feed_patience_seconds: float = Field(
        8, gt=0, le=300, description="How long a poll waits for its feeds; who comes later counts at the next poll."
    )
    retry_seconds: float = Field(
        2, ge=0, le=30, description="Shortest wait before a feed is asked a second time; twice that before a third."
    )
    turn_seconds: float = Field(20, gt=0, le=300, description="How long a request waits for its turn at a feed.")
    navigation_seconds: float = Field(15, gt=0, le=120, description="How long a page of a feed may take to open.")
    scrape_seconds: float = Field(45, gt=0, le=300, description="How long reading one page may take in all.")
    pause_failures: int = Field(5, ge=1, le=100, description="Failures in a row that pause a match at a feed.")
    pause_seconds: float = Field(120, gt=0, le=86400, description="How long such a pause lasts.")
    completed_poll_seconds: float = Field(300, gt=0, le=86400, description="Between two looks at a match that is over.")
    archive_hours: float = Field(24, gt=0, le=8760, description="How long a match that is over is looked at.")
    stale_seconds: float = Field(
        45, gt=0, le=3600, description="Age at which what is known of a match under way is shown as stale."
    )

    health_seconds: float = Field(15, gt=0, le=300, description="Between two judgements of the feeds' health.")
    fresh_seconds: float = Field(60, gt=0, le=3600, description="Median or p95 age that makes them DEGRADED.")
    failing_seconds: float = Field(120, gt=0, le=7200, description="Age of any match that makes them FAILING.")
    stall_seconds: float = Field(90, gt=0, le=7200, description="Time without any answer that makes them FAILING.")
    recovery_seconds: float = Field(120, gt=0, le=3600, description="After a recovery, how long until it is judged.")
    recovery_pause_seconds: float = Field(
        900, gt=0, le=86400, description="Between two recoveries, while the feeds do not come back."
    )
