"""One reader of the outbox for the whole process, and everybody who listens to it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from types import TracebackType
from typing import Self

from found_footy.domain.errors import BadRequest, StoreUnavailable, StreamFull
from found_footy.web.live.listener import End, Listener
from found_footy.web.live.messages import message_of
from found_footy.web.live.recent import Recent
from found_footy.web.live.wishes import Wishes
from found_footy.web.ports import NewsReading

log = logging.getLogger(__name__)

KEPT_MESSAGES, KEPT_BYTES = 5000, 16 * 1024 * 1024
"""The recent messages: about the hour of a busy matchday, for all who come back after a restart."""

PAGE = 500
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
LOOK_SECONDS = 1.0
STALL_SECONDS = 30.0


class Hub:
    """Reads while its `async with` block is open."""

    def __init__(
        self,
        news: NewsReading,
        *,
        most_listeners: int,
        heartbeat_seconds: float,
        kept: int = KEPT_MESSAGES,
        kept_bytes: int = KEPT_BYTES,
        stall_seconds: float = STALL_SECONDS,
    ) -> None:
        self.news = news
        self.recent = Recent(kept, kept_bytes)
        self._kept = kept
        self._most = most_listeners
        self._heartbeat, self._stall = heartbeat_seconds, stall_seconds
        self._listeners: set[Listener] = set()
        self._began = False
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._read(), name="reading the news"),
            asyncio.create_task(self._tick(), name="signs of life"),
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
        """Ends all streams, and lets nobody in. To be called before the server stops: it waits for open answers."""
        self._closed = True
        for listener in self._listeners:
            listener.end(End.CLOSING)

    @property
    def position(self) -> int | None:
        """What is up to here has been told to all who listen; None before the first look. Pages that are drawn
        after this was asked for can listen on from here."""
        return self.recent.last if self._began else None

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    # --- listening

    async def start_of(self, after: int | None) -> int:
        """Where a stream begins. Raises BadRequest for what lies in the future, StoreUnavailable, StreamFull."""
        known = self.position
        if known is None or (after is not None and after > known):
            known = await self.news.latest()
        if after is not None and after > known:
            raise BadRequest(f"there is no position {after} yet; the last one is {known}")
        self._check()
        return known if after is None else after

    def enter(self, wants: Wishes, position: int) -> Listener:
        listener = Listener(self, wants, position)
        self._listeners.add(listener)
        if self._closed:
            listener.end(End.CLOSING)
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)
        if listener.ended is End.SLOW:
            log.warning("a listener that takes nothing was cut off", extra={"action": "listener_slow"})

    def _check(self) -> None:
        for task in self._tasks:
            if task.done() and not self._closed:
                task.result()  # a fault of our own: better an error than silence
        if self._closed or len(self._listeners) >= self._most:
            raise StreamFull(f"{len(self._listeners)} listen, and no more are let in")

    # --- reading

    async def _read(self) -> None:
        try:
            await self._read_on()
        finally:
            # Also after a fault of our own: who is told nothing any more should not think that all is quiet.
            for listener in self._listeners:
                listener.end(End.CLOSING)

    async def _read_on(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                await self._look()
            except StoreUnavailable as error:
                if pause == FIRST_PAUSE:
                    log.warning(str(error), extra={"action": "news_unavailable"})
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)
                continue
            if pause != FIRST_PAUSE:
                pause = FIRST_PAUSE
                self._wake_all()  # some may have been in the middle of a page
            await self.news.wait(LOOK_SECONDS)

    async def _look(self) -> None:
        last = await self.news.latest()
        if not self._began or last < self.recent.last:
            self._begin(last)
        while self.recent.last < last:
            page = await self.news.since(self.recent.last, PAGE)
            before = self.recent.last
            if not page:
                self.recent.begin(last)  # all of it is past retention already
                self._wake_all()
                break
            messages = [message_of(item) for item in page]
            self.recent.add(messages)
            for listener in self._listeners:
                listener.offer(before, messages)
        self._began = True

    def _begin(self, last: int) -> None:
        if self._began:
            log.warning("the positions of the news began anew", extra={"action": "news_anew"})
            self._began = False
            for listener in self._listeners:
                listener.end(End.ANEW)
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
                listener.tick(now, self._heartbeat - between, self._stall)
