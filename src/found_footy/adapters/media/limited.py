"""Reads strangers' videos in processes with limits on memory and time. What kills such a process loses one clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from found_footy.adapters.media.fork_server import ForkServer
from found_footy.adapters.media.limited_process import LimitedProcess
from found_footy.adapters.media.messages import pictures_of, video_info
from found_footy.domain.errors import MediaBroken
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.probe import VideoInfo
from found_footy.ports import Picture

T = TypeVar("T")

OPERATIONS = "found_footy.adapters.media.operations"


class LimitedMedia:
    """Fills `MediaReader`. At most `at_once` files are read at a time, by default one for each processor."""

    def __init__(self, memory_mb: int, seconds: float, *, at_once: int | None = None) -> None:
        self._server = ForkServer([OPERATIONS])
        self._process = LimitedProcess(self._server, memory_mb, seconds, at_once=at_once)

    async def probe(self, path: Path) -> VideoInfo:
        header, _ = await self._process.run(f"{OPERATIONS}:probe", path)
        return _sensible(path, lambda: video_info(header))

    async def pictures(self, path: Path, fractions: Sequence[float]) -> list[Picture]:
        header, payload = await self._process.run(f"{OPERATIONS}:pictures", path, list(fractions))
        return _sensible(path, lambda: pictures_of(header, payload, len(fractions)))

    async def fingerprint(self, path: Path) -> Fingerprint:
        _, payload = await self._process.run(f"{OPERATIONS}:fingerprint", path)
        return _sensible(path, lambda: Fingerprint.from_bytes(bytes(payload)))

    async def aclose(self) -> None:
        await self._server.aclose()


def _sensible(path: Path, read: Callable[[], T]) -> T:
    """A decoder that a file has taken over may say anything."""
    try:
        return read()
    except ValueError as error:
        raise MediaBroken(f"{path}: the process that decodes it answers nonsense: {error}") from None
