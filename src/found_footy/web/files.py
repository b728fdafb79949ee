"""Videos, sprite sheets and keyframes: byte ranges (RFC 9110), permanent links, redirects after merges."""

from __future__ import annotations

import asyncio
import logging
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from found_footy.clips.models import PublishedVideo
from found_footy.errors import LinkGone, NotFound, ObjectMissing, ObjectStoreError, ObjectStoreUnavailable
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
from found_footy.web.visitors import ConcurrencyLimit, limited_address

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


def parse_range(header: str | None, size: int) -> ByteRange | None:
    """Parse a single range; None for the whole file, also if the range is malformed. Raises Unsatisfiable."""
    match = _ONE_RANGE.fullmatch(header) if header is not None and len(header) <= MAX_HEADER_LENGTH else None
    if match is None or match[1] == match[2] == "":
        return None
    if match[1] == "":
        start, end = max(0, size - int(match[2])), size
    else:
        start, end = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
        if match[2] and int(match[2]) < start:
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


class RangeResponse(Response):
    """Streams a range. Call `open` before returning it: a missing file must not look like an empty one."""

    def __init__(
        self,
        files: ThreadedObjectStore,
        key: str,
        byte_range: ByteRange,
        limit: ConcurrencyLimit,
        status: int,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(status_code=status, headers={**headers, "Content-Length": str(byte_range.length)})
        self._files, self._key, self._byte_range, self._limit = files, key, byte_range, limit
        self._first = b""

    async def open(self) -> RangeResponse:
        """Read the first chunk. Raises ObjectStoreError."""
        self._first = await self._read_chunk(self._byte_range.start)
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        disconnected = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            with self._limit.entered(limited_address(HTTPConnection(scope))):
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                await self._send(send, disconnected)
        finally:
            disconnected.cancel()

    async def _send(self, send: Send, disconnected: asyncio.Task[None]) -> None:
        # `send` waits for a slow client, and returns at once after a disconnect.
        chunk, at = self._first, self._byte_range.start
        self._first = b""
        while not disconnected.done():
            at += len(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": at < self._byte_range.end})
            if at >= self._byte_range.end:
                return
            chunk = b""
            try:
                chunk = await self._read_chunk(at)
            except ObjectStoreError as error:
                # Too late for an error response: the client detects the truncated body by its length.
                log.error(str(error), extra={"action": "file_cut_off", "key": self._key, "error": error.kind})
                return

    async def _read_chunk(self, start: int) -> bytes:
        length = min(CHUNK_BYTES, self._byte_range.end - start)
        chunk = await self._files.read(self._key, start, length)
        if len(chunk) != length:
            raise ObjectStoreUnavailable(f"{self._key} is truncated")
        return chunk


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


# --- `/v/{video}`: permanent link of a video.


router = APIRouter(include_in_schema=False)

SIGNED_URL_SECONDS = 6 * 3600
"""Long enough to resume a video that was paused for hours."""

MAX_NAME_LENGTH = 80


@router.get("/v/{video_id}")
@router.head("/v/{video_id}")
async def video(request: Request, services: ServicesDep, video_id: str, download: bool = False) -> Response:
    """The link is permanent: after a merge it redirects to the winner."""
    link = await find_video(services, video_id)
    if link.id != video_id:
        return redirect_to_winner(link, f"/v/{link.id}", request)
    file = StoredFile(link.key, link.md5, "video/mp4", link.file_name, link.size)
    return await _serve(request, services, file, download)


async def find_video(services: WebServices, video_id: str) -> PublishedVideo:
    """Find a published video. Raises NotFound and LinkGone."""
    if not re.fullmatch(r"[0-9a-f]{16}", video_id):
        raise NotFound("video not found")
    return await services.links.video(video_id)


def redirect_to_winner(link: PublishedVideo, path: str, request: Request) -> Response:
    """Redirect to the same moment. Not cached: the winner may be replaced too."""
    query = f"?{request.url.query}" if request.url.query else ""
    fragment = (
        f"#t={link.offset_seconds:.3f}".rstrip("0").rstrip(".") if 0 < link.offset_seconds < link.duration else ""
    )
    return RedirectResponse(f"{path}{query}{fragment}", 307, {"Cache-Control": "no-cache"})


def file_headers(services: WebServices) -> dict[str, str]:
    """Headers of videos and pictures. The content never changes, but it can be taken down, so caches must revalidate
    it, which costs a 304. With open reading, other sites may embed it.
    """
    embedding = {"Cross-Origin-Resource-Policy": "cross-origin"} if services.rules.read_access == "open" else {}
    return {"Cache-Control": "public, no-cache", "X-Content-Type-Options": "nosniff", **embedding}


def downloads_of(request: Request) -> ConcurrencyLimit:
    limit: ConcurrencyLimit = request.app.state.downloads
    return limit


@dataclass(frozen=True, slots=True)
class StoredFile:
    key: str
    version: str
    """Version of the content: the ETag, and `v` in the URLs of API documents."""
    content_type: str
    name: str
    """File name for downloads."""
    size: int | None = None
    """None if the database does not have it."""

    @property
    def is_video(self) -> bool:
        return self.content_type == "video/mp4"


async def _serve(request: Request, services: WebServices, file: StoredFile, download: bool) -> Response:
    """Answer a request for a file or a range of it."""
    etag = f'"{file.version}"'
    headers = {
        **file_headers(services),
        "Accept-Ranges": "bytes",
        "Content-Disposition": content_disposition(file, download),
        "Content-Type": file.content_type,
        "ETag": etag,
    }
    if etag_matches(etag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers={name: headers[name] for name in ("Cache-Control", "ETag")})
    if file.is_video and services.rules.video_links == "redirect" and request.method == "GET" and not download:
        signed = await services.files.signed_url(file.key, SIGNED_URL_SECONDS)
        if signed is not None:
            return RedirectResponse(signed, 307, {"Cache-Control": "no-store"})
    size = await _size(services, file, check=request.method == "HEAD")
    if request.method == "HEAD":
        return Response(headers={**headers, "Content-Length": str(size)})
    header = request.headers.get("range") if if_range_matches(request.headers.get("if-range"), etag) else None
    try:
        byte_range = parse_range(header, size)
    except Unsatisfiable:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"})
    if byte_range is not None:
        headers["Content-Range"] = byte_range.content_range(size)
    status, limit = (206 if byte_range else 200), downloads_of(request)
    response = RangeResponse(services.files, file.key, byte_range or ByteRange(0, size), limit, status, headers)
    try:
        return await response.open()
    except ObjectMissing as error:
        log.error(str(error), extra={"action": "file_missing", "key": file.key, "error": error.kind})
        raise _missing(file) from None


async def _size(services: WebServices, file: StoredFile, *, check: bool) -> int:
    """Size of a file, from the database if it is there and `check` is not set."""
    if file.size is not None and not check:
        return file.size
    stored = await services.files.head(file.key)
    if stored is None or (file.size is not None and stored.size != file.size):
        raise _missing(file)
    return stored.size


def _missing(file: StoredFile) -> ObjectStoreError:
    """The row exists, so a missing file is an internal error, not a broken link."""
    return ObjectStoreError(f"{file.key} is missing in the object store")


def content_disposition(file: StoredFile, download: bool) -> str:
    name = clean_text(file.name, MAX_NAME_LENGTH).replace("/", "-").replace("\\", "-") or "clip"
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = " ".join("".join(each for each in letters if each.isalnum() or each in " .-_+").split()).strip(" -+")
    suffix = {"video/mp4": "mp4", "image/webp": "webp", "image/jpeg": "jpg"}[file.content_type]
    disposition = "attachment" if download else "inline"
    return f"{disposition}; filename=\"{plain or 'clip'}.{suffix}\"; filename*=UTF-8''{quote(name)}.{suffix}"


# --- `/s/{source}.mp4`, `/c/{clip}.mp4`, `.webp` and `-{n}.jpg`: the library's videos, sprite sheets and keyframes.


router_library_files = APIRouter(include_in_schema=False)

Number = Annotated[int, Path(ge=1, le=MAX_BIGINT)]
KeyframeNumber = Annotated[int, Path(ge=0, le=1000)]


@router_library_files.get("/s/{source_id}.mp4")
@router_library_files.head("/s/{source_id}.mp4")
async def film(request: Request, services: ServicesDep, source_id: Number, download: bool = False) -> Response:
    """A source as its clips are cut from it."""
    source = await _source(services, source_id)
    return await _serve(request, services, master_of(source), download)


@router_library_files.get("/c/{clip_id}.mp4")
@router_library_files.head("/c/{clip_id}.mp4")
async def clip_film(request: Request, services: ServicesDep, clip_id: Number, download: bool = False) -> Response:
    clip = await _clip(services, clip_id)
    source = await _source(services, clip.source_id)
    return await _serve(request, services, film_of(clip, source), download)


@router_library_files.get("/c/{clip_id}.webp")
@router_library_files.head("/c/{clip_id}.webp")
async def sheet(request: Request, services: ServicesDep, clip_id: Number) -> Response:
    clip = await _clip(services, clip_id)
    source = await _source(services, clip.source_id)
    return await _serve(request, services, sheet_of(clip, source), False)


@router_library_files.get("/c/{clip_id}-{number}.jpg")
@router_library_files.head("/c/{clip_id}-{number}.jpg")
async def keyframe(request: Request, services: ServicesDep, clip_id: Number, number: KeyframeNumber) -> Response:
    store = services.library.store
    clip = await _clip(services, clip_id)
    match = next((each for each in await store.keyframes(clip_id) if each.number == number), None)
    if match is None:
        raise NotFound(f"clip {clip_id} has no keyframe {number}; its state is {state_label(clip.state)}")
    source = await _source(services, clip.source_id)
    key, version = keyframe_key(clip.source_id, clip_id, number), f"{_content(source)}-{match.frame}"
    return await _serve(request, services, StoredFile(key, version, "image/jpeg", f"{clip_id}-{number}"), False)


async def _source(services: WebServices, source_id: int) -> SourceVideo:
    """Raises NotFound, and LinkGone if it was taken down."""
    try:
        return await services.library.store.source(source_id)
    except NotFound:
        await services.links.require_not_ended(f"s/{source_id}")
        raise


async def _clip(services: WebServices, clip_id: int) -> LibraryClip:
    """Raises NotFound, and LinkGone if it was taken down."""
    try:
        return await services.library.store.clip(clip_id)
    except NotFound:
        await services.links.require_not_ended(f"c/{clip_id}")
        raise


def master_of(source: SourceVideo) -> StoredFile:
    """Master of a source. Raises NotFound, and LinkGone if all its clips were archived."""
    if source.film_deleted_at is not None:
        raise LinkGone(f"all clips of source {source.id} were archived; its video is deleted")
    if source.master is None:
        raise NotFound(f"source {source.id} has no video yet; its state is {state_label(source.state)}")
    size = source.master.size
    return StoredFile(master_key(source.id), _content(source), "video/mp4", source.title, size)


def film_of(clip: LibraryClip, source: SourceVideo) -> StoredFile:
    """File of a clip, or the master if the clip is the whole source. Raises NotFound, and LinkGone for an archived
    clip.
    """
    _require_kept(clip)
    if clip.has_file:
        key = clip_file_key(clip.source_id, clip.id)
        return StoredFile(key, _range_version(clip, source), "video/mp4", f"{source.title} {clip.id}")
    master = master_of(source)
    if source.master is not None and (clip.first, clip.end) == (0, source.master.frames):
        return StoredFile(master.key, _range_version(clip, source), master.content_type, master.name, master.size)
    raise NotFound(
        f"clip {clip.id} has no file yet; its state is {state_label(clip.state)}; "
        f"/s/{source.id}.mp4 shows its frames {clip.first} to {clip.end - 1}"
    )


def sheet_of(clip: LibraryClip, source: SourceVideo) -> StoredFile:
    """Sprite sheet of a clip. Raises NotFound and LinkGone."""
    _require_kept(clip)
    if clip.sprite is None:
        raise NotFound(f"clip {clip.id} has no sprite sheet yet; its state is {state_label(clip.state)}")
    key = sprite_key(clip.source_id, clip.id)
    return StoredFile(key, _range_version(clip, source), "image/webp", f"{source.title} {clip.id}")


def _require_kept(clip: LibraryClip) -> None:
    if clip.state in FILES_DELETED:
        raise LinkGone(f"clip {clip.id} was archived; its files are deleted")


def _content(source: SourceVideo) -> str:
    return source.master.md5[:8] if source.master is not None else ""


def _range_version(clip: LibraryClip, source: SourceVideo) -> str:
    return f"{_content(source)}-{clip.first}-{clip.end}"
