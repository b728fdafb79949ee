"""Whatever dies while goals are told of: everybody ends with the messages of the undisturbed run, in their order."""

from __future__ import annotations

import asyncio
import signal
import sys
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
from tests.chaos.killed_worker import STEPS_FOLDER, activity_name, activity_names
from tests.support.databases import Databases
from tests.support.notifications import Answer, Received, Receiver, add_goal, add_match, publish, subscribe
from tests.support.web_world import settings_for

pytestmark = pytest.mark.timeout(600)

GOALS = 5
LEFT = """
select (select count(*) from outbox where position is null) as unplaced,
    (select last from outbox_last_position) - (select position from outbox_fanned_out) as undealt,
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
class System:
    settings: Settings
    database: Database
    workers: Workers
    client: Client
    receivers: dict[str, Receiver] = field(default_factory=dict)

    async def terminate_announcer(self) -> None:
        running = f'TaskQueue="{self.settings.task_queue}" and ExecutionStatus="Running"'
        ended = 0
        while not ended:
            async for execution in self.client.list_workflows(f'{running} and WorkflowType="NotificationWorkflow"'):
                await self.client.get_workflow_handle(execution.id, run_id=execution.run_id).terminate()
                ended += 1


Disturbance = Callable[[System], Awaitable[None]]


class Workers:
    """Processes that are started again when they die, as the supervisor does."""

    def __init__(self, settings: Settings, dies: Path) -> None:
        self._environment = {**environment_of(settings), STEPS_FOLDER: str(dies)}
        self._log = (settings.data_dir / "workers.log").open("ab")
        self._running: list[asyncio.subprocess.Process] = []
        self._keeping: list[asyncio.Task[None]] = []
        self.deaths = 0

    def kill(self) -> None:
        for process in self._running:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)

    async def _keep(self) -> None:
        while True:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.chaos.killed_worker",
                env=self._environment, stdout=self._log, stderr=self._log,
            )  # fmt: skip
            self._running.append(process)
            try:
                await process.wait()
            finally:
                self._running.remove(process)
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            self.deaths += 1

    async def __aenter__(self) -> Workers:
        self._keeping = [asyncio.create_task(self._keep()) for _ in range(2)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)
        self._log.close()


@asynccontextmanager
async def announcing(client: Client, settings: Settings) -> AsyncIterator[None]:
    id_ = f"{NOTIFY_SCHEDULE}-{uuid4()}"
    handle = await client.create_schedule(id_, schedules(settings)[NOTIFY_SCHEDULE], trigger_immediately=True)
    yield
    await handle.delete()
    query = f'TaskQueue="{settings.task_queue}" and ExecutionStatus="Running"'
    async for execution in client.list_workflows(query):
        await client.get_workflow_handle(execution.id, run_id=execution.run_id).terminate()


async def matchday(database: Database) -> None:
    """Goals and clips. Some goals are withdrawn: at once, or when everybody has long been told."""

    async def say(topic: str, goal: str, ago: float = 0, **facts: Any) -> None:
        await patiently(partial(publish, database, topic, goal, ago=ago, **facts))

    for number in range(1, GOALS + 1):
        goal = await patiently(partial(add_goal, database, number))
        await say("goal.stable", goal, ago=60 if number % 2 else 0)
        if number % 4 == 2:
            await say("goal.withdrawn", goal)
            continue
        for name, verified in (("a", True), ("b", False)):
            await say("clip.published", goal, ago=30, md5=name * 32, rank=1, verified=verified)
        if number % 4 == 1:
            await say("goal.withdrawn", goal)
        await asyncio.sleep(0.4)


async def patiently(step: Callable[[], Awaitable[Any]]) -> Any:
    """The database may be away for a moment; a transaction happens or does not."""
    while True:
        try:
            return await step()
        except StoreUnavailable:
            await asyncio.sleep(0.2)


async def settled(database: Database) -> None:
    """Until nothing is on its way any more."""
    async with asyncio.timeout(400):
        while True:
            with suppress(StoreUnavailable):
                async with database.connection() as connection:
                    row = await (await connection.execute(LEFT)).fetchone()
                if row is not None and not any(row.values()):
                    return
            await asyncio.sleep(0.2)


@dataclass(frozen=True)
class End:
    told: Mapping[str, Mapping[str, Any]]
    """By the receiver's name and the message's key."""
    deliveries: Sequence[tuple[int, str, str]]
    notified: frozenset[tuple[str, str]]
    """Title and text of what people were sent. They have no keys: what comes twice is seen twice."""


@dataclass(frozen=True)
class Servers:
    databases: Databases
    temporal: dict[str, str]
    valkey: str


async def play(servers: Servers, folder: Path, disturb: Disturbance | None = None, dies: Sequence[str] = ()) -> End:
    (folder / "kill").mkdir(parents=True)
    for step in dies:
        (folder / "kill" / step).touch()
    async with AsyncExitStack() as stack:
        url = stack.enter_context(servers.databases.borrowed())
        receivers = {name: await stack.enter_async_context(Receiver()) for name in FILTERS}
        receivers["stubborn"].answer = at_the_second_try()
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
        await stack.enter_async_context(announcing(client, settings))
        workers = await stack.enter_async_context(Workers(settings, folder / "kill"))
        system = System(settings, store.database, workers, client, receivers)
        trouble = asyncio.create_task(disturb(system)) if disturb else None
        await matchday(store.database)
        if trouble is not None:
            await trouble
        await settled(store.database)
        assert list((folder / "kill").iterdir()) == [], "steps at which nobody died"
        async with store.database.connection() as connection:
            rows = await connection.execute("select subscription_id, topic, state from deliveries order by position, 1")
            ends = [(row["subscription_id"], row["topic"], row["state"]) for row in await rows.fetchall()]
        assert set(names.values()) == set(FILTERS)
        notified = frozenset((each.body["title"], each.body["message"]) for each in people.received)
        return End({name: told(receiver) for name, receiver in receivers.items()}, ends, notified)


def at_the_second_try() -> Answer:
    tried: set[str] = set()

    def answer(message: Received) -> int:
        if message.key in tried:
            return 204
        tried.add(message.key)
        return 503

    return answer


def told(receiver: Receiver) -> dict[str, Any]:
    """What came, by key. Whatever comes twice is the same; what comes of a goal comes in its order."""
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
def undisturbed(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> End:
    return asyncio.run(play(servers, tmp_path_factory.mktemp("undisturbed")))


def test_withdrawn_goals_are_announced_to_exactly_those_who_were_told(undisturbed: End) -> None:
    for name, messages in undisturbed.told.items():
        topics: dict[str, list[str]] = {}
        for body in messages.values():
            topics.setdefault(body["goal"]["key"], []).append(body["topic"])
        assert all(len(each) > 1 or each != ["goal.withdrawn"] for each in topics.values())
        withdrawn = sum("goal.withdrawn" in each for each in topics.values())
        # Goals 1 and 5 are withdrawn late, 2 at once, which is before a delayed one is told.
        assert withdrawn == {"all": 3, "hidden": 3, "verified": 2, "delayed": 2, "elsewhere": 0, "stubborn": 3}[name]
    assert not any("score" in str(body) or "Salah" in str(body) for body in undisturbed.told["hidden"].values())
    assert {state for *_, state in undisturbed.deliveries} == {"delivered", "cancelled"}
    assert len(undisturbed.notified) == GOALS + 3


async def test_a_worker_killed_before_and_after_every_step_changes_nothing(
    servers: Servers, tmp_path: Path, undisturbed: End
) -> None:
    steps = activity_names(NotificationActivities)
    steps.remove(activity_name(NotificationActivities.mark_dead))  # no receiver is away for that long
    deaths = [f"{when} {step}" for step in steps for when in ("before", "after")]
    assert await play(servers, tmp_path, dies=deaths) == undisturbed


@pytest.mark.chaos
async def test_workers_killed_at_any_moment_change_nothing(servers: Servers, tmp_path: Path, undisturbed: End) -> None:
    async def kill(system: System) -> None:
        for number in (3, 8, 13):
            await system.receivers["all"].until(number, seconds=120)
            system.workers.kill()

    assert await play(servers, tmp_path, kill) == undisturbed


@pytest.mark.chaos
async def test_receivers_that_go_away_and_an_announcer_that_is_terminated_change_nothing(
    servers: Servers, tmp_path: Path, undisturbed: End
) -> None:
    async def away(system: System) -> None:
        for name in ("all", "hidden"):
            await system.receivers[name].until(2, seconds=120)
            await system.receivers[name].stop()
        await system.terminate_announcer()
        await asyncio.sleep(4)
        for name in ("all", "hidden"):
            await system.receivers[name].start()

    assert await play(servers, tmp_path, away) == undisturbed


@pytest.mark.chaos
async def test_a_database_that_drops_its_connections_changes_nothing(
    servers: Servers, tmp_path: Path, undisturbed: End
) -> None:
    async def cut(system: System) -> None:
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
