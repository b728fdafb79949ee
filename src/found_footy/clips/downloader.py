"""Downloads the video behind a candidate's link: drop folder, direct file, clip host, page, Bluesky, X or yt-dlp."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol
from urllib.parse import unquote_to_bytes

import httpx

from found_footy.clips.bluesky_videos import DidDocuments
from found_footy.clips.download_http import (
    HEAD_BYTES,
    Content,
    DownloadLimits,
    DownloadProgress,
    Web,
    parse_public_url,
    sniff_content,
)
from found_footy.clips.hosts import ClipLink, Lookup, clip_link, is_front_page, placeholder_reason, says_removed
from found_footy.clips.models import RejectionReason
from found_footy.clips.video_links import (
    API_LOOKUPS,
    PAGE_LOOKUPS,
    best_x_video,
    files_in_json,
    files_on_page,
    fxtwitter_video,
    own_videos,
    parse_page,
    syndication_token,
    worse_of,
    x_post_id,
)
from found_footy.clips.ytdlp import YtDlp
from found_footy.config import Settings
from found_footy.errors import CandidateRejected, DownloadUnavailable
from found_footy.runtime.addresses import Resolve, system_resolve
from found_footy.runtime.http import HttpError, HttpStream, redact_url, redact_urls
from found_footy.text import clean_text


class Downloader(Protocol):
    async def fetch(self, media_url: str, to: Path) -> None:
        """Download the video to `to`, limited in bytes, seconds and redirects.

        Raises CandidateRejected if it can never succeed, DownloadUnavailable if a retry may help.
        """

    async def aclose(self) -> None: ...


SCHEME = "folder:"
CHUNK = 4 * 1024 * 1024


async def copy_from_folder(folder: Path | None, link: str, to: BinaryIO, max_bytes: int) -> None:
    if folder is None:
        raise CandidateRejected(RejectionReason.UNSUPPORTED, "no drop folder is configured: set FOOTY_DROP_FOLDER")
    with await asyncio.to_thread(_opened, folder, link.removeprefix(SCHEME)) as source:
        have = 0
        # In chunks, so that a cancelled copy ends soon: a thread cannot be stopped.
        while piece := await asyncio.to_thread(source.read, CHUNK):
            have += len(piece)
            if have > max_bytes:
                raise CandidateRejected(
                    RejectionReason.TOO_LARGE, f"{clean_text(link, 120)} is larger than {max_bytes} bytes"
                )
            await asyncio.to_thread(to.write, piece)
    if not have:
        raise CandidateRejected(RejectionReason.NOT_A_VIDEO, f"{clean_text(link, 120)} is empty")


def _opened(folder: Path, relative: str) -> BinaryIO:
    shown = clean_text(relative, 120)
    name = os.fsdecode(unquote_to_bytes(relative))
    if not name or "\0" in name:
        raise CandidateRejected(RejectionReason.UNSUPPORTED, f"{shown!r} names no file")
    try:
        root = folder.resolve(strict=True)
        path = (root / name).resolve(strict=True)
        if not path.is_relative_to(root) or path == root:
            raise CandidateRejected(RejectionReason.FORBIDDEN_ADDRESS, f"{shown} is not inside the drop folder")
        # Do not block on a pipe without a writer, and do not follow a symlink that replaced the file meanwhile.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise CandidateRejected(RejectionReason.GONE, f"{shown} is no longer in the drop folder") from None
    except PermissionError:
        raise CandidateRejected(RejectionReason.PRIVATE, f"{shown}: permission denied") from None
    except (OSError, RuntimeError, ValueError) as error:
        # A symlink loop, a name that is too long, or a socket.
        raise CandidateRejected(
            RejectionReason.NOT_A_VIDEO, f"{shown} cannot be opened: {type(error).__name__}"
        ) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CandidateRejected(RejectionReason.NOT_A_VIDEO, f"{shown} is not a regular file")
    return os.fdopen(handle, "rb")


# --- Resumable file download.


RESUMES = 4
"""Maximum number of times a broken download is resumed."""
PAUSE_SECONDS = 0.1
"""Pause before the first resume; doubled for each further one."""

_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(?:\d{1,18}|\*)")


@dataclass(frozen=True, slots=True)
class PartialFile:
    path: Path
    file: BinaryIO


@contextmanager
def partial_file(to: Path) -> Iterator[PartialFile]:
    """Yield a temporary file next to the target; rename it on success, delete it otherwise."""
    path = to.with_name(f".{to.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with path.open("xb") as file:
            yield PartialFile(path, file)
        os.replace(path, to)
    finally:
        path.unlink(missing_ok=True)


class ResumableFile:
    """A resumable download of one file."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._have = 0
        self._url = httpx.URL()
        self._mark = ""
        """Validator (ETag or date) of the partial content; without one, a partial file cannot be resumed."""

    async def save(self, answer: HttpStream, progress: DownloadProgress) -> bool:
        """Write a response body to the file; return False if the connection broke before the end."""
        self._url = answer.url
        if answer.status == 206 and not self._continues(answer):
            self._mark = ""
            return False
        if answer.status != 206:
            self._begin(answer)
        whole = None if answer.is_compressed or answer.length is None else self._have + answer.length
        if self._have + (answer.length or 0) > self._max_bytes:
            raise self._too_large(answer)
        try:
            async for piece in answer.body():
                self._have += len(piece)
                if max(self._have, answer.raw_bytes) > self._max_bytes:
                    raise self._too_large(answer)
                self._file.write(piece)
                progress.report(self._have, whole)
        except HttpError as error:
            if error.is_transient:
                return False
            raise
        return True

    async def resume(self, web: Web, progress: DownloadProgress) -> None:
        """Request the remaining bytes, repeatedly. The caller bounds the time."""
        for attempt in range(RESUMES):
            await asyncio.sleep(PAUSE_SECONDS * 2**attempt)
            wanted = {"Range": f"bytes={self._have}-", "If-Range": self._mark} if self._mark and self._have else {}
            try:
                async with web.get(self._url, progress, wanted, raise_for_status=False) as answer:
                    if answer.status in (200, 206) and await self.save(answer, progress):
                        return
                    if answer.status == 416:
                        self._mark = ""
            except HttpError:
                continue
        raise DownloadUnavailable(f"{redact_url(self._url)}: the connection broke {RESUMES + 1} times")

    def _begin(self, answer: HttpStream) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._have = 0
        tag = answer.headers.get("etag", "")
        mark = tag if tag and not tag.startswith("W/") else answer.headers.get("last-modified", "")
        usable = mark.isascii() and mark.isprintable() and len(mark) <= 200 and not answer.is_compressed
        self._mark = mark if usable else ""

    def _continues(self, answer: HttpStream) -> bool:
        found = _RANGE.fullmatch(answer.headers.get("content-range", ""))
        return bool(self._mark and found and int(found[1]) == self._have and not answer.is_compressed)

    def _too_large(self, answer: HttpStream) -> CandidateRejected:
        return CandidateRejected(
            RejectionReason.TOO_LARGE, f"{redact_url(answer.url)} is larger than {self._max_bytes} bytes"
        )


