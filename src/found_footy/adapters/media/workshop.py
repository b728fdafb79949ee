"""The library's workshop: strangers' films made into masters, cut and pictured in processes with limits."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from found_footy.adapters.media.fork_server import ForkServer
from found_footy.adapters.media.limited_process import LimitedProcess, Progress
from found_footy.adapters.media.workshop_answers import cuts_of, keyframes_of, master_of, sprite_of
from found_footy.domain.clips.values import Master, Sprite
from found_footy.domain.errors import MediaBroken, MediaTooLarge, NotFound
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.keyframe_wishes import parse_wishes
from found_footy.media.scenes import DETECTOR
from found_footy.ports_library import Keyframe

T = TypeVar("T")

OPERATIONS = "found_footy.adapters.media.workshop_operations"
SHEET_BYTES = 64 * 1024 * 1024
PICTURE_BYTES = 16 * 1024 * 1024
READ_BYTES = 1024 * 1024


class LimitedWorkshop:
    """Fills `Workshop`. `seconds` and `memory_mb` are for each call, and at most `at_once` run at a time."""

    def __init__(
        self, memory_mb: int, seconds: float, *, at_once: int | None = None, most_seconds: float, most_bytes: int
    ) -> None:
        """A film that is longer than `most_seconds`, or larger than `most_bytes` before or after, is refused."""
        self._server = ForkServer([OPERATIONS])
        self._process = LimitedProcess(self._server, memory_mb, seconds, at_once=at_once)
        self._most_seconds = most_seconds
        self._most_bytes = most_bytes

    async def normalise(self, path: Path, to: Path, progress: Progress) -> Master:
        if (size := await asyncio.to_thread(_size, path)) > self._most_bytes:
            raise MediaTooLarge(f"{path}: {size} bytes are more than the {self._most_bytes} that are taken")
        with _whole_or_gone(to):
            header, _ = await self._process.run(
                f"{OPERATIONS}:normalise",
                path,
                str(to),
                self._most_seconds,
                file_bytes=self._most_bytes,
                progress=progress,
            )
            master = _sensible(path, lambda: master_of(header, self._most_seconds))
            # Counted here: things are remembered under this name, and the other process may say what it likes.
            size, md5 = await asyncio.to_thread(_size_and_md5, to)
            return replace(master, size=size, md5=md5)

    async def scenes(self, path: Path, least_seconds: float, progress: Progress) -> Sequence[int]:
        _, payload = await self._process.run(
            f"{OPERATIONS}:scenes", path, least_seconds, self._most_seconds, progress=progress
        )
        return _sensible(path, lambda: cuts_of(bytes(payload)))

    @property
    def detector(self) -> str:
        return DETECTOR

    async def cut(self, path: Path, first: int, end: int, to: Path) -> None:
        with _whole_or_gone(to):
            await self._process.run(f"{OPERATIONS}:cut", path, str(to), first, end, file_bytes=self._most_bytes)

    async def sprite(self, path: Path, first: int, end: int, to: Path) -> Sprite:
        with _whole_or_gone(to):
            header, _ = await self._process.run(
                f"{OPERATIONS}:sprite", path, str(to), first, end, file_bytes=SHEET_BYTES
            )
            return _sensible(path, lambda: sprite_of(header, end - first))

    async def keyframes(self, path: Path, first: int, end: int, wanted: Sequence[str], folder: Path) -> list[Keyframe]:
        """Raises SettingsError for a wish that nobody understands."""
        parse_wishes(wanted)
        header, _ = await self._process.run(
            f"{OPERATIONS}:keyframes", path, str(folder), first, end, list(wanted), file_bytes=PICTURE_BYTES
        )
        return _sensible(path, lambda: keyframes_of(header, first, end, wanted))

    async def fingerprint(self, path: Path, first: int, end: int) -> Fingerprint:
        _, payload = await self._process.run(f"{OPERATIONS}:fingerprint", path, first, end)
        return _sensible(path, lambda: Fingerprint.from_bytes(bytes(payload)))

    async def aclose(self) -> None:
        await self._server.aclose()


@contextmanager
def _whole_or_gone(to: Path) -> Iterator[None]:
    """No half of a file stays, however its making ended."""
    whole = False
    try:
        yield
        whole = True
    finally:
        if not whole:
            to.unlink(missing_ok=True)


def _sensible(path: Path, read: Callable[[], T]) -> T:
    """A decoder that a film has taken over may say anything."""
    try:
        return read()
    except ValueError as error:
        raise MediaBroken(f"{path}: the process that works on it answers nonsense: {error}") from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from None


def _size_and_md5(path: Path) -> tuple[int, str]:
    try:
        with path.open("rb") as file:
            digest = hashlib.md5(usedforsecurity=False)
            while piece := file.read(READ_BYTES):
                digest.update(piece)
            return file.tell(), digest.hexdigest()
    except OSError as error:
        raise MediaBroken(f"{path} was not made: {error.strerror}") from None
