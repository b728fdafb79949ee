"""`footy feeds`, `footy health`, `footy recycle` and `footy watchdog` on real engines."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from found_footy.feeds.cache import FreshnessIndex, MonitoringRecords
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, MonitoringState
from found_footy.operations.feed_health import FeedMeasurement, HealthRules, next_state
from found_footy.operations.models import Recovery, RecoveryAction, RecoveryOutcome
from found_footy.operations.store import OperationsStore
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache
from tests.cli.conftest import FOOTY, Footy
from tests.support.cli import clear_redis
from tests.support.watchdog import INSERT_ACTIVE_FIXTURES

T = TypeVar("T")

SOURCES = """
sources:
  - {domain_id: espn, adapter: espn, precedence_weight: 80}
  - {domain_id: spare, adapter: espn, enabled: false, precedence_weight: 20}
  - {domain_id: api_football, precedence_weight: 100}
"""
Engines = dict[str, str]


@pytest.fixture
def engines(database_url: str, valkey_server: str, tmp_path: Path) -> Iterator[Engines]:
    """The settings of a system of its own; its cache is empty."""
    redis_url = valkey_server
    clear_redis(redis_url)
    (tmp_path / "sources.yaml").write_text(SOURCES)
    yield {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "FOOTY_FEEDS_FILE": str(tmp_path / "sources.yaml")}
    clear_redis(redis_url)


def with_cache(redis_url: str, do: Callable[[RedisCache], Awaitable[T]]) -> T:
    async def body() -> T:
        cache = RedisCache(redis_url)
        try:
            return await do(cache)
        finally:
            await cache.aclose()

    return asyncio.run(body())


def with_health(database_url: str, do: Callable[[OperationsStore], Awaitable[T]]) -> T:
    async def body() -> T:
        database = Database(database_url)
        await database.open()
        try:
            return await do(OperationsStore(database))
        finally:
            await database.close()

    return asyncio.run(body())


def now() -> datetime:
    return datetime.now(UTC)


ANSWERED = """
    insert into feed_states (feed, asked_at, answered_at) values ('espn', %(at)s, %(at)s) on conflict do nothing
"""


def follow(engines: Engines, ids: list[int], age: float = 0.0, **record: Any) -> None:
    """Matches under way, last heard of so many seconds ago."""
    at = now() - timedelta(seconds=age)
    with psycopg.connect(engines["DATABASE_URL"]) as connection:
        connection.execute(INSERT_ACTIVE_FIXTURES, {"ids": ids, "at": at})

    async def fill(cache: RedisCache) -> None:
        await FreshnessIndex(cache).expect(dict.fromkeys(ids, at))
        given = {"updated_at": at, "asked_at": at, **record}
        state = given.pop("state", MonitoringState.ACTIVE)
        records = [MatchMonitoringRecord("espn", id_, state, MatchPriority.LIVE, at, **given) for id_ in ids]
        await MonitoringRecords(cache).save(records)

    with_cache(engines["REDIS_URL"], fill)


def judged(engines: Engines, ages: list[float], when: datetime | None = None) -> None:
    """A watchdog's judgement, saved."""
    at = when or now()
    with psycopg.connect(engines["DATABASE_URL"]) as connection:
        connection.execute(ANSWERED, {"at": at})
    heard = {number: at - timedelta(seconds=age) for number, age in enumerate(ages)}
    judgement = next_state(None, FeedMeasurement(heard, max(heard.values(), default=None)), at, HealthRules())
    assert with_health(engines["DATABASE_URL"], lambda health: health.save(judgement.state, judgement.summary))


# --- feeds


def test_feeds_list_shows_missing_configuration(footy: Footy, engines: Engines) -> None:
    listed = footy("feeds", "list", "--json", **engines)
    assert listed.code == 0, listed.err
    feeds = {each["feed"]: each for each in json.loads(listed.out)}
    assert list(feeds) == ["api_football", "espn", "spare"], "the most trusted first"
    assert {name: (each["on"], each["switched"]) for name, each in feeds.items()} == {
        "api_football": (True, None),
        "espn": (True, None),
        "spare": (False, None),
    }
    assert "API_FOOTBALL_KEY" in feeds["api_football"]["lacks"]
    words = footy("feeds", **engines).out
    assert "off spare  espn, precedence 20" in words
    assert "API_FOOTBALL_KEY" in words