# --- Downloads by kind of link, all under the same limits.


PAGE_BYTES = 2 * 1024 * 1024
PAGES = 2
"""Maximum depth: a host's page, and the player page that it may point to."""
PLC_URL = "https://plc.directory"
FILES = (".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".flv", ".ts")


def open_downloader(
    limits: DownloadLimits,
    *,
    x_syndication_url: str,
    fxtwitter_url: str,
    x_url: str,
    drop_folder: Path | None,
    plc_url: str = PLC_URL,
    resolve: Resolve = system_resolve,
) -> WebDownloader:
    addresses = XAddresses(x_syndication_url.rstrip("/"), fxtwitter_url.rstrip("/"), httpx.URL(x_url))
    return WebDownloader(limits, addresses, drop_folder, resolve, plc_url)


@dataclass(frozen=True, slots=True)
class XAddresses:
    """Addresses of X, and of the services that resolve its videos."""

    syndication: str
    fxtwitter: str
    x: httpx.URL


class WebDownloader:
    """Implements `Downloader`."""

    def __init__(
        self,
        limits: DownloadLimits,
        addresses: XAddresses,
        drop_folder: Path | None,
        resolve: Resolve,
        plc_url: str = PLC_URL,
    ) -> None:
        self._limits = limits
        self._addresses = addresses
        self._drop_folder = drop_folder
        self._ytdlp = YtDlp()
        self._web = Web(limits, resolve)
        self._dids = DidDocuments(self._web, plc_url)

    async def fetch(self, media_url: str, to: Path, progress: DownloadProgress | None = None) -> None:
        progress = progress or DownloadProgress(self._limits.max_redirects)
        seconds = self._limits.max_seconds
        where = redact_urls(media_url)
        try:
            async with asyncio.timeout(seconds) as clock:
                with partial_file(to) as part:
                    await self._fetch(media_url, part, progress)
        except TimeoutError as error:
            if clock.expired() and progress.answered:
                raise CandidateRejected(
                    RejectionReason.TOO_SLOW, f"{where} was not downloaded within {seconds:g} s"
                ) from None
            raise DownloadUnavailable(f"{where}: no response within {seconds:g} s") from error
        except HttpError as error:
            raise DownloadUnavailable(f"{where}: {error.detail}") from error
        except OSError as error:
            raise DownloadUnavailable(
                f"{where} could not be saved: {error.strerror or type(error).__name__}"
            ) from error

    async def aclose(self) -> None:
        await self._ytdlp.aclose()
        await self._web.aclose()

    async def _fetch(self, media_url: str, part: PartialFile, progress: DownloadProgress) -> None:
        if media_url.startswith(SCHEME):
            progress.answered = True
            await copy_from_folder(self._drop_folder, media_url, part.file, self._limits.max_bytes)
            return
        url = parse_public_url(media_url)
        if (post := x_post_id(url, self._addresses.x)) is not None:
            await self._from_post(post, part, progress)
        else:
            await self._from_link(url, part, progress)

    async def _from_post(self, post: str, part: PartialFile, progress: DownloadProgress) -> None:
        try:
            link = await self._syndicated(post, progress)
        except (CandidateRejected, DownloadUnavailable) as first:
            try:
                link = await self._from_fxtwitter(post, progress)
            except (CandidateRejected, DownloadUnavailable) as second:
                raise worse_of(first, second) from first
        await self._from_link(parse_public_url(link), part, progress, depth=PAGES)

    async def _syndicated(self, post: str, progress: DownloadProgress) -> str:
        url = parse_public_url(f"{self._addresses.syndication}/tweet-result?id={post}&token={syndication_token(post)}")
        status, answer = await self._json(url, progress)
        if status == 404:
            raise CandidateRejected(RejectionReason.GONE, f"post {post} not found on X")
        if status != 200:
            raise DownloadUnavailable(f"{redact_url(url)} answered HTTP {status}")
        return best_x_video(answer, post)

    async def _from_fxtwitter(self, post: str, progress: DownloadProgress) -> str:
        url = parse_public_url(f"{self._addresses.fxtwitter}/2/status/{post}")
        status, answer = await self._json(url, progress)
        if status not in (200, 401, 404):
            raise DownloadUnavailable(f"{redact_url(url)} answered HTTP {status}")
        if status != 200 and not (isinstance(answer, dict) and "code" in answer):
            answer = {"code": status}
        return fxtwitter_video(answer, post)

    async def _json(self, url: httpx.URL, progress: DownloadProgress) -> tuple[int, Any]:
        """Return status and JSON of a response about a post; `{}` if empty. Raises DownloadUnavailable."""
        try:
            async with self._web.get(url, progress, raise_for_status=False) as answer:
                status, body = answer.status, await answer.read(PAGE_BYTES)
        except HttpError as error:
            raise DownloadUnavailable(f"{redact_url(url)}: {error.detail}") from error
        try:
            return status, json.loads(body or b"{}")
        except (ValueError, RecursionError):
            if status == 404:
                return status, {}
            raise DownloadUnavailable(f"{redact_url(url)} answered HTTP {status} without valid JSON") from None

    async def _from_link(
        self,
        url: httpx.URL,
        part: PartialFile,
        progress: DownloadProgress,
        depth: int = 0,
        link: ClipLink | None = None,
    ) -> None:
        """Follow a response to a video. `depth` counts the pages so far; a page instead of a promised video ends the
        search.

        `link` is the clip whose lookup page this is.
        """
        if depth == 0 and link is None and (known := self._known_clip(url)) is not None:
            await self._from_host(known, part, progress)
            return
        saving = ResumableFile(part.file, self._limits.max_bytes)
        async with self._web.get(url, progress) as answer:
            if (reason := placeholder_reason(str(answer.url), self._limits.private_hosts)) is not None:
                raise CandidateRejected(RejectionReason.GONE, f"{redact_url(url)} {reason}")
            content = sniff_content(answer.headers.get("content-type", ""), await answer.head(HEAD_BYTES))
            if content is Content.VIDEO:
                if await saving.save(answer, progress):
                    return
            elif content is Content.PAGE:
                page = await answer.text(PAGE_BYTES)
            elif content is Content.OTHER:
                raise _not_a_video(answer)
            requested, url = url, answer.url
        if content is Content.VIDEO:
            await saving.resume(self._web, progress)
        elif content is Content.PLAYLIST:
            await self._ytdlp.fetch_playlist(url, part.path, self._limits, progress)
        elif is_front_page(str(requested), str(url), self._limits.private_hosts):
            raise CandidateRejected(
                RejectionReason.GONE, f"{redact_url(requested)} redirects to the front page of its host"
            )
        else:
            await self._from_page(url, page, part, progress, depth, link)

    def _known_clip(self, url: httpx.URL) -> ClipLink | None:
        link = clip_link(str(url), self._limits.private_hosts)
        return None if link is None or link.host.lookup is Lookup.GENERIC else link

    async def _from_host(self, link: ClipLink, part: PartialFile, progress: DownloadProgress) -> None:
        """Download by the host's row in the table. Not with yt-dlp: its generic extractor takes any video on a page."""
        lookup = link.host.lookup
        if lookup is Lookup.CLOSED:
            raise CandidateRejected(RejectionReason.GONE, link.host.note)
        if lookup is Lookup.BLUESKY_BLOB:
            await self._from_bluesky(link, part, progress)
            return
        requested = parse_public_url(link.request_url)
        if lookup in PAGE_LOOKUPS:
            await self._from_link(requested, part, progress, link=link)
        elif lookup in API_LOOKUPS:
            async with self._web.get(requested, progress) as answer:
                body = await answer.read(PAGE_BYTES)
            await self._first_of(files_in_json(link, body), requested, part, progress)
        else:
            # A link that names one of the files can fall back to that file.
            given = link.reach(link.url)
            files = [str(requested), *([given] if given.partition("?")[0].lower().endswith(FILES) else [])]
            await self._first_of(files, requested, part, progress)

    async def _from_bluesky(self, link: ClipLink, part: PartialFile, progress: DownloadProgress) -> None:
        """The original file in one resumable request; the CDN's playlist, of reduced quality, if the PDS fails."""
        failure: CandidateRejected | DownloadUnavailable
        try:
            # Half of the time limit, so that a slow PDS leaves enough for the playlist.
            async with asyncio.timeout(self._limits.max_seconds / 2):
                blob = parse_public_url(await self._dids.blob_url(link, progress))
                await self._from_link(blob, part, progress, depth=PAGES)
                return
        except TimeoutError:
            failure = CandidateRejected(
                RejectionReason.TOO_SLOW, f"the author's PDS did not deliver {link.clip_id} in time"
            )
        except (CandidateRejected, DownloadUnavailable) as error:
            failure = error
        except HttpError as error:
            failure = _broken(link.url, error)
        try:
            await self._from_link(parse_public_url(link.reach(link.url)), part, progress, depth=PAGES)
        except (CandidateRejected, DownloadUnavailable) as error:
            unreachable = isinstance(failure, CandidateRejected) and failure.reason == RejectionReason.UNREACHABLE
            raise error if unreachable or error.retryable else failure from failure

    async def _first_of(
        self, links: list[str], base: httpx.URL, part: PartialFile, progress: DownloadProgress, depth: int = PAGES
    ) -> None:
        """Download from the first URL that works; otherwise raise the retryable failure, or else the first one."""
        failures: list[CandidateRejected | DownloadUnavailable] = []
        for link in links:
            try:
                await self._from_link(parse_public_url(link, base), part, progress, depth)
                return
            except (CandidateRejected, DownloadUnavailable) as error:
                failures.append(error)
            except HttpError as error:
                failures.append(_broken(link, error))
        raise next((each for each in failures if each.retryable), failures[0])

    async def _from_page(
        self,
        url: httpx.URL,
        page: str,
        part: PartialFile,
        progress: DownloadProgress,
        depth: int,
        link: ClipLink | None,
    ) -> None:
        if depth == 0 and link is None:
            if (post := x_post_id(url, self._addresses.x)) is not None:
                await self._from_post(post, part, progress)
                return
            if (known := self._known_clip(url)) is not None:
                # A short link redirected here.
                await self._from_host(known, part, progress)
                return
        # Parsing a maliciously slow page takes up to a second.
        parsed = await asyncio.to_thread(parse_page, page)
        if link is not None:
            await self._first_of(files_on_page(link, parsed), url, part, progress)
            return
        own = own_videos(parsed, str(url))
        failure: CandidateRejected | DownloadUnavailable | None = None
        if own.ambiguous:
            failure = CandidateRejected(
                RejectionReason.NOT_A_VIDEO, f"{redact_url(url)} shows several videos and does not mark its own"
            )
        if own.links and depth < PAGES:
            try:
                await self._first_of(own.links, url, part, progress, depth + 1)
                return
            except (CandidateRejected, DownloadUnavailable) as error:
                failure = error
        if failure is None and (depth or url.path.lower().endswith(FILES)):
            raise CandidateRejected(RejectionReason.NOT_A_VIDEO, f"{redact_url(url)} is a page without a video")
        if failure is not None and (depth or not _is_no_video(failure)):
            raise failure
        await self._by_ytdlp(url, part, progress, failure, parsed.text, generic=not own.ambiguous)

    async def _by_ytdlp(
        self,
        url: httpx.URL,
        part: PartialFile,
        progress: DownloadProgress,
        failure: CandidateRejected | DownloadUnavailable | None,
        text: str,
        *,
        generic: bool,
    ) -> None:
        """Download with yt-dlp. `generic` allows any video found on a page without a site-specific extractor."""
        try:
            await self._ytdlp.fetch(url, part.path, self._limits, progress, generic=generic)
        except CandidateRejected as error:
            if error.reason not in (RejectionReason.UNSUPPORTED, RejectionReason.NOT_A_VIDEO):
                raise
            if failure is not None:
                # The page named a video, so the reason why that one failed is more useful.
                raise failure from error
            if says_removed(text):
                raise CandidateRejected(RejectionReason.GONE, f"{redact_url(url)}: the video was removed") from error
            raise


def _is_no_video(error: CandidateRejected | DownloadUnavailable) -> bool:
    return isinstance(error, CandidateRejected) and error.reason == RejectionReason.NOT_A_VIDEO


def _broken(link: str, error: HttpError) -> DownloadUnavailable:
    return DownloadUnavailable(f"{redact_urls(link)}: {error.detail}")


def _not_a_video(answer: HttpStream) -> CandidateRejected:
    kind = redact_urls(answer.headers.get("content-type", "").partition(";")[0], 60) or "something without a type"
    empty = answer.length == 0
    return CandidateRejected(RejectionReason.NOT_A_VIDEO, f"{redact_url(answer.url)} is {'empty' if empty else kind}")


def build_downloader(settings: Settings) -> WebDownloader:
    limits = DownloadLimits(
        settings.download_mb * 1024 * 1024,
        settings.download_seconds,
        settings.download_redirects,
        settings.private_hosts,
        impersonate=settings.download_impersonate,
    )
    return open_downloader(
        limits,
        x_syndication_url=settings.x_syndication_url,
        fxtwitter_url=settings.fxtwitter_url,
        x_url=settings.x_url,
        drop_folder=settings.drop_folder,
        plc_url=settings.plc_url,
    )
