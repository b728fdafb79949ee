"""`footy health`, `/health` and `/status` give the same verdict, and none claims health without an answer of a feed."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.redis import RedisCache
from found_footy.bootstrap_web import open_web
from found_footy.cli import app
from found_footy.config import Settings, environment_names
from found_footy.http_server import HttpServer
from found_footy.web.app import create_app
from tests.support.watching import Watched

STATE = (
    "insert into feed_states (feed, asked_at, answered_at, error) values ('espn', %(asked)s, %(answered)s, %(error)s)"
)
REFUSED = "FeedBlocked: HTTP 403"


@dataclass(frozen=True)
class Situation:
    """What is known of the only feed, in hours; no match is being played."""

    asked: float | None = None
    answered: float | None = None
    error: str | None = None


async def prepare(url: str, cache_url: str, situation: Situation) -> None:
    now = datetime.now(UTC)

    def before(hours: float | None) -> datetime | None:
        return None if hours is None else now - timedelta(hours=hours)

    database, cache = Database(url), RedisCache(cache_url)
    await database.open()
    watched = Watched(database, url, cache)
    try:
        if situation.asked is not None:
            values = {
                "asked": before(situation.asked),
                "answered": before(situation.answered),
                "error": situation.error,
            }
            async with database.connection() as connection:
                await connection.execute(STATE, values)
        watched.now = now
        assert await watched.watchdog.round() is not None
    finally:
        await watched.leading.release()
        await database.close()
        await cache.aclose()


async def asked_over_http(settings: Settings) -> tuple[int, dict[str, Any], dict[str, Any]]:
    async with open_web(settings) as services, HttpServer(create_app(services), grace_seconds=1) as server:
        async with httpx.AsyncClient(base_url=server.url) as client:
            health, status = await client.get("/health"), await client.get("/status")
        services.live.close()
    return health.status_code, health.json(), status.json()


@pytest.fixture
def own_logging() -> Iterator[None]:
    """The command configures logging for its process, which here is the tests'."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize(
    ("situation", "grade", "reason"),
    [
        (Situation(), "unknown", "no feed has answered yet; none has been asked so far"),
        (Situation(0.1, None, REFUSED), "unknown", f"no feed has answered yet; last error: espn: {REFUSED}"),
        (Situation(0.1, 5, REFUSED), "unknown", f"no feed answers; last error: espn: {REFUSED}"),
        (Situation(49, 49), "unknown", "no feed has answered for 2 d"),
        (Situation(0.1, 0.1), "healthy", ""),
        (Situation(20, 20), "healthy", ""),
    ],
)
@pytest.mark.usefixtures("own_logging")
def test_the_command_and_the_pages_agree_on_whether_the_feeds_are_healthy(
    database_url: str, valkey_server: str, tmp_path: Path, situation: Situation, grade: str, reason: str
) -> None:
    asyncio.run(prepare(database_url, valkey_server, situation))
    environment = dict.fromkeys(environment_names().values()) | {
        "DATABASE_URL": database_url,
        "REDIS_URL": valkey_server,
        "FOOTY_FEED": "espn",
        "FOOTY_DATA_DIR": str(tmp_path),
    }
    told = CliRunner().invoke(app, ["health", "--json"], env=environment)
    report = json.loads(told.stdout)
    assert (report["grade"], report["no_data"]) == (grade, reason)
    assert report["good"] is (told.exit_code == 0) is (grade == "healthy")

    shown = CliRunner().invoke(app, ["health"], env=environment | {"COLUMNS": "200"}).stdout
    assert ("HEALTHY" in shown) is (grade == "healthy")
    assert ("NO DATA" in shown and reason in shown) is (grade != "healthy")

    settings = Settings(
        database_url=SecretStr(database_url),
        redis_url=SecretStr(valkey_server),
        feed="espn",
        data_dir=tmp_path,
        _env_file=None,
    )
    code, health, status = asyncio.run(asked_over_http(settings))
    assert (health["feeds"], status["grade"]) == (grade, grade)
    assert (code, health["grade"] == "failed") == ((200, False) if grade == "healthy" else (503, True))
