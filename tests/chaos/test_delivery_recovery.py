"""Kill workers and connections during deliveries: every receiver gets the messages of the undisturbed run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from pydantic import SecretStr
from temporalio.client import Client

from found_footy.app import schedules
from found_footy.config import Settings
from found_footy.errors import StoreUnavailable
from found_footy.fixtures.store import FixtureStore, open_store
from found_footy.notifications.activities import NotificationActivities
from found_footy.runtime.schedules import NOTIFY_SCHEDULE
from found_footy.runtime.system import environment_of
from found_footy.runtime.temporal import connect_temporal
from found_footy.storage.postgres import Database
from tests.chaos import killed_worker
from tests.chaos.killed_worker import STEPS_FOLDER, activity_name, activity_names
from tests.support.databases import Databases
from tests.support.notifications import Answer, Received, Receiver, add_goal, add_match, publish, subscribe
from tests.support.processes import WorkerProcesses
from tests.support.web_world import settings_for

pytestmark = pytest.mark.timeout(600)

GOALS = 5
LEFT = """
select (select count(*) from outbox where position is null) as without_position,
    (select last from outbox_last_position) - (select position from outbox_fanned_out) as not_fanned_out,
    (select count(*) from deliveries where state in ('pending', 'sending')) as undelivered
"""

FILTERS: Mapping[str, Mapping[str, Any]] = {
    "all": {},
    "hidden": {"no_score": True, "topics": ["goal.stable", "clip.published"]},
    "verified": {"verified_only": True, "topics": ["clip.published"]},
    "delayed": {"delay_seconds": 8},
    "elsewhere": {"teams": [1]},
    "stubborn": {"topics": ["goal.*", "clip.*"]},
}


@dataclass
class DeliverySystem:
    settings: Settings
    database: Database
    workers: WorkerProcesses
    client: Client
    receivers: dict[str, Receiver] = field(default_factory=dict)

    async def terminate_notifier(self) -> None:
        running = f'TaskQueue="{self.settings.task_queue}" and ExecutionStatus="Running"'
        ended = 0
        while not ended:
            async for execution in self.client.list_workflows(f'{running} and WorkflowType="NotificationWorkflow"'):
                await self.client.get_workflow_handle(execution.id, run_id=execution.run_id).terminate()
                ended += 1


Disturbance = Callable[[DeliverySystem], Awaitable[None]]


@asynccontextmanager
async def notifying(client: Client, settings: Settings) -> AsyncIterator[None]:
    id_ = f"{NOTIFY_SCHEDULE}-{uuid4()}"
    handle = await client.create_schedule(id_, schedules(settings)[NOTIFY_SCHEDULE], trigger_immediately=True)
    yield
    await handle.delete()
    query = f'TaskQueue="{settings.task_queue}" and ExecutionStatus="Running"'
    async for execution in client.list_workflows(query):
        await client.get_workflow_handle(execution.id, run_id=execution.run_id).terminate()


async def matchday(database: Database) -> None:
    """Goals and clips. Some goals are withdrawn: at once, or long after they were delivered."""

    async def announce(topic: str, goal: str, ago: float = 0, **payload: Any) -> None:
        await retry_while_unavailable(partial(publish, database, topic, goal, ago=ago, **payload))

    for number in range(1, GOALS + 1):
        goal = await retry_while_unavailable(partial(add_goal, database, number))
        await announce("goal.stable", goal, ago=60 if number % 2 else 0)
        if number % 4 == 2:
            await announce("goal.withdrawn", goal)
            continue
        for name, verified in (("a", True), ("b", False)):
            await announce("clip.published", goal, ago=30, md5=name * 32, rank=1, verified=verified)
        if number % 4 == 1:
            await announce("goal.withdrawn", goal)
        await asyncio.sleep(0.4)


async def retry_while_unavailable(step: Callable[[], Awaitable[Any]]) -> Any:
    while True:
        try:
            return await step()
        except StoreUnavailable:
            await asyncio.sleep(0.2)


async def until_settled(database: Database) -> None:
    """Wait until every message is delivered, cancelled or dead."""
    async with asyncio.timeout(400):
        while True:
            with suppress(StoreUnavailable):
                async with database.connection() as connection:
                    row = await (await connection.execute(LEFT)).fetchone()
                if row is not None and not any(row.values()):
                    return
            await asyncio.sleep(0.2)


@dataclass(frozen=True)
class DeliveryOutcome:
    messages: Mapping[str, Mapping[str, Any]]
    """By receiver and message key."""
    deliveries: Sequence[tuple[int, str, str]]
    notified: frozenset[tuple[str, str]]
    """Title and text of notifications. They have no keys, so duplicates cannot be detected by the receiver."""


@dataclass(frozen=True)
class Servers:
    databases: Databases
    temporal: dict[str, str]
    valkey: str


async def play(
    servers: Servers, folder: Path, disturb: Disturbance | None = None, kill_steps: Sequence[str] = ()
) -> DeliveryOutcome:
    (folder / "kill").mkdir(parents=True)
    for step in kill_steps:
        (folder / "kill" / step).touch()
    async with AsyncExitStack() as stack:
        url = stack.enter_context(servers.databases.borrowed())
        receivers = {name: await stack.enter_async_context(Receiver()) for name in FILTERS}
        receivers["stubborn"].answer = accept_second_attempt()
        people = await stack.enter_async_context(Receiver(lambda _: 200))
        places = {
            **servers.temporal,
            "redis_url": SecretStr(servers.valkey),
            "task_queue": f"chaos-{uuid4()}",
            "private_hosts": tuple(receiver.host for receiver in (*receivers.values(), people)),
            "public_url": "https://pages.example",  # in each link, so that no two notifications are alike
        }
        settings = settings_for(url, folder, sources=(), **places)
        store: FixtureStore = await stack.enter_async_context(open_store(settings))
        await add_match(store)
        names = {
            await subscribe(store.database, receivers[name].url, **filters): name for name, filters in FILTERS.items()
        }
        await subscribe(store.database, f"ntfy://{people.host}/goals", "notify", topics=["goal.stable"])
        client = await connect_temporal(settings)
        await stack.enter_async_context(notifying(client, settings))
        environment = {**environment_of(settings), STEPS_FOLDER: str(folder / "kill")}
        workers = await stack.enter_async_context(
            WorkerProcesses(killed_worker.main, environment, log=folder / "workers.log")
        )
        system = DeliverySystem(settings, store.database, workers, client, receivers)
        trouble = asyncio.create_task(disturb(system)) if disturb else None
        await matchday(store.database)
        if trouble is not None:
            await trouble
        await until_settled(store.database)
        assert list((folder / "kill").iterdir()) == [], "steps at which no worker was killed"
        async with store.database.connection() as connection:
            rows = await connection.execute("select subscription_id, topic, state from deliveries order by position, 1")
            ends = [(row["subscription_id"], row["topic"], row["state"]) for row in await rows.fetchall()]
        assert set(names.values()) == set(FILTERS)
        notified = frozenset((each.body["title"], each.body["message"]) for each in people.received)
        return DeliveryOutcome({name: messages_of(receiver) for name, receiver in receivers.items()}, ends, notified)


def accept_second_attempt() -> Answer:
    tried: set[str] = set()

    def answer(message: Received) -> int:
        if message.key in tried:
            return 204
        tried.add(message.key)
        return 503

    return answer


def messages_of(receiver: Receiver) -> dict[str, Any]:
    """Return messages by key. Duplicates must be equal, and the messages of a goal in order."""
    bodies: dict[str, bytes] = {}
    last: dict[str, int] = {}
    for message in receiver.received:
        assert bodies.setdefault(message.key, message.raw) == message.raw
    for key in receiver.keys:
        body = next(message.body for message in receiver.received if message.key == key)
        goal, position = body["goal"]["key"], body["position"]
        assert last.get(goal, 0) < position, "a message overtook an earlier one of its goal"
        last[goal] = position
    return {message.key: {**message.body, "at": None} for message in receiver.received}


@pytest.fixture(scope="module")
def servers(databases: Databases, temporal_settings: dict[str, str], valkey_server: str) -> Servers:
    return Servers(databases, temporal_settings, valkey_server)


@pytest.fixture(scope="module")
def undisturbed(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> DeliveryOutcome:
    return asyncio.run(play(servers, tmp_path_factory.mktemp("undisturbed")))


def test_withdrawals_are_delivered_to_receivers_of_the_goal_only(undisturbed: DeliveryOutcome) -> None:
    for name, messages in undisturbed.messages.items():
        topics: dict[str, list[str]] = {}
        for body in messages.values():
            topics.setdefault(body["goal"]["key"], []).append(body["topic"])
        assert all(len(each) > 1 or each != ["goal.withdrawn"] for each in topics.values())
        withdrawn = sum("goal.withdrawn" in each for each in topics.values())
        # Goals 1 and 5 are withdrawn late, 2 at once, before a delayed message is sent.
        assert withdrawn == {"all": 3, "hidden": 3, "verified": 2, "delayed": 2, "elsewhere": 0, "stubborn": 3}[name]
    assert not any("score" in str(body) or "Salah" in str(body) for body in undisturbed.messages["hidden"].values())
    assert {state for *_, state in undisturbed.deliveries} == {"delivered", "cancelled"}
    assert len(undisturbed.notified) == GOALS + 3


async def test_killing_a_worker_before_and_after_each_step_does_not_change_the_messages(
    servers: Servers, tmp_path: Path, undisturbed: DeliveryOutcome
) -> None:
    activities = activity_names(NotificationActivities)
    activities.remove(activity_name(NotificationActivities.mark_dead))  # no receiver is away for that long
    steps = [f"{when} {activity}" for activity in activities for when in ("before", "after")]
    assert await play(servers, tmp_path, kill_steps=steps) == undisturbed


@pytest.mark.chaos
async def test_killing_all_workers_does_not_change_the_messages(
    servers: Servers, tmp_path: Path, undisturbed: DeliveryOutcome
) -> None:
    async def kill(system: DeliverySystem) -> None:
        for number in (3, 8, 13):
            await system.receivers["all"].until(number, seconds=120)
            system.workers.kill()

    assert await play(servers, tmp_path, kill) == undisturbed


@pytest.mark.chaos
async def test_unreachable_receivers_and_a_terminated_workflow_do_not_change_the_messages(
    servers: Servers, tmp_path: Path, undisturbed: DeliveryOutcome
) -> None:
    async def away(system: DeliverySystem) -> None:
        for name in ("all", "hidden"):
            await system.receivers[name].until(2, seconds=120)
            await system.receivers[name].stop()
        await system.terminate_notifier()
        await asyncio.sleep(4)
        for name in ("all", "hidden"):
            await system.receivers[name].start()

    assert await play(servers, tmp_path, away) == undisturbed


@pytest.mark.chaos
async def test_dropped_database_connections_do_not_change_the_messages(
    servers: Servers, tmp_path: Path, undisturbed: DeliveryOutcome
) -> None:
    async def cut(system: DeliverySystem) -> None:
        assert system.settings.database_url is not None
        url = system.settings.database_url.get_secret_value()
        for number in (2, 7, 12):
            await system.receivers["all"].until(number, seconds=120)
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                await connection.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where datname = current_database() and pid <> pg_backend_pid()"
                )

    assert await play(servers, tmp_path, cut) == undisturbed
