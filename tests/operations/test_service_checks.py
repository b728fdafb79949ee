"""Live checks and unexpected answers in a real database: histories, notifications, limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from found_footy.errors import FeedMalformed, FeedSchemaError, FootyError
from found_footy.operations.check_store import PostgresServiceChecks, PostgresUnexpectedAnswers
from found_footy.operations.models import CheckKind, CheckResult
from found_footy.runtime.http_exchanges import MAX_BODY_BYTES, Exchange
from found_footy.runtime.redaction import Redactor
from found_footy.storage.postgres import Database
from tests.support.clocks import DatetimeClock

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url)
    await opened.open()
    yield opened
    await opened.close()


def result(ok: bool, hours: float = 0, name: str = "feed espn") -> CheckResult:
    at = NOW + timedelta(hours=hours)
    if ok:
        return CheckResult(
            name, CheckKind.FEED, True, at, "GET espn/scoreboard", "HTTP 200, 9 bytes, 0.1 s", "3 matches"
        )
    response, said, hint = "HTTP 403, 0 bytes, 0.1 s", "FeedBlocked: refused", "Ask less often."
    return CheckResult(name, CheckKind.FEED, False, at, "GET espn/scoreboard", response, said, "FeedBlocked", hint)


async def announced(database: Database) -> list[dict[str, Any]]:
    async with database.connection() as connection:
        cursor = await connection.execute("select payload from outbox where topic = 'service.changed' order by id")
        return [row["payload"] for row in await cursor.fetchall()]


@pytest.mark.parametrize(
    ("states", "since", "last_ok", "notified"),
    [
        # (ok, hours), …: since and last_ok in hours, and the states that are notified
        ([(True, 0)], 0, 0, []),
        ([(False, 0)], 0, None, [False]),
        ([(True, 0), (True, 24)], 0, 24, []),
        ([(True, 0), (False, 24)], 24, 0, [False]),
        ([(True, 0), (False, 24), (False, 48)], 24, 0, [False]),
        ([(True, 0), (False, 24), (True, 48)], 48, 48, [False, True]),
        ([(True, 0), (False, -1)], 0, 0, []),  # a result that comes late
    ],
)
async def test_a_check_keeps_since_when_it_is_so_and_only_transitions_notify(
    database: Database,
    states: list[tuple[bool, float]],
    since: float,
    last_ok: float | None,
    notified: list[bool],
) -> None:
    checks = PostgresServiceChecks(database)
    for ok, hours in states:
        await checks.save([result(ok, hours)])
    (check,) = await checks.checks()
    assert check.since == NOW + timedelta(hours=since)
    assert check.last_ok_at == (None if last_ok is None else NOW + timedelta(hours=last_ok))
    told = await announced(database)
    assert [each["ok"] for each in told] == notified
    assert all(each["name"] == "feed espn" and each["asked"] == "GET espn/scoreboard" for each in told)


async def test_two_runs_at_once_notify_once(database: Database) -> None:
    checks = PostgresServiceChecks(database)
    await checks.save([result(True)])
    await asyncio.gather(*(checks.save([result(False, 1)]) for _ in range(4)))
    assert len(await announced(database)) == 1


async def test_a_complete_run_forgets_services_that_are_switched_off(database: Database) -> None:
    checks = PostgresServiceChecks(database)
    await checks.save([result(True), result(False, name="source x")])
    assert [check.name for check in await checks.checks()] == ["source x", "feed espn"]
    await checks.save([result(True, 1)])
    assert len(await checks.checks()) == 2
    await checks.save([result(True, 2)], complete=True)
    assert [check.name for check in await checks.checks()] == ["feed espn"]


def exchange(body: bytes = b"<html>", **more: Any) -> Exchange:
    return Exchange("GET", "espn/scoreboard?key=***", 0.1, 200, {"content-type": "text/html"}, body, len(body), **more)


async def test_the_same_error_is_kept_once_in_ten_minutes(database: Database) -> None:
    clock = DatetimeClock(NOW)
    answers = PostgresUnexpectedAnswers(database, Redactor(), clock)
    errors: list[tuple[float, str, FootyError]] = [
        (0, "espn", FeedMalformed("no JSON")),
        (9.9, "espn", FeedMalformed("no JSON")),
        (9.9, "espn", FeedSchemaError("a", 1, "text")),
        (9.9, "crex", FeedMalformed("no JSON")),
        (10, "espn", FeedMalformed("no JSON")),
    ]
    kept = []
    for minutes, name, error in errors:
        clock.now = NOW + timedelta(minutes=minutes)
        kept.append(await answers.save(name, error, exchange()))
    assert kept == [True, False, True, True, True]


async def test_several_workers_keep_one(database: Database) -> None:
    answers = PostgresUnexpectedAnswers(database, Redactor(), DatetimeClock(NOW))
    saved = await asyncio.gather(*(answers.save("espn", FeedMalformed("no JSON"), exchange()) for _ in range(5)))
    assert sum(saved) == 1


async def test_the_newest_five_of_a_name_are_kept(database: Database) -> None:
    clock = DatetimeClock(NOW)
    answers = PostgresUnexpectedAnswers(database, Redactor(), clock)
    for number in range(8):
        clock.now = NOW + timedelta(hours=number)
        await answers.save("espn", FeedMalformed(f"answer {number}"), exchange())
    await answers.save("crex", FeedMalformed("another"), exchange())
    kept = await answers.kept()
    assert [each.message for each in kept if each.name == "espn"] == [f"answer {number}" for number in (7, 6, 5, 4, 3)]
    assert len(kept) == 6


async def test_an_answer_is_redacted_and_bounded_before_it_is_stored(database: Database) -> None:
    answers = PostgresUnexpectedAnswers(database, Redactor(["hunter-two"]), DatetimeClock(NOW))
    body = b'\0\xff{"accessJwt":"eyJabc","me":"me@example.org","p":"hunter-two"}' + b"\xff" * MAX_BODY_BYTES
    await answers.save("bluesky" * 40, FeedMalformed("for me@example.org: " + "x" * 5000), exchange(body))
    (kept,) = await answers.kept()
    assert len(kept.body.encode()) <= MAX_BODY_BYTES
    assert (kept.status, kept.headers, kept.request) == (200, {"content-type": "text/html"}, exchange().request_line)
    for secret in ("eyJabc", "me@example.org", "hunter-two", "\0"):
        assert secret not in kept.body + kept.message
