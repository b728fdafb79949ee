"""The feeds' health in a real database: state, samples, audit log and what is told of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from found_footy.errors import StoreUnavailable
from found_footy.operations.models import (
    FreshnessStats,
    HealthGrade,
    HealthState,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)
from found_footy.operations.store import OperationsStore
from found_footy.storage.postgres import AdvisoryLock, Database

NOW = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
STATE = HealthState(HealthGrade.HEALTHY, NOW, judged_at=NOW, resumed_at=NOW, revision=1)
ENTRY = Recovery("r1", NOW, RecoveryAction.SOFT_RESTART, "no feed has answered", before={"grade": "failing"})


def summary(grade: HealthGrade = HealthGrade.HEALTHY, at: datetime = NOW) -> HealthSummary:
    return HealthSummary(
        grade,
        NOW,
        FreshnessStats(5.0, 30.5, 61.0, 7),
        at,
        last_success=NOW,
        stall_seconds=3.5,
        queue={"live": 2},
        active=1,
        failure_ratio=0.25,
        paused=("espn_1", "crex_ü"),
        reasons=("one match in twenty …",),
    )


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
def health(database: Database) -> OperationsStore:
    return OperationsStore(database)


async def told(database: Database) -> list[tuple[str, dict[str, Any]]]:
    async with database.connection() as connection:
        rows = await (await connection.execute("select topic, payload from outbox order by id")).fetchall()
    return [(row["topic"], row["payload"]) for row in rows]


async def test_an_empty_database_has_no_health(health: OperationsStore) -> None:
    assert (await health.state(), await health.summary(), await health.recovery("r1")) == (None, None, None)
    assert (list(await health.recoveries()), list(await health.samples(NOW)), list(await health.active_matches())) == (
        [],
        [],
        [],
    )


async def test_a_saved_state_is_returned_unchanged(health: OperationsStore) -> None:
    state = HealthState(HealthGrade.RECOVERING, NOW, 1, "r1", NOW, NOW + timedelta(seconds=90), NOW, NOW, revision=1)
    assert await health.save(state, summary(HealthGrade.RECOVERING), ENTRY)
    assert await health.state() == state
    assert await health.summary() == summary(HealthGrade.RECOVERING)
    assert list(await health.recoveries()) == [ENTRY]
    (sample,) = await health.samples(NOW)
    assert (sample.at, sample.grade, sample.median, sample.p95) == (NOW, HealthGrade.RECOVERING, 5.0, 30.5)
    assert (sample.maximum, sample.matches, sample.failure_ratio) == (61.0, 7, 0.25)


async def test_who_judged_by_an_older_state_writes_nothing(health: OperationsStore, database: Database) -> None:
    assert await health.save(STATE, summary())
    assert await health.save(replace(STATE, revision=2), summary())
    for revision in (1, 2, 4):
        late = replace(STATE, grade=HealthGrade.FAILING, revision=revision, recovery_id="r1")
        assert not await health.save(late, summary(HealthGrade.FAILING), ENTRY)
    assert await health.state() == replace(STATE, revision=2)
    assert (len(await health.samples(NOW)), list(await health.recoveries()), await told(database)) == (2, [], [])


async def test_of_concurrent_writers_one_wins(health: OperationsStore) -> None:
    for revision in (1, 2):  # also the very first, where there is no row to lock
        saves = [
            health.save(replace(STATE, revision=revision), summary(), replace(ENTRY, id=f"{revision}-{n}"))
            for n in range(5)
        ]
        assert sorted(await asyncio.gather(*saves)) == [False] * 4 + [True]
    assert (len(await health.samples(NOW)), len(await health.recoveries())) == (2, 2)


async def test_each_change_of_grade_is_published_once(health: OperationsStore, database: Database) -> None:
    grades = (HealthGrade.HEALTHY, HealthGrade.DEGRADED, HealthGrade.DEGRADED, HealthGrade.FAILING)
    for revision, grade in enumerate(grades, 1):
        assert await health.save(replace(STATE, grade=grade, revision=revision), summary(grade))
    reasons = ["one match in twenty …"]
    assert await told(database) == [
        ("feeds.health", {"from": "healthy", "to": "degraded", "reasons": reasons}),
        ("feeds.health", {"from": "degraded", "to": "failing", "reasons": reasons}),
    ]


async def test_a_recovery_is_published_at_its_start_and_end(health: OperationsStore, database: Database) -> None:
    await health.add_recovery(ENTRY)
    await health.add_recovery(replace(ENTRY, seconds=3.5))  # only noted
    failed = replace(ENTRY, seconds=3.5, outcome=RecoveryOutcome.FAILED)
    await health.add_recovery(failed)
    await health.add_recovery(replace(ENTRY, seconds=3.5))  # begun again
    await health.add_recovery(failed)
    well = replace(failed, healthy_at=NOW + timedelta(minutes=20))
    await health.add_recovery(well)
    await health.add_recovery(well)
    news = await told(database)
    assert [topic for topic, _ in news] == ["feeds.recovery"] * 5
    assert [payload["state"] for _, payload in news] == ["begun", "ended", "begun", "ended", "healthy"]
    assert await health.recovery("r1") == well


async def test_a_finished_entry_is_published_once(health: OperationsStore, database: Database) -> None:
    recycled = replace(ENTRY, action=RecoveryAction.BROWSER_RECYCLE, outcome=RecoveryOutcome.SUCCESS)
    await health.add_recovery(recycled)
    await health.add_recovery(recycled)
    assert [payload["state"] for _, payload in await told(database)] == ["ended"]


async def test_samples_are_kept_for_two_days(health: OperationsStore) -> None:
    for revision, hours in enumerate((0, 24, 47.9, 48.1), 1):
        at = NOW + timedelta(hours=hours)
        await health.save(replace(STATE, revision=revision), summary(at=at))
    kept = await health.samples(NOW - timedelta(days=9))
    assert [(each.at - NOW) / timedelta(hours=1) for each in kept] == [24, 47.9, 48.1]


async def test_a_save_that_fails_in_the_middle_leaves_nothing(health: OperationsStore, database: Database) -> None:
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        await health.save(replace(STATE, grade=HealthGrade.FAILING, recovery_id="unknown"), summary(), ENTRY)
    assert (await health.state(), list(await health.recoveries()), await told(database)) == (None, [], [])


async def test_one_leads_and_the_next_follows_when_it_ends(database_url: str) -> None:
    first, second = AdvisoryLock(database_url), AdvisoryLock(database_url)
    assert [await first.try_acquire(), await second.try_acquire(), await first.try_acquire()] == [True, False, True]
    await first.release()
    assert [await second.try_acquire(), await first.try_acquire()] == [True, False]
    await second.release()


async def test_losing_the_connection_loses_the_lead(database_url: str) -> None:
    first, second = AdvisoryLock(database_url), AdvisoryLock(database_url)
    assert await first.try_acquire()
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid, 30000) from pg_locks where locktype = 'advisory'"
            " and database = (select oid from pg_database where datname = current_database())"
        )
    with pytest.raises(StoreUnavailable):
        await first.try_acquire()
    assert [await second.try_acquire(), await first.try_acquire()] == [True, False]
    await second.release()


async def test_without_a_database_there_is_no_leader() -> None:
    with pytest.raises(StoreUnavailable):
        await AdvisoryLock("postgresql://app:secret@127.0.0.1:9/app").try_acquire()
