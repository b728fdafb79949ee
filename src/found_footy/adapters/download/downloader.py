"""Gets a stranger's video onto our disk. Each kind of link has its way; the bounds are the same for all.

folder:…                     copied from the drop folder
a post on X                  its best mp4, by the syndication endpoint, or by FxEmbed where that fails
a video                      saved, with resume
a page                       the video that it names; where it names none, yt-dlp
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

from found_footy.adapters.download.contents import Content, content_of
from found_footy.adapters.download.drop_folder import SCHEME, copy_from_folder
from found_footy.adapters.download.goal_page import video_links
from found_footy.adapters.download.limits import DownloadLimits, Trip
from found_footy.adapters.download.saving import PartFile, Saving, aside
from found_footy.adapters.download.urls import checked_url, shown, shown_text
from found_footy.adapters.download.web import BROKEN, Answer, Web
from found_footy.adapters.download.x_posts import best_video, fxtwitter_video, post_id, token, worse_of
from found_footy.adapters.download.ytdlp import fetch_with_ytdlp
from found_footy.adapters.guarded.connections import Resolve, system_resolve
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss
from found_footy.ports import Downloader

PAGE_BYTES = 2 * 1024 * 1024
PAGES = 2
"""A host's page, and the player's page that it may point to."""
FILES = (".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".flv", ".ts")


def open_downloader(
    limits: DownloadLimits,
    *,
    x_syndication_url: str,
    fxtwitter_url: str,
    x_url: str,
    drop_folder: Path | None,
    resolve: Resolve = system_resolve,
) -> Downloader:
    places = XPlaces(x_syndication_url.rstrip("/"), fxtwitter_url.rstrip("/"), httpx.URL(x_url))
    return WebDownloader(limits, places, drop_folder, resolve)


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
    ) -> None:
        self._limits = limits
        self._places = places
        self._drop_folder = drop_folder
        self._web = Web(limits, resolve)

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

    async def _from_link(self, url: httpx.URL, part: PartFile, trip: Trip, depth: int = 0) -> None:
        """`depth` counts the pages that led here; a page that comes where a video was promised is the end."""
        saving = Saving(part.file, self._limits.max_bytes)
        async with self._web.get(url, trip) as answer:
            content = content_of(answer.headers.get("content-type", ""), await answer.head())
            if content is Content.VIDEO:
                if await saving.save(answer, trip):
                    return
            elif content is Content.PAGE:
                page = await answer.text(PAGE_BYTES)
            elif content is Content.OTHER:
                raise _not_a_video(answer)
            url = answer.url
        if content is Content.VIDEO:
            await saving.resume(self._web, trip)
        elif content is Content.PLAYLIST:
            await fetch_with_ytdlp(url, part.path, self._limits, trip)
        else:
            await self._from_page(url, page, part, trip, depth)

    async def _from_page(self, url: httpx.URL, page: str, part: PartFile, trip: Trip, depth: int) -> None:
        if depth == 0 and (post := post_id(url, self._places.x)) is not None:
            await self._from_post(post, part, trip)
            return
        # The parser takes up to a second for a page that is made to be slow.
        links = await asyncio.to_thread(video_links, page) if depth < PAGES else []
        failures: list[ClipLost | DownloadUnavailable] = []
        for link in links:
            try:
                await self._from_link(checked_url(link, url), part, trip, depth + 1)
                return
            except (ClipLost, DownloadUnavailable) as error:
                failures.append(error)
        if not failures and (depth or url.path.lower().endswith(FILES)):
            raise ClipLost(Loss.NOT_A_VIDEO, f"{shown(url)} is a page without a video")
        if depth or not all(isinstance(each, ClipLost) and each.loss == Loss.NOT_A_VIDEO for each in failures):
            raise next((each for each in failures if each.retryable), failures[0])
        await self._by_ytdlp(url, part, trip, failures)

    async def _by_ytdlp(
        self, url: httpx.URL, part: PartFile, trip: Trip, failures: list[ClipLost | DownloadUnavailable]
    ) -> None:
        try:
            await fetch_with_ytdlp(url, part.path, self._limits, trip)
        except ClipLost as error:
            if failures and error.loss == Loss.UNSUPPORTED:
                # The page did name a video: that one's reason says more.
                raise failures[0] from error
            raise


def _not_a_video(answer: Answer) -> ClipLost:
    kind = shown_text(answer.headers.get("content-type", "").partition(";")[0], 60) or "something without a type"
    empty = answer.length == 0
    return ClipLost(Loss.NOT_A_VIDEO, f"{shown(answer.url)} is {'empty' if empty else kind}")
