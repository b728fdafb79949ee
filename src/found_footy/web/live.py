"""Live updates: one outbox reader per process, fanned out to all server-sent-event clients."""

from __future__ import annotations

import asyncio
import json
import logging
import resource
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from found_footy.errors import BadRequest, StoreUnavailable, StreamFull
from found_footy.notifications.models import TOPICS, OutboxMessage, expand_topics
from found_footy.web.visitors import ConcurrencyLimit, limited_address


class OutboxSource(Protocol):
    """Outbox by position. All methods but `wait` raise StoreUnavailable."""

    async def latest(self) -> int:
        """Assign missing positions; return the last one."""

    async def since(self, after: int, limit: int) -> list[OutboxMessage]: ...

    async def wait(self, timeout_seconds: float = 1.0) -> None:
        """Wait until there may be new messages, or for the timeout."""


RETRY_MS = 2000
"""Delay before a browser reconnects."""


@dataclass(frozen=True, slots=True)
class StreamMessage:
    position: int
    topic: str
    fixture_id: int | None
    event_id: str | None
    content: bytes


def stream_message(item: OutboxMessage) -> StreamMessage:
    data = {
        "position": item.position,
        "at": item.at.isoformat(),
        "topic": item.topic,
        "fixture_id": item.fixture_id,
        "event_id": item.event_id,
        "payload": item.payload,
    }
    return StreamMessage(
        item.position, item.topic, item.fixture_id, item.event_id, _format_event(item.topic, item.position, data)
    )


def hello_event(position: int, topics: Iterable[str]) -> bytes:
    """First event of every stream: its start position and the topics that can follow."""
    first = _format_event("hello", position, {"position": position, "topics": list(topics)})
    return b"retry: %d\n" % RETRY_MS + first


def reset_event(position: int, reason: str) -> bytes:
    return _format_event("reset", position, {"position": position, "reason": reason})


def heartbeat_event(position: int | None) -> bytes:
    """Keep the connection alive. With a position, an event without data that updates the browser's Last-Event-ID."""
    return b":\n\n" if position is None else b":\nid: %d\n\n" % position


def _format_event(name: str, position: int, data: dict[str, Any]) -> bytes:
    # json.dumps writes no line breaks, so the data is always one line.
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {position}\nevent: {name}\ndata: {line}\n\n".encode()


# --- Latest messages, shared by all clients: bounded, without gaps.


class MessageBuffer:
    """Every message after `floor` up to `last`. A client before `floor` reads from the database."""

    def __init__(self, max_messages: int, max_bytes: int) -> None:
        self._max_messages, self._max_bytes = max_messages, max_bytes
        self._messages: list[StreamMessage] = []
        self._bytes = 0
        self.floor = self.last = 0

    def __len__(self) -> int:
        return len(self._messages)

    def reset(self, position: int) -> None:
        """Clear the buffer; the next message follows this position."""
        self._messages.clear()
        self._bytes = 0
        self.floor = self.last = position

    def add(self, messages: Sequence[StreamMessage]) -> None:
        for message in messages:
            if message.position != self.last + 1:  # the messages in between are past retention
                self.reset(message.position - 1)
            self._messages.append(message)
            self._bytes += len(message.content)
            self.last = message.position
        while len(self._messages) > self._max_messages or self._bytes > self._max_bytes:
            oldest = self._messages.pop(0)
            self._bytes -= len(oldest.content)
            self.floor = oldest.position

    def after(self, position: int, limit: int) -> list[StreamMessage]:
        """Next messages. `position` must not be before the floor."""
        start = position - self.floor
        assert start >= 0
        return self._messages[start : start + limit]


# --- Client limit: each client is an open file, and a process has a limit.


log = logging.getLogger(__name__)

RESERVED_FILES = 512
"""Files reserved for other requests, the database and downloads."""


def raise_file_limit(clients: int) -> int:
    """Raise the soft limit of open files if needed; return how many clients fit."""
    allowed, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = clients + RESERVED_FILES
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        allowed = needed if hard_limit == resource.RLIM_INFINITY else min(needed, hard_limit)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard_limit))
    capacity = clients if allowed == resource.RLIM_INFINITY else max(1, min(clients, allowed - RESERVED_FILES))
    if capacity < clients:
        message = f"only {capacity} of {clients} stream clients fit: this process may open {allowed} files"
        log.warning(message, extra={"action": "file_limit_low"})
    return capacity


