"""`/s/{source}.mp4`, `/c/{clip}.mp4`, `.webp` and `-{n}.jpg`: the library's films, sheets and keyframes.

Their numbers are not of their content, as those of `/v/` are: another database has other films under the same ones.
So an answer is only kept for good under an address that names the content, as the documents do with `?v=`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from found_footy.domain.clips.keys import clip_file_key, keyframe_key, master_key, sprite_key
from found_footy.domain.clips.removing import FORGOTTEN
from found_footy.domain.clips.states import words_for
from found_footy.domain.clips.values import Clip, Source
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import LinkEnded, NotFound, ObjectStoreError
from found_footy.web.access.visitors import reads
from found_footy.web.answers.etags import is_known
from found_footy.web.api.parameters import BIGINT
from found_footy.web.files.links import SIGNED_SECONDS, kept_for_good, readers_of
from found_footy.web.files.ranges import Span, Unsatisfiable, range_holds, span_of
from found_footy.web.files.streaming import FileAnswer
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False, dependencies=[Depends(reads)])

Number = Annotated[int, Path(ge=1, le=BIGINT)]
KeyframeNumber = Annotated[int, Path(ge=0, le=1000)]

LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class LibraryFile:
    key: str
    version: str
    """Names the content, as `v` of the documents' addresses."""
    content_type: str
    name: str
    """Under which it is saved."""
    size: int | None = None
    """Where the rows know it."""


@router.get("/s/{source_id}.mp4")
@router.head("/s/{source_id}.mp4")
async def film(request: Request, services: Given, source_id: Number, download: bool = False) -> Response:
    """A source as its clips are cut from it."""
    source = await services.library.store.source(source_id)
    return await _answer(request, services, master_of(source), download)


@router.get("/c/{clip_id}.mp4")
@router.head("/c/{clip_id}.mp4")
async def clip_film(request: Request, services: Given, clip_id: Number, download: bool = False) -> Response:
    clip = await services.library.store.clip(clip_id)
    source = await services.library.store.source(clip.source_id)
    return await _answer(request, services, film_of(clip, source), download)


@router.get("/c/{clip_id}.webp")
@router.head("/c/{clip_id}.webp")
async def sheet(request: Request, services: Given, clip_id: Number) -> Response:
    clip = await services.library.store.clip(clip_id)
    source = await services.library.store.source(clip.source_id)
    return await _answer(request, services, sheet_of(clip, source), False)


@router.get("/c/{clip_id}-{number}.jpg")
@router.head("/c/{clip_id}-{number}.jpg")
async def keyframe(request: Request, services: Given, clip_id: Number, number: KeyframeNumber) -> Response:
    store = services.library.store
    clip = await store.clip(clip_id)
    found = next((each for each in await store.keyframes(clip_id) if each.number == number), None)
    if found is None:
        raise NotFound(f"clip {clip_id} has no keyframe {number}; it is {words_for(clip.state)}")
    source = await store.source(clip.source_id)
    key, version = keyframe_key(clip.source_id, clip_id, number), f"{_content(source)}-{found.frame}"
    return await _answer(request, services, LibraryFile(key, version, "image/jpeg", f"{clip_id}-{number}"), False)


def master_of(source: Source) -> LibraryFile:
    """Raises NotFound, and LinkEnded for one whose clips were all thrown away."""
    if source.film_deleted_at is not None:
        raise LinkEnded(f"all clips of source {source.id} were archived, and its film is deleted")
    if source.master is None:
        raise NotFound(f"source {source.id} has no film yet: it is {words_for(source.state)}")
    size = source.master.size
    return LibraryFile(master_key(source.id), _content(source), "video/mp4", source.title, size)


def film_of(clip: Clip, source: Source) -> LibraryFile:
    """Its own file, or the master where it is all of it. Raises NotFound, and LinkEnded for what was thrown away."""
    _require_kept(clip)
    if clip.has_file:
        key = clip_file_key(clip.source_id, clip.id)
        return LibraryFile(key, _stretch(clip, source), "video/mp4", f"{source.title} {clip.id}")
    master = master_of(source)
    if source.master is not None and (clip.first, clip.end) == (0, source.master.frames):
        return LibraryFile(master.key, _stretch(clip, source), master.content_type, master.name, master.size)
    raise NotFound(
        f"clip {clip.id} has no file of its own yet: it is {words_for(clip.state)}; "
        f"/s/{source.id}.mp4 shows its frames {clip.first} to {clip.end - 1}"
    )


def sheet_of(clip: Clip, source: Source) -> LibraryFile:
    """Raises NotFound and LinkEnded."""
    _require_kept(clip)
    if clip.sprite is None:
        raise NotFound(f"clip {clip.id} has no sheet yet: it is {words_for(clip.state)}")
    key = sprite_key(clip.source_id, clip.id)
    return LibraryFile(key, _stretch(clip, source), "image/webp", f"{source.title} {clip.id}")


def _require_kept(clip: Clip) -> None:
    if clip.state in FORGOTTEN:
        raise LinkEnded(f"clip {clip.id} was archived, and its files are deleted")


def _content(source: Source) -> str:
    return source.master.md5[:8] if source.master is not None else ""


def _stretch(clip: Clip, source: Source) -> str:
    return f"{_content(source)}-{clip.first}-{clip.end}"


async def _answer(request: Request, services: Services, file: LibraryFile, download: bool) -> Response:
    etag, is_film = f'"{file.version}"', file.content_type == "video/mp4"
    headers = {
        **kept_for_good(services),
        "Accept-Ranges": "bytes",
        "Content-Disposition": _disposition(file, download),
        "Content-Type": file.content_type,
        "ETag": etag,
    }
    if request.query_params.get("v") != file.version:
        headers["Cache-Control"] = "public, no-cache"
    if is_known(etag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers={name: headers[name] for name in ("Cache-Control", "ETag")})
    if is_film and services.rules.video_links == "redirect" and request.method == "GET" and not download:
        signed = await services.files.signed_url(file.key, SIGNED_SECONDS)
        if signed is not None:
            return RedirectResponse(signed, 307, {"Cache-Control": "no-store"})
    size = await _size(services, file)
    if request.method == "HEAD":
        return Response(headers={**headers, "Content-Length": str(size)})
    asked = request.headers.get("range") if range_holds(request.headers.get("if-range"), etag) else None
    try:
        span = span_of(asked, size)
    except Unsatisfiable:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"})
    if span is not None:
        headers["Content-Range"] = span.content_range(size)
    status, readers = (206 if span else 200), readers_of(request)
    return await FileAnswer(services.files, file.key, span or Span(0, size), readers, status, headers).open()


async def _size(services: Services, file: LibraryFile) -> int:
    """The rows say that there is a file: where there is none, something is wrong here and not with the link."""
    found = await services.files.head(file.key)
    if found is None or (file.size is not None and found.size != file.size):
        raise ObjectStoreError(f"{file.key} is missing in the object store")
    return found.size


def _disposition(file: LibraryFile, download: bool) -> str:
    name = clean_text(file.name, LONGEST_NAME).replace("/", "-").replace("\\", "-") or "clip"
    plain = "".join(letter for letter in name if letter.isascii() and (letter.isalnum() or letter in " .-_")).strip()
    ending = {"video/mp4": "mp4", "image/webp": "webp", "image/jpeg": "jpg"}[file.content_type]
    way = "attachment" if download else "inline"
    return f"{way}; filename=\"{plain or 'clip'}.{ending}\"; filename*=UTF-8''{quote(name)}.{ending}"