def test_a_feed_is_switched_and_reset_to_the_file(footy: Footy, engines: Engines) -> None:
    for command, on, switched in (("on", True, True), ("auto", False, None)):
        done = footy("feeds", command, "spare", "--json", **engines)
        assert done.code == 0, done.err
        (spare,) = json.loads(done.out)
        assert (spare["feed"], spare["on"], spare["switched"], spare["enabled"]) == ("spare", on, switched, False)
    words = footy("feeds", "off", "espn", **engines).out
    assert "off espn  espn, precedence 80, set manually (feeds file: on)" in words


def test_an_undeclared_feed_cannot_be_switched(footy: Footy, engines: Engines) -> None:
    ended = footy("feeds", "off", "esp", "--json", **engines)
    assert (ended.code, ended.error()["class"]) == (3, "NotFound")
    assert "api_football, espn, spare" in ended.error()["message"]


def test_switching_fails_without_redis(footy: Footy, engines: Engines) -> None:
    ended = footy("feeds", "off", "espn", "--json", **(engines | {"REDIS_URL": "redis://:hidden@127.0.0.1:9/0"}))
    assert (ended.code, ended.error()["class"]) == (4, "CacheUnavailable")
    assert "hidden" not in ended.err


DOUBT = """
    insert into doubtful_pairings (feed, feed_id, fixture_id, home, away, kickoff, competition, confidence, reasons,
        first_seen, last_seen)
    values ('espn', 77, 5, 'Man [red]United', %(trap)s, %(at)s, 'Cup', 0.6, '{names are alike,the hour differs}',
        %(at)s, %(at)s)
"""


def doubt(engines: Engines) -> None:
    follow(engines, [5])
    with psycopg.connect(engines["DATABASE_URL"]) as connection:
        connection.execute(DOUBT, {"at": now(), "trap": "City\x1b[2J"})


def joined(engines: Engines) -> list[tuple[int, int]]:
    with psycopg.connect(engines["DATABASE_URL"]) as connection:
        return connection.execute("select feed_id, fixture_id from listings where feed_id = 77").fetchall()


def test_an_uncertain_pairing_is_listed_and_confirmed(footy: Footy, engines: Engines) -> None:
    doubt(engines)
    shown = footy("feeds", "pairings", **engines)
    assert shown.code == 0, shown.err
    assert "espn 77: Man [red]United – City[2J" in shown.out, "nothing in a name commands the terminal"
    assert "60% confident: names are alike; the hour differs" in shown.out
    assert "footy feeds same espn 77 5" in shown.out
    done = footy("feeds", "same", "espn", "77", "5", **engines)
    assert (done.code, joined(engines)) == (0, [(77, 5)]), done.err


def test_a_rejected_pairing_is_not_listed_again(footy: Footy, engines: Engines) -> None:
    doubt(engines)
    (row,) = json.loads(footy("feeds", "pairings", "--json", **engines).out)
    assert (row["feed_id"], row["fixture_id"], row["home_name"]) == (77, 5, "Home 5")
    done = footy("feeds", "different", "espn", "77", "5", **engines)
    assert (done.code, joined(engines)) == (0, []), done.err
    assert "no uncertain pairings" in footy("feeds", "pairings", **engines).out


# --- health


def test_health_without_a_check_is_not_healthy(footy: Footy, engines: Engines) -> None:
    ended = footy("health", **engines)
    assert ended.code == 6, ended.err
    assert "No health check yet. Is `footy watchdog` running?" in ended.out


