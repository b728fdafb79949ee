"""Answers that are kept until something changes in the database: never older than what a query would give now.

A list of fifty matches with their goals and clips takes the database some ten milliseconds, and on a matchday
everybody asks for the same one. Asking whether anything was committed since takes a tenth of one, for all who ask
at the same time together.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

MOST_BYTES = 32 * 1024 * 1024
PACKED_FROM = 1024
"""Bytes; smaller ones do not get smaller."""
PACKED_IN_THREAD_FROM = 64 * 1024


@dataclass(slots=True)
class KeptAnswer:
    version: str
    body: bytes
    etag: str = field(init=False)
    _packed: bytes | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.etag = hashlib.blake2b(self.body, digest_size=12).hexdigest()

    @property
    def room(self) -> int:
        """In bytes, with some for its packed form and for what points to it."""
        return 1000 + 2 * len(self.body)

    @property
    def is_worth_packing(self) -> bool:
        return len(self.body) >= PACKED_FROM

    async def packed(self) -> bytes:
        """With gzip, quickly rather than small."""
        if self._packed is None:
            if len(self.body) >= PACKED_IN_THREAD_FROM:
                self._packed = await asyncio.to_thread(gzip.compress, self.body, 3, mtime=0)
            else:
                self._packed = gzip.compress(self.body, 3, mtime=0)
        return self._packed


Made = Callable[[], Awaitable[tuple[str, bytes]]]
"""Makes an answer: the version that it was made of, or one before it, and its body."""


class KeptAnswers:
    """`version` says which state of the database can be seen. What is of another one is made again."""

    def __init__(self, version: Callable[[], Awaitable[str]], most_bytes: int = MOST_BYTES) -> None:
        self._version = version
        self._most_bytes = most_bytes
        self._answers: OrderedDict[Hashable, KeptAnswer] = OrderedDict()
        self._bytes = 0
        self._making: dict[tuple[Hashable, str | None], asyncio.Task[KeptAnswer]] = {}

    async def answer(self, key: Hashable, make: Made) -> KeptAnswer:
        """`key` holds all that the answer depends on, but for the database. Who asks for the same shares the work."""
        version = None
        first = self._making.get((key, None))
        if first is not None:
            # It may have begun before the latest change: good to wait for, and to be looked at then.
            await asyncio.wait([first])
        known = self._answers.get(key)
        if known is not None:
            version = await self._version()
            if known.version == version:
                self._touch(key)
                return known
        making = self._making.get((key, version)) if version is not None else None
        if making is None:
            making = self._making[key, version] = asyncio.create_task(self._make(make))
            making.add_done_callback(lambda done: self._made(key, version, done))
        return await asyncio.shield(making)

    def after_version(self, make: Callable[[], Awaitable[bytes]]) -> Made:
        """For what is read by several queries: what changes between them makes the answer newer than it says."""

        async def made() -> tuple[str, bytes]:
            return await self._version(), await make()

        return made

    async def _make(self, make: Made) -> KeptAnswer:
        return KeptAnswer(*await make())

    def _made(self, key: Hashable, version: str | None, done: asyncio.Task[KeptAnswer]) -> None:
        if self._making.get((key, version)) is done:
            del self._making[key, version]
        if done.cancelled() or done.exception() is not None:
            return
        self._forget(key)
        made = done.result()
        self._answers[key] = made
        self._bytes += made.room
        while self._bytes > self._most_bytes:
            self._forget(next(iter(self._answers)))

    def _touch(self, key: Hashable) -> None:
        if key in self._answers:
            self._answers.move_to_end(key)

    def _forget(self, key: Hashable) -> None:
        known = self._answers.pop(key, None)
        if known is not None:
            self._bytes -= known.room
