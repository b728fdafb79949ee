"""Videos, sprite sheets and keyframes: byte ranges (RFC 9110), permanent links, redirects after merges."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from found_footy.clips.models import PublishedVideo
from found_footy.errors import LinkEnded, NotFound, ObjectMissing, ObjectStoreError, ObjectStoreUnavailable, StreamFull
from found_footy.library.models import (
    FILES_DELETED,
    LibraryClip,
    SourceVideo,
    clip_file_key,
    keyframe_key,
    master_key,
    sprite_key,
    state_label,
)
from found_footy.storage.objects.store import ThreadedObjectStore
from found_footy.text import clean_text
from found_footy.web.api.parameters import MAX_BIGINT
from found_footy.web.response_cache import etag_matches
from found_footy.web.services import ServicesDep, WebServices

MAX_HEADER_LENGTH = 200
"""Maximum length of a Range header; a longer one is ignored."""

_ONE_RANGE = re.compile(r"bytes=[ \t,]*(\d*)-(\d*)[ \t,]*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ByteRange:
    start: int
    end: int
    """Exclusive."""

    @property
    def length(self) -> int:
        return self.end - self.start

    def content_range(self, size: int) -> str:
        return f"bytes {self.start}-{self.end - 1}/{size}"


class Unsatisfiable(Exception):
    """The range starts after the last byte."""


def parse_range(asked: str | None, size: int) -> ByteRange | None:
    """Parse a single range; None for the whole file, also if the range is malformed. Raises Unsatisfiable."""
    found = _ONE_RANGE.fullmatch(asked) if asked is not None and len(asked) <= MAX_HEADER_LENGTH else None
    if found is None or found[1] == found[2] == "":
        return None
    if found[1] == "":
        start, end = max(0, size - int(found[2])), size
    else:
        start, end = int(found[1]), min(size, int(found[2]) + 1 if found[2] else size)
        if found[2] and int(found[2]) < start:
            return None
    if start >= size:
        raise Unsatisfiable
    return ByteRange(start, end)


def if_range_matches(if_range: str | None, etag: str) -> bool:
    """Whether the range is for the version that the client has. Weak tags and dates never match."""
    return if_range is None or if_range.strip() == etag


# --- File ranges, streamed in 128 kB chunks: memory per client is bounded.


log = logging.getLogger(__name__)

CHUNK_BYTES = 128 * 1024
MAX_DOWNLOADS = 500
"""Per process. Each download holds one chunk, and as much again in the send buffer."""


class ConcurrencyLimit:
    """Limit per process. Raises StreamFull when it is reached."""

    def __init__(self, limit: int, noun: str) -> None:
        self.limit = limit
        self.running = 0
        self._noun = noun

    def __enter__(self) -> None:
        if self.running >= self.limit:
            raise StreamFull(f"too many {self._noun} at once (limit {self.limit}); try again later")
        self.running += 1

    def __exit__(self, *_: object) -> None:
        self.running -= 1


class RangeResponse(Response):
    """Streams a range. Call `open` before returning it: a missing file must not look like an empty one."""

    def __init__(
        self,
        files: ThreadedObjectStore,
        key: str,
        span: ByteRange,
        readers: ConcurrencyLimit,
        status: int,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(status_code=status, headers={**headers, "Content-Length": str(span.length)})
        self._files, self._key, self._span, self._readers = files, key, span, readers
        self._first = b""

    async def open(self) -> RangeResponse:
        """Read the first chunk. Raises ObjectStoreError."""
        self._first = await self._piece(self._span.start)
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_gone(receive))
        try:
            with self._readers:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                await self._send(send, gone)
        finally:
            gone.cancel()

    async def _send(self, send: Send, gone: asyncio.Task[None]) -> None:
        # `send` waits for a slow client, and returns at once after a disconnect.
        piece, at = self._first, self._span.start
        self._first = b""
        while not gone.done():
            at += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": at < self._span.end})
            if at >= self._span.end:
                return
            piece = b""
            try:
                piece = await self._piece(at)
            except ObjectStoreError as error:
                # Too late for an error response: the client detects the truncated body by its length.
                log.error(str(error), extra={"action": "file_cut_off", "key": self._key, "error": error.kind})
                return

    async def _piece(self, start: int) -> bytes:
        wanted = min(CHUNK_BYTES, self._span.end - start)
        piece = await self._files.read(self._key, start, wanted)
        if len(piece) != wanted:
            raise ObjectStoreUnavailable(f"{self._key} is truncated")
        return piece


async def open_file(answer: RangeResponse, video_id: str) -> RangeResponse:
    """Open the file. A missing file is an internal error, not a broken link."""
    try:
        return await answer.open()
    except ObjectMissing as error:
        log.error(str(error), extra={"action": "file_missing", "video_id": video_id, "error": error.kind})
        raise ObjectStoreError(f"the file of the video {video_id} is missing in the object store") from None


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


# --- `/v/{video}`: permanent link of a video.


router = APIRouter(include_in_schema=False)

SIGNED_URL_SECONDS = 6 * 3600
"""Long enough to resume a video that was paused for hours."""

YEAR = 365 * 24 * 3600


@router.get("/v/{video_id}")
@router.head("/v/{video_id}")
async def video(request: Request, services: ServicesDep, video_id: str, download: bool = False) -> Response:
    """The link is permanent: after a merge it redirects to the winner."""
    link = await find_video(services, video_id)
    if link.id != video_id:
        return redirect_to_winner(link, f"/v/{link.id}", request)
    if services.rules.video_links == "redirect" and request.method == "GET" and not download:
        signed = await services.files.signed_url(link.key, SIGNED_URL_SECONDS)
        if signed is not None:
            return RedirectResponse(signed, 307, {"Cache-Control": "no-store"})
    return await _file(request, services, link, download)


async def find_video(services: WebServices, video_id: str) -> PublishedVideo:
    """Find a published video. Raises NotFound and LinkEnded."""
    if not re.fullmatch(r"[0-9a-f]{16}", video_id):
        raise NotFound("video not found")
    return await services.links.video(video_id)


def redirect_to_winner(link: PublishedVideo, path: str, request: Request) -> Response:
    """Redirect to the same moment. Not cached: the winner may be replaced too."""
    query = f"?{request.url.query}" if request.url.query else ""
    place = f"#t={link.offset_seconds:.3f}".rstrip("0").rstrip(".") if 0 < link.offset_seconds < link.duration else ""
    return RedirectResponse(f"{path}{query}{place}", 307, {"Cache-Control": "no-cache"})


def immutable_headers(services: WebServices) -> dict[str, str]:
    """Headers for immutable content. With open reading, other sites may embed it."""
    shown = {"Cross-Origin-Resource-Policy": "cross-origin"} if services.rules.read_access == "open" else {}
    return {"Cache-Control": f"public, max-age={YEAR}, immutable", "X-Content-Type-Options": "nosniff", **shown}


async def _file(request: Request, services: WebServices, link: PublishedVideo, download: bool) -> Response:
    etag = f'"{link.md5}"'
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Disposition": content_disposition(link, download),
        "Content-Type": "video/mp4",
        "ETag": etag,
        **immutable_headers(services),
    }
    if etag_matches(etag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers={name: headers[name] for name in ("Cache-Control", "ETag")})
    if request.method == "HEAD":
        await _require_file(services, link)
        return Response(headers={**headers, "Content-Length": str(link.size)})
    asked = request.headers.get("range") if if_range_matches(request.headers.get("if-range"), etag) else None
    try:
        span = parse_range(asked, link.size)
    except Unsatisfiable:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{link.size}", "Accept-Ranges": "bytes"})
    if span is not None:
        headers["Content-Range"] = span.content_range(link.size)
    answer = RangeResponse(
        services.files, link.key, span or ByteRange(0, link.size), downloads_of(request), 206 if span else 200, headers
    )
    return await open_file(answer, link.id)


async def _require_file(services: WebServices, link: PublishedVideo) -> None:
    found = await services.files.head(link.key)
    if found is None or found.size != link.size:
        raise ObjectStoreError(f"the file of the video {link.id} is missing in the object store")


def content_disposition(link: PublishedVideo, download: bool) -> str:
    way = "attachment" if download else "inline"
    return f"{way}; filename=\"{link.plain_file_name}.mp4\"; filename*=UTF-8''{quote(link.file_name)}.mp4"


def downloads_of(request: Request) -> ConcurrencyLimit:
    limit: ConcurrencyLimit = request.app.state.downloads
    return limit


# --- `/s/{source}.mp4`, `/c/{clip}.mp4`, `.webp` and `-{n}.jpg`: the library's videos, sprite sheets and keyframes.


router_library_files = APIRouter(include_in_schema=False)

Number = Annotated[int, Path(ge=1, le=MAX_BIGINT)]
KeyframeNumber = Annotated[int, Path(ge=0, le=1000)]

MAX_NAME_LENGTH = 80


@dataclass(frozen=True, slots=True)
class LibraryFile:
    key: str
    version: str
    """Version of the content, `v` in the URLs of API documents."""
    content_type: str
    name: str
    """File name for downloads."""
    size: int | None = None
    """None if the database does not have it."""


@router_library_files.get("/s/{source_id}.mp4")
@router_library_files.head("/s/{source_id}.mp4")
async def film(request: Request, services: ServicesDep, source_id: Number, download: bool = False) -> Response:
    """A source as its clips are cut from it."""
    source = await services.library.store.source(source_id)
    return await _answer(request, services, master_of(source), download)


@router_library_files.get("/c/{clip_id}.mp4")
@router_library_files.head("/c/{clip_id}.mp4")
async def clip_film(request: Request, services: ServicesDep, clip_id: Number, download: bool = False) -> Response:
    clip = await services.library.store.clip(clip_id)
    source = await services.library.store.source(clip.source_id)
    return await _answer(request, services, film_of(clip, source), download)


@router_library_files.get("/c/{clip_id}.webp")
@router_library_files.head("/c/{clip_id}.webp")
async def sheet(request: Request, services: ServicesDep, clip_id: Number) -> Response:
    clip = await services.library.store.clip(clip_id)
    source = await services.library.store.source(clip.source_id)
    return await _answer(request, services, sheet_of(clip, source), False)


@router_library_files.get("/c/{clip_id}-{number}.jpg")
@router_library_files.head("/c/{clip_id}-{number}.jpg")
async def keyframe(request: Request, services: ServicesDep, clip_id: Number, number: KeyframeNumber) -> Response:
    store = services.library.store
    clip = await store.clip(clip_id)
    found = next((each for each in await store.keyframes(clip_id) if each.number == number), None)
    if found is None:
        raise NotFound(f"clip {clip_id} has no keyframe {number}; its state is {state_label(clip.state)}")
    source = await store.source(clip.source_id)
    key, version = keyframe_key(clip.source_id, clip_id, number), f"{_content(source)}-{found.frame}"
    return await _answer(request, services, LibraryFile(key, version, "image/jpeg", f"{clip_id}-{number}"), False)


def master_of(source: SourceVideo) -> LibraryFile:
    """Master of a source. Raises NotFound, and LinkEnded if all its clips were archived."""
    if source.film_deleted_at is not None:
        raise LinkEnded(f"all clips of source {source.id} were archived; its video is deleted")
    if source.master is None:
        raise NotFound(f"source {source.id} has no video yet; its state is {state_label(source.state)}")
    size = source.master.size
    return LibraryFile(master_key(source.id), _content(source), "video/mp4", source.title, size)


def film_of(clip: LibraryClip, source: SourceVideo) -> LibraryFile:
    """File of a clip, or the master if the clip is the whole source. Raises NotFound, and LinkEnded for an archived
    clip.
    """
    _require_kept(clip)
    if clip.has_file:
        key = clip_file_key(clip.source_id, clip.id)
        return LibraryFile(key, _stretch(clip, source), "video/mp4", f"{source.title} {clip.id}")
    master = master_of(source)
    if source.master is not None and (clip.first, clip.end) == (0, source.master.frames):
        return LibraryFile(master.key, _stretch(clip, source), master.content_type, master.name, master.size)
    raise NotFound(
        f"clip {clip.id} has no file yet; its state is {state_label(clip.state)}; "
        f"/s/{source.id}.mp4 shows its frames {clip.first} to {clip.end - 1}"
    )


def sheet_of(clip: LibraryClip, source: SourceVideo) -> LibraryFile:
    """Sprite sheet of a clip. Raises NotFound and LinkEnded."""
    _require_kept(clip)
    if clip.sprite is None:
        raise NotFound(f"clip {clip.id} has no sprite sheet yet; its state is {state_label(clip.state)}")
    key = sprite_key(clip.source_id, clip.id)
    return LibraryFile(key, _stretch(clip, source), "image/webp", f"{source.title} {clip.id}")


def _require_kept(clip: LibraryClip) -> None:
    if clip.state in FILES_DELETED:
        raise LinkEnded(f"clip {clip.id} was archived; its files are deleted")


def _content(source: SourceVideo) -> str:
    return source.master.md5[:8] if source.master is not None else ""


def _stretch(clip: LibraryClip, source: SourceVideo) -> str:
    return f"{_content(source)}-{clip.first}-{clip.end}"


async def _answer(request: Request, services: WebServices, file: LibraryFile, download: bool) -> Response:
    etag, is_film = f'"{file.version}"', file.content_type == "video/mp4"
    headers = {
        **immutable_headers(services),
        "Accept-Ranges": "bytes",
        "Content-Disposition": _disposition(file, download),
        "Content-Type": file.content_type,
        "ETag": etag,
    }
    if request.query_params.get("v") != file.version:
        headers["Cache-Control"] = "public, no-cache"
    if etag_matches(etag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers={name: headers[name] for name in ("Cache-Control", "ETag")})
    if is_film and services.rules.video_links == "redirect" and request.method == "GET" and not download:
        signed = await services.files.signed_url(file.key, SIGNED_URL_SECONDS)
        if signed is not None:
            return RedirectResponse(signed, 307, {"Cache-Control": "no-store"})
    size = await _size(services, file)
    if request.method == "HEAD":
        return Response(headers={**headers, "Content-Length": str(size)})
    asked = request.headers.get("range") if if_range_matches(request.headers.get("if-range"), etag) else None
    try:
        span = parse_range(asked, size)
    except Unsatisfiable:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"})
    if span is not None:
        headers["Content-Range"] = span.content_range(size)
    status, readers = (206 if span else 200), downloads_of(request)
    return await RangeResponse(services.files, file.key, span or ByteRange(0, size), readers, status, headers).open()


async def _size(services: WebServices, file: LibraryFile) -> int:
    """Size of a file. The row exists, so a missing file is an internal error, not a broken link."""
    found = await services.files.head(file.key)
    if found is None or (file.size is not None and found.size != file.size):
        raise ObjectStoreError(f"{file.key} is missing in the object store")
    return found.size


def _disposition(file: LibraryFile, download: bool) -> str:
    name = clean_text(file.name, MAX_NAME_LENGTH).replace("/", "-").replace("\\", "-") or "clip"
    plain = "".join(letter for letter in name if letter.isascii() and (letter.isalnum() or letter in " .-_")).strip()
    ending = {"video/mp4": "mp4", "image/webp": "webp", "image/jpeg": "jpg"}[file.content_type]
    way = "attachment" if download else "inline"
    return f"{way}; filename=\"{plain or 'clip'}.{ending}\"; filename*=UTF-8''{quote(name)}.{ending}"
