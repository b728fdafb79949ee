"""Live updates: what is heard, from where on, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from found_footy.notifications.models import TOPICS
from tests.runtime.engine_helpers import eventually
from tests.support.sse import SseEvent, StreamServer, stream_server, write_outbox
from tests.support.web_world import HOSTILE_TEXT


@pytest.fixture
async def server(database_url: str, tmp_path: Path) -> AsyncIterator[StreamServer]:
    async with stream_server(database_url, tmp_path) as made:
        yield made


def goals(*fixtures: int) -> list[tuple[str, int]]:
    return [("goal.seen", fixture) for fixture in fixtures]


def names(heard: list[SseEvent]) -> list[tuple[str, str]]:
    return [(each.id, each.name) for each in heard]


async def test_a_client_gets_hello_and_the_following_messages(server: StreamServer) -> None:
    await server.publish(*goals(1))
    async with server.open_stream("after=1") as stream:
        assert stream.response.headers["content-type"].startswith("text/event-stream")
        assert (stream.response.headers["cache-control"], stream.response.headers["x-accel-buffering"]) == (
            "no-store",
            "no",
        )
        assert await stream.event() == SseEvent("hello", "1", {"position": 1, "topics": list(TOPICS)})
        await server.publish(("clip.published", 7, "7_1_1_Goal_1", {"rank": 1, "player": HOSTILE_TEXT}))
        heard = await stream.event()
    assert (heard.name, heard.id) == ("clip.published", "2")
    assert set(heard.data) == {"position", "at", "topic", "fixture_id", "event_id", "payload"}
    assert (heard.data["position"], heard.data["topic"]) == (2, "clip.published")
    assert (heard.data["fixture_id"], heard.data["event_id"]) == (7, "7_1_1_Goal_1")
    assert heard.data["payload"] == {"rank": 1, "player": HOSTILE_TEXT}
    assert heard.data["at"].endswith("+00:00")


async def test_without_a_position_a_stream_starts_with_the_next_message(server: StreamServer) -> None:
    await server.publish(*goals(1, 2))
    async with server.open_stream("after=0") as stream:
        await stream.events(3)  # so that the hub has read them as well
    async with server.open_stream() as stream:
        assert names([await stream.event()]) == [("2", "hello")]
        await server.publish(*goals(3))
        assert names([await stream.event()]) == [("3", "goal.seen")]


async def test_a_reconnect_before_the_first_message_misses_nothing(server: StreamServer) -> None:
    async with server.open_stream() as stream:
        await stream.event()
    await server.publish(*goals(1))
    async with server.open_stream(last_id=stream.last_id) as back:
        assert names(await back.events(2)) == [("0", "hello"), ("1", "goal.seen")]


async def test_a_reconnect_resumes_and_last_event_id_takes_precedence(server: StreamServer) -> None:
    await server.publish(*goals(1, 2, 3))
    async with server.open_stream("after=0", last_id=2) as stream:
        assert names(await stream.events(2)) == [("2", "hello"), ("3", "goal.seen")]


@pytest.mark.parametrize(
    ("query", "heard"),
    [
        ("fixture=1", [1, 2, 4]),
        ("fixture=1&fixture=2", [1, 2, 3, 4]),
        ("topic=goal.*", [1, 3]),
        ("topic=goal.*&topic=clips.ranked", [1, 3, 4]),
        ("fixture=1&topic=clip.*", [2]),
        ("event=1_1_1_Goal_1", [2]),
        ("event=nobody", []),
    ],
)
async def test_a_stream_contains_only_matching_messages(server: StreamServer, query: str, heard: list[int]) -> None:
    await server.publish(
        ("goal.seen", 1), ("clip.published", 1, "1_1_1_Goal_1", {}), ("goal.stable", 2), ("clips.ranked", 1)
    )
    async with server.open_stream(f"after=0&{query}") as stream:
        greeting = await stream.event()
        assert [int((await stream.event()).id) for _ in heard] == heard
        assert "goal.seen" in greeting.data["topics"] or "topic=clip" in query


@pytest.mark.parametrize(
    ("query", "header", "said"),
    [
        ("after=-1", None, "'-1' is not a valid position"),
        ("after=", None, "'' is not a valid position"),
        ("after=1e3", None, "not a valid position"),
        ("after=%D9%A3", None, "not a valid position"),  # a digit, but none of ours
        ("after=9999999999999999999", None, "not a valid position"),
        ("after=" + "9" * 5000, None, "not a valid position"),
        ("", "abc", "'abc' is not a valid position"),
        ("after=0", "1;drop table", "not a valid position"),
        ("after=1", None, "position 1 does not exist yet; the latest is 0"),
        ("", "999999999999999999", "position 999999999999999999 does not exist yet"),
        ("topic=goal.gone", None, "unknown topic 'goal.gone'; the topics are fixture.staging, "),
    ],
)
async def test_invalid_positions_and_topics_are_rejected(
    server: StreamServer, query: str, header: str | None, said: str
) -> None:
    headers = {"Last-Event-ID": header} if header else {}
    answer = await server.client.get(f"/api/v1/stream?{query}", headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["class"]) == (400, "BadRequest")
    assert said in error["message"]
    assert len(error["message"]) < 600


@pytest.mark.parametrize("query", ["fixture=x", "fixture=1&" * 101, "topic=goal.seen&" * 101])
async def test_too_many_filter_values_are_rejected(server: StreamServer, query: str) -> None:
    answer = await server.client.get(f"/api/v1/stream?{query}")
    assert (answer.status_code, answer.json()["error"]["class"]) == (422, "BadRequest")


async def deleted_up_to(url: str, position: int) -> None:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("select assign_outbox_positions()")
        await connection.execute("delete from outbox where position <= %s", [position])


@pytest.mark.parametrize(
    ("deleted", "after", "heard"),
    [
        (2, 0, [("0", "hello"), ("2", "reset"), ("3", "goal.seen"), ("4", "goal.seen")]),
        (2, 1, [("1", "hello"), ("2", "reset"), ("3", "goal.seen"), ("4", "goal.seen")]),
        (2, 2, [("2", "hello"), ("3", "goal.seen"), ("4", "goal.seen")]),
        (4, 1, [("1", "hello"), ("4", "reset")]),
        (4, 4, [("4", "hello")]),
    ],
)
async def test_expired_messages_are_reported_by_a_reset(
    database_url: str, tmp_path: Path, deleted: int, after: int, heard: list[tuple[str, str]]
) -> None:
    await write_outbox(database_url, *goals(1, 2, 3, 4))
    await deleted_up_to(database_url, deleted)
    async with (
        stream_server(database_url, tmp_path) as server,
        server.open_stream("fixture=3&fixture=4&fixture=5", after) as stream,
    ):
        told = await stream.events(len(heard))
        assert names(told) == heard
        await server.publish(*goals(5))
        assert names([await stream.event()]) == [("5", "goal.seen")]
    assert all("have expired" in each.data["reason"] for each in told if each.name == "reset")


async def test_the_number_of_clients_is_limited(database_url: str, tmp_path: Path) -> None:
    async with stream_server(database_url, tmp_path, max_clients=2) as server, server.open_stream() as first:
        await first.event()
        async with server.open_stream() as second:
            await second.event()
            answer = await server.client.get("/api/v1/stream")
            assert (answer.status_code, answer.json()["error"]["class"]) == (503, "StreamFull")
            assert int(answer.headers["retry-after"]) > 0
        await eventually(lambda: server.hub.clients == 1)
        async with server.open_stream() as third:
            await third.event()
        await server.publish(*goals(1))
        assert (await first.event()).name == "goal.seen"


async def test_other_methods_are_refused(server: StreamServer) -> None:
    answers = [await server.client.request(method, "/api/v1/stream") for method in ("HEAD", "PUT")]
    assert [answer.status_code for answer in answers] in ([405, 405], [405, 401], [405, 403])


async def test_hello_includes_the_retry_delay(server: StreamServer) -> None:
    async with server.client.stream("GET", "/api/v1/stream") as response:
        async for chunk in response.aiter_raw():
            assert chunk.startswith(b"retry: 2000\nid: 0\nevent: hello\ndata: {")
            break


async def test_closing_the_hub_ends_every_stream(server: StreamServer) -> None:
    async with server.open_stream() as first, server.open_stream("topic=clip.*") as second:
        await first.event()
        await second.event()
        server.hub.close()
        for stream in (first, second):
            with pytest.raises(StopAsyncIteration):
                await stream.next()
    assert (await server.client.get("/api/v1/stream")).status_code == 503
