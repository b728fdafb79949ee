"""Settings: types, defaults, limits, and error messages that name the environment variable."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from found_footy.errors import FollowUnknown, SettingsError
from found_footy.fixtures.following import DEFAULT_ENTRIES, parse_entries

PREFIX = "FOOTY_"
FILE_SUFFIX = "_FILE"
"""Suffix of variables that name a file with a secret, such as a container secret."""


def _split_commas(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _check_http_url(text: str) -> str:
    if not re.match(r"https?://[^\s/]", text):
        raise ValueError("a URL that starts with http:// or https://")
    return text


def _check_secret_url(url: SecretStr) -> SecretStr:
    _check_http_url(url.get_secret_value())
    return url


def _check_postgres_url(url: SecretStr) -> SecretStr:
    """Reject URLs that the driver cannot parse: its error messages would quote them, password included."""
    text = url.get_secret_value()
    if not text:
        return url
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = None
    readable = parts is not None and parts.scheme in ("postgresql", "postgres") and parts.netloc.count("@") <= 1
    if not readable or not text.isprintable() or re.search(r"%(?![0-9A-Fa-f]{2})", text):
        raise ValueError(
            "postgresql://user:password@host:port/database, with special characters of the password percent-encoded"
        )
    return url


def _check_redis_url(url: SecretStr) -> SecretStr:
    if url.get_secret_value() and not re.match(r"(redis|rediss|unix)://\S+$", url.get_secret_value()):
        raise ValueError("redis://:password@host:port/number, or rediss:// for TLS")
    return url


def _check_key(key: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]*", key.get_secret_value()):
        raise ValueError("a key of printable ASCII characters without spaces")
    return key


def _check_payload_keys(keys: SecretStr) -> SecretStr:
    given = [each.strip() for each in keys.get_secret_value().split(",")]
    if not all(re.fullmatch(r"[0-9a-fA-F]{64}", each) for each in given):
        raise ValueError("keys of 64 hexadecimal digits, separated by commas; `openssl rand -hex 32` makes one")
    return keys


def _check_address(text: str) -> str:
    if text and not re.fullmatch(r"[^\s/]+:\d{1,5}", text):
        raise ValueError("host:port, such as 127.0.0.1:7233")
    return text


def _check_networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        try:
            ip_network(text, strict=False)
        except ValueError:
            raise ValueError("addresses or networks, such as 127.0.0.1 or 10.0.0.0/8, separated by commas") from None
    return texts


def _check_host_names(texts: tuple[str, ...]) -> tuple[str, ...]:
    if not all(re.fullmatch(r"[A-Za-z0-9._:-]{1,253}", text) for text in texts):
        raise ValueError("host names without port, separated by commas")
    return tuple(text.lower() for text in texts)


def _check_follow_list(entries: tuple[str, ...]) -> tuple[str, ...]:
    try:
        parse_entries(entries)
    except FollowUnknown as error:
        raise ValueError(f"{error}\n{error.hint}") from None
    return entries


def percent_by_name(texts: tuple[str, ...]) -> dict[str, float]:
    """Parse `name=percent`. Raises ValueError."""
    found = {}
    for text in texts:
        name, _, percent = text.rpartition("=")
        try:
            found[name.strip()] = float(percent)
        except ValueError:
            found[name.strip()] = -1.0
    if not all(name and 0 < percent < 100 for name, percent in found.items()):
        raise ValueError("leagues with a percentage below 100, such as Premier League=95, separated by commas")
    return found


def _check_percentages(texts: tuple[str, ...]) -> tuple[str, ...]:
    percent_by_name(texts)
    return texts


Percentages = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas), AfterValidator(_check_percentages)]
Numbers = Annotated[tuple[int, ...], NoDecode, BeforeValidator(_split_commas)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas)]
Networks = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas), AfterValidator(_check_networks)]
HostNames = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas), AfterValidator(_check_host_names)]
FollowList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas), AfterValidator(_check_follow_list)]
SourceName = Literal["fxtwitter", "reddit", "bluesky", "x", "folder"]
ALL_SOURCES: tuple[SourceName, ...] = get_args(SourceName)
Sources = Annotated[tuple[SourceName, ...], NoDecode, BeforeValidator(_split_commas)]
RedditWayName = Literal["oauth", "fragment", "atom"]
RedditWays = Annotated[tuple[RedditWayName, ...], NoDecode, BeforeValidator(_split_commas)]
HttpUrl = Annotated[str, AfterValidator(_check_http_url)]
SecretUrl = Annotated[SecretStr, AfterValidator(_check_secret_url)]
PostgresUrl = Annotated[SecretStr, AfterValidator(_check_postgres_url)]
RedisUrl = Annotated[SecretStr, AfterValidator(_check_redis_url)]
Key = Annotated[SecretStr, AfterValidator(_check_key)]
PayloadKeys = Annotated[SecretStr, AfterValidator(_check_payload_keys)]
Address = Annotated[str, AfterValidator(_check_address)]


def _parse_auto(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() == "auto" else value


AutoBool = Annotated[bool | None, BeforeValidator(_parse_auto)]
"""`auto`, true or false; `auto` becomes None."""


def with_plain_name(name: str) -> AliasChoices:
    return AliasChoices(name, PREFIX + name)


# --- Score feeds: connection, polling, freshness.


class FeedSettings(BaseSettings):
    redis_url: RedisUrl | None = Field(
        None,
        validation_alias=with_plain_name("REDIS_URL"),
        description="Redis or Valkey; if unset, `footy up` starts an embedded one.",
    )
    feeds_file: Path = Field(
        Path("config/sources.yaml"), description="The file that declares the score feeds; read again when it changes."
    )
    feed: Literal["api_football", "espn"] | None = Field(
        None, description="Use only this score feed and ignore the file."
    )
    api_football_url: HttpUrl = Field("https://v3.football.api-sports.io", description="Base URL of API-Football.")
    api_football_key: Key | None = Field(
        None, validation_alias=with_plain_name("API_FOOTBALL_KEY"), description="API key of API-Football."
    )
    espn_url: HttpUrl = Field("https://site.api.espn.com", description="Base URL of ESPN.")
    espn_leagues: Names = Field(
        (),
        description="ESPN leagues to read and follow, by slug and comma-separated; by default the follow list decides.",
    )
    feed_timeout_seconds: float = Field(10, gt=0, le=60, description="Timeout of one request to a feed.")
    follow: FollowList = Field(
        DEFAULT_ENTRIES,
        description="Competitions, teams and presets to follow, by name, comma-separated; `footy follow` changes it.",
    )
    tracked_teams: Numbers = Field((), description="Team ids of API-Football to follow in addition.")
    tracked_leagues: Numbers = Field((), description="League ids of API-Football to follow in addition.")
    feed_patience_seconds: float = Field(
        8, gt=0, le=300, description="How long a poll waits for its feeds; later responses count for the next poll."
    )
    retry_seconds: float = Field(
        2, ge=0, le=30, description="Minimum delay before the first retry of a feed; doubled for each further retry."
    )
    turn_seconds: float = Field(20, gt=0, le=300, description="How long a request waits for a permit of its feed.")
    navigation_seconds: float = Field(15, gt=0, le=120, description="Timeout for loading a page of a feed.")
    scrape_seconds: float = Field(45, gt=0, le=300, description="Timeout for loading and reading one page.")
    pause_failures: int = Field(5, ge=1, le=100, description="Consecutive failures after which a feed pauses a match.")
    pause_seconds: float = Field(120, gt=0, le=86400, description="Duration of that pause.")
    completed_poll_seconds: float = Field(
        300, gt=0, le=86400, description="Initial time between polls of a finished match; it grows."
    )
    archive_hours: float = Field(24, gt=0, le=8760, description="How long a finished match is polled.")
    stale_seconds: float = Field(
        45, gt=0, le=3600, description="Age at which the data of a live match is shown as stale."
    )

    health_seconds: float = Field(15, gt=0, le=300, description="Time between two checks of the feeds' health.")
    fresh_seconds: float = Field(60, gt=0, le=3600, description="Median or p95 age that makes them DEGRADED.")
    failing_seconds: float = Field(120, gt=0, le=7200, description="Age of any match that makes them FAILING.")
    stall_seconds: float = Field(90, gt=0, le=7200, description="Time without any answer that makes them FAILING.")
    recovery_seconds: float = Field(
        120, gt=0, le=3600, description="Time between a recovery and the check of its result."
    )
    recovery_pause_seconds: float = Field(
        900, gt=0, le=86400, description="Time between two recoveries while the feeds keep failing."
    )


# --- Clip library.


class LibrarySettings(BaseSettings):
    library_seconds: float = Field(5, gt=0, le=600, description="Time between two checks for work in the library.")
    library_at_once: int | None = Field(
        None,
        ge=1,
        le=64,
        description="Library tasks that a worker runs at once, for goals and for films each; if unset, its cores.",
    )
    library_queue_most: int = Field(
        100, ge=1, le=10_000, description="Maximum number of items per stage that are queued in Temporal."
    )
    undo_seconds: float = Field(60, gt=0, le=3600, description="How long a review action can be undone.")
    claim_seconds: float = Field(
        120, gt=0, le=3600, description="How long a clip stays claimed by an inactive reviewer."
    )
    source_mb: int = Field(20_000, ge=1, le=500_000, description="Maximum size of a source, in megabytes.")
    source_hours: float = Field(6, gt=0, le=48, description="Maximum length of a source.")
    source_media_seconds: float = Field(
        18_000, gt=0, le=86_400, description="Timeout of one pass over a source or a clip."
    )
    scene_seconds_least: float = Field(
        0.6, ge=0, le=60, description="Minimum length of a scene; cuts that come sooner are ignored."
    )
    keyframes: Names = Field(
        ("25%", "50%", "75%", "sharpest"),
        description="Keyframes to extract: fractions of the clip, `sharpest`, `informative`.",
    )
    embedding_models: Names = Field(
        ("mobilenet_v3_small",),
        description="Models that embed clips: mobilenet_v3_small, clip_file, server. Searches use the first.",
    )
    embedding_file: Path | None = Field(
        None, description="ONNX file of the image encoder of a CLIP or SigLIP model, for clip_file."
    )
    embedding_text_file: Path | None = Field(None, description="ONNX file of its text encoder.")
    embedding_tokenizer_file: Path | None = Field(None, description="Its `tokenizer.json`.")
    embedding_url: HttpUrl | None = Field(
        None, description="Base URL of the embedding server, without `/embeddings`, for server."
    )
    embedding_server_model: str = Field("default", min_length=1, description="Name of the model on that server.")
    embedding_server_dimensions: int = Field(512, ge=1, le=2000, description="Dimensions of that model's vectors.")


# --- All settings.


ENV_FILE = ".env"


class Settings(FeedSettings, LibrarySettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=ENV_FILE, extra="ignore", frozen=True)

    profile: Literal["default", "demo"] = Field("default", description="`demo` shortens delays.")
    data_dir: Path = Field(Path(".footy"), description="Folder of the embedded engines' data, logs and run-time files.")
    log_format: Literal["json", "pretty"] = Field(
        "json",
        validation_alias=with_plain_name("LOG_FORMAT"),
        description="One JSON object per line, or formatted text.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", validation_alias=with_plain_name("LOG_LEVEL"), description="Minimum level of log messages."
    )
    otel_exporter_otlp_endpoint: HttpUrl | None = Field(
        None,
        validation_alias=with_plain_name("OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="URL of an OpenTelemetry collector that receives traces by OTLP/HTTP; if unset, none are made.",
    )
    commit: str | None = Field(
        None, description="Commit of this build, shown with the version. The image sets it; a checkout asks git."
    )

    database_url: PostgresUrl | None = Field(
        None,
        validation_alias=with_plain_name("DATABASE_URL"),
        description="PostgreSQL 15+; if unset, `footy up` starts an embedded one.",
    )
    database_connections: int = Field(
        4, ge=2, le=100, description="Maximum number of database connections per process; idle ones are closed."
    )
    temporal_address: Address | None = Field(
        None,
        validation_alias=with_plain_name("TEMPORAL_ADDRESS"),
        description="host:port of Temporal; if unset, `footy up` starts an embedded one.",
    )
    temporal_namespace: str = Field("default", description="Temporal namespace.")
    temporal_api_key: Key | None = Field(None, description="Key for Temporal Cloud; switches TLS on.")
    temporal_payload_keys: PayloadKeys | None = Field(
        None,
        description="Keys of 64 hexadecimal digits, comma-separated, to encrypt what Temporal stores; "
        "the first encrypts, all decrypt.",
    )
    temporal_ui_port: int | None = Field(
        None, ge=1, le=65535, description="Serve the embedded Temporal's web UI on this loopback port."
    )
    task_queue: str = Field("found-footy", min_length=1, description="Temporal task queue of the workers.")
    workers: int = Field(2, ge=1, le=64, description="Worker processes for live matches that `footy up` starts.")
    worker_metrics: Address | None = Field(
        None,
        description="host:port at which a worker serves the metrics of Temporal's SDK, such as 127.0.0.1:9464.",
    )
    library_workers: int = Field(1, ge=0, le=64, description="Worker processes for the library that `footy up` starts.")
    orchestration_slots: int = Field(30, ge=1, le=1000, description="Database activities that a worker runs at once.")
    network_slots: int = Field(30, ge=1, le=1000, description="Requests and downloads that a worker runs at once.")
    media_slots: int | None = Field(
        None, ge=1, le=1000, description="Vision checks and hashes that a worker runs at once; if unset, its cores."
    )
    browser_slots: int = Field(8, ge=1, le=1000, description="Polls of browser-based feeds that a worker runs at once.")

    scaler: bool = Field(False, description="Let `footy up` start and drain workers and browsers by load.")
    scale_seconds: float = Field(30, gt=0, le=3600, description="Time between two decisions of the scaler.")
    scale_cooldown_seconds: float = Field(60, ge=0, le=3600, description="Minimum time between two changes of a pool.")
    scale_up_above: float = Field(
        5, gt=0, le=1000, description="Pending tasks per instance above which the scaler starts more."
    )
    scale_down_below: float = Field(
        2, ge=0, le=1000, description="Pending tasks per instance below which the scaler drains one."
    )
    scale_cpu_percent: float = Field(
        95, gt=0, le=100, description="CPU usage of a worker's machine above which the scaler starts no more."
    )
    scale_memory_percent: float = Field(
        90, gt=0, le=100, description="Memory usage above which the scaler starts no more."
    )
    workers_least: int = Field(2, ge=1, le=64, description="Minimum number of live workers.")
    workers_most: int = Field(8, ge=1, le=64, description="Maximum number of live workers.")
    library_workers_least: int = Field(1, ge=0, le=64, description="Minimum number of library workers.")
    library_workers_most: int = Field(2, ge=0, le=64, description="Maximum number of library workers.")
    browsers_least: int = Field(1, ge=1, le=8, description="Minimum number of browsers of the browser service.")
    browsers_most: int = Field(8, ge=1, le=8, description="Maximum number of browsers of the browser service.")
    compose_command: str = Field(
        "docker compose", min_length=1, description="Command with which `footy scaler` starts containers."
    )
    compose_services: Names = Field(
        ("worker", "library"),
        description="Compose services of the live workers and the library workers, for `footy scaler`.",
    )

    llama_url: str | None = Field(
        None,
        pattern=r"^https?://",
        validation_alias=with_plain_name("LLAMA_URL"),
        description="OpenAI-compatible server with a vision model; if unset, the embedded OCR is used.",
    )
    llama_model: str = Field("default", min_length=1, description="Name of the model on that server.")
    vision_timeout_seconds: float = Field(60, gt=0, le=600, description="Timeout per frame on that server.")

    poll_seconds: float = Field(30, ge=1, le=3600, description="Time between two polls of live matches.")
    staging_poll_seconds: float = Field(
        900, ge=1, le=86400, description="Time between two polls of matches that have not started."
    )
    pre_activation_minutes: float = Field(30, ge=0, le=1440, description="How long before kick-off polling starts.")
    ingest_days: int = Field(3, ge=1, le=7, description="Days of fixtures that each ingest fetches.")
    look_ahead_days: int = Field(
        30, ge=1, le=60, description="Days that ingest searches ahead when tomorrow has no fixtures."
    )
    retention_days: float = Field(14, gt=0, le=3650, description="Age at which finished fixtures are deleted.")
    audit_days: float = Field(365, gt=0, le=36500, description="Age at which audit entries are deleted.")
    link_days: float = Field(1825, gt=0, le=36500, description="Age at which the reasons for dead links are deleted.")
    library_days: float | None = Field(
        None,
        gt=0,
        le=36500,
        description="Age at which sources without approved clips are deleted; unset: never.",
    )
    library_gb: float | None = Field(
        None,
        gt=0,
        le=1_000_000,
        description="Total size above which the oldest such sources are deleted; unset: no limit.",
    )
    backup_url: str | None = Field(
        None,
        min_length=1,
        description="Folder or s3://bucket/prefix to which `footy up` backs up daily.",
    )
    backup_days: int = Field(7, ge=0, le=3650, description="Number of daily backups to keep.")
    backup_weeks: int = Field(4, ge=0, le=520, description="Number of weekly backups to keep.")
    backup_months: int = Field(6, ge=0, le=120, description="Number of monthly backups to keep.")
    free_space_mb: int = Field(
        500, ge=0, le=900_000, description="Free space below which a volume accepts no further work; 0: no limit."
    )
    debounce_polls: int = Field(3, ge=1, le=20, description="Consecutive polls after which a goal is stable.")
    drop_polls: int = Field(3, ge=1, le=20, description="Consecutive polls without a goal after which it is withdrawn.")
    same_goal_minutes: int = Field(2, ge=0, le=10, description="How far a goal's minute may change in one poll.")
    over_polls: int = Field(3, ge=1, le=20, description="Consecutive polls that must report the end of a match.")
    patience_seconds: float = Field(
        3600, ge=0, le=86400, description="How long to wait after the end for a goal that is not stable."
    )
    interruption_hours: float = Field(
        12, ge=1, le=168, description="How long after kick-off an interrupted match is polled at every cycle."
    )

    coverage_minutes: float = Field(
        15, gt=0, le=1440, description="Time from a goal to its first clip that the coverage objective allows."
    )
    coverage_percent: float = Field(
        80, gt=0, le=99.9, description="Percentage of a league's goals that should have a clip by then."
    )
    coverage_leagues: Percentages = Field(
        (), description="Other percentages for single leagues, as `name=percentage`, comma-separated."
    )
    heartbeat_url: SecretUrl | None = Field(
        None,
        description="URL of a dead-man's switch, called by the watchdog twice a minute while nothing has failed.",
    )
    canary_hours: float = Field(
        24, ge=1, le=168, description="Time between two live checks of every feed, source and service."
    )

    # --- Search and clips.
    wikidata_url: HttpUrl = Field("https://www.wikidata.org", description="Base URL of Wikidata, for team names.")
    wikidata_sparql_url: HttpUrl = Field("https://query.wikidata.org", description="Wikidata's query service.")
    wikidata_contact: str | None = Field(
        None,
        min_length=3,
        max_length=200,
        pattern=r"^[ -~]+$",
        description="Contact e-mail address or URL, sent to Wikimedia, which throttles requests without one.",
    )
    sources: Sources = Field(
        ("fxtwitter", "reddit", "bluesky", "x", "folder"),
        description="Sources to search for clips; a source without its required settings stays off.",
    )
    fxtwitter_url: HttpUrl = Field(
        "https://api.fxtwitter.com",
        description="FxEmbed's API, which searches X without a login and resolves posts; or your own instance.",
    )
    fxtwitter_per_minute: int = Field(
        300,
        ge=1,
        le=60_000,
        description="Maximum number of FxEmbed searches per minute, across all workers; FxEmbed documents 1,000.",
    )
    browser_url: HttpUrl | None = Field(
        None,
        validation_alias=with_plain_name("BROWSER_URL"),
        description="`footy browser`, which searches X with an account; if unset, source `x` stays off.",
    )
    x_calls: int = Field(
        40,
        ge=1,
        le=100_000,
        description="Maximum number of search calls per 15 minutes and X account, in the browser; scrolling counts.",
    )
    x_url: HttpUrl = Field("https://x.com", description="Base URL of X, for the browser and for links.")
    x_syndication_url: HttpUrl = Field(
        "https://cdn.syndication.twimg.com", description="Base URL of the API that resolves videos of posts on X."
    )
    bluesky_url: HttpUrl = Field("https://bsky.social", description="Base URL for the login to Bluesky.")
    bluesky_handle: str | None = Field(None, description="Bluesky handle; if unset, source `bluesky` stays off.")
    bluesky_password: SecretStr | None = Field(None, description="App password of that account.")
    plc_url: HttpUrl = Field(
        "https://plc.directory", description="PLC directory, which maps each Bluesky account to its server."
    )
    reddit_url: HttpUrl = Field("https://www.reddit.com", description="Base URL of Reddit.")
    reddit_oauth_url: HttpUrl = Field("https://oauth.reddit.com", description="Base URL of Reddit's API.")
    reddit_client_id: Key | None = Field(None, description="Client id of your Reddit app, for Reddit's API.")
    reddit_client_secret: Key | None = Field(None, description="Secret of that app.")
    reddit_ways: RedditWays = Field(
        ("oauth", "fragment", "atom"),
        description="Ways to read Reddit, in the order in which they are tried; oauth needs the app's id and secret.",
    )
    reddit_fresh_seconds: float = Field(
        15, gt=0, le=300, description="How long a response of a subreddit is cached, for all goals."
    )
    reddit_comment_threads: int = Field(
        2,
        ge=0,
        le=10,
        description="Maximum number of matching posts per search whose comments are searched for mirrors.",
    )
    reddit_subreddit: str = Field("soccer", pattern=r"^\w{2,21}$", description="Subreddit to search for goals.")
    reddit_cricket_subreddit: str = Field(
        "Cricket", pattern=r"^\w{2,21}$", description="Subreddit to search for wickets."
    )
    drop_folder: Path | None = Field(
        None, description="Folder with your own recordings; if unset, source `folder` stays off."
    )
    source_timeout_seconds: float = Field(20, gt=0, le=120, description="Timeout of one search of one source.")
    private_hosts: Names = Field(
        (), description="host:port of servers at private addresses that requests may reach, such as a simulator."
    )

    search_attempts: int = Field(10, ge=1, le=60, description="Successful searches per goal and source.")
    search_attempts_most: int = Field(
        15, ge=1, le=60, description="Maximum number of searches per goal, successful or not."
    )
    search_seconds: float = Field(60, gt=0, le=3600, description="Time between the starts of two searches.")
    search_gap_seconds: float = Field(
        10, ge=0, le=600, description="Minimum time between the end of a search and the next."
    )
    search_silence_seconds: float = Field(
        600, gt=0, le=86400, description="A search without a heartbeat for this long is restarted."
    )
    post_age_seconds: float = Field(180, gt=0, le=86400, description="Maximum age of a post.")
    candidates: int = Field(
        5, ge=1, le=50, description="Maximum number of posts taken per search, longest video first."
    )
    download_mb: int = Field(200, ge=1, le=10_240, description="Maximum size of a download, in MiB.")
    download_seconds: float = Field(60, gt=0, le=900, description="Timeout of one download.")
    download_redirects: int = Field(5, ge=0, le=20, description="Maximum number of redirects of a download.")
    download_impersonate: bool = Field(
        False,
        description="Let yt-dlp imitate a browser with curl-cffi on sites that it knows. "
        "These connections bypass the check for private addresses.",
    )
    clip_seconds_least: float = Field(3, gt=0, le=600, description="Minimum length of a clip.")
    clip_seconds_most: float = Field(60, gt=0, le=3600, description="Maximum length of a clip.")
    clip_aspect_least: float = Field(
        1.33, gt=0, le=10, description="Minimum aspect ratio; narrower clips are rejected as portrait."
    )
    clock_tolerance_minutes: int = Field(
        3, ge=0, le=30, description="Maximum difference between a clip's clock and the feed's minute."
    )
    media_memory_mb: int = Field(2048, ge=512, le=65536, description="Address space limit of a decoder process.")
    media_seconds: float = Field(60, gt=0, le=900, description="Timeout for decoding one file.")
    vision_calls: int = Field(
        2, ge=1, le=64, description="Maximum number of concurrent vision checks across all workers."
    )
    vision_patience_seconds: float = Field(
        1800,
        gt=0,
        le=86400,
        description='How long to retry the vision check before a clip is rejected as "not checked".',
    )
    upload_idle_seconds: float = Field(
        300, gt=0, le=86400, description="Idle time after which an upload workflow ends."
    )

    object_store_url: str | None = Field(
        None,
        pattern=r"^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?|file:///.*)$",
        description="s3://bucket/prefix or file:///folder; if unset, a folder below the data folder.",
    )
    s3_endpoint: HttpUrl | None = Field(None, description="URL of the S3 server, if it is not Amazon's.")
    s3_region: str = Field("us-east-1", min_length=1, description="Region of the bucket.")
    s3_access_key: Key | None = Field(None, description="Access key of the bucket.")
    s3_secret_key: Key | None = Field(None, description="Secret key of the bucket.")

    browsers: int = Field(1, ge=1, le=8, description="Browsers that `footy browser` starts; they share the login.")
    browser_secret: Key | None = Field(
        None,
        description="Secret shared by `footy browser` and its clients; if unset, one is stored in the data folder.",
    )
    browser_host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Address that `footy browser` binds to; any but loopback needs FOOTY_BROWSER_SECRET.",
    )
    browser_port: int = Field(8888, ge=0, le=65535, description="Port of `footy browser`; 0 selects a free one.")
    browser_canary_seconds: float = Field(
        3600, ge=60, le=86_400, description="Time between two test searches of X, which detect changes of its page."
    )
    browser_searches_at_once: int = Field(2, ge=1, le=20, description="Searches of X that a browser runs at once.")
    browser_pages_at_once: int = Field(4, ge=1, le=40, description="Pages of feeds that a browser reads at once.")
    browser_path: Path | None = Field(None, description="Path of Chromium; if unset, the usual locations are searched.")
    browser_headless: AutoBool = Field(
        None, description="Whether `footy browser` runs headless; `auto`: only without a display."
    )
    browser_hours: float = Field(6, gt=0, le=168, description="Age at which the browser is restarted.")
    browser_searches: int = Field(500, ge=1, le=100_000, description="Searches and pages after which it is restarted.")
    browser_fresh_seconds: float = Field(
        30, ge=0, le=300, description="How long a result is reused for the same search."
    )
    browser_processes: int = Field(40, ge=5, le=1000, description="Number of processes above which it is restarted.")

    # --- Web, API and notifications.
    web_host: str = Field("127.0.0.1", min_length=1, description="Address that `footy web` binds to.")
    web_port: int = Field(8000, ge=0, le=65535, description="Port of `footy web`; 0 selects a free one.")
    public_url: HttpUrl | None = Field(None, description="Public URL of the pages, for links in messages and feeds.")
    read_access: Literal["open", "token"] = Field("open", description="Whether reading requires a token.")
    video_links: Literal["stream", "redirect"] = Field(
        "stream", description="Stream videos through `footy web`, or redirect to a signed URL of the S3 server."
    )
    session_hours: float = Field(12, gt=0, le=8760, description="How long a login on the pages is valid.")
    login_failures: int = Field(
        10,
        ge=1,
        le=1000,
        description="Invalid tokens per address, and per token id, after which the API returns 429 for 15 minutes.",
    )
    trusted_proxies: Networks = Field(
        (), description="Addresses or networks of reverse proxies whose `X-Forwarded-For` and `-Proto` are trusted."
    )
    allowed_hosts: HostNames = Field(
        (), description="Additional host names that `footy web` accepts, such as a service name in a container network."
    )
    downloads_per_address: int = Field(
        50, ge=1, le=100_000, description="Maximum number of concurrent file downloads per address."
    )
    request_seconds: float = Field(
        30, gt=0, le=600, description="Maximum time without progress while a request is received."
    )
    stream_clients_per_address: int = Field(
        100, ge=1, le=100_000, description="Maximum number of concurrent readers of live updates per address."
    )
    stream_clients: int = Field(
        2000, ge=1, le=100_000, description="Maximum number of concurrent readers of live updates."
    )
    stream_heartbeat_seconds: float = Field(
        15, ge=1, le=300, description="Time between two keep-alive messages to each reader."
    )
    webhook_timeout_seconds: float = Field(10, gt=0, le=60, description="Timeout of a webhook.")
    delivery_hours: float = Field(
        24, gt=0, le=720, description="How long a message is retried before it becomes a dead letter."
    )
    temporal_ui_url: HttpUrl | None = Field(
        None, description="URL of Temporal's web UI, for links; if unset, that of the embedded one."
    )

    @property
    def media_origin(self) -> str | None:
        """Origin of signed object URLs; None without S3."""
        if not (self.object_store_url or "").startswith("s3://"):
            return None
        server = urlsplit(self.s3_endpoint or f"https://s3.{self.s3_region}.amazonaws.com")
        return f"{server.scheme}://{server.netloc}"


DEMO: dict[str, Any] = {
    "poll_seconds": 1.0,
    "staging_poll_seconds": 5.0,
    "patience_seconds": 30.0,
    "feed_patience_seconds": 0.5,
    "retry_seconds": 0.1,
    "pause_seconds": 5.0,
    "completed_poll_seconds": 10.0,
    "stale_seconds": 5.0,
    "feed_timeout_seconds": 2.0,
    "source_timeout_seconds": 6.0,
    "reddit_fresh_seconds": 1.0,
    "fxtwitter_per_minute": 6000,
    "x_calls": 5000,
    "browser_fresh_seconds": 5.0,
    "search_seconds": 2.0,
    "search_gap_seconds": 0.5,
    "search_silence_seconds": 60.0,
    "upload_idle_seconds": 20.0,
    "library_seconds": 1.0,
}
"""Intervals and timeouts of the demo; explicit settings take precedence."""


def environment_names() -> dict[str, str]:
    """Map each field name to its documented environment variable."""
    names = {}
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        names[name] = str(alias.choices[0]) if isinstance(alias, AliasChoices) else PREFIX + name.upper()
    return names


def load_settings(overrides: Mapping[str, str] | None = None) -> Settings:
    """Load the settings. Raises SettingsError, which lists each invalid setting with its value and the allowed values.

    `overrides` maps environment variables to values that take precedence over the environment and `.env`.
    """
    _reject_unknown()
    fields = {variable: field for field, variable in environment_names().items()}
    given: dict[str, Any] = {
        name if Settings.model_fields[fields[name]].validation_alias else fields[name]: value
        for name, value in (overrides or {}).items()
    }
    try:
        settings = Settings(**{**_read_secret_files(set(given)), **given})
    except ValidationError as error:
        raise SettingsError("\n".join(_describe_problem(problem) for problem in error.errors())) from None
    return apply_demo_profile(settings) if settings.profile == "demo" else settings


def _read_secret_files(taken: Collection[str]) -> dict[str, str]:
    """Read secrets from the files named by `…_FILE`. A secret that is set directly takes precedence."""
    given = {name.upper(): value for name, value in _environment().items()}
    values = {}
    for name, field in Settings.model_fields.items():
        spellings = _variables_of(name, field)
        key = spellings[0] if field.validation_alias else name
        if not _is_secret(field) or key in taken or any(each in given for each in spellings):
            continue
        for variable in (f"{each}{FILE_SUFFIX}" for each in spellings):
            if path := given.get(variable):
                values[key] = _read_secret(variable, path)
                break
    return values


def _read_secret(variable: str, path: str) -> str:
    """Strip the trailing line break that editors add."""
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise SettingsError(f"{variable}: {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{variable}: {path} is not UTF-8 text") from None


def _variables_of(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    return [str(each) for each in alias.choices] if isinstance(alias, AliasChoices) else [PREFIX + name.upper()]


def apply_demo_profile(settings: Settings) -> Settings:
    shorter = {name: value for name, value in DEMO.items() if name not in settings.model_fields_set}
    return settings.model_copy(update={"profile": "demo", **shorter})


def _environment() -> Mapping[str, str | None]:
    """Values from the environment and `.env`; the environment takes precedence."""
    try:
        return {**dotenv_values(ENV_FILE), **os.environ}
    except UnicodeDecodeError as error:
        raise SettingsError(f"{ENV_FILE}: invalid UTF-8 at byte {error.start}") from None


def _reject_unknown() -> None:
    """Reject misspelt settings instead of ignoring them."""
    known = {name.upper() for name in Settings.model_fields}
    known |= {f"{name.upper()}{FILE_SUFFIX}" for name, field in Settings.model_fields.items() if _is_secret(field)}
    for name in sorted(_environment()):
        short = name.upper().removeprefix(PREFIX)
        if name.upper().startswith(PREFIX) and short not in known:
            close = difflib.get_close_matches(short, known, n=1)
            meant = f"; did you mean {PREFIX}{close[0]}?" if close else ""
            raise SettingsError(f"{name} is not a setting{meant}")


def _describe_problem(problem: Any) -> str:
    """Name the setting, the given value (never a secret) and the allowed values."""
    field_name = str(problem["loc"][0]).lower().removeprefix(PREFIX.lower())
    field = Settings.model_fields[field_name]
    given = "a value (not shown)" if _is_secret(field) else _without_password(repr(problem["input"]))
    if field_name == "follow" and problem["type"] == "value_error":
        return f"{_variable_used(field_name, field)}: {str(problem['msg']).removeprefix('Value error, ')}"
    return f"{_variable_used(field_name, field)}: got {given}, expected {_describe_expected(field, problem)}"


def _variable_used(field_name: str, field: FieldInfo) -> str:
    """Return the variable that was set, because some fields have two."""
    used = {name.upper() for name in _environment()}
    return next((name for name in _variables_of(field_name, field) if name in used), environment_names()[field_name])


def _is_secret(field: FieldInfo) -> bool:
    return "SecretStr" in str(field.annotation)


def _without_password(text: str) -> str:
    return re.sub(r"//[^/@]*(?:@[^/@]*)*@", "//***@", text)


def _describe_expected(field: FieldInfo, problem: Any) -> str:
    """Describe all allowed values if the type defines them: pydantic's message names only the violated limit."""
    kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind is not type(None)]
    if len(kinds) == 1 and get_origin(kinds[0]) is Literal:  # an optional Literal
        kinds = list(get_args(kinds[0]))
        return ", ".join(kinds[:-1]) + f" or {kinds[-1]}"
    if get_origin(field.annotation) is Literal:
        return ", ".join(kinds[:-1]) + f" or {kinds[-1]}"
    if get_origin(field.annotation) is tuple:
        if problem["type"] == "value_error":
            return str(problem["msg"]).removeprefix("Value error, ")
        if get_origin(kinds[0]) is Literal:
            return f"one or more of {', '.join(get_args(kinds[0]))}, separated by commas"
        return "whole numbers, separated by commas" if int in kinds else "names, separated by commas"
    if kinds[0] in (int, float):
        return ("a whole number" if kinds[0] is int else "a number") + _describe_limits(field)
    if problem["type"] == "string_too_short":
        return "a non-empty text"
    return str(problem["msg"]).removeprefix("Input should be ").removeprefix("Value error, ")


def _describe_limits(field: FieldInfo) -> str:
    limits = {
        name: getattr(rule, name) for rule in field.metadata for name in ("ge", "gt", "le") if hasattr(rule, name)
    }
    match limits:
        case {"ge": least, "le": most}:
            return f" from {least} to {most}"
        case {"gt": least, "le": most}:
            return f" above {least} and up to {most}"
    return "".join(f" {name} {limit}" for name, limit in limits.items())
