"""The hub with a fake outbox: resets, errors and limits."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from found_footy.notifications.models import OutboxMessage
from found_footy.web import live as listening
from found_footy.web.live import (
    CloseReason,
    Hub,
    MessageBuffer,
    StreamFilter,
    StreamMessage,
    heartbeat_event,
    raise_file_limit,
)
from tests.runtime.engine_helpers import eventually
from tests.support.football import START


class ScriptedOutbox:
    def __init__(self, *positions: int) -> None:
        self.positions = list(positions)
        self.fault: Exception | None = None
        self.bell = asyncio.Event()

    async def latest(self) -> int:
        if self.fault is not None:
            raise self.fault
        return max(self.positions, default=0)

    async def since(self, after: int, limit: int) -> list[OutboxMessage]:
        return [OutboxMessage(each, START, "goal.seen", each) for each in self.positions if each > after][:limit]

    async def oldest(self) -> int | None:
        return min(self.positions, default=None)

    async def wait(self, most_seconds: float = 1.0) -> None:
        await self.bell.wait()
        self.bell.clear()

    def become(self, *positions: int) -> None:
        self.positions = list(positions)
        self.bell.set()


@asynccontextmanager
async def hub_of(news: ScriptedOutbox, buffer_messages: int = 100) -> AsyncIterator[Hub]:
    async with Hub(news, max_clients=5, heartbeat_seconds=60, buffer_messages=buffer_messages) as hub:
        await eventually(lambda: hub.position is not None)
        yield hub


class StreamClient:
    """A listener that is listened to."""

    def __init__(self, hub: Hub, position: int, fixtures: frozenset[int] | None = None) -> None:
        self.written: list[bytes] = []
        self.listener = hub.connect(StreamFilter(fixtures), position)
        self.task = asyncio.create_task(self.listener.run(self.write))

    async def write(self, content: bytes) -> None:
        self.written.append(content)

    @property
    def ids(self) -> list[int]:
        lines = b"".join(self.written).split(b"\n")
        return [int(line.removeprefix(b"id: ")) for line in lines if line.startswith(b"id: ")]


async def test_a_starting_hub_buffers_the_latest_messages() -> None:
    async with hub_of(ScriptedOutbox(*range(1, 10)), buffer_messages=4) as hub:
        assert (hub.recent.floor, hub.recent.last, len(hub.recent)) == (5, 9, 4)


async def test_reset_positions_end_all_streams() -> None:
    news = ScriptedOutbox(1, 2, 3)
    async with hub_of(news) as hub:
        visit = StreamClient(hub, 3)
        await eventually(lambda: visit.ids == [3])
        news.become(1)
        await visit.task
        assert visit.listener.close_reason is CloseReason.POSITIONS_RESET
        await eventually(lambda: hub.position == 1)


async def test_messages_deleted_before_being_read_cause_a_reset() -> None:
    news = ScriptedOutbox(1)
    async with hub_of(news) as hub:
        visit, other = StreamClient(hub, 1), StreamClient(hub, 1, frozenset({9}))
        await eventually(lambda: visit.ids == [1] == other.ids)
        news.become(4, 5)
        await eventually(lambda: (visit.ids, other.ids) == ([1, 3, 4, 5], [1, 3]))
        assert visit.written[1].startswith(b"id: 3\nevent: reset\n")


async def test_an_internal_error_of_the_reader_ends_all_streams() -> None:
    news = ScriptedOutbox(1)
    hub = Hub(news, max_clients=5, heartbeat_seconds=60)
    await hub.__aenter__()
    await eventually(lambda: hub.position == 1)
    visit = StreamClient(hub, 1)
    news.fault = ZeroDivisionError("a fault of our own")
    news.become(1, 2)
    await visit.task
    with pytest.raises(ZeroDivisionError):
        await hub.start_position(1)
    with pytest.raises(ZeroDivisionError):
        await hub.__aexit__(None, None, None)


async def test_a_stream_ends_at_its_maximum_age(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "MAX_CONNECTION_AGE", 0.0)
    async with hub_of(ScriptedOutbox(1)) as hub:
        visit = StreamClient(hub, 1)
        await visit.task
        assert visit.listener.close_reason is CloseReason.MAX_AGE


async def test_a_client_connecting_during_close_is_closed() -> None:
    async with hub_of(ScriptedOutbox(1)) as hub:
        hub.close()
        visit = StreamClient(hub, 1)
        await visit.task
        assert (visit.listener.close_reason, visit.written) == (CloseReason.CLOSING, [])


async def test_an_idle_client_is_advanced_without_waking_it() -> None:
    news = ScriptedOutbox(1)
    async with hub_of(news, buffer_messages=2) as hub:
        visit = StreamClient(hub, 1, frozenset({9}))
        await eventually(lambda: visit.ids == [1])
        for last in range(2, 9):
            news.become(*range(1, last + 1))
            await eventually(lambda last=last: hub.position == last)  # type: ignore[misc]
        assert (visit.ids, visit.listener.position) == ([1], 8)
        news.become(*range(1, 10))
        await eventually(lambda: visit.ids == [1, 9])


@pytest.mark.parametrize(("position", "written"), [(None, b":\n\n"), (12, b":\nid: 12\n\n")])
def test_a_heartbeat_is_a_comment_with_an_optional_id(position: int | None, written: bytes) -> None:
    assert heartbeat_event(position) == written


def message(position: int, size: int = 10) -> StreamMessage:
    return StreamMessage(position, "goal.seen", 1, None, b"x" * size)


@pytest.mark.parametrize(
    ("added", "floor", "last", "kept"),
    [
        ([], 0, 0, []),
        ([1, 2], 0, 2, [1, 2]),
        ([1, 2, 3, 4], 1, 4, [2, 3, 4]),
        ([1, 2, 5], 4, 5, [5]),  # what lies between them is gone
        ([7], 6, 7, [7]),
    ],
)
def test_the_message_buffer_has_no_gaps(added: list[int], floor: int, last: int, kept: list[int]) -> None:
    recent = MessageBuffer(max_messages=3, max_bytes=1000)
    recent.add([message(position) for position in added])
    assert (recent.floor, recent.last) == (floor, last)
    assert [each.position for each in recent.after(recent.floor, 10)] == kept
    assert recent.after(recent.last, 10) == recent.after(recent.last + 5, 10) == []


def test_a_message_over_the_byte_limit_is_not_buffered() -> None:
    recent = MessageBuffer(max_messages=3, max_bytes=100)
    recent.add([message(1), message(2, 1000)])
    assert (len(recent), recent.floor, recent.last) == (0, 2, 2)


@pytest.mark.parametrize(
    ("soft", "hard", "room", "asked_for"),
    [
        (1024, 1_048_576, 2000, 2512),
        (1024, resource.RLIM_INFINITY, 2000, 2512),
        (20_000, 20_000, 2000, None),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, 2000, None),
        (1024, 1024, 512, 1024),
        (256, 256, 1, 256),
    ],
)
def test_the_client_limit_follows_the_open_file_limit(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, room: int, asked_for: int | None
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    assert raise_file_limit(2000) == room
    assert asked == ([(asked_for, hard)] if asked_for else [])
