"""Downloads the video behind a stranger's link. Each kind of link has its way; the bounds are the same for all.

folder:…                     copied from the drop folder
a post on X                  its best mp4, by the syndication endpoint, or by FxEmbed where that fails
a known clip host            by its row in `domain/discovery/clip_hosts.py`
a Bluesky video              the original from the author's PDS, else the CDN's HLS playlist
a video                      saved, with resume
a page                       the page's own video; if it names none, yt-dlp
a playlist (HLS, DASH)       yt-dlp
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpcore
import httpx

from found_footy.adapters.download.clip_page import own_videos, parse_page
from found_footy.adapters.download.contents import Content, content_of
from found_footy.adapters.download.did_documents import DidDocuments
from found_footy.adapters.download.drop_folder import SCHEME, copy_from_folder
from found_footy.adapters.download.host_files import API_LOOKUPS, PAGE_LOOKUPS, files_in_json, files_on_page
from found_footy.adapters.download.limits import DownloadLimits, Trip
from found_footy.adapters.download.saving import PartFile, Saving, aside
from found_footy.adapters.download.urls import checked_url, shown, shown_text
from found_footy.adapters.download.web import BROKEN, Answer, Web
from found_footy.adapters.download.x_posts import best_video, fxtwitter_video, post_id, token, worse_of
from found_footy.adapters.download.ytdlp import fetch_playlist, fetch_with_ytdlp
from found_footy.adapters.guarded.connections import Resolve, system_resolve
from found_footy.domain.discovery.clip_hosts import (
    ClipLink,
    Lookup,
    clip_link,
    is_front_page,
    placeholder_reason,
    says_removed,
)
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss
from found_footy.ports import Downloader

PAGE_BYTES = 2 * 1024 * 1024
PAGES = 2
"""A host's page, and the player's page that it may point to."""
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
) -> Downloader:
    places = XPlaces(x_syndication_url.rstrip("/"), fxtwitter_url.rstrip("/"), httpx.URL(x_url))
    return WebDownloader(limits, places, drop_folder, resolve, plc_url)


@dataclass(frozen=True, slots=True)
class XPlaces:
    """Where posts on X are, and who tells where their videos are."""

    syndication: str
    fxtwitter: str
    x: httpx.URL


class WebDownloader:
    """Fills `Downloader`."""

    def __init__(
        self,
        limits: DownloadLimits,
        places: XPlaces,
        drop_folder: Path | None,
        resolve: Resolve,
        plc_url: str = PLC_URL,
    ) -> None:
        self._limits = limits
        self._places = places
        self._drop_folder = drop_folder
        self._web = Web(limits, resolve)
        self._dids = DidDocuments(self._web, plc_url)

    async def fetch(self, media_url: str, to: Path, trip: Trip | None = None) -> None:
        trip = trip or Trip(self._limits.max_redirects)
        seconds = self._limits.max_seconds
        where = shown_text(media_url)
        try:
            async with asyncio.timeout(seconds) as clock:
                with aside(to) as part:
                    await self._fetch(media_url, part, trip)
        except TimeoutError as error:
            if clock.expired() and trip.answered:
                raise ClipLost(Loss.TOO_SLOW, f"{where} did not come within {seconds:g} s") from None
            raise DownloadUnavailable(f"{where}: no answer within {seconds:g} s") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise DownloadUnavailable(f"{where}: {type(error).__name__}: {shown_text(str(error))}") from error
        except OSError as error:
            raise DownloadUnavailable(
                f"{where} could not be saved: {error.strerror or type(error).__name__}"
            ) from error

    async def aclose(self) -> None:
        await self._web.aclose()

    async def _fetch(self, media_url: str, part: PartFile, trip: Trip) -> None:
        if media_url.startswith(SCHEME):
            trip.answered = True
            await copy_from_folder(self._drop_folder, media_url, part.file, self._limits.max_bytes)
            return
        url = checked_url(media_url)
        if (post := post_id(url, self._places.x)) is not None:
            await self._from_post(post, part, trip)
        else:
            await self._from_link(url, part, trip)

    async def _from_post(self, post: str, part: PartFile, trip: Trip) -> None:
        try:
            link = await self._syndicated(post, trip)
        except (ClipLost, DownloadUnavailable) as first:
            try:
                link = await self._from_fxtwitter(post, trip)
            except (ClipLost, DownloadUnavailable) as second:
                raise worse_of(first, second) from first
        await self._from_link(checked_url(link), part, trip, depth=PAGES)

    async def _syndicated(self, post: str, trip: Trip) -> str:
        url = checked_url(f"{self._places.syndication}/tweet-result?id={post}&token={token(post)}")
        status, answer = await self._json(url, trip)
        if status == 404:
            raise ClipLost(Loss.GONE, f"X does not know post {post}")
        if status != 200:
            raise DownloadUnavailable(f"{shown(url)} answered HTTP {status}")
        return best_video(answer, post)

    async def _from_fxtwitter(self, post: str, trip: Trip) -> str:
        url = checked_url(f"{self._places.fxtwitter}/2/status/{post}")
        status, answer = await self._json(url, trip)
        if status not in (200, 401, 404):
            raise DownloadUnavailable(f"{shown(url)} answered HTTP {status}")
        if status != 200 and not (isinstance(answer, dict) and "code" in answer):
            answer = {"code": status}
        return fxtwitter_video(answer, post)

    async def _json(self, url: httpx.URL, trip: Trip) -> tuple[int, Any]:
        """The status and the JSON of an answer about a post; `{}` for an empty one. Raises DownloadUnavailable."""
        try:
            async with self._web.get(url, trip, judged=False) as answer:
                status, body = answer.status, await answer.read(PAGE_BYTES)
        except BROKEN as error:
            raise DownloadUnavailable(f"{shown(url)}: {type(error).__name__}") from error
        try:
            return status, json.loads(body or b"{}")
        except (ValueError, RecursionError):
            if status == 404:
                return status, {}
            raise DownloadUnavailable(f"{shown(url)} answered HTTP {status} with something that is not JSON") from None

    async def _from_link(
        self, url: httpx.URL, part: PartFile, trip: Trip, depth: int = 0, link: ClipLink | None = None
    ) -> None:
        """`depth` counts the pages that led here; a page that comes where a video was promised is the end.

        `link` is the clip whose lookup page this is.
        """
        if depth == 0 and link is None and (known := self._known_clip(url)) is not None:
            await self._from_host(known, part, trip)
            return
        saving = Saving(part.file, self._limits.max_bytes)
        async with self._web.get(url, trip) as answer:
            if (reason := placeholder_reason(str(answer.url), self._limits.private_hosts)) is not None:
                raise ClipLost(Loss.GONE, f"{shown(url)} {reason}")
            content = content_of(answer.headers.get("content-type", ""), await answer.head())
            if content is Content.VIDEO:
                if await saving.save(answer, trip):
                    return
            elif content is Content.PAGE:
                page = await answer.text(PAGE_BYTES)
            elif content is Content.OTHER:
                raise _not_a_video(answer)
            asked, url = url, answer.url
        if content is Content.VIDEO:
            await saving.resume(self._web, trip)
        elif content is Content.PLAYLIST:
            await fetch_playlist(url, part.path, self._limits, trip)
        elif is_front_page(str(asked), str(url), self._limits.private_hosts):
            raise ClipLost(Loss.GONE, f"{shown(asked)} redirects to the front page of its host")
        else:
            await self._from_page(url, page, part, trip, depth, link)

    def _known_clip(self, url: httpx.URL) -> ClipLink | None:
        link = clip_link(str(url), self._limits.private_hosts)
        return None if link is None or link.host.lookup is Lookup.GENERIC else link

    async def _from_host(self, link: ClipLink, part: PartFile, trip: Trip) -> None:
        """By the host's row in the table. yt-dlp is not asked: its generic extractor takes any video of a page."""
        lookup = link.host.lookup
        if lookup is Lookup.CLOSED:
            raise ClipLost(Loss.GONE, link.host.note)
        if lookup is Lookup.BLUESKY_BLOB:
            await self._from_bluesky(link, part, trip)
            return
        asked = checked_url(link.request_url)
        if lookup in PAGE_LOOKUPS:
            await self._from_link(asked, part, trip, link=link)
        elif lookup in API_LOOKUPS:
            async with self._web.get(asked, trip) as answer:
                body = await answer.read(PAGE_BYTES)
            await self._first_of(files_in_json(link, body), asked, part, trip)
        else:
            # A link that names one of the files has that file to fall back to.
            given = link.reach(link.url)
            files = [str(asked), *([given] if given.partition("?")[0].lower().endswith(FILES) else [])]
            await self._first_of(files, asked, part, trip)

    async def _from_bluesky(self, link: ClipLink, part: PartFile, trip: Trip) -> None:
        """The original file in one resumable request; the CDN's playlist, of reduced quality, if the PDS fails."""
        failure: ClipLost | DownloadUnavailable
        try:
            # Half of the time, so that a slow home server leaves enough for the playlist.
            async with asyncio.timeout(self._limits.max_seconds / 2):
                blob = checked_url(await self._dids.blob_url(link, trip))
                await self._from_link(blob, part, trip, depth=PAGES)
                return
        except TimeoutError:
            failure = ClipLost(Loss.TOO_SLOW, f"the author's PDS did not deliver {link.clip_id} in time")
        except (ClipLost, DownloadUnavailable) as error:
            failure = error
        except BROKEN as error:
            failure = _broken(link.url, error)
        try:
            await self._from_link(checked_url(link.reach(link.url)), part, trip, depth=PAGES)
        except (ClipLost, DownloadUnavailable) as error:
            told = failure.loss != Loss.UNREACHABLE if isinstance(failure, ClipLost) else True
            raise failure if told and not error.retryable else error from failure

    async def _first_of(
        self, links: list[str], base: httpx.URL, part: PartFile, trip: Trip, depth: int = PAGES
    ) -> None:
        """The first of some addresses of one video that works; otherwise the failure that may pass, or the first."""
        failures: list[ClipLost | DownloadUnavailable] = []
        for link in links:
            try:
                await self._from_link(checked_url(link, base), part, trip, depth)
                return
            except (ClipLost, DownloadUnavailable) as error:
                failures.append(error)
            except BROKEN as error:
                failures.append(_broken(link, error))
        raise next((each for each in failures if each.retryable), failures[0])

    async def _from_page(
        self, url: httpx.URL, page: str, part: PartFile, trip: Trip, depth: int, link: ClipLink | None
    ) -> None:
        if depth == 0 and link is None:
            if (post := post_id(url, self._places.x)) is not None:
                await self._from_post(post, part, trip)
                return
            if (known := self._known_clip(url)) is not None:
                # A short link that was redirected here.
                await self._from_host(known, part, trip)
                return
        # The parser takes up to a second for a page that is made to be slow.
        parsed = await asyncio.to_thread(parse_page, page)
        if link is not None:
            await self._first_of(files_on_page(link, parsed), url, part, trip)
            return
        own = own_videos(parsed, str(url))
        failure: ClipLost | DownloadUnavailable | None = None
        if own.ambiguous:
            failure = ClipLost(Loss.NOT_A_VIDEO, f"{shown(url)} shows several videos and does not mark its own")
        if own.links and depth < PAGES:
            try:
                await self._first_of(own.links, url, part, trip, depth + 1)
                return
            except (ClipLost, DownloadUnavailable) as error:
                failure = error
        if failure is None and (depth or url.path.lower().endswith(FILES)):
            raise ClipLost(Loss.NOT_A_VIDEO, f"{shown(url)} is a page without a video")
        if failure is not None and (depth or not _is_no_video(failure)):
            raise failure
        await self._by_ytdlp(url, part, trip, failure, parsed.text, generic=not own.ambiguous)

    async def _by_ytdlp(
        self,
        url: httpx.URL,
        part: PartFile,
        trip: Trip,
        failure: ClipLost | DownloadUnavailable | None,
        text: str,
        *,
        generic: bool,
    ) -> None:
        """`generic`: whether yt-dlp may take whatever video it finds on a page that it has no extractor for."""
        try:
            await fetch_with_ytdlp(url, part.path, self._limits, trip, generic=generic)
        except ClipLost as error:
            if error.loss not in (Loss.UNSUPPORTED, Loss.NOT_A_VIDEO):
                raise
            if failure is not None:
                # The page did name a video: why that one failed says more.
                raise failure from error
            if says_removed(text):
                raise ClipLost(Loss.GONE, f"{shown(url)} says that its video was removed") from error
            raise


def _is_no_video(error: ClipLost | DownloadUnavailable) -> bool:
    return isinstance(error, ClipLost) and error.loss == Loss.NOT_A_VIDEO


def _broken(link: str, error: Exception) -> DownloadUnavailable:
    return DownloadUnavailable(f"{shown_text(link)}: {type(error).__name__}: {shown_text(str(error))}")


def _not_a_video(answer: Answer) -> ClipLost:
    kind = shown_text(answer.headers.get("content-type", "").partition(";")[0], 60) or "something without a type"
    empty = answer.length == 0
    return ClipLost(Loss.NOT_A_VIDEO, f"{shown(answer.url)} is {'empty' if empty else kind}")
