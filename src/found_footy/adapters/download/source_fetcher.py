"""Gets what an editor submitted onto our disk: the same ways and the same guard as for clips, for whole films."""

from __future__ import annotations

from pathlib import Path

import httpx

from found_footy.adapters.download.downloader import PLC_URL, WebDownloader, XPlaces
from found_footy.adapters.download.limits import DownloadLimits, Trip
from found_footy.adapters.download.urls import checked_url
from found_footy.adapters.guarded.connections import Resolve, system_resolve
from found_footy.domain.errors import BadRequest, ClipLost
from found_footy.domain.videos.losses import Loss
from found_footy.ports_library import Progress


class GuardedSourceFetcher:
    """Fills `SourceFetcher`. `longest_seconds` is of the film, where its page tells before it is fetched."""

    def __init__(self, downloader: WebDownloader, limits: DownloadLimits, longest_seconds: float) -> None:
        self._downloader = downloader
        self._limits = limits
        self._longest_seconds = longest_seconds

    async def fetch(self, url: str, to: Path, progress: Progress) -> str:
        try:
            # No other scheme than the web's: a drop folder is not for whoever may submit a link.
            checked_url(url)
        except ClipLost as error:
            raise BadRequest(str(error)) from error
        trip = Trip(self._limits.max_redirects, told=progress, longest_seconds=self._longest_seconds)
        try:
            await self._downloader.fetch(url, to, trip)
        except ClipLost as error:
            if error.loss == Loss.FORBIDDEN_ADDRESS:
                raise BadRequest(str(error)) from error
            raise
        return trip.title

    async def aclose(self) -> None:
        await self._downloader.aclose()


def open_source_fetcher(
    limits: DownloadLimits,
    *,
    x_syndication_url: str,
    fxtwitter_url: str,
    x_url: str,
    longest_seconds: float,
    plc_url: str = PLC_URL,
    resolve: Resolve = system_resolve,
) -> GuardedSourceFetcher:
    places = XPlaces(x_syndication_url.rstrip("/"), fxtwitter_url.rstrip("/"), httpx.URL(x_url))
    downloader = WebDownloader(limits, places, None, resolve, plc_url)
    return GuardedSourceFetcher(downloader, limits, longest_seconds)
