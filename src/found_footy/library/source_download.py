"""Downloads of submitted sources, with the same methods and address checks as for clips."""

from __future__ import annotations

from pathlib import Path

from found_footy.clips.download_http import DownloadLimits, DownloadProgress, parse_or_reject
from found_footy.clips.downloader import PLC_URL, WebDownloader, open_downloader
from found_footy.clips.models import RejectionReason
from found_footy.errors import BadRequest, CandidateRejected
from found_footy.runtime.addresses import Resolve, system_resolve
from found_footy.runtime.sandbox import Progress


class SourceFetcher:
    """Downloads a source. `max_duration_seconds` limits the duration, if the page states it before the download."""

    def __init__(self, downloader: WebDownloader, limits: DownloadLimits, max_duration_seconds: float) -> None:
        self._downloader = downloader
        self._limits = limits
        self._max_duration_seconds = max_duration_seconds

    async def fetch(self, url: str, to: Path, progress: Progress) -> str:
        """Download the video; return its title, or an empty string. Raises CandidateRejected, DownloadUnavailable, and
        BadRequest for a URL that must not be requested.
        """
        try:
            # Only http(s): an editor must not reach the drop folder.
            parse_or_reject(url)
        except CandidateRejected as error:
            raise BadRequest(str(error)) from error
        state = DownloadProgress(
            self._limits.max_redirects, on_progress=progress, max_duration_seconds=self._max_duration_seconds
        )
        try:
            await self._downloader.fetch(url, to, state)
        except CandidateRejected as error:
            if error.reason == RejectionReason.FORBIDDEN_ADDRESS:
                raise BadRequest(str(error)) from error
            raise
        return state.title

    async def aclose(self) -> None:
        await self._downloader.aclose()


def open_source_fetcher(
    limits: DownloadLimits,
    *,
    x_syndication_url: str,
    fxtwitter_url: str,
    x_url: str,
    max_duration_seconds: float,
    plc_url: str = PLC_URL,
    resolve: Resolve = system_resolve,
) -> SourceFetcher:
    downloader = open_downloader(
        limits,
        x_syndication_url=x_syndication_url,
        fxtwitter_url=fxtwitter_url,
        x_url=x_url,
        drop_folder=None,
        plc_url=plc_url,
        resolve=resolve,
    )
    return SourceFetcher(downloader, limits, max_duration_seconds)