# --- Filter of one client.


@dataclass(frozen=True, slots=True)
class StreamFilter:
    """A message must match every filter; None matches all."""

    fixtures: frozenset[int] | None = None
    events: frozenset[str] | None = None
    topics: frozenset[str] | None = None

    def matches(self, message: StreamMessage) -> bool:
        return (
            (self.topics is None or message.topic in self.topics)
            and (self.fixtures is None or message.fixture_id in self.fixtures)
            and (self.events is None or message.event_id in self.events)
        )

    def matches_any(self, messages: Sequence[StreamMessage]) -> bool:
        return self is EVERYTHING or any(self.matches(message) for message in messages)

    @property
    def names(self) -> list[str]:
        return [topic for topic in TOPICS if self.topics is None or topic in self.topics]


EVERYTHING = StreamFilter()


def stream_filter(fixtures: Sequence[int], events: Sequence[str], topics: Sequence[str]) -> StreamFilter:
    """Build a filter. Raises BadRequest for an unknown topic."""
    if not (fixtures or events or topics):
        return EVERYTHING
    return StreamFilter(frozenset(fixtures) or None, frozenset(events) or None, expand_topics(topics) or None)


# --- One client: its position, and how it catches up.


PAGE_SIZE = 200
CHUNK_BYTES = 64 * 1024
"""Bytes written to a connection at once; the rest stays in the shared buffer."""

MAX_CONNECTION_AGE = 3600.0
"""Seconds after which the client must reconnect, so that its token is checked again."""

EXPIRED_REASON = "messages after this position have expired; continuing with the oldest available"

Write = Callable[[bytes], Awaitable[None]]


class CloseReason(StrEnum):
    DISCONNECTED = "disconnected"
    SLOW = "slow"
    CLOSING = "closing"
    MAX_AGE = "max_age"
    POSITIONS_RESET = "positions_reset"


class StreamClient:
    def __init__(self, hub: Hub, filters: StreamFilter, position: int, address: str | None = None) -> None:
        self.address = address
        self._loop = asyncio.get_running_loop()
        self._hub = hub
        self._filters = filters
        self.position = position
        self._sent_id = position
        """Last id sent to the client."""
        self._wakeup: asyncio.Future[None] | None = None
        self._heartbeat_due = False
        self._caught_up = False
        """Whether the client has caught up with the shared buffer."""
        self._writing_since: float | None = None
        self._wrote_at = self._loop.time()
        self._limit: asyncio.Timeout | None = None
        self.close_reason: CloseReason | None = None

    async def run(self, write: Write) -> None:
        """Run until closed or the maximum age is reached."""
        try:
            async with asyncio.timeout(None) as self._limit:
                if self.close_reason is None:
                    self._limit.reschedule(self._loop.time() + MAX_CONNECTION_AGE)
                    await self._write(write, hello_event(self.position, self._filters.names))
                while self.close_reason is None:
                    await self._step(write)
        except TimeoutError:
            self.close_reason = self.close_reason or CloseReason.MAX_AGE
        finally:
            self._limit = None

    def close(self, reason: CloseReason) -> None:
        """End the stream; also interrupts a write to a client that does not read."""
        if self.close_reason is None:
            self.close_reason = reason
            if self._limit is not None:
                self._limit.reschedule(0)

    # --- Called by the hub.

    def offer(self, previous: int, messages: Sequence[StreamMessage]) -> None:
        """Advance an idle client past messages that its filter excludes; otherwise wake it."""
        last = messages[-1].position
        if self._wakeup is None:
            if self._caught_up and self.position < self._hub.recent.floor:
                self.close(CloseReason.SLOW)
        elif previous == self.position == last - len(messages) and not self._filters.matches_any(messages):
            self.position = last
        else:
            self.wake()

    def wake(self) -> None:
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)

    def check(self, now: float, idle_seconds: float, stall_seconds: float) -> None:
        """Send a heartbeat after `idle_seconds`; close a client that has read nothing for `stall_seconds`."""
        if self._writing_since is not None:
            if now - self._writing_since > stall_seconds:
                self.close(CloseReason.SLOW)
        elif self._wakeup is not None and now - self._wrote_at >= idle_seconds:
            self._heartbeat_due = True
            self.wake()

    # --- Steps of the client's task.

    async def _step(self, write: Write) -> None:
        if self._heartbeat_due:
            self._heartbeat_due = False
            position = self.position if self.position != self._sent_id else None
            self._sent_id = self.position
            await self._write(write, heartbeat_event(position))
        recent = self._hub.recent
        self._caught_up = self.position >= recent.floor
        if self._caught_up:
            page: Sequence[StreamMessage] = recent.after(self.position, PAGE_SIZE)
        else:
            try:
                page = [stream_message(item) for item in await self._hub.outbox.since(self.position, PAGE_SIZE)]
            except StoreUnavailable:
                await self._wait_for_wakeup()  # until the next heartbeat, or until the hub has reconnected
                return
        for chunk in self._chunks(page):
            await self._write(write, chunk)
        if not page and self._caught_up:
            await self._wait_for_wakeup()
        elif not page:
            await self._write(write, self._skip_to(recent.floor))

    def _skip_to(self, position: int) -> bytes:
        """Skip expired messages."""
        self.position = self._sent_id = position
        return reset_event(position, EXPIRED_REASON)

    def _chunks(self, page: Sequence[StreamMessage]) -> Iterator[bytes]:
        parts: list[bytes] = []
        size = 0
        for message in page:
            if message.position != self.position + 1:
                parts.append(self._skip_to(message.position - 1))
            self.position = message.position
            if self._filters.matches(message):
                self._sent_id = message.position
                parts.append(message.content)
                size += len(message.content)
            if size >= CHUNK_BYTES:
                yield b"".join(parts)
                parts, size = [], 0
        if parts:
            yield parts[0] if len(parts) == 1 else b"".join(parts)

    async def _write(self, write: Write, content: bytes) -> None:
        self._writing_since = self._loop.time()
        await write(content)
        self._writing_since = None
        self._wrote_at = self._loop.time()

    async def _wait_for_wakeup(self) -> None:
        self._wakeup = self._loop.create_future()
        try:
            await self._wakeup
        finally:
            self._wakeup = None


