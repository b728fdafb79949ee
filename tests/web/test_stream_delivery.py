"""While many write and many come and go, each listener hears its own news, all of them, once each, in order."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import psycopg
import pytest

from found_footy.notifications.models import TOPICS
from found_footy.web import live as listener
from found_footy.web.live import StreamFilter, stream_filter, stream_message
from tests.support.sse import SseEvent, StreamServer, insert_outbox_rows, stream_server, write_outbox

QUERIES = ("", "", "fixture=1", "fixture=2&fixture=3", "topic=goal.*", "fixture=1&topic=clip.*&topic=clips.*")
LAST = "fixture.completed"


async def write(url: str, seed: str, rounds: int) -> None:
    """Transactions of different lengths that overlap with those of others; some are taken back."""
    chance = random.Random(seed)
    async with await psycopg.AsyncConnection.connect(url) as connection:
        for _ in range(rounds):
            rows = [(chance.choice([*TOPICS][:-1]), chance.randint(1, 4)) for _ in range(chance.randint(1, 8))]
            for row in rows:
                await insert_outbox_rows(connection, [row])
            await (connection.rollback() if chance.random() < 0.15 else connection.commit())


async def listen(server: StreamServer, seed: str, query: str) -> tuple[int, list[SseEvent]]:
    """Comes and goes as it likes, and each time goes on from its last id. Returns where it began."""
    chance = random.Random(seed)
    heard: list[SseEvent] = []
    began: int | None = None
    last_id: str | None = None
    while True:
        async with server.open_stream(query, last_id) as stream:
            hello = await stream.event()
            began = int(hello.id) if began is None else began
            for _ in range(chance.choice([0, 1, 5, 1000])):
                event = await stream.event()
                heard.append(event)
                if event.name == LAST and event.data["fixture_id"] == 99:
                    return began, heard
            last_id = stream.last_id


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_nothing_is_missed_or_duplicated(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(listener, "PAGE_SIZE", 7)
    monkeypatch.setattr(listener, "CHUNK_BYTES", 500)
    await write(database_url, f"before {seed}", 10)
    async with stream_server(database_url, tmp_path, buffer_messages=(1000, 12, 3)[seed - 1]) as server:
        with_last = [f"{query}{'&' if query else ''}{_also_last(query)}" for query in QUERIES]
        clients = [
            asyncio.create_task(listen(server, f"{seed} {number}", query)) for number, query in enumerate(with_last)
        ]
        clients.append(asyncio.create_task(listen(server, f"{seed}", "after=0")))
        async with asyncio.TaskGroup() as writing:
            for number in range(4):
                writing.create_task(write(database_url, f"{seed} {number}", 25))
        await write_outbox(database_url, (LAST, 99))
        ended = await asyncio.gather(*clients)
        news = [stream_message(item) for item in await server.hub.outbox.since(0, 10_000)]
    assert len(news) > 200
    assert [message.position for message in news] == list(range(1, len(news) + 1))
    for query, (began, heard) in zip([*with_last, ""], ended, strict=True):
        wants = _wishes_of(query)
        wanted = [message.position for message in news if message.position > began and wants.matches(message)]
        assert [int(event.id) for event in heard] == wanted, query
        assert all(event.data["position"] == int(event.id) for event in heard)


def _also_last(query: str) -> str:
    """Every listener hears the last news, so that it knows when to stop."""
    return "&".join([f"fixture={99}"] * ("fixture=" in query) + [f"topic={LAST}"] * ("topic=" in query))


def _wishes_of(query: str) -> StreamFilter:
    pairs = [part.split("=") for part in query.split("&") if part]
    return stream_filter(
        [int(value) for name, value in pairs if name == "fixture"],
        [],
        [value for name, value in pairs if name == "topic"],
    )


async def test_a_client_far_behind_catches_up_during_writes(database_url: str, tmp_path: Path) -> None:
    """Pages from the database first, then what is at hand; the seam lies anywhere."""
    await write_outbox(database_url, *[("goal.seen", 1)] * 1500)
    async with (
        stream_server(database_url, tmp_path, buffer_messages=50) as server,
        server.open_stream("after=0") as stream,
    ):
        writing = asyncio.create_task(write(database_url, "meanwhile", 60))
        heard = [int(event.id) for event in await stream.events(1501)]
        await writing
        await server.publish((LAST, 99))
        while (event := await stream.event()).data["fixture_id"] != 99:
            heard.append(int(event.id))
    assert heard == list(range(len(heard)))
    assert len(heard) > 1600
