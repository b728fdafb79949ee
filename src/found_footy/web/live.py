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

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from found_footy.errors import BadRequest, StoreUnavailable, StreamFull
from found_footy.notifications.models import TOPICS, OutboxMessage, expand_topics


class OutboxSource(Protocol):
    """Outbox by position. All methods but `wait` raise StoreUnavailable."""

    async def latest(self) -> int:
        """Assign missing positions; return the last one."""

    async def since(self, after: int, limit: int) -> list[OutboxMessage]: ...

    async def wait(self, most_seconds: float = 1.0) -> None:
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
        item.position, item.topic, item.fixture_id, item.event_id, _event(item.topic, item.position, data)
    )


def hello(position: int, topics: Iterable[str]) -> bytes:
    """First event of every stream: its start position and the topics that can follow."""
    first = _event("hello", position, {"position": position, "topics": list(topics)})
    return b"retry: %d\n" % RETRY_MS + first


def reset(position: int, reason: str) -> bytes:
    return _event("reset", position, {"position": position, "reason": reason})


def heartbeat(position: int | None) -> bytes:
    """Keep-alive. With a position, an event without data that updates the browser's Last-Event-ID."""
    return b":\n\n" if position is None else b":\nid: %d\n\n" % position


def _event(name: str, position: int, data: dict[str, Any]) -> bytes:
    # json.dumps writes no line breaks, so the data is always one line.
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {position}\nevent: {name}\ndata: {line}\n\n".encode()


# --- Latest messages, shared by all clients: bounded, without gaps.


class MessageBuffer:
    """Every message after `floor` up to `last`. A client before `floor` reads from the database."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._messages: list[StreamMessage] = []
        self._bytes = 0
        self.floor = self.last = 0

    def __len__(self) -> int:
        return len(self._messages)

    def begin(self, position: int) -> None:
        """Clear the buffer; the next message follows this position."""
        self._messages.clear()
        self._bytes = 0
        self.floor = self.last = position

    def add(self, messages: Sequence[StreamMessage]) -> None:
        for message in messages:
            if message.position != self.last + 1:  # the messages in between are past retention
                self.begin(message.position - 1)
            self._messages.append(message)
            self._bytes += len(message.content)
            self.last = message.position
        while len(self._messages) > self._most or self._bytes > self._most_bytes:
            oldest = self._messages.pop(0)
            self._bytes -= len(oldest.content)
            self.floor = oldest.position

    def after(self, position: int, most: int) -> list[StreamMessage]:
        """Next messages. `position` must not be before the floor."""
        start = position - self.floor
        assert start >= 0
        return self._messages[start : start + most]


# --- Client limit: each client is an open file, and a process has a limit.


log = logging.getLogger(__name__)

RESERVED_FILES = 512
"""Files reserved for other requests, the database and downloads."""


def raise_file_limit(listeners: int) -> int:
    """Raise the soft limit of open files if needed; return how many clients fit."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = listeners + RESERVED_FILES
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    room = listeners if allowed == resource.RLIM_INFINITY else max(1, min(listeners, allowed - RESERVED_FILES))
    if room < listeners:
        said = f"only {room} of {listeners} stream clients fit: this process may open {allowed} files"
        log.warning(said, extra={"action": "few_files"})
    return room


# --- Filter of one client.