# --- The hub: one outbox reader per process, and its clients.


BUFFER_MESSAGES, BUFFER_BYTES = 5000, 16 * 1024 * 1024
"""About an hour of a busy matchday, for clients that reconnect."""

HUB_PAGE_SIZE = 500
INITIAL_BACKOFF, MAX_BACKOFF = 0.25, 5.0
CHECK_SECONDS = 1.0
STALL_SECONDS = 30.0


class Hub:
    """Reads the outbox once per process and fans it out to SSE clients."""

    def __init__(
        self,
        outbox: OutboxSource,
        *,
        max_clients: int,
        heartbeat_seconds: float,
        clients_per_address: int | None = None,
        buffer_messages: int = BUFFER_MESSAGES,
        buffer_bytes: int = BUFFER_BYTES,
        stall_seconds: float = STALL_SECONDS,
    ) -> None:
        self.outbox = outbox
        self.recent = MessageBuffer(buffer_messages, buffer_bytes)
        self._buffer_messages = buffer_messages
        self._limit = ConcurrencyLimit(max_clients, "live streams", clients_per_address)
        self._heartbeat, self._stall = heartbeat_seconds, stall_seconds
        self._clients: set[StreamClient] = set()
        self._started = False
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._run_reader(), name="outbox reader"),
            asyncio.create_task(self._send_heartbeats(), name="stream heartbeats"),
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def close(self) -> None:
        """Close all streams and refuse new ones. Call it before the server stops, because the server waits for open
        responses.
        """
        self._closed = True
        for client in self._clients:
            client.close(CloseReason.CLOSING)

    @property
    def position(self) -> int | None:
        """Last position fanned out; None before the first read. A page that reads it before its data, and streams from
        it, misses nothing.
        """
        return self.recent.last if self._started else None

    @property
    def clients(self) -> int:
        return len(self._clients)

    # --- Clients.

    async def start_position(self, after: int | None, address: str | None = None) -> int:
        """Start position of a stream. Raises BadRequest for a future position, StoreUnavailable, StreamFull, or
        TooManyRequests.
        """
        latest = self.position
        if latest is None or (after is not None and after > latest):
            latest = await self.outbox.latest()
        if after is not None and after > latest:
            raise BadRequest(f"position {after} does not exist yet; the latest is {latest}")
        self._check_capacity(address)
        return latest if after is None else after

    def connect(self, filters: StreamFilter, position: int, address: str | None = None) -> StreamClient:
        client = StreamClient(self, filters, position, address)
        self._clients.add(client)
        self._limit.add(address)
        if self._closed:
            client.close(CloseReason.CLOSING)
        return client

    def disconnect(self, client: StreamClient) -> None:
        self._clients.discard(client)
        self._limit.remove(client.address)
        if client.close_reason is CloseReason.SLOW:
            log.warning("closed a stream client that does not read", extra={"action": "stream_client_slow"})

    def _check_capacity(self, address: str | None) -> None:
        for task in self._tasks:
            if task.done() and not self._closed:
                task.result()  # raises the error of a dead task
        if self._closed:
            raise StreamFull("the server is stopping")
        self._limit.check(address)

    # --- Reading.

    async def _run_reader(self) -> None:
        try:
            await self._read_loop()
        finally:
            # Also after an internal error: otherwise clients would only see silence.
            for client in self._clients:
                client.close(CloseReason.CLOSING)

    async def _read_loop(self) -> None:
        backoff = INITIAL_BACKOFF
        while True:
            try:
                await self._read_new()
            except StoreUnavailable as error:
                if backoff == INITIAL_BACKOFF:
                    log.warning(str(error), extra={"action": "outbox_unavailable"})
                await asyncio.sleep(backoff)
                backoff = min(MAX_BACKOFF, backoff * 2)
                continue
            if backoff != INITIAL_BACKOFF:
                backoff = INITIAL_BACKOFF
                self._wake_all()  # some may have stopped in the middle of a page
            await self.outbox.wait(CHECK_SECONDS)

    async def _read_new(self) -> None:
        last = await self.outbox.latest()
        if not self._started or last < self.recent.last:
            self._restart(last)
        while self.recent.last < last:
            page = await self.outbox.since(self.recent.last, HUB_PAGE_SIZE)
            previous = self.recent.last
            if not page:
                self.recent.reset(last)  # everything is past retention
                self._wake_all()
                break
            messages = [stream_message(item) for item in page]
            self.recent.add(messages)
            for client in self._clients:
                client.offer(previous, messages)
        self._started = True

    def _restart(self, last: int) -> None:
        if self._started:
            log.warning("outbox positions were reset", extra={"action": "outbox_reset"})
            self._started = False
            for client in self._clients:
                client.close(CloseReason.POSITIONS_RESET)
        self.recent.reset(max(0, last - self._buffer_messages))

    def _wake_all(self) -> None:
        for client in self._clients:
            client.wake()

    async def _send_heartbeats(self) -> None:
        loop = asyncio.get_running_loop()
        interval = self._heartbeat / 4
        while True:
            await asyncio.sleep(interval)
            now = loop.time()
            for client in self._clients:
                client.check(now, self._heartbeat - interval, self._stall)


