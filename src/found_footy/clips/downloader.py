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
    SNIFF_BYTES,
    Content,
    DownloadLimits,
    DownloadProgress,
    Web,
    parse_or_reject,
    sniff_content,
)
from found_footy.clips.hosts import ClipLink, Lookup, clip_link, is_front_page, mentions_removal, placeholder_reason
from found_footy.clips.models import RejectionReason
from found_footy.clips.video_links import (
    API_LOOKUPS,
    PAGE_LOOKUPS,
    best_x_video,
    files_in_json,
    files_on_page,
    find_own_videos,
    fxtwitter_video,
    merge_failures,
    parse_page,
    syndication_token,
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


FOLDER_SCHEME = "folder:"
CHUNK_BYTES = 4 * 1024 * 1024


async def copy_from_folder(folder: Path | None, link: str, to: BinaryIO, max_bytes: int) -> None:
    if folder is None:
        raise CandidateRejected(RejectionReason.UNSUPPORTED, "no drop folder is configured: set FOOTY_DROP_FOLDER")
    with await asyncio.to_thread(_open_regular_file, folder, link.removeprefix(FOLDER_SCHEME)) as source:
        copied = 0
        # Chunks make a copy cancellable: a thread cannot be stopped.
        while chunk := await asyncio.to_thread(source.read, CHUNK_BYTES):
            copied += len(chunk)
            if copied > max_bytes:
                raise CandidateRejected(
                    RejectionReason.TOO_LARGE, f"{clean_text(link, 120)} is larger than {max_bytes} bytes"
                )
            await asyncio.to_thread(to.write, chunk)
    if not copied:
        raise CandidateRejected(RejectionReason.NOT_A_VIDEO, f"{clean_text(link, 120)} is empty")


def _open_regular_file(folder: Path, relative: str) -> BinaryIO:
    shown = clean_text(relative, 120)
    name = os.fsdecode(unquote_to_bytes(relative))
    if not name or "\0" in name:
        raise CandidateRejected(RejectionReason.UNSUPPORTED, f"{shown!r} does not name a file")
    try:
        root = folder.resolve(strict=True)
        path = (root / name).resolve(strict=True)
        if not path.is_relative_to(root) or path == root:
            raise CandidateRejected(RejectionReason.FORBIDDEN_ADDRESS, f"{shown} is not inside the drop folder")
        # Do not block on a pipe without a writer, and do not follow a symlink swapped in after the check.
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


MAX_RESUMES = 4
"""Maximum number of times a broken download is resumed."""
INITIAL_BACKOFF_SECONDS = 0.1
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
        self._received = 0
        self._url = httpx.URL()
        self._validator = ""
        """ETag or Last-Modified of the partial content; empty if the download cannot be resumed."""

    async def save(self, response: HttpStream, progress: DownloadProgress) -> bool:
        """Write a response body to the file; return False if the connection broke before the end."""
        self._url = response.url
        if response.status == 206 and not self._is_continuation(response):
            self._validator = ""
            return False
        if response.status != 206:
            self._begin(response)
        total = None if response.is_compressed or response.length is None else self._received + response.length
        if self._received + (response.length or 0) > self._max_bytes:
            raise self._too_large(response)
        try:
            async for chunk in response.body():
                self._received += len(chunk)
                if max(self._received, response.raw_bytes) > self._max_bytes:
                    raise self._too_large(response)
                self._file.write(chunk)
                progress.report(self._received, total)
        except HttpError as error:
            if error.is_transient:
                return False
            raise
        return True

    async def resume(self, web: Web, progress: DownloadProgress) -> None:
        """Request the remaining bytes, with retries. The caller limits the time."""
        for attempt in range(MAX_RESUMES):
            await asyncio.sleep(INITIAL_BACKOFF_SECONDS * 2**attempt)
            headers = (
                {"Range": f"bytes={self._received}-", "If-Range": self._validator}
                if self._validator and self._received
                else {}
            )
            try:
                async with web.get(self._url, progress, headers, raise_for_status=False) as response:
                    if response.status in (200, 206) and await self.save(response, progress):
                        return
                    if response.status == 416:
                        self._validator = ""
            except HttpError:
                continue
        raise DownloadUnavailable(f"{redact_url(self._url)}: the connection broke {MAX_RESUMES + 1} times")

    def _begin(self, response: HttpStream) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._received = 0
        etag = response.headers.get("etag", "")
        validator = etag if etag and not etag.startswith("W/") else response.headers.get("last-modified", "")
        usable = (
            validator.isascii() and validator.isprintable() and len(validator) <= 200 and not response.is_compressed
        )
        self._validator = validator if usable else ""

    def _is_continuation(self, response: HttpStream) -> bool:
        found = _RANGE.fullmatch(response.headers.get("content-range", ""))
        return bool(self._validator and found and int(found[1]) == self._received and not response.is_compressed)

    def _too_large(self, response: HttpStream) -> CandidateRejected:
        return CandidateRejected(
            RejectionReason.TOO_LARGE, f"{redact_url(response.url)} is larger than {self._max_bytes} bytes"
        )


# --- Downloads by kind of link, all under the same limits.


MAX_PAGE_BYTES = 2 * 1024 * 1024
MAX_PAGES = 2
"""Maximum number of pages to follow: a host's page and the player page it may embed."""
PLC_URL = "https://plc.directory"
VIDEO_EXTENSIONS = (".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".flv", ".ts")


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
        shown = redact_urls(media_url)
        try:
            async with asyncio.timeout(seconds) as deadline:
                with partial_file(to) as part:
                    await self._fetch(media_url, part, progress)
        except TimeoutError as error:
            if deadline.expired() and progress.answered:
                raise CandidateRejected(
                    RejectionReason.TOO_SLOW, f"{shown} was not downloaded within {seconds:g} s"
                ) from None
            raise DownloadUnavailable(f"{shown}: no response within {seconds:g} s") from error
        except HttpError as error:
            raise DownloadUnavailable(f"{shown}: {error.detail}") from error
        except OSError as error:
            raise DownloadUnavailable(
                f"{shown} could not be saved: {error.strerror or type(error).__name__}"
            ) from error

    async def aclose(self) -> None:
        await self._ytdlp.aclose()
        await self._web.aclose()

    async def _fetch(self, media_url: str, part: PartialFile, progress: DownloadProgress) -> None:
        if media_url.startswith(FOLDER_SCHEME):
            progress.answered = True
            await copy_from_folder(self._drop_folder, media_url, part.file, self._limits.max_bytes)
            return
        url = parse_or_reject(media_url)
        if (post := x_post_id(url, self._addresses.x)) is not None:
            await self._from_post(post, part, progress)
        else:
            await self._from_link(url, part, progress)

    async def _from_post(self, post: str, part: PartialFile, progress: DownloadProgress) -> None:
        try:
            link = await self._syndication_link(post, progress)
        except (CandidateRejected, DownloadUnavailable) as first:
            try:
                link = await self._fxtwitter_link(post, progress)
            except (CandidateRejected, DownloadUnavailable) as second:
                raise merge_failures(first, second) from first
        await self._from_link(parse_or_reject(link), part, progress, depth=MAX_PAGES)

    async def _syndication_link(self, post: str, progress: DownloadProgress) -> str:
        url = parse_or_reject(f"{self._addresses.syndication}/tweet-result?id={post}&token={syndication_token(post)}")
        status, response = await self._get_json(url, progress)
        if status == 404:
            raise CandidateRejected(RejectionReason.GONE, f"post {post} not found on X")
        if status != 200:
            raise DownloadUnavailable(f"{redact_url(url)} returned HTTP {status}")
        return best_x_video(response, post)

    async def _fxtwitter_link(self, post: str, progress: DownloadProgress) -> str:
        url = parse_or_reject(f"{self._addresses.fxtwitter}/2/status/{post}")
        status, response = await self._get_json(url, progress)
        if status not in (200, 401, 404):
            raise DownloadUnavailable(f"{redact_url(url)} returned HTTP {status}")
        if status != 200 and not (isinstance(response, dict) and "code" in response):
            response = {"code": status}
        return fxtwitter_video(response, post)

    async def _get_json(self, url: httpx.URL, progress: DownloadProgress) -> tuple[int, Any]:
        """Return status and JSON of a response about a post; `{}` if empty. Raises DownloadUnavailable."""
        try:
            async with self._web.get(url, progress, raise_for_status=False) as response:
                status, body = response.status, await response.read(MAX_PAGE_BYTES)
        except HttpError as error:
            raise DownloadUnavailable(f"{redact_url(url)}: {error.detail}") from error
        try:
            return status, json.loads(body or b"{}")
        except (ValueError, RecursionError):
            if status == 404:
                return status, {}
            raise DownloadUnavailable(f"{redact_url(url)} returned HTTP {status} without valid JSON") from None

    async def _from_link(
        self,
        url: httpx.URL,
        part: PartialFile,
        progress: DownloadProgress,
        depth: int = 0,
        link: ClipLink | None = None,
    ) -> None:
        """Download the video behind a URL, which may lead through pages.

        `depth` counts the pages so far. `link` is set if the URL is the lookup page of that clip.
        """
        if depth == 0 and link is None and (clip := self._clip_of_known_host(url)) is not None:
            await self._from_host(clip, part, progress)
            return
        file = ResumableFile(part.file, self._limits.max_bytes)
        async with self._web.get(url, progress) as response:
            if (reason := placeholder_reason(str(response.url), self._limits.private_hosts)) is not None:
                raise CandidateRejected(RejectionReason.GONE, f"{redact_url(url)} {reason}")
            content = sniff_content(response.headers.get("content-type", ""), await response.head(SNIFF_BYTES))
            if content is Content.VIDEO:
                if await file.save(response, progress):
                    return
            elif content is Content.PAGE:
                page = await response.text(MAX_PAGE_BYTES)
            elif content is Content.OTHER:
                raise _not_a_video(response)
            requested, url = url, response.url
        if content is Content.VIDEO:
            await file.resume(self._web, progress)
        elif content is Content.PLAYLIST:
            await self._ytdlp.fetch_playlist(url, part.path, self._limits, progress)
        elif is_front_page(str(requested), str(url), self._limits.private_hosts):
            raise CandidateRejected(
                RejectionReason.GONE, f"{redact_url(requested)} redirects to the front page of its host"
            )
        else:
            await self._from_page(url, page, part, progress, depth, link)

    def _clip_of_known_host(self, url: httpx.URL) -> ClipLink | None:
        link = clip_link(str(url), self._limits.private_hosts)
        return None if link is None or link.host.lookup is Lookup.GENERIC else link

    async def _from_host(self, link: ClipLink, part: PartialFile, progress: DownloadProgress) -> None:
        """Download as the host's table row describes. yt-dlp is not used: it would take any video of a page."""
        lookup = link.host.lookup
        if lookup is Lookup.CLOSED:
            raise CandidateRejected(RejectionReason.GONE, link.host.note)
        if lookup is Lookup.BLUESKY_BLOB:
            await self._from_bluesky(link, part, progress)
            return
        requested = parse_or_reject(link.request_url)
        if lookup in PAGE_LOOKUPS:
            await self._from_link(requested, part, progress, link=link)
        elif lookup in API_LOOKUPS:
            async with self._web.get(requested, progress) as response:
                body = await response.read(MAX_PAGE_BYTES)
            await self._from_first_working(files_in_json(link, body), requested, part, progress)
        else:
            files = [str(requested)]
            original = link.gateway_url(link.url)
            if original.partition("?")[0].lower().endswith(VIDEO_EXTENSIONS):
                files.append(original)
            await self._from_first_working(files, requested, part, progress)

    async def _from_bluesky(self, link: ClipLink, part: PartialFile, progress: DownloadProgress) -> None:
        """Download the original file in one resumable request, or the CDN's lower-quality playlist if the PDS fails."""
        failure: CandidateRejected | DownloadUnavailable
        try:
            # Half of the time limit, so that a slow PDS leaves enough for the playlist.
            async with asyncio.timeout(self._limits.max_seconds / 2):
                blob = parse_or_reject(await self._dids.blob_url(link, progress))
                await self._from_link(blob, part, progress, depth=MAX_PAGES)
                return
        except TimeoutError:
            failure = CandidateRejected(
                RejectionReason.TOO_SLOW, f"the author's PDS did not deliver {link.clip_id} in time"
            )
        except (CandidateRejected, DownloadUnavailable) as error:
            failure = error
        except HttpError as error:
            failure = _connection_error(link.url, error)
        try:
            await self._from_link(parse_or_reject(link.gateway_url(link.url)), part, progress, depth=MAX_PAGES)
        except (CandidateRejected, DownloadUnavailable) as error:
            unreachable = isinstance(failure, CandidateRejected) and failure.reason == RejectionReason.UNREACHABLE
            raise error if unreachable or error.retryable else failure from failure

    async def _from_first_working(
        self, links: list[str], base: httpx.URL, part: PartialFile, progress: DownloadProgress, depth: int = MAX_PAGES
    ) -> None:
        """Download from the first URL that works. If none does, raise a retryable failure, if any, or the first one."""
        failures: list[CandidateRejected | DownloadUnavailable] = []
        for link in links:
            try:
                await self._from_link(parse_or_reject(link, base), part, progress, depth)
                return
            except (CandidateRejected, DownloadUnavailable) as error:
                failures.append(error)
            except HttpError as error:
                failures.append(_connection_error(link, error))
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
            if (clip := self._clip_of_known_host(url)) is not None:
                # A short link redirected here.
                await self._from_host(clip, part, progress)
                return
        # A page built to be slow takes up to a second to parse.
        parsed = await asyncio.to_thread(parse_page, page)
        if link is not None:
            await self._from_first_working(files_on_page(link, parsed), url, part, progress)
            return
        own = find_own_videos(parsed, str(url))
        failure: CandidateRejected | DownloadUnavailable | None = None
        if own.ambiguous:
            failure = CandidateRejected(
                RejectionReason.NOT_A_VIDEO, f"{redact_url(url)} shows several videos; its own cannot be identified"
            )
        if own.links and depth < MAX_PAGES:
            try:
                await self._from_first_working(own.links, url, part, progress, depth + 1)
                return
            except (CandidateRejected, DownloadUnavailable) as error:
                failure = error
        if failure is None and (depth or url.path.lower().endswith(VIDEO_EXTENSIONS)):
            raise CandidateRejected(RejectionReason.NOT_A_VIDEO, f"{redact_url(url)} is a page without a video")
        if failure is not None and (depth or not _is_no_video(failure)):
            raise failure
        await self._from_ytdlp(url, part, progress, failure, parsed.text, generic=not own.ambiguous)

    async def _from_ytdlp(
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
                # The page named a video; why that one failed is more useful.
                raise failure from error
            if mentions_removal(text):
                raise CandidateRejected(RejectionReason.GONE, f"{redact_url(url)}: the video was removed") from error
            raise


def _is_no_video(error: CandidateRejected | DownloadUnavailable) -> bool:
    return isinstance(error, CandidateRejected) and error.reason == RejectionReason.NOT_A_VIDEO


def _connection_error(link: str, error: HttpError) -> DownloadUnavailable:
    return DownloadUnavailable(f"{redact_urls(link)}: {error.detail}")


def _not_a_video(response: HttpStream) -> CandidateRejected:
    content_type = redact_urls(response.headers.get("content-type", "").partition(";")[0], 60)
    if response.length == 0:
        problem = "is empty"
    else:
        problem = f"is {content_type}, not a video" if content_type else "is not a video"
    return CandidateRejected(RejectionReason.NOT_A_VIDEO, f"{redact_url(response.url)} {problem}")


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
