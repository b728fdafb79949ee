"""Downloads of a recording: the files that came then come again, and what was lost is lost for the same reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from found_footy.domain.errors import ClipLost, DownloadUnavailable, ObjectMissing, ObjectStoreError
from found_footy.domain.recordings.recording import RecordedDownload
from found_footy.domain.videos.keys import clip_key
from found_footy.domain.videos.losses import Loss
from found_footy.ports import ObjectStore

NOT_KEPT = "its file was not kept"
"""Said of a clip whose file has gone from the object store since."""


class RecordedDownloader:
    """A copy that gave way to another clip was not kept: the clip that stands for it comes in its place."""

    def __init__(self, fixture_id: int, downloads: Iterable[RecordedDownload], objects: ObjectStore | None) -> None:
        self._fixture_id = fixture_id
        self._objects = objects
        self._by_url: dict[str, list[RecordedDownload]] = defaultdict(list)
        for download in downloads:
            self._by_url[download.media_url].append(download)

    async def fetch(self, media_url: str, to: Path) -> None:
        known = self._by_url.get(media_url, [])
        if not known:
            raise ClipLost(Loss.PASSED_OVER, "it was never downloaded then")
        # One post may have been found for two goals, and be a clip of only one of them.
        kept = [download for download in known if download.clip is not None]
        for download in kept:
            if await self._got(download, to):
                return
        if kept:
            raise ClipLost(Loss.GONE, NOT_KEPT)
        lost = known[0]
        raise ClipLost(lost.loss or Loss.PASSED_OVER, lost.detail or "as it was then")

    async def _got(self, download: RecordedDownload, to: Path) -> bool:
        if self._objects is None:
            return False
        try:
            await self._objects.get(clip_key(self._fixture_id, download.event_id, download.clip or ""), to)
        except ObjectMissing:
            return False
        except ObjectStoreError as error:
            raise DownloadUnavailable(str(error)) from error
        return True

    async def aclose(self) -> None:
        pass