@dataclass(frozen=True, slots=True)
class StreamFilter:
    """A message must match every filter; None matches all."""

    fixtures: frozenset[int] | None = None
    events: frozenset[str] | None = None
    topics: frozenset[str] | None = None

    def include(self, message: StreamMessage) -> bool:
        return (
            (self.topics is None or message.topic in self.topics)
            and (self.fixtures is None or message.fixture_id in self.fixtures)
            and (self.events is None or message.event_id in self.events)
        )

    def include_any(self, messages: Sequence[StreamMessage]) -> bool:
        return self is EVERYTHING or any(self.include(message) for message in messages)

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
    def __init__(self, hub: Hub, wants: StreamFilter, position: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._hub = hub
        self._wants = wants
        self.position = position
        self._sent_id = position
        """Last id sent to the client."""
        self._wakeup: asyncio.Future[None] | None = None
        self._heartbeat_due = False
        self._joined = False
        """Whether the client has caught up with the shared buffer."""
        self._writing_since: float | None = None
        self._wrote_at = self._loop.time()
        self._limit: asyncio.Timeout | None = None
        self.ended: CloseReason | None = None

    async def run(self, write: Write) -> None:
        """Run until closed or the maximum age is reached."""
        try:
            async with asyncio.timeout(None) as self._limit:
                if self.ended is None:
                    self._limit.reschedule(self._loop.time() + MAX_CONNECTION_AGE)
                    await self._write(write, hello(self.position, self._wants.names))
                while self.ended is None:
                    await self._step(write)
        except TimeoutError:
            self.ended = self.ended or CloseReason.MAX_AGE
        finally:
            self._limit = None

    def end(self, reason: CloseReason) -> None:
        """End the stream; also interrupts a write to a client that does not read."""
        if self.ended is None:
            self.ended = reason
            if self._limit is not None:
                self._limit.reschedule(0)

    # --- Called by the hub.

    def offer(self, before: int, messages: Sequence[StreamMessage]) -> None:
        """Advance an idle client past messages that its filter excludes; otherwise wake it."""
        last = messages[-1].position
        if self._wakeup is None:
            if self._joined and self.position < self._hub.recent.floor:
                self.end(CloseReason.SLOW)
        elif before == self.position == last - len(messages) and not self._wants.include_any(messages):
            self.position = last
        else:
            self.wake()

    def wake(self) -> None:
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)

    def check(self, now: float, silence: float, stall: float) -> None:
        """Send a heartbeat after `silence` seconds; close a client that has read nothing for `stall` seconds."""
        if self._writing_since is not None:
            if now - self._writing_since > stall:
                self.end(CloseReason.SLOW)
        elif self._wakeup is not None and now - self._wrote_at >= silence:
            self._heartbeat_due = True
            self.wake()

    # --- Steps of the client's task.

    async def _step(self, write: Write) -> None:
        if self._heartbeat_due:
            self._heartbeat_due = False
            position = self.position if self.position != self._sent_id else None
            self._sent_id = self.position
            await self._write(write, heartbeat(position))
        recent = self._hub.recent
        self._joined = self.position >= recent.floor
        if self._joined:
            page: Sequence[StreamMessage] = recent.after(self.position, PAGE_SIZE)
        else:
            try:
                page = [stream_message(item) for item in await self._hub.news.since(self.position, PAGE_SIZE)]
            except StoreUnavailable:
                await self._rest()  # until the next heartbeat, or until the hub has reconnected
                return
        for piece in self._pieces(page):
            await self._write(write, piece)
        if not page and self._joined:
            await self._rest()
        elif not page:
            await self._write(write, self._skip_to(recent.floor))

    def _skip_to(self, position: int) -> bytes:
        """Skip expired messages."""
        self.position = self._sent_id = position
        return reset(position, EXPIRED_REASON)

    def _pieces(self, page: Sequence[StreamMessage]) -> Iterator[bytes]:
        parts: list[bytes] = []
        size = 0
        for message in page:
            if message.position != self.position + 1:
                parts.append(self._skip_to(message.position - 1))
            self.position = message.position
            if self._wants.include(message):
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

    async def _rest(self) -> None:
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
        news: OutboxSource,
        *,
        most_listeners: int,
        heartbeat_seconds: float,
        kept: int = BUFFER_MESSAGES,
        kept_bytes: int = BUFFER_BYTES,
        stall_seconds: float = STALL_SECONDS,
    ) -> None:
        self.news = news
        self.recent = MessageBuffer(kept, kept_bytes)
        self._kept = kept
        self._most = most_listeners
        self._heartbeat, self._stall = heartbeat_seconds, stall_seconds
        self._listeners: set[StreamClient] = set()
        self._began = False
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._read(), name="outbox reader"),
            asyncio.create_task(self._tick(), name="stream heartbeats"),
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
        for listener in self._listeners:
            listener.end(CloseReason.CLOSING)

    @property
    def position(self) -> int | None:
        """Last position fanned out; None before the first read. A page that reads it before its data, and streams from
        it, misses nothing.
        """
        return self.recent.last if self._began else None

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    # --- Clients.

    async def start_of(self, after: int | None) -> int:
        """Start position of a stream. Raises BadRequest for a future position, StoreUnavailable, StreamFull."""
        known = self.position
        if known is None or (after is not None and after > known):
            known = await self.news.latest()
        if after is not None and after > known:
            raise BadRequest(f"position {after} does not exist yet; the latest is {known}")
        self._check()
        return known if after is None else after

    def enter(self, wants: StreamFilter, position: int) -> StreamClient:
        listener = StreamClient(self, wants, position)
        self._listeners.add(listener)
        if self._closed:
            listener.end(CloseReason.CLOSING)
        return listener

    def leave(self, listener: StreamClient) -> None:
        self._listeners.discard(listener)
        if listener.ended is CloseReason.SLOW:
            log.warning("closed a stream client that does not read", extra={"action": "listener_slow"})

    def _check(self) -> None:
        for task in self._tasks:
            if task.done() and not self._closed:
                task.result()  # raises the error of a dead task
        if self._closed or len(self._listeners) >= self._most:
            raise StreamFull(f"{len(self._listeners)} clients connected: stream limit reached")

    # --- Reading.

    async def _read(self) -> None:
        try:
            await self._read_on()
        finally:
            # Also after an internal error: otherwise clients would only see silence.
            for listener in self._listeners:
                listener.end(CloseReason.CLOSING)

    async def _read_on(self) -> None:
        pause = INITIAL_BACKOFF
        while True:
            try:
                await self._look()
            except StoreUnavailable as error:
                if pause == INITIAL_BACKOFF:
                    log.warning(str(error), extra={"action": "news_unavailable"})
                await asyncio.sleep(pause)
                pause = min(MAX_BACKOFF, pause * 2)
                continue
            if pause != INITIAL_BACKOFF:
                pause = INITIAL_BACKOFF
                self._wake_all()  # some may have stopped in the middle of a page
            await self.news.wait(CHECK_SECONDS)

    async def _look(self) -> None:
        last = await self.news.latest()
        if not self._began or last < self.recent.last:
            self._begin(last)
        while self.recent.last < last:
            page = await self.news.since(self.recent.last, HUB_PAGE_SIZE)
            before = self.recent.last
            if not page:
                self.recent.begin(last)  # everything is past retention
                self._wake_all()
                break
            messages = [stream_message(item) for item in page]
            self.recent.add(messages)
            for listener in self._listeners:
                listener.offer(before, messages)
        self._began = True

    def _begin(self, last: int) -> None:
        if self._began:
            log.warning("outbox positions were reset", extra={"action": "outbox_reset"})
            self._began = False
            for listener in self._listeners:
                listener.end(CloseReason.POSITIONS_RESET)
        self.recent.begin(max(0, last - self._kept))

    def _wake_all(self) -> None:
        for listener in self._listeners:
            listener.wake()

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        between = self._heartbeat / 4
        while True:
            await asyncio.sleep(between)
            now = loop.time()
            for listener in self._listeners:
                listener.check(now, self._heartbeat - between, self._stall)


# --- ASGI response of one client.


CLOSE_TIMEOUT = 1.0


class EventStreamResponse(Response):
    media_type = "text/event-stream"

    def __init__(self, hub: Hub, wants: StreamFilter, position: int) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["Content-Length"]
        self._hub, self._wants, self._position = hub, wants, position

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def write(content: bytes) -> None:
            await send({"type": "http.response.body", "body": content, "more_body": True})

        listener = self._hub.enter(self._wants, self._position)
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            writing = asyncio.create_task(listener.run(write))
            try:
                await _until_left(receive, writing)
            finally:
                listener.end(CloseReason.DISCONNECTED)
                await writing
        finally:
            self._hub.leave(listener)
        if listener.ended is not CloseReason.DISCONNECTED:
            await _finish(send)


async def _until_left(receive: Receive, writing: asyncio.Task[None]) -> None:
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