# --- ASGI response of one client.


CLOSE_TIMEOUT = 1.0


class EventStreamResponse(Response):
    media_type = "text/event-stream"

    def __init__(self, hub: Hub, filters: StreamFilter, position: int) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["Content-Length"]
        self._hub, self._filters, self._position = hub, filters, position

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def write(content: bytes) -> None:
            await send({"type": "http.response.body", "body": content, "more_body": True})

        client = self._hub.connect(self._filters, self._position, limited_address(HTTPConnection(scope)))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            writing = asyncio.create_task(client.run(write))
            try:
                await _wait_for_disconnect(receive, writing)
            finally:
                client.close(CloseReason.DISCONNECTED)
                await writing
        finally:
            self._hub.disconnect(client)
        if client.close_reason is not CloseReason.DISCONNECTED:
            await _finish(send)


async def _wait_for_disconnect(receive: Receive, writing: asyncio.Task[None]) -> None:
    """Wait until the client disconnects, or there is nothing more to write."""

    def stop(_: asyncio.Task[None]) -> None:
        limit.reschedule(0)

    with suppress(TimeoutError):
        async with asyncio.timeout(None) as limit:
            writing.add_done_callback(stop)
            try:
                while (await receive())["type"] != "http.disconnect":
                    pass
            finally:
                writing.remove_done_callback(stop)


async def _finish(send: Send) -> None:
    """End the response. If the client does not read even that, the server closes the connection."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_TIMEOUT):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