def test_health_shows_grade_feeds_and_stale_matches(footy: Footy, engines: Engines) -> None:
    pause = {"state": MonitoringState.PAUSED, "paused_until": datetime.now(UTC) + timedelta(minutes=10)}
    follow(engines, [5, 6], age=75, consecutive_failures=5, error="FeedUnavailable: [bold]no", **pause)
    judged(engines, [75.0, 75.0])
    ended = footy("health", **engines)
    assert ended.code == 0, "degraded is not failing"
    words = " ".join(ended.out.split())
    assert "feeds DEGRADED for " in words
    assert "2 matches in play: updates are median 75 s, p95 75 s, max 75 s old" in words
    assert re.search(r"espn on \d+ s ago", words)
    assert "FeedUnavailable: [bold]no" in words
    assert "stale 5 Home 5 – Away, last update " in words

    report = json.loads(footy("health", "--json", **engines).out)
    assert (report["summary"]["grade"], report["judged"]) == ("degraded", True)
    espn = next(each for each in report["feeds"] if each["id"] == "espn")
    assert (espn["matches"], espn["failing"], espn["paused"]) == (2, 2, 2)
    assert [each["fixture_id"] for each in report["stale"]] == [5, 6]


def test_failing_health_sets_the_exit_code_and_lists_recoveries(footy: Footy, engines: Engines) -> None:
    judged(engines, [95.0])
    entry = Recovery("r1", now(), RecoveryAction.SOFT_RESTART, "no feed", outcome=RecoveryOutcome.FAILED, seconds=3.21)
    with_health(engines["DATABASE_URL"], lambda health: health.add_recovery(entry))
    ended = footy("health", **engines)
    assert ended.code == 6
    assert "FAILING" in ended.out
    assert "soft_restart failed in 3.2 s: no feed" in ended.out


def test_health_without_engines_is_an_error(footy: Footy) -> None:
    ended = footy("health", "--json")
    assert (ended.code, ended.error()["class"]) == (4, "EngineError")


def test_watch_prints_lines_without_a_terminal_until_ctrl_c(
    environment: dict[str, str], engines: Engines, tmp_path: Path
) -> None:
    judged(engines, [75.0])
    with subprocess.Popen(
        [FOOTY, "health", "--watch"], cwd=tmp_path, env=environment | engines, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "degraded; system degraded; 1 match, median 75 s" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_watch_continues_while_the_database_is_unavailable(
    environment: dict[str, str], engines: Engines, tmp_path: Path
) -> None:
    """In a terminal, through a pseudo-terminal."""
    away = engines | {"DATABASE_URL": "postgresql://app:hidden@127.0.0.1:9/app"}
    terminal = environment | away | {"TERM": "xterm"}
    outer, inner = pty.openpty()
    with subprocess.Popen(
        [FOOTY, "health", "--watch"], cwd=tmp_path, env=terminal, stdout=inner, stderr=inner
    ) as process:
        os.close(inner)
        shown = b""
        while b"PostgreSQL is unreachable" not in shown:
            shown += os.read(outer, 4096)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    os.close(outer)
    assert b"hidden" not in shown


# --- recycle and watchdog


def test_recycle_accepts_known_parts_only(footy: Footy) -> None:
    ended = footy("recycle", "universe")
    assert (ended.code, "invalid value 'universe': expected one of browser, poller" in ended.words) == (2, True)


def test_recycle_prints_each_step_and_audits_the_operator(footy: Footy, engines: Engines) -> None:
    ended = footy("recycle", "poller", **engines, TEMPORAL_ADDRESS="127.0.0.1:9")
    assert ended.code == 6, ended.err
    assert "✓ pauses: resumed 0 paused matches" in ended.out
    assert "✗ poller: EngineError" in ended.out
    (entry,) = with_health(engines["DATABASE_URL"], lambda health: health.recoveries())
    assert (entry.action, entry.outcome) == (RecoveryAction.MANUAL_TRIGGER, RecoveryOutcome.PARTIAL)
    assert "footy recycle" in entry.trigger


def test_the_watchdog_checks_until_stopped(environment: dict[str, str], engines: Engines, tmp_path: Path) -> None:
    settings = engines | {"TEMPORAL_ADDRESS": "127.0.0.1:9", "FOOTY_HEALTH_SECONDS": "0.2"}
    follow(engines, [5])
    with subprocess.Popen(
        [FOOTY, "watchdog"], cwd=tmp_path, env=environment | settings, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            wait_until(lambda: with_health(engines["DATABASE_URL"], lambda health: health.state()) is not None)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
        assert process.stderr is not None
        actions = [json.loads(line)["action"] for line in process.stderr]
    assert (actions[:2], actions[-1]) == (["starting", "watchdog_ready"], "watchdog_stopped")


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it never came to it")
