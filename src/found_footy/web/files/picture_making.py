"""Pictures of clips, made when somebody first asks for them and kept beside the clip.

The clip is decoded elsewhere, within limits. Here is only the line in front of the decoder: each clip once, however
many ask for it, two at a time, and nobody waits in a line without end.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from found_footy.domain.errors import FootyError, MediaError, ObjectMissing, ObjectStoreError, StreamFull
from found_footy.domain.videos.keys import poster_key, proof_key
from found_footy.domain.videos.video_link import VideoLink
from found_footy.media.jpeg import to_jpeg
from found_footy.media.poster import FRACTIONS, best_of
from found_footy.ports import MediaReader, Picture
from found_footy.web.ports import ClipFiles

log = logging.getLogger(__name__)

WIDTHS = (320, 640, 1280)
PROOF_SIDE = 1280
QUALITY = 85
AT_ONCE = 2
MOST_WAITING = 64
MOST_FAILURES = 256
FAILED_SECONDS = 600.0
"""How long a clip that could not be decoded is left in peace."""

Made = Mapping[str, bytes]
"""JPEGs by their keys."""


class PictureMaker:
    """One for each process."""

    def __init__(self, files: ClipFiles, media: MediaReader) -> None:
        self._files, self._media = files, media
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._making: dict[str, asyncio.Task[Made]] = {}
        self._failed: OrderedDict[str, tuple[float, str]] = OrderedDict()
        """When it may be tried again, and what to say until then."""

    async def poster(self, link: VideoLink, width: int) -> bytes:
        """Raises an ObjectStoreError, or StreamFull."""

        def drawn(pictures: Sequence[Picture]) -> Made:
            frame = pictures[best_of([picture.bgr for picture in pictures])].bgr
            return {
                poster_key(link.fixture_id, link.event_id, link.md5, each): to_jpeg(frame, each, QUALITY)
                for each in WIDTHS
            }

        key = poster_key(link.fixture_id, link.event_id, link.md5, width)
        return await self._stored_or_made(link, key, f"{link.key} poster", FRACTIONS, drawn)

    async def proof(self, link: VideoLink, at: float) -> bytes:
        key = proof_key(link.fixture_id, link.event_id, link.md5, at)
        fraction = min(1.0, max(0.0, at / link.duration)) if link.duration > 0 else 0.0

        def drawn(pictures: Sequence[Picture]) -> Made:
            return {key: to_jpeg(pictures[0].bgr, PROOF_SIDE, QUALITY)}

        return await self._stored_or_made(link, key, key, (fraction,), drawn)

    async def _stored_or_made(
        self,
        link: VideoLink,
        key: str,
        name: str,
        fractions: Sequence[float],
        drawn: Callable[[Sequence[Picture]], Made],
    ) -> bytes:
        try:
            return await self._files.read(key)
        except ObjectMissing:
            pass
        until, said = self._failed.get(name, (0.0, ""))
        if time.monotonic() < until:
            raise ObjectStoreError(said)
        task = self._making.get(name)
        if task is None:
            if len(self._making) >= MOST_WAITING:
                raise StreamFull(f"{len(self._making)} pictures are being made already")
            # A task of its own: whoever asked first may leave while others still wait for it.
            task = self._making[name] = asyncio.create_task(self._make(link, name, fractions, drawn))
            task.add_done_callback(lambda done: self._end(name, done))
        return (await asyncio.shield(task))[key]

    def _end(self, name: str, task: asyncio.Task[Made]) -> None:
        self._making.pop(name, None)
        if not task.cancelled() and task.exception() is not None:
            log.warning(
                "no picture", extra={"action": "picture_failed", "picture": name, "error": repr(task.exception())}
            )

    async def _make(
        self, link: VideoLink, name: str, fractions: Sequence[float], drawn: Callable[[Sequence[Picture]], Made]
    ) -> Made:
        async with self._turn:
            with tempfile.TemporaryDirectory(prefix="footy-picture-", ignore_cleanup_errors=True) as folder:
                clip = Path(folder, "clip.mp4")
                try:
                    await self._files.get(link.key, clip)
                    pictures = await self._media.pictures(clip, fractions)
                except ObjectMissing:
                    raise ObjectStoreError(f"the file of the video {link.id} is missing in the object store") from None
                except MediaError as error:
                    raise ObjectStoreError(self._remember(name, link, error)) from error
                made = await asyncio.to_thread(drawn, pictures)
                await self._keep(Path(folder), made)
                return made

    async def _keep(self, folder: Path, made: Made) -> None:
        try:
            for number, (key, jpeg) in enumerate(made.items()):
                path = folder / f"{number}.jpg"
                await asyncio.to_thread(path.write_bytes, jpeg)
                await self._files.put(key, path, content_type="image/jpeg")
        except (FootyError, OSError) as error:
            # Whoever asked gets the picture all the same; the next one has it made again.
            log.warning(str(error), extra={"action": "picture_not_kept", "error": type(error).__name__})

    def _remember(self, name: str, link: VideoLink, error: MediaError) -> str:
        said = f"no picture can be made of the video {link.id} ({error.kind})"
        self._failed[name] = time.monotonic() + FAILED_SECONDS, said
        if len(self._failed) > MOST_FAILURES:
            self._failed.popitem(last=False)
        return said
