"""One listener: where it stands, and how it gets from there to the present.

Whoever stands within the recent messages is served from them. Whoever stands before them reads pages from the
database until it has caught up. Both are the same step, from a position to the messages that come next, so there is
no seam at which something could be lost or told twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from enum import StrEnum
from typing import Protocol

from found_footy.domain.errors import StoreUnavailable
from found_footy.web.live.messages import Message, beat, hello, message_of, reset
from found_footy.web.live.recent import Recent
from found_footy.web.live.wishes import Wishes
from found_footy.web.ports import NewsReading

PAGE = 200
PIECE_BYTES = 64 * 1024
"""At most about so much is handed to a connection at once; the rest waits where it is shared."""

LIFE_SECONDS = 3600.0
"""Then a listener has to come back, and is asked for its token again."""

PAST_RETENTION = "news after this position are no longer kept; what is still there follows"

Write = Callable[[bytes], Awaitable[None]]


class End(StrEnum):
    """Why a stream ended."""

    LEFT = "left"
    SLOW = "slow"
    CLOSING = "closing"
    OLD = "old"
    ANEW = "anew"


class House(Protocol):
    """Where the listeners are."""

    recent: Recent
    news: NewsReading


class Listener:
    def __init__(self, house: House, wants: Wishes, position: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._house = house
        self._wants = wants
        self.position = position
        self._told = position
        """The last id that it was given."""
        self._bell: asyncio.Future[None] | None = None
        self._beat_due = False
        self._joined = False
        """Whether it has reached the recent messages."""
        self._writing_since: float | None = None
        self._wrote_at = self._loop.time()
        self._limit: asyncio.Timeout | None = None
        self.ended: End | None = None

    async def run(self, write: Write) -> None:
        """Until it is ended, or has been here long enough."""
        try:
            async with asyncio.timeout(None) as self._limit:
                if self.ended is None:
                    self._limit.reschedule(self._loop.time() + LIFE_SECONDS)
                    await self._write(write, hello(self.position, self._wants.names))
                while self.ended is None:
                    await self._step(write)
        except TimeoutError:
            self.ended = self.ended or End.OLD
        finally:
            self._limit = None

    def end(self, reason: End) -> None:
        """Wherever it is, also in the middle of writing to somebody who does not read."""
        if self.ended is None:
            self.ended = reason
            if self._limit is not None:
                self._limit.reschedule(0)

    # --- what the hub tells

    def offer(self, before: int, messages: Sequence[Message]) -> None:
        """There is more. Who rests and wants none of it is moved along without being woken."""
        last = messages[-1].position
        if self._bell is None:
            if self._joined and self.position < self._house.recent.floor:
                self.end(End.SLOW)
        elif before == self.position == last - len(messages) and not self._wants.include_any(messages):
            self.position = last
        else:
            self.wake()

    def wake(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)

    def tick(self, now: float, silence: float, stall: float) -> None:
        """A sign of life to who has heard nothing for so long; the end for who has taken nothing for so long."""
        if self._writing_since is not None:
            if now - self._writing_since > stall:
                self.end(End.SLOW)
        elif self._bell is not None and now - self._wrote_at >= silence:
            self._beat_due = True
            self.wake()

    # --- its own steps

    async def _step(self, write: Write) -> None:
        if self._beat_due:
            self._beat_due = False
            position = self.position if self.position != self._told else None
            self._told = self.position
            await self._write(write, beat(position))
        recent = self._house.recent
        self._joined = self.position >= recent.floor
        if self._joined:
            page: Sequence[Message] = recent.after(self.position, PAGE)
        else:
            try:
                page = [message_of(item) for item in await self._house.news.since(self.position, PAGE)]
            except StoreUnavailable:
                await self._rest()  # until the next beat, or until the hub has found the database again
                return
        for piece in self._pieces(page):
            await self._write(write, piece)
        if not page and self._joined:
            await self._rest()
        elif not page:
            await self._write(write, self._skip_to(recent.floor))

    def _skip_to(self, position: int) -> bytes:
        """What was before is gone."""
        self.position = self._told = position
        return reset(position, PAST_RETENTION)

    def _pieces(self, page: Sequence[Message]) -> Iterator[bytes]:
        parts: list[bytes] = []
        size = 0
        for message in page:
            if message.position != self.position + 1:
                parts.append(self._skip_to(message.position - 1))
            self.position = message.position
            if self._wants.include(message):
                self._told = message.position
                parts.append(message.content)
                size += len(message.content)
            if size >= PIECE_BYTES:
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
        self._bell = self._loop.create_future()
        try:
            await self._bell
        finally:
            self._bell = None
