"""News, subscriptions and receivers for tests of what is told to others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.fixtures.models import FixtureStage
from found_footy.fixtures.store import FixtureStore
from found_footy.notifications.models import validate_filter
from found_footy.notifications.store import NotificationStore
from found_footy.storage.postgres import Database
from tests.support.football import follow_matches
from tests.support.tcp_server import TcpServer
from tests.support.web_world import CITY, KICKOFF, LIVERPOOL, PREMIER, match

FIXTURE = 7001
SECRET = "footy_test"
SALAH = {"team": "Liverpool", "player": "Mohamed Salah", "minute": "23'", "kind": "Normal Goal", "score": "1-0"}

INSERT = """
insert into outbox (topic, fixture_id, event_id, payload, at)
values (%(topic)s, %(fixture)s, %(event)s, %(payload)s, now() - make_interval(secs => %(ago)s))
"""
EVENT = """
insert into events (id, fixture_id, team_id, team_name, side, player_name, type, kind, elapsed, seq, home_before,
    away_before, home_after, away_after, first_seen, seen, missing, stable_at)
values (%(id)s, %(fixture)s, 40, 'Liverpool', 'home', %(player)s, 'Goal', 'Normal Goal', 23, %(seq)s, 0, 0, 1, 0,
    now(), 3, 0, now())
on conflict do nothing
"""


async def add_match(store: FixtureStore, fixture_id: int = FIXTURE) -> None:
    await follow_matches(
        store, [(match(fixture_id, PREMIER, LIVERPOOL, CITY), FixtureStage.ACTIVE)], KICKOFF - timedelta(hours=2)
    )


async def add_goal(database: Database, number: int = 1, fixture_id: int = FIXTURE) -> str:
    """Returns its id. Nothing is told of it yet."""
    event_id = f"{fixture_id}_40_306_Goal_{number}"
    async with database.connection() as connection:
        params = {"id": event_id, "fixture": fixture_id, "player": "Mohamed Salah", "seq": number}
        await connection.execute(EVENT, params)
    return event_id


async def publish(
    database: Database,
    topic: str,
    event_id: str | None = None,
    *,
    ago: float = 0,
    fixture_id: int = FIXTURE,
    **payload: Any,
) -> None:
    """News that came so many seconds ago."""
    if topic.startswith("goal.") and topic not in ("goal.complete", "goal.changed"):
        goal_of = {
            "team": "Liverpool",
            "player": "Mohamed Salah",
            "minute": "23'",
            "kind": "Normal Goal",
            "score": "1-0",
        }
        payload = goal_of | payload
    if topic == "goal.withdrawn":
        payload = {"reason": "the feed no longer lists it (VAR)"} | payload
    params = {"topic": topic, "fixture": fixture_id, "event": event_id, "payload": Jsonb(payload), "ago": ago}
    async with database.connection() as connection:
        await connection.execute(INSERT, params)
        if topic == "goal.withdrawn":
            removed = "update events set removed_at = now(), removed_reason = 'VAR' where id = %s"
            await connection.execute(removed, [event_id])


async def subscribe(
    database: Database, target: str = "https://hooks.example/in", kind: str = "webhook", **filters: Any
) -> int:
    secret = SECRET if kind == "webhook" else None
    return await NotificationStore(database).add("test", kind, target, secret, validate_filter(**filters))


async def states(database: Database, subscription_id: int) -> list[tuple[str, str]]:
    """Topic and state of all its messages, in their order."""
    found = await NotificationStore(database).deliveries(subscription_id, state=None, before=None, limit=1000)
    return [(each.topic, each.state) for each in reversed(found)]


@dataclass(frozen=True)
class Received:
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))

    @property
    def key(self) -> str:
        return self.headers["idempotency-key"]


Answer = Callable[[Received], int]


class Receiver(TcpServer):
    """A subscriber's server on loopback. It can go away, and come back at the same place."""

    def __init__(self, answer: Answer = lambda _: 204) -> None:
        super().__init__()
        self.answer = answer
        self.received: list[Received] = []
        self.came = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://{self.host}/hook?key=secret"

    @property
    def keys(self) -> list[str]:
        """Each once, in the order in which they came first."""
        return list(dict.fromkeys(each.key for each in self.received))

    async def until(self, number: int, seconds: float = 30) -> None:
        """Until so many different messages have come."""
        async with asyncio.timeout(seconds):
            while len(self.keys) < number:
                self.came.clear()
                await self.came.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        message = Received(headers, await reader.readexactly(int(headers.get("content-length", 0))))
        status = self.answer(message)
        if 200 <= status < 300:
            self.received.append(message)
            self.came.set()
        writer.write(f"HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
