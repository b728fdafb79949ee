"""Posters and proof frames of clips, made on first request and stored next to the clip.

Clips are decoded in a sandboxed process: once for all concurrent requests, two at a time, with a bounded queue.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from found_footy.clips.models import PublishedVideo, poster_key, proof_key
from found_footy.errors import FootyError, MediaError, NotFound, ObjectMissing, ObjectStoreError, StreamFull
from found_footy.media.images import FRACTIONS, best_poster, to_jpeg
from found_footy.media.models import Frame
from found_footy.media.processor import MediaProcessor
from found_footy.storage.objects.store import ThreadedObjectStore
from found_footy.web.files import file_headers, find_video, redirect_to_winner
from found_footy.web.response_cache import etag_matches
from found_footy.web.services import ServicesDep, WebServices

log = logging.getLogger(__name__)

WIDTHS = (320, 640, 1280)
PROOF_SIDE = 1280
QUALITY = 85
MAX_PARALLEL = 2
MAX_WAITING = 64
MAX_FAILURES = 256
FAILURE_COOLDOWN = 600.0
"""Seconds before decoding a failed clip is retried."""

Thumbnails = Mapping[str, bytes]
"""JPEGs by key."""


class ThumbnailService:
    """One instance per process."""

    def __init__(self, files: ThreadedObjectStore, media: MediaProcessor) -> None:
        self._files, self._media = files, media
        self._slots = asyncio.Semaphore(MAX_PARALLEL)
        self._running: dict[str, asyncio.Task[Thumbnails]] = {}
        self._failed: OrderedDict[str, tuple[float, str]] = OrderedDict()
        """Time of the next attempt and the last error, by name."""

    async def poster(self, link: PublishedVideo, width: int) -> bytes:
        """Poster of a clip. Raises an ObjectStoreError, or StreamFull."""

        def draw(frames: Sequence[Frame]) -> Thumbnails:
            best = frames[best_poster([each.pixels for each in frames])].pixels
            return {
                poster_key(link.fixture_id, link.event_id, link.md5, each): to_jpeg(best, each, QUALITY)
                for each in WIDTHS
            }

        key = poster_key(link.fixture_id, link.event_id, link.md5, width)
        return await self._load_or_make(link, key, f"{link.key} poster", FRACTIONS, draw)

    async def proof(self, link: PublishedVideo, at: float) -> bytes:
        key = proof_key(link.fixture_id, link.event_id, link.md5, at)
        fraction = min(1.0, max(0.0, at / link.duration)) if link.duration > 0 else 0.0

        def draw(frames: Sequence[Frame]) -> Thumbnails:
            return {key: to_jpeg(frames[0].pixels, PROOF_SIDE, QUALITY)}

        return await self._load_or_make(link, key, key, (fraction,), draw)

    async def _load_or_make(
        self,
        link: PublishedVideo,
        key: str,
        name: str,
        fractions: Sequence[float],
        draw: Callable[[Sequence[Frame]], Thumbnails],
    ) -> bytes:
        try:
            return await self._files.read(key)
        except ObjectMissing:
            pass
        retry_at, message = self._failed.get(name, (0.0, ""))
        if time.monotonic() < retry_at:
            raise ObjectStoreError(message)
        task = self._running.get(name)
        if task is None:
            if len(self._running) >= MAX_WAITING:
                raise StreamFull(f"{len(self._running)} thumbnails are already queued")
            # A separate task, so that it outlives the first caller.
            task = self._running[name] = asyncio.create_task(self._make(link, name, fractions, draw))
            task.add_done_callback(lambda done: self._finish(name, done))
        return (await asyncio.shield(task))[key]

    def _finish(self, name: str, task: asyncio.Task[Thumbnails]) -> None:
        self._running.pop(name, None)
        if not task.cancelled() and task.exception() is not None:
            log.warning(
                "thumbnail failed",
                extra={"action": "thumbnail_failed", "thumbnail": name, "error": repr(task.exception())},
            )

    async def _make(
        self,
        link: PublishedVideo,
        name: str,
        fractions: Sequence[float],
        draw: Callable[[Sequence[Frame]], Thumbnails],
    ) -> Thumbnails:
        async with self._slots:
            with tempfile.TemporaryDirectory(prefix="footy-thumbnail-", ignore_cleanup_errors=True) as folder:
                clip = Path(folder, "clip.mp4")
                try:
                    await self._files.get(link.key, clip)
                    frames = await self._media.frames_at(clip, fractions)
                except ObjectMissing:
                    raise ObjectStoreError(f"the file of the video {link.id} is missing in the object store") from None
                except MediaError as error:
                    raise ObjectStoreError(self._record_failure(name, link, error)) from error
                thumbnails = await asyncio.to_thread(draw, frames)
                await self._store(Path(folder), thumbnails)
                return thumbnails

    async def _store(self, folder: Path, thumbnails: Thumbnails) -> None:
        try:
            for number, (key, jpeg) in enumerate(thumbnails.items()):
                path = folder / f"{number}.jpg"
                await asyncio.to_thread(path.write_bytes, jpeg)
                await self._files.put(key, path, content_type="image/jpeg")
        except (FootyError, OSError) as error:
            # The caller gets the image anyway; the next request makes it again.
            log.warning(str(error), extra={"action": "thumbnail_not_stored", "error": type(error).__name__})

    def _record_failure(self, name: str, link: PublishedVideo, error: MediaError) -> str:
        message = f"cannot decode video {link.id} ({error.kind})"
        self._failed[name] = time.monotonic() + FAILURE_COOLDOWN, message
        if len(self._failed) > MAX_FAILURES:
            self._failed.popitem(last=False)
        return message


# --- `/v/{video}/poster.jpg` and `/v/{video}/proof.jpg`.


router = APIRouter(include_in_schema=False)

SAME_MOMENT = 0.0005
"""Seconds: the pages use three decimal places."""

Width = Literal["320", "640", "1280"]


@router.get("/v/{video_id}/poster.jpg")
@router.head("/v/{video_id}/poster.jpg")
async def poster(request: Request, services: ServicesDep, video_id: str, w: Width = "640") -> Response:
    link = await find_video(services, video_id)
    if link.id != video_id:
        return redirect_to_winner(link, f"/v/{link.id}/poster.jpg", request)
    etag = f'"{link.md5}-poster-{w}"'
    if (cached := _not_modified(request, services, etag)) is not None:
        return cached
    return _jpeg_response(services, etag, await _thumbnails(request).poster(link, int(w)))


@router.get("/v/{video_id}/proof.jpg")
@router.head("/v/{video_id}/proof.jpg")
async def proof(request: Request, services: ServicesDep, video_id: str, at: float | None = None) -> Response:
    """The frame checked at this second of the clip; by default the deciding one."""
    link = await find_video(services, video_id)
    if link.id != video_id:
        raise NotFound(f"the video {video_id} was merged into another and has no proof")
    frame_time = proof_frame_time(link, at)
    etag = f'"{link.md5}-proof-{frame_time:.3f}"'
    if (cached := _not_modified(request, services, etag)) is not None:
        return cached
    return _jpeg_response(services, etag, await _thumbnails(request).proof(link, frame_time))


def proof_frame_time(link: PublishedVideo, at: float | None) -> float:
    """Allow only frames named in the proof, so that clients cannot request arbitrary ones. Raises NotFound."""
    if link.proof is None:
        raise NotFound(f"video {link.id} has no proof")
    if at is None:
        return link.proof.at
    for seconds in (link.proof.at, *(reading.at for reading in link.proof.readings)):
        if abs(seconds - at) <= SAME_MOMENT:
            return seconds
    raise NotFound(f"no checked frame of video {link.id} at that time")


def _not_modified(request: Request, services: WebServices, etag: str) -> Response | None:
    if etag_matches(etag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers={"ETag": etag, **file_headers(services)})
    return None


def _jpeg_response(services: WebServices, etag: str, jpeg: bytes) -> Response:
    return Response(jpeg, headers={"Content-Type": "image/jpeg", "ETag": etag, **file_headers(services)})


def _thumbnails(request: Request) -> ThumbnailService:
    service: ThumbnailService = request.app.state.thumbnails
    return service
